"""Passages on kernels and on what bounds a set of support vectors. See `onlinekern._docs`."""

PASSAGES = {
    "kernel_parameters": """
        kernel : {'gaussian', 'laplacian', 'polynomial', 'linear', 'sigmoid', 'cosine'}, \
compiled kernel or function, default='gaussian'
            The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. A compiled
            kernel may come from another package. A function of two matrices of rows returns their
            matrix of kernel values, some five times slower than a compiled one. See
            docs/extending.md. Both have their own parameters: the next three then stay at their
            defaults.
        {kernel_shape}
    """,
    "compiled_kernel_parameters": """
        kernel : {'gaussian', 'laplacian', 'polynomial', 'linear', 'sigmoid', 'cosine'} or \
compiled kernel, default='gaussian'
            The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. A compiled
            kernel may come from another package (docs/extending.md) and has its own parameters: the
            next three then stay at their defaults.
        {kernel_shape}
    """,
    # After the passages that hold it.
    "kernel_shape": """
        {gamma}
        degree : int >= 1, default=3
            Of the polynomial kernel.
        coef0 : float, default=0.0
            Constant of the polynomial and sigmoid kernels.
    """,
    # After the passages that hold it.
    "gamma": """
        gamma : {'median', 'scale', 'auto'} or float > 0, default='median'
            Width of every kernel but the linear and cosine ones. 'median' is 2 over the median of
            ``||x - z||^2`` (Laplacian: ``||x - z||_1``) over all pairs of the first 200 samples, in
            the order in which they are learnt, however many come in a call. It is measured at 2, 5,
            10, 20, 50, 100 and 200 samples; a new model then learns them again, and what was
            predicted and counted before stays. 'scale' is ``1 / (n_features * X.var())`` and 'auto'
            ``1 / n_features``, as in scikit-learn's SVC; X is what `fit` gets, or the first batch
            given to `partial_fit`. A paper's bandwidth sigma is ``gamma = 1 / (2 * sigma**2)``.
    """,
    "max_support": """
        max_support : int or None, default=None
            Largest number of stored support vectors, a bound on memory. None lets the model grow.
    """,
    "bounded_support": """
        max_support : int or None, default=10000
            Largest number of stored support vectors, a bound on memory and on the time of a sample.
            10,000 cost 0.1 points of accuracy on sets of up to 50,000 samples (docs/defaults.md).
            None lets the model grow.
    """,
    "when_full": """
        when_full : {'stop', 'oldest'}, default='stop'
            What happens to a sample that is to be added when there are `max_support`. With 'stop'
            it is not added (one warning says so); counting, shrinking and averaging continue. With
            'oldest' it takes the place of the oldest support vector, so that the model follows a
            stream that changes. An average then is that of the support vectors that are left: the
            oldest one leaves all the models of which it is made.
    """,
    "budget": """
        budget : int >= 1, default=500
            Largest number of support vectors B. Time per sample and memory grow linearly with it.
    """,
    "spa_parameters": """
        eta : float > 0, default=1.0
            Bound on the expected step: a sample drawn with probability rho takes a step of at most
            ``eta / rho``. Results change little between 0.1 and 10.
        alpha : float > 0, default=1.0
            Loss above which the probability rho no longer grows.
    """,
    "spa_beta": """
        beta : float >= alpha, default=1.0
            Sparsity: at most ``alpha / beta`` of the samples are kept on average. 1 makes the
            fewest mistakes (docs/defaults.md). The paper takes 5 for test accuracy, and 20 (200 for
            a million samples) for a small model. The losses of a scaled regression target are well
            below 1, so 1 keeps few samples already.
    """,
    "bogd_parameters": """
        removal : {'uniform', 'nonuniform'}, default='uniform'
            Probability p_j of evicting support vector j: ``1 / B`` (BOGD), or ``(1 - |a_j| / sum
            |a|) / (B - 1)`` (BOGD++), which evicts small coefficients more often.
        cap : float > 0 or None, default=1.0
            Each eviction clips the coefficients to ``[-cap * eta, cap * eta]``. None does not clip:
            the coefficients then grow until the noise of the evictions dominates, which costs ten
            points of accuracy on cod-rna.
    """,
    "bogd_notes": """
        A step does this in order: all coefficients shrink, a support vector is evicted, the other
        coefficients are divided, then clipped, and the sample is added. With several classes, the
        Euclidean norm of the K coefficients replaces ``|a_j|``, and `cap` applies to each of them.
        A `sample_weight` multiplies the step of its sample, not the shrinking. The cap is set when
        learning starts: a later change of `eta` does not move it.
    """,
    "bpa_notes": """
        The support vector to replace does not depend on the step: it minimises ``a_r^2 (kappa_rr -
        kappa_rt^2 / kappa_tt)``. With K classes, ``a_r^2`` is the squared norm of the K
        coefficients, and each of the K functions takes its own coefficient from r. A
        `sample_weight` multiplies C.
    """,
    "bsgd_parameters": """
        maintenance : {'merge', 'project', 'remove'}, default='merge'
            How the smallest support vector is removed. 'merge' merges it with another one, at the
            smallest error (Gaussian kernel only). 'project' projects it onto the span of the
            others; the time grows with the square of the budget. 'remove' drops it.
        reg : float > 0, default=1e-4 (1e-2 for regression)
            Regularisation lambda. Good values: ``2 / n_samples`` for classification, a hundred
            times that for regression.
        budget : int >= 1, default=500
            Largest number of support vectors B.
    """,
    "bsgd_notes": """
        The smallest support vector has the smallest Euclidean norm of its coefficients (with one
        output, the smallest absolute value). The hinge makes many of them equal; then the oldest
        one is removed. Coefficients are stored as ``-l' / reg`` under a common factor of exactly
        ``1 / t``, so that equal ones stay equal. Merging replaces two vectors by ``z = h x_m + (1 -
        h) x_n`` with the coefficients ``alpha_m kappa(z, x_m) + alpha_n kappa(z, x_n)``; h
        minimises the squared error, summed over the outputs. A partner must have coefficients at an
        acute angle to those of the smallest (with one output, the same sign); if there is none, the
        vector is dropped. A table of lower bounds of the errors, an idea of [2]_, skips most pairs;
        the merged pair is still the best one. Projections use ``kappa + 1e-5`` on the diagonal. A
        `sample_weight` multiplies the step of its sample, not the shrinking.
    """,
}
