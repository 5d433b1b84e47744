"""Passages on what all learners have: streams, classes, losses, steps. See `onlinekern._docs`."""

PASSAGES = {
    "stream_parameters": """
        n_epochs : int >= 1, default=1
            Passes of `fit` over the data. `partial_fit` always makes one.
        shuffle : bool, default=True
            Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
        random_state : int, RandomState instance or None, default=None
            Seed of the order and of the learner's own draws.
        window : int >= 1 or None, default=None
            Samples whose kernel values are computed together; None chooses by the size of the
            model. It changes the speed, never a result.
        n_jobs : int or None, default=None
            Threads used to predict; None means 1 unless in a ``joblib.parallel_backend`` context.
    """,
    "batch_parameters": """
        n_epochs : int >= 1, default=10
            Largest number of passes over the data.
        random_state : int, RandomState instance or None, default=None
            Seed of the orders.
        window : int >= 1 or None, default=None
            Points whose kernel values are computed together with ``outputs='support'``; None
            chooses by the size of the model. It changes the speed, never a result.
        n_jobs : int or None, default=None
            Threads used to predict, and by 'smo' to solve the problems of several classes side by
            side; None means 1 unless in a ``joblib.parallel_backend`` context.
    """,
    "pa_weight": """
        A `sample_weight` w multiplies C. Plain PA has no C: there the margin that is demanded is
        ``sqrt(w)`` instead of 1, in regression the deviation that is no loss ``epsilon / sqrt(w)``
        (section 6 of [1]_).
    """,
    "class_weight": """
        class_weight : dict, 'balanced' or None, default=None
            Factors of the weights of the samples of each class, see `sample_weight`: a dictionary
            from labels to numbers >= 0 (labels that it leaves out have 1), or 'balanced',
            ``n_samples / (n_classes * n_samples_of_class)``. `fit` counts all that it gets;
            `partial_fit` and `learn_one` count the samples so far, each with itself.
    """,
    "multi_class": """
        multi_class : {'ovr', 'margin'}, default='ovr'
            For more than two classes: 'ovr' solves one binary problem per class, 'margin' compares
            the true class with its strongest rival (Crammer and Singer 2001). All classes share one
            set of support vectors.
    """,
    "label_losses": """
        loss : {'hinge', 'squared_hinge', 'smooth_hinge', 'logistic', 'exponential', 'squared'} or \
compiled loss, default='hinge'
    """,
    "standardize_target": """
        standardize_target : bool, default=True
            Whether to learn ``(y - mean) / scale``, with the mean and the standard deviation of the
            targets so far, y among them, and to predict ``mean + scale f``: targets may have any
            units. They settle as the stream goes on; a learner with `forgetting` forgets them too.
            False learns y itself, which then is the unit of what is given in standard deviations.
    """,
    "target_attributes": """
        target_mean_, target_scale_ : float
            Mean and scale of the targets so far; 0 and 1 without `standardize_target`.
    """,
    "target_losses": """
        loss : {'squared', 'absolute', 'epsilon_insensitive', 'huber'} or compiled loss, \
default='squared'
    """,
    "gradient_parameters": """
        eta : float > 0, default=0.5
            Step size. With ``kappa(x, x) = 1``, a step of 1 corrects a sample of loss 1; the
            default takes half of it.
        schedule : {'constant', 'invsqrt', 'inverse', 'power'}, default='constant'
            eta_t is eta, ``eta / sqrt(t)``, ``eta / t`` or ``eta / t**power``.
        power : float >= 0, default=0.5
            Exponent of the schedule 'power'.
        {shrinking_and_widths}
    """,
    "shrinking_and_widths": """
        reg : float >= 0, default=0.0
            Regularisation lambda; at each step, all coefficients shrink by ``max(0, 1 - eta_t *
            reg)``.
        delta : float > 0, default=1.0
            Width of the quadratic piece of 'smooth_hinge' and 'huber'.
        epsilon : float >= 0, default=0.1
            Deviations up to it are no loss in 'epsilon_insensitive'.
    """,
    "aggressiveness": """
        C : float > 0, default=1.0
            Aggressiveness: the largest coefficient of PA-I. Not used by plain PA.
        variant : {'pa', 'pa1', 'pa2'}, default='pa1'
            Which step to take: PA, PA-I or PA-II. PA-I tolerates noisy labels, plain PA does not.
    """,
    "attributes": """
        support_vectors_ : ndarray of shape (n_SV, n_features), or CSR matrix
            CSR when the model was started with sparse samples.
        dual_coef_ : ndarray of shape (n_outputs, n_SV)
            Coefficients of the model that predicts (the average, if `average`); n_outputs is 1 for
            two classes and regression, else the number of classes.
        n_support_ : int
            Number of support vectors.
        cumulative_loss_ : float
            Sum of weight times loss; the loss of a sample is taken before it is learnt.
        n_seen_ : int
            Samples learnt; those of weight 0 do not count.
        n_features_in_ : int
            Features of a sample.
        gamma_ : float
            The kernel width in use.
    """,
    "contamination": """
        contamination : float in (0, 0.5], default=0.1
            Fraction of outliers: `offset_` is this quantile of the scores. The default is that of
            scikit-learn's detectors without a rule of their own.
    """,
    "offset": """
        offset_ : float
            After `fit`, the quantile `contamination` of the scores of the training samples. After
            `partial_fit` and `learn_one`, that of the last 1,024 scores, each taken before its
            sample was learnt (updated every 128 samples).
    """,
    "classifier_attributes": """
        classes_ : ndarray of shape (n_classes,)
            The labels, sorted.
        n_mistakes_ : int
            Samples whose prediction, made before they were learnt, was wrong.
    """,
}
