"""Passages that the docstrings of several estimators share, written once.

A class docstring names a passage in braces, alone on a line; `OnlineEstimator.__init_subclass__`
puts the passage there.
"""

import inspect

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
    "stream_parameters": """
        n_epochs : int >= 1, default=1
            Passes of `fit` over the data. `partial_fit` always makes one.
        shuffle : bool, default=True
            Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
        random_state : int, RandomState instance or None, default=None
            Seed of the order and of the learner's own draws.
        window : int >= 1 or None, default=None
            Samples looked ahead to share the work on kernel values; None chooses by the size of
            the model. It changes the speed, never a result.
        n_jobs : int or None, default=None
            Threads used to predict; None means 1 unless in a ``joblib.parallel_backend`` context.
    """,
    "multi_class": """
        multi_class : {'ovr', 'margin'}, default='ovr'
            More than two classes: 'ovr' is one binary problem per class, 'margin' pits the true
            class against its strongest rival (Crammer and Singer 2001). All classes share one
            set of support vectors.
    """,
    "average": """
        average : bool, default=False
            Predict with the average of all models so far instead of the last one. Costs no further
            kernel value.
    """,
    "gradient_parameters": """
        eta : float > 0, default=0.5
            Step size: half of what makes a lone sample of loss 1 correct under a kernel of
            ``kappa(x, x) = 1``.
        schedule : {'constant', 'invsqrt', 'inverse', 'power'}, default='constant'
            eta_t is eta, ``eta / sqrt(t)``, ``eta / t`` or ``eta / t**power``.
        power : float >= 0, default=0.5
            Of the schedule 'power'.
        reg : float >= 0, default=0.0
            Regularisation lambda; everything learnt shrinks by ``max(0, 1 - eta_t * reg)`` a step.
        delta : float > 0, default=1.0
            Width of the quadratic piece of 'smooth_hinge' and 'huber'.
        epsilon : float >= 0, default=0.1
            Of 'epsilon_insensitive'.
    """,
    "aggressiveness": """
        C : float > 0, default=1.0
            Aggressiveness: the largest coefficient of PA-I. Not used by plain PA.
        variant : {'pa', 'pa1', 'pa2'}, default='pa1'
            PA-I bears noisy labels, plain PA does not.
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
    "dual_parameters": """
        reg : float > 0, default=1e-4 (1e-2 for regression)
            Regularisation lambda. ``2 / n_samples`` does well for classification, a hundred times
            that for regression.
        kernel : {'gaussian', 'laplacian'}, default='gaussian'
            ``exp(-gamma ||x - z||^2)``, which is also called 'rbf', or ``exp(-gamma ||x - z||_1)``:
            the kernels whose frequencies are drawn feature by feature. The paper has the Gaussian.
        gamma : {'scale', 'auto'} or float > 0, default='scale'
            Width of the kernel. 'scale' is ``1 / (n_features * X.var())`` and 'auto'
            ``1 / n_features``; X is what `fit` gets, or the first batch given to `partial_fit`. A
            paper's bandwidth sigma is ``gamma = 1 / (2 * sigma**2)``.
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
        support vector that has left is seen through its features in all models of the average. A
        `sample_weight` multiplies the step of its sample, not the shrinking.
    """,
    "olla_parameters": """
        C : float > 0, default=1.0
            Weight of the losses against the regulariser. With ``penalty='l2'`` coefficients of the
            hinge come to lie within [-C, C], as those of scikit-learn's SVC. Under the soft
            threshold of 'l1' a hinge with C <= 1 learns nothing.
        penalty : {'l2', 'l1', 'none'} or None, default='l2'
            Regulariser P of the coefficient of the point whose turn it is: ``eta_t a_i``, the sign
            of a_i, or none (None is 'none').
        prox : bool, default=True
            Apply 'l1' by its soft threshold, which makes coefficients 0; False is the paper's
            ``eta_t sgn(a_i)``, which makes them swing around 0.
        fit_intercept : bool, default=True
            Whether to learn the offset b.
        solver : {'gradient', 'newton'}, default='gradient'
            'newton' is the Newton-Raphson step on one coefficient, of the logistic loss with
            ``penalty='l2'`` and without offset; it has no step size.
        step : {'safe', 'paper'}, default='safe'
            'paper' takes gradient steps of any length. 'safe' bounds those that can run away, see
            Notes.
        schedule : {'invsqrt', 'inverse', 'constant', 'power'}, default='invsqrt'
            eta_t is ``eta / sqrt(t)``, ``eta / t``, eta or ``eta / t**power``; t counts the points
            learnt in all epochs. 'inverse' can fail when there is an offset.
        eta : float > 0 or None, default=None
            None is ``sqrt(2)`` for 'invsqrt', hence the paper's ``sqrt(2 / t)``, and 1 otherwise.
        power : float >= 0, default=0.5
            Of the schedule 'power'.
        relaxation : float in (0, 2), default=1.0
            Factor omega on Newton steps. Above 1 it may be faster; C of 100 and more need less
            than 1, or the steps oscillate.
        selection : {'shuffled', 'cyclic', 'max_violator'}, default='shuffled'
            Who comes next: the points in a new order each epoch, in the given order, or always the
            one of smallest ``y f`` (of the largest residual in regression), which costs a look at
            all outputs for every step.
        outputs : {'all', 'support'} or None, default=None
            Keep the outputs of all points and move them with every step (List 1 of the paper), or
            compute the output of a point from the support vectors when its turn comes (List 2).
            The model is the same up to rounding, with ``support_tol=0``. None is 'all' if all
            kernel values fit into `cache_size`, or for 'max_violator'.
        support_tol : float >= 0, default=1e-5
            Points of coefficients up to this size are no support vectors; with
            ``outputs='support'`` already while learning.
        tol : float >= 0, default=1e-3
            Stop after an epoch in which no label changed and the outputs of the points by no more
            than this part of their Euclidean norm.
        cache_size : float > 0, default=200.0
            Memory for kernel rows with ``outputs='all'``, in megabytes; the row not used for
            longest leaves first. It changes the speed, never a result.
    """,
    "batch_parameters": """
        n_epochs : int >= 1, default=10
            Largest number of passes over the data.
        random_state : int, RandomState instance or None, default=None
            Seed of the orders.
        window : int >= 1 or None, default=None
            Points looked ahead with ``outputs='support'``; None chooses by the size of the model.
            It changes the speed, never a result.
        n_jobs : int or None, default=None
            Threads used to predict; None means 1 unless in a ``joblib.parallel_backend`` context.
    """,
    "olla_attributes": """
        support_ : ndarray of shape (n_SV,)
            Numbers of the support vectors among the samples of `fit`, ascending.
        support_vectors_ : ndarray of shape (n_SV, n_features), or CSR matrix
            CSR when the samples were sparse.
        dual_coef_ : ndarray of shape (n_outputs, n_SV)
            n_outputs is 1 for two classes and regression, else the number of classes.
        intercept_ : ndarray of shape (n_outputs,)
            0 without `fit_intercept`.
        n_support_ : int
            Support vectors in all.
        n_iter_ : int
            Epochs made.
        n_seen_ : int
            Steps made, those of points of weight 0 not counted.
        cumulative_loss_ : float
            Sum of weight times loss over all steps, before each.
        n_features_in_ : int
            Features of a sample.
        gamma_ : float
            The kernel width in use.
    """,
    "olla_notes": """
        Samples of weight w have ``w C`` in place of C.

        With the schedule ``sqrt(2 / t)`` the steps of the squared losses overshoot while
        ``eta_t C (kappa_ii + beta) > 2``, beta being 1 with an offset, and may reach infinity;
        those of the exponential loss do so at any C. With ``step='safe'`` the steps of
        'squared', 'squared_hinge' and 'huber' take the slope where they end, which divides
        ``eta_t C (y - o_i)`` by ``1 + eta_t C (kappa_ii + beta)``; those of 'epsilon_insensitive'
        end at its kink; and those of 'exponential' are bounded by
        ``max(1, |1 - y o_i|) / (kappa_ii + beta)``. The slopes of the other losses are bounded.
        Steps that diverge nevertheless (``step='paper'``) end learning with a
        ``ConvergenceWarning`` and the last finite model.
    """,
    "attributes": """
        support_vectors_ : ndarray of shape (n_SV, n_features), or CSR matrix
            CSR when the model was started with sparse samples.
        dual_coef_ : ndarray of shape (n_outputs, n_SV)
            Coefficients of the model that predicts (the averaged one, if it is averaged);
            n_outputs is 1 for two classes and regression, else the number of classes.
        n_support_ : int
            Support vectors in all.
        cumulative_loss_ : float
            Sum of weight times loss, each sample's before it was learnt.
        n_seen_ : int
            Samples learnt; those of weight 0 do not count.
        n_features_in_ : int
            Features of a sample.
        gamma_ : float
            The kernel width in use.
    """,
    "classifier_attributes": """
        classes_ : ndarray of shape (n_classes,)
            The labels, sorted.
        n_mistakes_ : int
            Samples whose prediction, made before they were learnt, was wrong.
    """,
}


def fill(docstring):
    """The docstring with every passage that it names in place."""
    text = inspect.cleandoc(docstring)
    for name, passage in PASSAGES.items():
        text = text.replace("{" + name + "}", inspect.cleandoc(passage))
    return text
