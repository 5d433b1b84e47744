"""Passages on OLLA. See `onlinekern._docs`."""

PASSAGES = {
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
            Order of the points: a new random order each epoch, the given order, or always the point
            of smallest ``y f`` (of the largest residual in regression), which costs a look at
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
            Number of support vectors.
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
}
