"""Passages on kernel adaptive filters. See `onlinekern._docs`."""

PASSAGES = {
    "filter_parameters": """
        n_epochs : int >= 1, default=1
            Passes of `fit` over the data. `partial_fit` always makes one.
        shuffle : bool, default=False
            Whether `fit` draws a new order for each pass. A filter follows a series, so the default
            keeps the given order, as `partial_fit` always does.
        random_state : int, RandomState instance or None, default=None
            Seed of the order.
        window : int >= 1 or None, default=None
            Samples whose kernel values are computed together; None chooses by the size of the
            model. It changes the speed, never a result.
        n_jobs : int or None, default=None
            Threads used to predict; None means 1 unless in a ``joblib.parallel_backend`` context.
    """,
    "filter_step": """
        eta : float > 0, default=0.5
            Step size. With ``kappa(x, x) = 1``, a step of 1 makes the error of the sample 0; the
            default takes half of it. Smaller steps average over noise, and learn slower.
    """,
    "filter_budget": """
        budget : int >= 1, default=100
            Largest number of support vectors. Time per sample and memory grow with its square.
    """,
    "filter_attributes": """
        support_vectors_ : ndarray of shape (n_SV, n_features), or CSR matrix
            The dictionary, the oldest first; CSR when the model was started with sparse samples.
        dual_coef_ : ndarray of shape (1, n_SV)
            Coefficients of the support vectors.
        n_support_ : int
            Number of support vectors.
        cumulative_loss_ : float
            Sum of weight times half the squared error, each before its sample was learnt.
        n_seen_ : int
            Samples learnt; those of weight 0 do not count.
        n_features_in_ : int
            Features of a sample.
        gamma_ : float
            The kernel width in use.
    """,
}
