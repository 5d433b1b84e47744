"""Passages on OLLA. See `onlinekern._docs`."""

PASSAGES = {
    "olla_parameters": """
        C : float > 0, default=1.0
            Weight of the losses against the regulariser. With ``penalty='l2'``, the hinge's
            coefficients converge into [-C, C], like those of scikit-learn's SVC. The soft threshold
            of 'l1' takes back every step of a loss whose slope is at most 1 (all but the squared
            ones and 'exponential') for C <= 1, which is therefore an error.
        penalty : {'l2', 'l1', 'none'} or None, default='l2'
            Regulariser P of the coefficient that a step changes: ``eta_t a_i`` ('l2'), the sign of
            a_i ('l1'), or none (None is 'none').
        prox : bool, default=True
            Apply 'l1' as a soft threshold, which sets coefficients to 0. False subtracts the
            paper's ``eta_t sgn(a_i)``, with which coefficients oscillate around 0.
        fit_intercept : bool, default=True
            Whether to learn the offset b.
        solver : {'gradient', 'newton'}, default='gradient'
            'newton' takes Newton-Raphson steps on one coefficient at a time; it has no step size.
            It needs the logistic loss, ``penalty='l2'`` and ``fit_intercept=False``.
        step : {'safe', 'paper'}, default='safe'
            'paper' takes plain gradient steps. 'safe' bounds the steps that can diverge, see Notes.
        schedule : {'invsqrt', 'inverse', 'constant', 'power'}, default='invsqrt'
            eta_t is ``eta / sqrt(t)``, ``eta / t``, eta or ``eta / t**power``; t counts the points
            of all epochs. 'inverse' may not converge with an offset.
        eta : float > 0 or None, default=None
            None is ``sqrt(2)`` for 'invsqrt', which gives the paper's ``sqrt(2 / t)``, and 1
            otherwise.
        power : float >= 0, default=0.5
            Exponent of the schedule 'power'.
        relaxation : float in (0, 2), default=1.0
            Factor omega of the Newton steps. Above 1 can be faster; with C of 100 and more, the
            steps oscillate unless it is below 1.
        selection : {'shuffled', 'cyclic', 'max_violator'}, default='shuffled'
            Order of the points: a new random order in each epoch, the given order, or always the
            point of smallest ``y f`` (in regression, of largest residual). 'max_violator' scans all
            outputs at every step.
        outputs : {'all', 'support'} or None, default=None
            'all' stores the outputs of all points and updates them at every step (List 1 of the
            paper). 'support' computes the output of a point from the support vectors when it is
            learnt (List 2). With ``support_tol=0`` both give the same model up to rounding. None is
            'all' if all kernel values fit into `cache_size`, or for 'max_violator'.
        support_tol : float >= 0, default=1e-5
            Points whose coefficients are not larger are no support vectors. With
            ``outputs='support'`` this also holds during learning.
        tol : float >= 0, default=1e-3
            Stop after an epoch that changed no label, and changed the outputs by at most this share
            of their Euclidean norm.
        cache_size : float > 0, default=200.0
            Memory for kernel rows with ``outputs='all'``, in megabytes; the least recently used row
            is dropped first. It changes the speed, never a result.
    """,
    "olla_attributes": """
        support_ : ndarray of shape (n_SV,)
            Indices of the support vectors in the samples of `fit`, ascending.
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
            Steps made, without those of points of weight 0.
        cumulative_loss_ : float
            Sum of weight times loss over all steps; each loss is taken before its step.
        n_features_in_ : int
            Features of a sample.
        gamma_ : float
            The kernel width in use.
    """,
    "olla_notes": """
        A sample of weight w has ``w C`` instead of C. ``gamma='median'`` is measured on 200 of the
        samples, at equal intervals.

        With the schedule ``sqrt(2 / t)``, the steps of the squared losses overshoot while ``eta_t C
        (kappa_ii + beta) > 2``, and may diverge; beta is 1 with an offset, else 0. The steps of the
        exponential loss may diverge at any C. The slopes of the other losses are bounded.
        ``step='safe'`` bounds these steps. 'squared', 'squared_hinge' and 'huber' take the slope at
        the end of the step (an implicit step), which divides ``eta_t C (y - o_i)`` by ``1 + eta_t C
        (kappa_ii + beta)``. 'epsilon_insensitive' stops at its kink. 'exponential' is bounded by
        ``max(1, |1 - y o_i|) / (kappa_ii + beta)``. If the steps diverge nevertheless
        (``step='paper'``), learning stops with a ``ConvergenceWarning`` and keeps the last finite
        model.
    """,
}
