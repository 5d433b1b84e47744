"""Passages that the docstrings of the linear learners share; see `_docs`."""

PASSAGES = {
    "fit_intercept": """
        fit_intercept : bool, default=True
            Whether there is a constant b beside the weights.
    """,
    "linear_multi_class": """
        multi_class : {'ovr', 'margin'}, default='ovr'
            More than two classes: 'ovr' is one binary problem per class, 'margin' pits the true
            class against its strongest rival (Crammer and Singer 2001).
    """,
    "linear_average": """
        average : bool, default=False
            Predict with the average of all models so far instead of the last one. Costs a second
            product per score, and nothing for features that a sample does not store.
    """,
    "linear_gradient_parameters": """
        eta : float > 0, default=0.1
            Step size. A step moves the score of its own sample by eta_t times the squared length of
            the sample: standardise the features, or divide by that length.
        schedule : {'constant', 'invsqrt', 'inverse', 'power'}, default='invsqrt'
            eta_t is eta, ``eta / sqrt(t)``, ``eta / t`` or ``eta / t**power``.
        power : float >= 0, default=0.5
            Of the schedule 'power'.
        reg : float >= 0, default=0.0
            Regularisation lambda; everything learnt, b too, shrinks by ``max(0, 1 - eta_t * reg)``
            a step.
        delta : float > 0, default=1.0
            Width of the quadratic piece of 'smooth_hinge' and 'huber'.
        epsilon : float >= 0, default=0.1
            Of 'epsilon_insensitive'.
    """,
    "passes_parameters": """
        fit_intercept : bool, default=True
            Whether there is a constant b beside the weights.
        max_iter : int >= 1, default=1000
            Passes of `fit` over the data at the most. `partial_fit` always makes one.
        tol : float >= 0 or None, default=0.001
            `fit` ends after `n_iter_no_change` passes in a row whose mean loss was not below the
            least one so far by `tol`. None makes all of `max_iter`.
        early_stopping : bool, default=False
            Hold rows out, and watch the score on them instead of the loss.
        validation_fraction : float in (0, 1), default=0.1
            Part of the rows that is held out.
        n_iter_no_change : int >= 1, default=5
            See `tol`.
        verbose : int, default=0
            Whether to print how each pass of `fit` went.
        warm_start : bool, default=False
            Let `fit` begin with the weights of the last call.
        average : bool or int >= 1, default=False
            Predict with the average of the models after each sample instead of the last one; an
            integer n leaves the models before sample n out.
    """,
    "passes_stream_parameters": """
        shuffle : bool, default=True
            Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
        random_state : int, RandomState instance or None, default=None
            Seed of the order and of the rows held out.
        window : int >= 1 or None, default=None
            Samples that are opened together. It never changes a result, and for linear learners
            hardly the speed.
        n_jobs : int or None, default=None
            Threads used to predict, and to fit the problems of several classes; None means 1 unless
            in a ``joblib.parallel_backend`` context.
    """,
    "passes_attributes": """
        n_iter_ : int
            Passes of the last call; with several problems those of the longest.
        t_ : float
            1 plus the samples of all passes.
    """,
    "passes_notes": """
        `fit` does what scikit-learn's learner of this kind does, in the same order of samples for
        the same `random_state`, and gives its weights to rounding: the constant is no part of
        ``||x||^2``, on sparse samples its steps are a hundredth of those of the weights, and the
        loss that decides about stopping is the one before each step. The page "Coming from
        scikit-learn's PassiveAggressive" lists what differs. A `sample_weight` multiplies the step
        and the loss of its sample, and a sample of weight 0 is as if it was not there.
    """,
    "linear_stream_parameters": """
        n_epochs : int >= 1, default=1
            Passes of `fit` over the data. `partial_fit` always makes one.
        shuffle : bool, default=True
            Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
        random_state : int, RandomState instance or None, default=None
            Seed of the order.
        window : int >= 1 or None, default=None
            Samples that are opened together. It never changes a result, and for linear learners
            hardly the speed.
        n_jobs : int or None, default=None
            Threads used to predict; None means 1 unless in a ``joblib.parallel_backend`` context.
    """,
    "linear_attributes": """
        coef_ : ndarray of shape (n_outputs, n_features), or (n_features,) for regression
            Weights of the model that predicts (the averaged one, if it is averaged); n_outputs is 1
            for two classes, else the number of classes.
        intercept_ : ndarray of shape (n_outputs,)
            Its constants, 0 without `fit_intercept`.
        cumulative_loss_ : float
            Sum of weight times loss, each sample's before it was learnt.
        n_seen_ : int
            Samples learnt; those of weight 0 do not count.
        n_features_in_ : int
            Features of a sample.
    """,
}
