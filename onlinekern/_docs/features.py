"""Passages on models of explicit features of a kernel. See `onlinekern._docs`."""

PASSAGES = {
    "multi_class_features": """
        multi_class : {'ovr', 'margin'}, default='ovr'
            For more than two classes: 'ovr' solves one binary problem per class, 'margin' compares
            the true class with its strongest rival (Crammer and Singer 2001). All classes share the
            features.
    """,
    "frequencies": """
        frequencies : {'auto', 'plain', 'orthogonal', 'structured', 'hashed'}, default='auto'
            'plain' draws a matrix of independent frequencies, n_components x n_features.
            'orthogonal' makes the directions of each n_features of them orthogonal (Yu et al.
            2016), which approximates the kernel better; it needs the Gaussian kernel.
            'structured' multiplies by Hadamard matrices instead, in O(n_components log n_features):
            for dense samples of some 100 features or more, and the Gaussian kernel. 'hashed' finds
            each frequency in a table of random numbers by a hash: for sparse samples of any number
            of features, in memory that does not depend on it. 'auto' is 'plain', and 'hashed' for
            more than 2^14 features where the matrix would have more than 2^25 numbers.
    """,
    "fourier_kernel": """
        kernel : {'gaussian', 'laplacian'}, default='gaussian'
            ``exp(-gamma ||x - z||^2)``, also called 'rbf', or ``exp(-gamma ||x - z||_1)``. Random
            Fourier features exist for these kernels only, since their frequencies are independent
            between features.
        {gamma}
    """,
    "dual_parameters": """
        reg : float > 0, default=1e-4 (1e-2 for regression)
            Regularisation lambda. Good values: ``2 / n_samples`` for classification, a hundred
            times that for regression.
        budget : int >= 1, default=100
            Largest number of support vectors, B of the paper.
        n_components : int >= 1, default=200
            Random frequencies, D of the paper; each gives a cosine and a sine.
        merge_size : int in [1, budget], default=20
            Number of support vectors that move into the features together, k of the paper.
    """,
    "dual_attributes": """
        frequencies_ : ndarray of shape (n_components, n_features)
            Drawn before the first sample, from N(0, 2 gamma_ I) for the Gaussian kernel. Hashed
            and structured ones are written out; MemoryError where there is no room for that.
        provision_coef_ : ndarray of shape (n_outputs, 2 * n_components)
            Weights w of the model that predicts: cosines first, then sines.
        intercept_ : ndarray of shape (n_outputs,)
            0 without `fit_intercept`.
    """,
    "dual_notes": """
        The smallest support vectors are those of smallest absolute coefficient (with several
        outputs, of smallest Euclidean norm). The hinge makes many of them equal; then the oldest
        ones move first. Coefficients are stored as ``-l' / reg`` under a common factor of exactly
        ``1 / t``, so that equal ones stay equal. With `fit_intercept` the kernel is ``kappa + 1``:
        the offset is the sum of all steps, and shrinks. With `average`, a support vector that has
        moved is replaced by its features in every averaged model. A `sample_weight` multiplies the
        step of its sample, not the shrinking.
    """,
    "fogd_parameters": """
        n_components : int >= 1, default=400
            Random frequencies D; each gives a cosine and a sine. Time and memory grow linearly with
            D, the error of the kernel falls like ``1 / sqrt(D)``. Published experiments use 400 to
            4000.
    """,
    "fogd_options": """
        fit_intercept : bool, default=False
            Whether to add a feature that is always 1: the kernel is then ``kappa + 1``. Its weight
            is learnt, and shrinks, like the others.
    """,
    "fogd_attributes": """
        frequencies_ : ndarray of shape (n_components, n_features)
            Drawn before the first sample, from N(0, 2 gamma_ I) for the Gaussian kernel. Hashed
            and structured ones are written out; MemoryError where there is no room for that.
        coef_ : ndarray of shape (n_outputs, 2 * n_components)
            Weights of the model that predicts: cosines first, then sines; n_outputs is 1 for two
            classes and regression, else the number of classes.
        intercept_ : ndarray of shape (n_outputs,)
            0 without `fit_intercept`.
        cumulative_loss_ : float
            Sum of weight times loss; the loss of a sample is taken before it is learnt.
        n_seen_ : int
            Samples learnt; those of weight 0 do not count.
        n_features_in_ : int
            Features of a sample.
        gamma_ : float
            The kernel width in use.
    """,
    "fogd_notes": """
        Cosines and sines are divided by ``sqrt(D)``, so the feature vector has length 1 and `eta`
        means the same as for `KernelOGDClassifier`. Multiply by D a step size published for
        features that are not divided. On the data sets of the papers the best values were 0.1 (a9a)
        to 1 (ijcnn1, usps). FOGD given as much time as DualSGD made fewer errors on usps, poker and
        four regressions (``benchmarks/dual_vs_fogd.py``). A `sample_weight` multiplies the step of
        its sample, not the shrinking.
    """,
    "nogd_parameters": """
        budget : int >= 1, default=500
            Support vectors B: the first samples that take a step. They then become landmarks, and
            are never replaced.
        n_components : int in [1, budget] or None, default=None
            Largest number of features k; None is `budget`. Eigenvalues below 1e-10 of the largest
            give no feature. Lu et al. take a fifth of the budget: on a9a that makes no more
            mistakes in a third of the time.
    """,
    "nogd_notes": """
        The change to features keeps the function, and its average, up to the eigenvalues that are
        dropped. It happens when the last support vector of the budget is added, anywhere in a
        batch. `dual_coef_` keeps its meaning, since the features are linear in the kernel values of
        the landmarks. Eigenvalues that are not positive (the kernel 'sigmoid' can have some) are
        dropped. The kernel matrix is computed in float64 for float32 samples too, because rounding
        in float32 would add eigenvalues. A `sample_weight` multiplies the step of its sample, not
        the shrinking.
    """,
    "functional_reference": """
        .. [1] J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu (2016). Large scale online kernel
           learning. Journal of Machine Learning Research 17.
    """,
}
