"""Passages on OLLA. See `onlinekern._docs`."""

PASSAGES = {
    "olla_parameters": """
        C : float > 0, default=1.0
            Weight of the losses against the regulariser: ``w'w / 2 + C sum l``, which is the C of
            scikit-learn's SVC and SVR. 'smo' finds that minimum; with ``penalty='l2'`` the hinge's
            coefficients of 'gradient' converge into the same [-C, C]. The soft threshold
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
        solver : {'gradient', 'newton', 'smo'}, default='gradient'
            'gradient' is the paper's algorithm. 'newton' takes Newton-Raphson steps on one
            coefficient at a time; it has no step size. It needs the logistic loss,
            ``penalty='l2'`` and ``fit_intercept=False``. 'smo' solves the dual by sequential
            minimal optimisation, to the solution of scikit-learn's SVC and SVR; it needs
            ``penalty='l2'`` and a loss other than 'logistic' and 'exponential', see Notes. It
            reads none of the parameters of steps and epochs, which must have their defaults.
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
            of their Euclidean norm. With 'smo' (> 0): stop when no pair of points violates its
            optimality condition by more, as SVC does.
        cache_size : float > 0, default=200.0
            Memory for kernel rows with ``outputs='all'`` and 'smo', in megabytes; the least
            recently used row is dropped first. The threads of `n_jobs` have equal parts of it. It
            changes the speed, never a result.
        max_iter : int or None, default=None
            Steps after which 'smo' gives up a problem, with a ``ConvergenceWarning``. None is
            LIBSVM's bound of ten million, or 100 for each point if that is more. The other solvers
            end after `n_epochs`.
        shrinking : bool, default=True
            Whether 'smo' leaves points out that will probably stay at a bound. They are checked
            before it ends, so the solution is the same within `tol`.
        warm_start : bool, default=False
            Whether 'smo' begins with the coefficients that the fit before gave the rows of the same
            numbers, in proportion to C. Where it begins changes the number of steps, not the
            solution, whatever the rows and their labels are now.
    """,
    "olla_attributes": """
        support_ : ndarray of shape (n_SV,)
            Indices of the support vectors in the samples of `fit`, ascending.
        support_vectors_ : ndarray of shape (n_SV, n_features), or CSR matrix
            CSR when the samples were sparse.
        dual_coef_ : ndarray of shape (n_outputs, n_SV)
            n_outputs is 1 for two classes and regression, else the number of classes, or, with
            ``multi_class='ovo'``, of their pairs.
        intercept_ : ndarray of shape (n_outputs,)
            0 without `fit_intercept`.
        n_support_ : int
            Number of support vectors.
        n_iter_ : int
            Epochs made; with 'smo', steps of all problems together.
        n_seen_ : int
            Steps made, without those of points of weight 0; with 'smo', the number of such points.
        cumulative_loss_ : float
            Sum of weight times loss over all steps; each loss is taken before its step. 0 with
            'smo', which meets no point in turn.
        n_features_in_ : int
            Features of a sample.
        gamma_ : float
            The kernel width in use.
    """,
    "olla_notes": """
        A sample of weight w has ``w C`` instead of C: 'smo' learns it as w copies. The width of the
        kernel takes no account of weights, as SVC's does not. ``gamma='median'`` is measured on 200
        of the samples, at equal intervals.

        With the schedule ``sqrt(2 / t)``, the steps of the squared losses overshoot while ``eta_t C
        (kappa_ii + beta) > 2``, and may diverge; beta is 1 with an offset, else 0. The steps of the
        exponential loss may diverge at any C. The slopes of the other losses are bounded.
        ``step='safe'`` bounds these steps. 'squared', 'squared_hinge' and 'huber' take the slope at
        the end of the step (an implicit step), which divides ``eta_t C (y - o_i)`` by ``1 + eta_t C
        (kappa_ii + beta)``. 'epsilon_insensitive' stops at its kink. 'exponential' is bounded by
        ``max(1, |1 - y o_i|) / (kappa_ii + beta)``. If the steps diverge nevertheless
        (``step='paper'``), learning stops with a ``ConvergenceWarning`` and keeps the last finite
        model.

        ``solver='smo'`` solves the dual of ``w'w / 2 + C sum l(y_i, f(x_i))``, with the
        coefficients a as they stand in the model: maximise ``t'a - e |a|_1 - a'(K + R) a / 2``
        with ``sum a = 0`` if there is an offset. The maximum, of each output, is the attribute
        `dual_objective_`, which the other solvers lack. 'hinge': t is the label, a_i has its sign,
        and ``|a_i| <= C``; 'smooth_hinge': also R = delta / C; 'squared_hinge': R = 1 / C, no
        bound; 'squared': any sign too; 'epsilon_insensitive': t is the target, ``|a_i| <= C``, e =
        epsilon; 'huber': e = 0, ``|a_i| <= delta C``, R = 1 / C. The duals of 'logistic' and
        'exponential' are not quadratic. Two coefficients move at a time, chosen to second order
        (R.-E. Fan, P.-H. Chen, C.-J. Lin 2005, JMLR 6); without an offset, one. Samples in float32
        have kernel values in float32, as LIBSVM has always; slopes and coefficients are in double.
    """,
    "pairwise_parameters": """
        multi_class : {'ovr', 'margin', 'ovo'}, default='ovr'
            For more than two classes: 'ovr' solves one binary problem per class, 'margin' compares
            the true class with its strongest rival (Crammer and Singer 2001), 'ovo' solves one
            problem per pair of classes, as SVC does, and lets them vote. 'ovo' needs
            ``solver='smo'``, which has no 'margin'. All problems share one set of support vectors.
        probability : bool, default=False
            Whether ``solver='smo'`` prepares `predict_proba`: up to 512 points are left out, a
            fifth at a time, and scored by what the others teach. The other solvers have
            probabilities anyway.
        decision_function_shape : {'ovr', 'ovo'}, default='ovr'
            With ``multi_class='ovo'``: whether `decision_function` gives what decides between the
            classes, or the scores of their pairs.
    """,
}
