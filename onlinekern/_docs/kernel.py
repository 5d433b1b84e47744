"""Passages on kernels and on what bounds a set of support vectors. See `onlinekern._docs`."""

PASSAGES = {
    "kernel_parameters": """
        kernel : {'gaussian', 'laplacian', 'polynomial', 'linear', 'sigmoid', 'cosine'}, \
default='gaussian'
            The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'.
        gamma : {'scale', 'auto'} or float > 0, default='scale'
            Width of every kernel but the linear and cosine ones. 'scale' is
            ``1 / (n_features * X.var())`` and 'auto' ``1 / n_features``, as in scikit-learn's SVC;
            X is what `fit` gets, or the first batch given to `partial_fit`. A paper's bandwidth
            sigma is ``gamma = 1 / (2 * sigma**2)``.
        degree : int >= 1, default=3
            Of the polynomial kernel.
        coef0 : float, default=0.0
            Constant of the polynomial and sigmoid kernels.
    """,
    "max_support": """
        max_support : int or None, default=None
            Hard cap on stored support vectors, a bound on memory: when it is reached, further
            samples are not added (with one warning), while counting, shrinking and averaging go on.
            None lets the model grow.
    """,
    "budget": """
        budget : int >= 1, default=500
            Largest number of support vectors B. Time per sample and memory grow linearly with it.
    """,
    "spa_parameters": """
        eta : float > 0, default=1.0
            Largest expected step; the step of a sample drawn with probability rho is at most
            ``eta / rho``. Results change little between 0.1 and 10.
        alpha : float > 0, default=1.0
            Loss above which the probability of a draw no longer grows.
        beta : float >= alpha, default=5.0 (1.0 for regression)
            Sparsity: at most ``alpha / beta`` of the samples are kept on average. 5 is the paper's
            choice where test accuracy counts, 20 (200 for a million samples) where size does. The
            losses of a scaled regression target are well below 1, and sparse enough by themselves.
    """,
    "bogd_parameters": """
        removal : {'uniform', 'nonuniform'}, default='uniform'
            ``p_j = 1 / B`` (BOGD), or ``p_j = (1 - |a_j| / sum |a|) / (B - 1)`` (BOGD++), by which
            small coefficients rather leave.
        cap : float > 0 or None, default=1.0
            Coefficients are held within ``-cap * eta ... cap * eta`` when one leaves. Without it
            (None) they grow until the noise of the draws takes over: ten points of accuracy on
            cod-rna.
    """,
    "bogd_notes": """
        In the order of the step: everything shrinks, a support vector leaves and the others are
        divided, coefficients are capped, the sample comes in. With several classes p_j has the
        Euclidean norm of the K coefficients in the place of |a_j|, and `cap` holds for each of
        them. A `sample_weight` multiplies the step of its sample, not the shrinking. A change of
        `eta` in mid-stream does not move the cap, which belongs to the budget.
    """,
    "bpa_notes": """
        Which support vector is the cheapest to lose does not depend on the step: it is the one of
        least ``a_r^2 (kappa_rr - kappa_rt^2 / kappa_tt)``. With K classes a_r is the vector of its
        K coefficients and ``a_r^2`` the square of its norm, as for K functions that each lose
        theirs; all K are handed on. A `sample_weight` multiplies C.
    """,
    "bsgd_parameters": """
        maintenance : {'merge', 'project', 'remove'}, default='merge'
            Where the smallest support vector goes: 'merge' makes it one with the partner that suits
            it best (Gaussian kernel only), 'project' onto the span of the others, in time
            proportional to the square of the budget, 'remove' forgets it.
        reg : float > 0, default=1e-4 (1e-2 for regression)
            Regularisation lambda. ``2 / n_samples`` does well for classification, a hundred times
            that for regression.
        budget : int >= 1, default=500
            Largest number of support vectors B.
    """,
    "bsgd_notes": """
        The size of a support vector with several outputs is the Euclidean norm of its coefficients.
        Equal sizes, which the hinge makes the rule, go in the order in which they came:
        coefficients are kept as ``-l' / reg`` under a common factor of exactly ``1 / t``.
        Merging replaces two vectors by ``z = h x_m + (1 - h) x_n`` with the coefficients
        ``alpha_m kappa(z, x_m) + alpha_n kappa(z, x_n)``, of the h at which the squared error,
        summed over the outputs, is least. Partners are all vectors whose coefficients make an acute
        angle with its own (with one output, those of the same sign); without any, the vector is
        removed. A table of the errors, an idea of [2]_, bounds them from below, so that few pairs
        are searched; the pair that is merged is the best one all the same. Projections are those of
        ``kappa + 1e-5`` on the diagonal. A `sample_weight` multiplies the step of its sample, not
        the shrinking.
    """,
}
