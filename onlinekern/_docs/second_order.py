"""Passages on linear learners of second order. See `onlinekern._docs`."""

PASSAGES = {
    "covariance": """
        covariance : {'diagonal', 'full', 'shared'}, default='diagonal'
            'diagonal' keeps a variance s_i for each weight, ``s_i -= beta (s_i x_i)^2``; the cost
            is linear in the stored features of a sample. 'full' keeps a symmetric matrix S for each
            output, and so the correlations of the features: ``n_features^2`` operations for each
            step and ``16 n_outputs n_features^2`` bytes, half of them to undo calls that fail.
            'shared' keeps one matrix S for all outputs, which costs what a single output does; with
            a single output it is 'full'. A MemoryError says when the matrices do not fit into the
            available memory.
    """,
    "second_order_average": """
        average : bool, default=False
            Predict with the average of all mu so far instead of the last one.
    """,
    "second_order_attributes": """
        coef_ : ndarray of shape (n_outputs, n_features), or (n_features,) for regression
            mu of the model that predicts (the average, if `average`); n_outputs is 1 for two
            classes, else the number of classes.
        intercept_ : ndarray of shape (n_outputs,)
            Constants, 0 without `fit_intercept`.
        covariance_ : ndarray of shape (n_outputs, n), or (n_outputs, n, n) if full
            The variances, or S; of shape (1, n, n) if shared. n is `n_features`, plus 1 for the
            constant with `fit_intercept`, which comes last.
        cumulative_loss_ : float
            Sum of weight times loss (the hinge, or for regression the epsilon-insensitive loss);
            the loss of a sample is taken before it is learnt.
        n_seen_ : int
            Samples learnt; those of weight 0 do not count.
        n_features_in_ : int
            Features of a sample.
    """,
    "second_order_notes": """
        The constant is a feature that is always 1, and has a variance. A sample is skipped if less
        than 1e-15 of the initial variance is left in its direction.
    """,
    "second_order_class_notes": """
        With 'ovr', each class has its own S. With ``multi_class="margin"``, a step on a class and
        its rival uses the sum of both variances of the sample, and contracts both matrices;
        covariances between classes stay 0.

        A shared S is contracted once per sample, if any class moves: with 'ovr' by the largest beta
        of the classes that move, with ``multi_class="margin"`` by that of the pair, whose variance
        is ``2 x'S x``. So what one class learns of a direction makes all of them surer of it.
    """,
}
