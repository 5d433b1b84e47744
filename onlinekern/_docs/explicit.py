"""Passages on explicit features, and least squares of them. See `onlinekern._docs`."""

PASSAGES = {
    "explicit_features": """
        features : {'nystroem', 'fourier'}, default='nystroem'
            'nystroem': for landmarks l_1 ... l_m among the samples learnt, with kernel matrix
            ``K = L L'``, ``z(x) = L^-1 [kappa(l_1, x), ..., kappa(l_m, x)]``. A landmark more adds
            a feature and leaves the others as they are, so the model grows without a second pass.
            'fourier': cosines and sines of random orthogonal frequencies; for the Gaussian and
            Laplacian kernels (plain frequencies for the latter; hashed ones, see `FOGDClassifier`,
            for more than 2^14 features where their matrix would have more than 2^25 numbers).
        n_components : int >= 1, default=400
            Features of the kernel: the largest number of landmarks, or twice the number of
            frequencies. The cost of a sample that enters grows with its square, that of a
            prediction linearly ('fourier') or with the square. 400 is where the error of most
            streams of 10,000 samples is near its least; 1,000 and more pay on longer ones.
    """,
    "lot_parameters": """
        alpha : float > 0, default=1.0
            Of ``gate="loss_proportional"``: losses above it are admitted alike.
        beta : float >= alpha, default=1.0
            Of ``gate="loss_proportional"``: the larger, the fewer samples enter.
        weighted : bool, default=False
            Of ``gate="loss_proportional"``: whether a sample that entered with probability p has
            the weight ``1 / p``, as in SPA, or 1.
    """,
    "any_selection": """
        selection : {'first', 'margin', 'ald'}, default='first'
            Who becomes a landmark of the Nystroem features. 'first': the first samples, but for
            repeated ones. 'margin', 'ald': samples that enter, or all samples, whose part outside
            of the span of the landmarks so far has a squared length above `novelty` times
            ``kappa(x, x)``. 'first' is hard to beat at an equal number of landmarks; 'margin' often
            needs fewer.
        {novelty}
    """,
    "novelty": """
        novelty : float in (0, 1), default=0.05
            See `selection`; 'first' does not use it.
    """,
    "explicit_linear": """
        linear : bool, default=True
            Whether ``x / sqrt(n_features)`` and a constant stand beside the features of the kernel.
            The cost grows with n_features too; use False for samples of many features.
    """,
    "explicit_kernel": """
        kernel : {'gaussian', 'laplacian', 'polynomial', 'linear', 'sigmoid', 'cosine'}, \
default='gaussian'
            The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'.
        {gamma}
        degree : int >= 1, default=3
            Of the polynomial kernel.
        coef0 : float, default=0.0
            Constant of the polynomial and sigmoid kernels.
    """,
    "least_squares_parameters": """
        reg : float > 0, default=0.1
            Prior precision of the weights, in units of the noise's. Between 0.03 and 0.3 results
            change little.
        forgetting : float in (0, 1], default=1.0
            lambda: each sample that enters multiplies the weight of those before by it. The prior
            is not forgotten: what is no longer confirmed returns to it. The faster, the dearer:
            the inverse is made anew at least every ``log(2) / (1 - lambda)`` samples.
    """,
    "least_squares_attributes": """
        coef_ : ndarray of shape (n_outputs, n_weights)
            Weights of ``x / sqrt(n_features)``, with `linear`, and of the kernel's features.
        intercept_ : ndarray of shape (n_outputs,)
            0 without `linear`.
        landmarks_ : ndarray of shape (n_landmarks, n_features), or CSR matrix
            With features='nystroem'.
        frequencies_ : ndarray of shape (n_components / 2, n_features)
            With features='fourier'.
        gamma_ : float
            The kernel width in use.
        n_seen_ : int
            Samples learnt; those of weight 0 do not count.
        n_entered_ : int
            Those of them that entered the least squares problem.
        cumulative_loss_ : float
            Sum of weight times loss; the loss of a sample is taken before it is learnt.
        n_features_in_ : int
            Features of a sample.
    """,
    "least_squares_notes": """
        Scale the features: the width of the kernel, and the prior of the linear weights, are the
        same in all of them. Samples are taken up in blocks of 64, with the decisions of one at a
        time: predictions do not depend on how a stream is cut into calls. A and b are kept in
        double; the inverse, in the precision of the samples, is made anew from A every
        ``8 n_weights`` samples that entered. From a float32 sample on with ``phi . phi > 1000 reg``
        (a small `reg`, or samples that are not scaled) all is in double. A feature that appears in
        mid-stream counts as 0 for the samples before: exact while all of these are landmarks, an
        approximation afterwards. A `sample_weight` multiplies the terms of its sample in A and b.
    """,
}
