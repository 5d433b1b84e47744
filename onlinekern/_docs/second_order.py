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
    "kernel_second_order_parameters": """
        covariance : {'shared', 'full', 'diagonal', 'sketched'}, default='shared'
            S, of D features (`n_components`, and n_features + 1 with `linear`). 'shared' keeps one
            symmetric matrix for all classes, ``D^2`` operations for each sample that enters and
            ``16 D^2`` bytes; 'full' one for each class. 'diagonal' keeps a variance for each
            weight: the fastest, and good with Nystroem features, which are nearly uncorrelated, but
            not with 'fourier'. 'sketched' keeps one matrix for all classes whose inverse is a
            diagonal and `sketch_size` directions (frequent directions [2]_): between the two in
            time and error. A MemoryError says when the matrices do not fit into the available
            memory.
        sketch_size : int >= 1, default=50
            Directions of 'sketched'. With D of them S is exact.
        gate : {'margin', 'loss_proportional'}, default='margin'
            Which samples enter. 'margin': those that the rule moves the weights for.
            'loss_proportional': of these, by lot, with the probability ``min(alpha, loss) / beta``
            of SPA [3]_, of the hinge loss. On long streams that halves the time for about the same
            error.
    """,
    "kernel_second_order_attributes": """
        coef_ : ndarray of shape (n_outputs, n)
            Weights of ``x / sqrt(n_features)``, with `linear`, and of the kernel's features, of the
            model that predicts; n_outputs is 1 for two classes, else the number of classes.
        intercept_ : ndarray of shape (n_outputs,)
            0 without `linear`.
        covariance_ : ndarray of shape (n_outputs, D), or (n_outputs, D, D) if full
            The variances, or S; of shape (1, D, D) if shared or sketched. In the order of `coef_`;
            the constant comes last.
        landmarks_ : ndarray of shape (n_landmarks, n_features), or CSR matrix
            With features='nystroem'.
        frequencies_ : ndarray of shape (n_components / 2, n_features)
            With features='fourier'.
        gamma_ : float
            The kernel width in use.
        n_seen_ : int
            Samples learnt; those of weight 0 do not count.
        cumulative_loss_ : float
            Sum of weight times hinge loss; the loss of a sample is taken before it is learnt.
        n_features_in_ : int
            Features of a sample.
    """,
    "kernel_second_order_notes": """
        Scale the features: the width of the kernel, and the prior of the linear weights, are the
        same in all of them. A landmark that appears in mid-stream has a weight of 0 and a variance
        of 1, as if it had been there from the start. Whether a sample becomes one is decided before
        its step; for ``selection="margin"`` a sample enters if its hinge loss is above 0 and the
        gate lets it pass. A shared S is contracted once per sample, by the largest beta of the
        classes that move, with ``multi_class="margin"`` by that of the pair, whose variance is
        ``2 z'S z``.

        A contraction beta adds ``c z z'`` to the inverse of S, ``c = beta / (1 - beta z'S z)``. The
        sketch keeps the leading directions of the sum of these, and of the rest the diagonal, so
        that the inverse of S has the true diagonal, and S stays positive.
    """,
    "kernel_second_order_references": """
        .. [2] M. Ghashami, E. Liberty, J. M. Phillips, D. P. Woodruff (2016). Frequent directions:
           simple and deterministic matrix sketching. SIAM Journal on Computing 45, 1762-1792.
        .. [3] J. Lu, P. Zhao, S. C. H. Hoi (2016). Online sparse passive aggressive learning with
           kernels. SIAM International Conference on Data Mining.
    """,
}
