"""Passages on linear learners of second order. See `onlinekern._docs`."""

PASSAGES = {
    "covariance": """
        covariance : {'diagonal', 'full'}, default='diagonal'
            'diagonal' keeps a variance s_i for each weight, ``s_i -= beta (s_i x_i)^2``, and costs
            the stored features of a sample. 'full' keeps a symmetric matrix S for each output: it
            also follows how features go together, at ``n_features^2`` operations for each step and
            ``16 n_outputs n_features^2`` bytes, half of them to undo calls that fail. What is
            beyond the memory that the system calls available is refused.
    """,
    "second_order_average": """
        average : bool, default=False
            Predict with the average of all mu so far instead of the last one.
    """,
    "second_order_attributes": """
        coef_ : ndarray of shape (n_outputs, n_features), or (n_features,) for regression
            mu of the model that predicts (the averaged one, if it is averaged); n_outputs is 1 for
            two classes, else the number of classes.
        intercept_ : ndarray of shape (n_outputs,)
            Its constants, 0 without `fit_intercept`.
        covariance_ : ndarray of shape (n_outputs, n) or, if full, (n_outputs, n, n)
            The variances, or S. n is `n_features`, and 1 more with `fit_intercept`: the constant
            comes last.
        cumulative_loss_ : float
            Sum of weight times loss (the hinge, or for regression the epsilon-insensitive loss),
            each sample's before it was learnt.
        n_seen_ : int
            Samples learnt; those of weight 0 do not count.
        n_features_in_ : int
            Features of a sample.
    """,
    "second_order_notes": """
        The constant is one more feature, always 1, and has its variance. A sample along which less
        than 1e-15 of the variance of the start is left is passed over.
    """,
    "second_order_class_notes": """
        One against the rest, each class has its own S. With ``multi_class="margin"`` the sample of
        a class against its rival is as long as in both their metrics together, and contracts both;
        covariances between classes are left at 0.
    """,
}
