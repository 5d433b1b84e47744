"""Passages on linear learners. See `onlinekern._docs`."""

PASSAGES = {
    "fit_intercept": """
        fit_intercept : bool, default=True
            Whether to learn a constant b.
    """,
    "linear_multi_class": """
        multi_class : {'ovr', 'margin'}, default='ovr'
            For more than two classes: 'ovr' solves one binary problem per class, 'margin' compares
            the true class with its strongest rival (Crammer and Singer 2001).
    """,
    "linear_gradient_parameters": """
        eta : float > 0, default=0.1
            Step size. A step changes the score of its own sample by eta_t times the squared length
            of the sample: standardise the features, or divide eta by that length.
        schedule : {'constant', 'invsqrt', 'inverse', 'power'}, default='invsqrt'
            eta_t is eta, ``eta / sqrt(t)``, ``eta / t`` or ``eta / t**power``.
        power : float >= 0, default=0.5
            Exponent of the schedule 'power'.
        reg : float >= 0, default=0.0
            Regularisation lambda; at each step, the weights and b shrink by ``max(0, 1 - eta_t *
            reg)``.
        delta : float > 0, default=1.0
            Width of the quadratic piece of 'smooth_hinge' and 'huber'.
        epsilon : float >= 0, default=0.1
            Deviations up to it are no loss in 'epsilon_insensitive'.
    """,
    "passes_parameters": """
        fit_intercept : bool, default=True
            Whether to learn a constant b.
        max_iter : int >= 1, default=1000
            Largest number of passes of `fit` over the data. `partial_fit` always makes one.
        tol : float >= 0 or None, default=0.001
            `fit` stops after `n_iter_no_change` passes in a row whose mean loss is not below the
            smallest one so far by `tol`. None makes all `max_iter` passes.
        early_stopping : bool, default=False
            Hold rows out, and stop by the score on them instead of the loss.
        validation_fraction : float in (0, 1), default=0.1
            Share of the rows that is held out.
        n_iter_no_change : int >= 1, default=5
            Passes without improvement before `fit` stops, see `tol`.
        verbose : int, default=0
            If not 0, print the norm, the loss and the score of each pass of `fit`.
        warm_start : bool, default=False
            Whether `fit` starts from the weights of the last call.
        average : bool, int >= 1, 'uniform' or 'decay', default=False
            Predict with the average of the models after each sample instead of the last one; an
            integer n leaves out the models before sample n. True is 'uniform', their mean. 'decay'
            forgets the first models: model t has a weight of about ``t**3`` (Shamir and Zhang 2013,
            eta = 3).
    """,
    "passes_stream_parameters": """
        shuffle : bool, default=True
            Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
        random_state : int, RandomState instance or None, default=None
            Seed of the order and of the rows held out.
        window : int >= 1 or None, default=None
            Samples that are read together. It never changes a result, and hardly the speed of a
            linear learner.
        n_jobs : int or None, default=None
            Threads used to predict, and to fit the problems of several classes; None means 1 unless
            in a ``joblib.parallel_backend`` context.
    """,
    "passes_attributes": """
        n_iter_ : int
            Passes of the last call, ``learn_one`` aside; with several problems, the largest number.
        t_ : float
            1 plus the number of samples in all passes.
    """,
    "passes_notes": """
        `fit` repeats scikit-learn's PassiveAggressive: the same order of samples for the same
        `random_state`, and the same weights up to rounding. Hence ``||x||^2`` in PA-I and PA-II
        leaves the constant out (C bounds its steps); on sparse samples the constant moves a
        hundredth of a step; and the loss that decides about stopping is taken before each step. The
        page "Coming from scikit-learn's PassiveAggressive" lists what differs. A `sample_weight`
        multiplies the step and the loss of its sample; a sample of weight 0 is skipped.
    """,
    "linear_stream_parameters": """
        n_epochs : int >= 1, default=1
            Passes of `fit` over the data. `partial_fit` always makes one.
        shuffle : bool, default=True
            Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
        random_state : int, RandomState instance or None, default=None
            Seed of the order.
        window : int >= 1 or None, default=None
            Samples that are read together. It never changes a result, and hardly the speed of a
            linear learner.
        n_jobs : int or None, default=None
            Threads used to predict; None means 1 unless in a ``joblib.parallel_backend`` context.
    """,
    "linear_attributes": """
        coef_ : ndarray of shape (n_outputs, n_features), or (n_features,) for regression
            Weights of the model that predicts (the average, if `average`); n_outputs is 1 for two
            classes, else the number of classes.
        intercept_ : ndarray of shape (n_outputs,)
            Constants, 0 without `fit_intercept`.
        cumulative_loss_ : float
            Sum of weight times loss; the loss of a sample is taken before it is learnt.
        n_seen_ : int
            Samples learnt; those of weight 0 do not count.
        n_features_in_ : int
            Features of a sample.
    """,
}
