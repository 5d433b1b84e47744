"""Passages on models of explicit features of a kernel. See `onlinekern._docs`."""

PASSAGES = {
    "multi_class_features": """
        multi_class : {'ovr', 'margin'}, default='ovr'
            More than two classes: 'ovr' is one binary problem per class, 'margin' pits the true
            class against its strongest rival (Crammer and Singer 2001). All classes share the
            features.
    """,
    "frequencies": """
        frequencies : {'plain', 'orthogonal'}, default='plain'
            'plain' are independent draws. 'orthogonal' draws directions that are orthogonal to each
            other, as many as there are features at a time (Yu et al. 2016): the features come
            closer to the kernel. It needs the Gaussian kernel.
    """,
    "fourier_kernel": """
        kernel : {'gaussian', 'laplacian'}, default='gaussian'
            ``exp(-gamma ||x - z||^2)``, which is also called 'rbf', or ``exp(-gamma ||x - z||_1)``:
            the kernels whose frequencies are drawn feature by feature.
        gamma : {'scale', 'auto'} or float > 0, default='scale'
            Width of the kernel. 'scale' is ``1 / (n_features * X.var())`` and 'auto'
            ``1 / n_features``; X is what `fit` gets, or the first batch given to `partial_fit`. A
            paper's bandwidth sigma is ``gamma = 1 / (2 * sigma**2)``.
    """,
    "dual_parameters": """
        reg : float > 0, default=1e-4 (1e-2 for regression)
            Regularisation lambda. ``2 / n_samples`` does well for classification, a hundred times
            that for regression.
        budget : int >= 1, default=100
            Support vectors at the most, B of the paper.
        n_components : int >= 1, default=200
            Random frequencies, D of the paper; each gives a cosine and a sine.
        merge_size : int in [1, budget], default=20
            Support vectors that leave together, k of the paper.
    """,
    "dual_attributes": """
        frequencies_ : ndarray of shape (n_components, n_features)
            Drawn before the first sample, from N(0, 2 gamma_ I) for the Gaussian kernel.
        provision_coef_ : ndarray of shape (n_outputs, 2 * n_components)
            w of the model that predicts, the weights of the cosines first.
        intercept_ : ndarray of shape (n_outputs,)
            0 without `fit_intercept`.
    """,
    "dual_notes": """
        The size of a support vector is the absolute value, with several outputs the Euclidean norm,
        of its coefficients. Equal sizes, which the hinge makes the rule, leave in the order in
        which they came: coefficients are kept as ``-l' / reg`` under a common factor of exactly
        ``1 / t``, so that equal ones do not drift apart. With `fit_intercept` the kernel is
        ``kappa + 1``: the offset takes the steps of all samples, and shrinks. With `average`, a
        support vector that was merged counts through its features in every averaged model. A
        `sample_weight` multiplies the step of its sample, not the shrinking.
    """,
    "fogd_parameters": """
        n_components : int >= 1, default=400
            Random frequencies D; each gives a cosine and a sine. Time and memory grow linearly with
            it, the error of the kernel falls like ``1 / sqrt(D)``. Published figures take 400 to
            4000.
    """,
    "fogd_options": """
        fit_intercept : bool, default=False
            Whether there is one more feature, which is 1: the kernel is then ``kappa + 1``. Its
            weight takes the steps of all samples, and shrinks with the others.
        average : bool, default=False
            Predict with the average of all models so far instead of the last one.
    """,
    "fogd_attributes": """
        frequencies_ : ndarray of shape (n_components, n_features)
            Drawn before the first sample, from N(0, 2 gamma_ I) for the Gaussian kernel.
        coef_ : ndarray of shape (n_outputs, 2 * n_components)
            Weights of the model that predicts, those of the cosines first; n_outputs is 1 for two
            classes and regression, else the number of classes.
        intercept_ : ndarray of shape (n_outputs,)
            0 without `fit_intercept`.
        cumulative_loss_ : float
            Sum of weight times loss, each sample's before it was learnt.
        n_seen_ : int
            Samples learnt; those of weight 0 do not count.
        n_features_in_ : int
            Features of a sample.
        gamma_ : float
            The kernel width in use.
    """,
    "fogd_notes": """
        The features have length 1, since cosines and sines are divided by ``sqrt(D)``, so `eta`
        means what it means to `KernelOGDClassifier`. A step size published for features that are
        not divided is multiplied by D here. On the sets of the papers 0.1 (a9a) to 1 (ijcnn1, usps)
        was best; the default is between them. With as many frequencies as take the time of
        DualSGD, it made fewer errors than that on usps, poker and four regressions
        (``benchmarks/dual_vs_fogd.py``). A `sample_weight` multiplies the step of its sample, not
        the shrinking.
    """,
    "nogd_parameters": """
        budget : int >= 1, default=500
            Support vectors B: the first samples that take a step. From then on they are landmarks,
            which stay.
        n_components : int in [1, budget] or None, default=None
            Features k at the most; None is `budget`. Eigenvalues below 1e-10 of the largest give no
            feature in any case. Lu et al. take a fifth of the budget, which makes no more mistakes
            on a9a, and a sample takes a third of the time.
    """,
    "nogd_notes": """
        The function is the same before and after the change to features, up to the eigenvalues
        that are left out, and so is the average. The change comes with the last support vector of
        the budget, wherever in a batch that is. `dual_coef_` keeps its meaning, since
        features are linear in the kernel values of the landmarks. Eigenvalues that are not positive
        (the kernel 'sigmoid' can have some) are left out. The kernel matrix is computed in float64
        for float32 samples too, whose rounding would make eigenvalues of its own. A `sample_weight`
        multiplies the step of its sample, not the shrinking.
    """,
    "functional_reference": """
        .. [1] J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu (2016). Large scale online kernel
           learning. Journal of Machine Learning Research 17.
    """,
}
