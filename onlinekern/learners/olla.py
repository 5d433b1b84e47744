"""OLLA: support vector machines and their like, learnt point by point in several passes."""

from math import sqrt
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from onlinekern.core import PENALTIES, POINT_RULES, SCHEDULES
from onlinekern.core.base.random import Generator
from onlinekern.core.models.olla import AllOutputs, OLLASpace, SupportOutputs, WorstViolatorFirst
from onlinekern.core.stream import Model
from onlinekern.estimators.duals import DUALS, Training
from onlinekern.estimators.gradient import LabelLossName, loss_of, made_for
from onlinekern.estimators.kernel import CompiledKernel, KernelEstimator
from onlinekern.estimators.memory import check_size
from onlinekern.estimators.one_vs_one import PairwiseClassifier
from onlinekern.estimators.parameters import Count, NotNegative, Positive, Schedule, estimator
from onlinekern.estimators.progress import progress_of
from onlinekern.estimators.regression import Regressor
from onlinekern.estimators.scikit_learn import Interval
from onlinekern.estimators.types import Floats
from onlinekern.estimators.warnings import warn

# The plain step can diverge with these losses; each has the rule that bounds it.
SAFE = {
    "squared": "implicit",
    "squared_hinge": "implicit",
    "huber": "implicit",
    "epsilon_insensitive": "stopped",
    "exponential": "capped",
}
# The slopes of these losses are bounded: by a number, or by the parameter of that name.
STEEPEST: dict[str, Any] = {
    **dict.fromkeys(("hinge", "smooth_hinge", "logistic", "epsilon_insensitive"), 1.0),
    "huber": "delta",
}
# No solver reads all parameters: these are what each leaves unread.
GRADIENT_ONLY = ("prox", "step", "schedule", "eta", "power")
MULTI_CLASS = {"gradient": ("ovr", "margin", "softmax"), "newton": ("ovr",), "smo": ("ovr", "ovo")}
# `max_iter` may have any value: a bound that is not reached does no harm, and tools set it for any
# estimator.
DUAL_ONLY = ("shrinking", "warm_start", "decision_function_shape")
UNREAD = {
    "gradient": ("relaxation", *DUAL_ONLY),
    "newton": (*GRADIENT_ONLY, *DUAL_ONLY),
    "smo": (
        *GRADIENT_ONLY,
        *("relaxation", "n_epochs", "selection", "outputs", "support_tol", "window"),
    ),
}


@estimator
class OLLA(KernelEstimator):
    """Mixin of learners that keep a coefficient for each training point, for `n_epochs` passes."""

    # All samples are there from the first step on.
    shuffle: ClassVar[bool] = False  # type: ignore[misc]
    loss: str = "hinge"
    C: Positive = 1.0
    penalty: Literal["l2", "l1", "none"] | None = "l2"
    prox: bool = True
    fit_intercept: bool = True
    solver: Literal["gradient", "newton", "smo"] = "gradient"
    step: Literal["safe", "paper"] = "safe"
    schedule: Schedule = "invsqrt"
    eta: Positive | None = None
    power: NotNegative = 0.5
    relaxation: Annotated[float, Interval(Real, 0, 2, closed="neither")] = 1.0
    selection: Literal["cyclic", "shuffled", "max_violator"] = "shuffled"
    outputs: Literal["all", "support"] | None = None
    support_tol: NotNegative = 1e-5
    tol: NotNegative = 1e-3
    cache_size: Positive = 200.0
    max_iter: Count | None = None
    shrinking: bool = True
    warm_start: bool = False
    kernel: CompiledKernel = "gaussian"
    n_epochs: Count = 10

    _warms_up = False

    def _check_combination(self) -> None:
        """Raise ValueError for parameters that exclude each other."""
        self._check_effects()
        if self.selection == "max_violator" and self.outputs == "support":
            raise ValueError(
                "selection='max_violator' needs the outputs of all points: outputs must be 'all' "
                "or None, got 'support'"
            )
        if self.solver == "smo":
            self._check_dual()
        if self.solver != "newton":
            return
        for name, needed in (("loss", "logistic"), ("penalty", "l2"), ("fit_intercept", False)):
            value = getattr(self, name)
            if value != needed:
                raise ValueError(f"solver='newton' needs {name}={needed!r}, got {name}={value!r}")

    def _check_effects(self) -> None:
        """Raise ValueError for a parameter that the solver does not read, unless at its default."""
        fields = type(self).__dataclass_fields__
        for name in UNREAD[self.solver]:
            if name in fields and (value := getattr(self, name)) != fields[name].default:
                raise ValueError(
                    f"{name}={value!r} has no effect with solver={self.solver!r}: leave it at its "
                    f"default, {fields[name].default!r}"
                )

    def _check_dual(self) -> None:
        """Raise ValueError if sequential minimal optimisation cannot solve the problem."""
        if self.loss not in DUALS:
            raise ValueError(
                f"solver='smo' needs a loss whose dual is a quadratic problem, one of "
                f"{sorted(DUALS)}, got loss={self.loss!r}: take solver='gradient'"
            )
        if self.penalty != "l2":
            raise ValueError(f"solver='smo' needs penalty='l2', got penalty={self.penalty!r}")
        if self.tol == 0:
            raise ValueError("solver='smo' needs tol > 0, got tol=0")

    def _check_threshold(self, weight: Any) -> None:
        """Raise ValueError if the soft threshold of 'l1' takes back every step.

        A step is at most eta_t C times the slope of the loss, the threshold eta_t.
        """
        steepest = STEEPEST.get(self.loss)
        if self.penalty != "l1" or not self.prox or steepest is None:
            return
        slope = getattr(self, steepest) if isinstance(steepest, str) else steepest
        slope *= 1.0 if weight is None else float(np.max(weight))
        if self.C * slope <= 1:
            raise ValueError(
                f"penalty='l1' with loss={self.loss!r} learns nothing at C={self.C}: its soft "
                f"threshold takes back every step. C must be above {1 / slope:.4g}; for weak "
                "regularisation take 10 or more, or take penalty='l2'"
            )

    def _rule(self) -> Any:
        loss = loss_of(self)
        if self.solver == "newton":
            return POINT_RULES["newton"](loss, self.C, self.relaxation)
        eta = self.eta
        if eta is None:
            eta = sqrt(2) if self.schedule == "invsqrt" else 1.0
        schedule = made_for(self, SCHEDULES[self.schedule], eta=eta)
        kind = SAFE.get(self.loss, "gradient") if self.step == "safe" else "gradient"
        return POINT_RULES[kind](loss, schedule, self.C, self.penalty not in (None, "none"))

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        self._check_combination()
        name = self.penalty or "none"
        penalty = PENALTIES["l1_sign" if name == "l1" and not self.prox else name]()
        parts = self._kernel_support(X, n_outputs), penalty, bool(self.fit_intercept)
        cache_bytes = 1e6 * self.cache_size
        if self.solver == "smo":
            whole = X.shape[0] ** 2 * X.dtype.itemsize
            check_size("cache_size", self.cache_size, min(cache_bytes, whole))
            return OLLASpace(*parts)
        if self._keeps_outputs(X, cache_bytes):
            whole = X.shape[0] ** 2 * X.dtype.itemsize
            check_size("cache_size", self.cache_size, min(cache_bytes, whole))
            return AllOutputs(*parts, cache_bytes)
        return SupportOutputs(*parts, self.support_tol)

    def _keeps_outputs(self, X: Any, cache_bytes: Any) -> Any:
        """Return whether the outputs of all points are kept."""
        if self.outputs is None:
            rows = X.shape[0] ** 2 * X.dtype.itemsize
            return self.selection == "max_violator" or rows <= cache_bytes
        return self.outputs == "all"

    def _train(
        self, model: Model, X: Any, y: Any, weight: Any, draws: np.random.RandomState
    ) -> Model:
        if self.solver == "smo":
            training = Training(self, model, X, y, weight)
            self.dual_objective_, self.n_iter_, self.support_ = training.run()
            self._fitted_C = float(self.C)
            return model
        for name in ("dual_objective_", "_fitted_C"):
            self.__dict__.pop(name, None)
        self._check_threshold(weight)
        space = model.space
        space.prepare(X)
        before, self.n_iter_ = None, 0
        try:
            with progress_of(self, self.n_epochs * len(y)) as progress:
                while self.n_iter_ < self.n_epochs:
                    order = self._order(model, y, weight, draws)
                    worst = isinstance(order, WorstViolatorFirst)
                    # The worst violators are not typical of the samples.
                    noted = self.n_iter_ == 0 and not worst
                    model.learn(X, y, weight, order, self.window or 0, noted=noted)
                    self.n_iter_ += 1
                    progress.add(len(y), model)
                    now = space.outputs() if worst else space.outputs_seen()
                    if before is not None and self._is_steady(before, now):
                        break
                    before = now
        except FloatingPointError as failure:
            self.support_ = space.settle(X, self.support_tol)
            self._warn_of_divergence(model, X, failure)
        else:
            self.support_ = space.settle(X, self.support_tol)
        return model

    def _renew(self, model: Model) -> None:
        """Do nothing: no step follows, so what is set takes effect in the next `fit`."""

    def _order(self, model: Model, y: Any, weight: Any, draws: np.random.RandomState) -> Any:
        """Return the order of one epoch."""
        if self.selection == "max_violator":
            targets = (y - model.target_mean) / model.target_scale
            return WorstViolatorFirst(model.space, model.head, targets, weight)
        return draws.permutation(len(y)).astype(np.intp) if self.selection == "shuffled" else None

    def _is_steady(self, before: Any, now: Any) -> Any:
        """Return whether an epoch changed the outputs of the points by less than `tol`."""
        return bool(np.linalg.norm(now - before) <= self.tol * np.linalg.norm(now))

    def _warn_of_divergence(self, model: Model, X: Any, failure: Any) -> None:
        """Keep the last finite model, if its scores are numbers; else the fit fails."""
        scores = np.empty((X.shape[0], model.head.n_outputs))
        model.scores(X, scores)
        if not np.isfinite(scores).all():
            raise failure
        warn(
            f"the steps diverged in epoch {self.n_iter_ + 1}; the model is the one before the "
            f"first step that was not finite. step={self.step!r}, C={self.C}: use step='safe', a "
            "smaller C, or with solver='newton' a smaller relaxation.",
            ConvergenceWarning,
        )

    @property
    def intercept_(self) -> Floats:
        """Offsets of the outputs, ndarray of shape (n_outputs,)."""
        return self._read_in_units(lambda space: space.offsets(), mean=True)


@estimator
class OLLAClassifier(OLLA, PairwiseClassifier):
    """OLLA: nonlinear support vector machines and their like, learnt point by point.

    The model is ``f(x) = sum_i a_i kappa(x_i, x) + b`` with a coefficient a_i for every training
    point. Step t changes the coefficient of one point i, of output ``o_i = f(x_i)``, by

        ``L = eta_t C s(y_i, o_i)``,  ``a_i <- a_i + L - P(a_i)``,  ``b <- b + L``,

    with s the negative slope of the loss and P the regulariser (table 1 and lists 1 and 2 of [1]_).
    The hinge gives the L1 support vector machine, 'squared_hinge' the L2 one, 'squared' the
    least-squares one, 'logistic' kernel logistic regression.

    Parameters
    ----------
    delta : float > 0, default=1.0
        Width of the quadratic piece of 'smooth_hinge' (the huberised hinge).
    loss : {'hinge', 'squared_hinge', 'smooth_hinge', 'logistic', 'exponential', 'squared'}, \
default='hinge'
        Loss of a point. 'hinge' and 'smooth_hinge' give the fewest support vectors; 'logistic' has
        probabilities of its own, the others are calibrated.
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
        Apply 'l1' as a soft threshold, which sets coefficients to 0, and needs a `C` above 1. False
        subtracts the paper's ``eta_t sgn(a_i)``, with which coefficients oscillate around 0.
    fit_intercept : bool, default=True
        Whether to learn the offset b.
    solver : {'gradient', 'newton', 'smo'}, default='gradient'
        How the problem is solved. 'gradient' is the paper's algorithm. 'newton' takes
        Newton-Raphson steps on one coefficient at a time; it has no step size. It needs the
        logistic loss, which no regressor has, ``penalty='l2'`` and ``fit_intercept=False``.
        'smo' solves the dual by sequential minimal optimisation, to the solution of
        scikit-learn's SVC and SVR; it needs ``penalty='l2'`` and a loss other than 'logistic'
        and 'exponential', see Notes. A parameter that the solver does not read, a step size
        with the last two for one, must have its default.
    step : {'safe', 'paper'}, default='safe'
        Which steps to take. 'paper' takes plain gradient steps. 'safe' bounds those that can
        diverge: of the squared losses, 'exponential', 'huber' and 'epsilon_insensitive', see Notes.
    schedule : {'invsqrt', 'inverse', 'constant', 'power'}, default='invsqrt'
        The step size eta_t is ``eta / sqrt(t)``, ``eta / t``, eta or ``eta / t**power``; t counts
        the points of all epochs. 'inverse' may not converge with an offset.
    eta : float > 0 or None, default=None
        Step size. None is ``sqrt(2)`` for 'invsqrt', which gives the paper's ``sqrt(2 / t)``, and 1
        otherwise.
    power : float >= 0, default=0.5
        Exponent of the schedule 'power'.
    relaxation : float in (0, 2), default=1.0
        Factor omega of the steps of ``solver='newton'``, the only one that reads it. Above 1 can be
        faster; with C of 100 and more, the steps oscillate unless it is below 1.
    selection : {'shuffled', 'cyclic', 'max_violator'}, default='shuffled'
        Order of the points: a new random order in each epoch, the given order, or always the
        point of smallest ``y f`` (in regression, of largest residual). 'max_violator' scans all
        outputs at every step.
    outputs : {'all', 'support'} or None, default=None
        How outputs are computed. 'all' stores the outputs of all points and updates them at every
        step (List 1 of the paper). 'support' computes the output of a point from the support
        vectors when it is learnt (List 2). With ``support_tol=0`` both give the same model up to
        rounding. None is 'all' if all kernel values fit into `cache_size`, or for 'max_violator'.
    support_tol : float >= 0, default=1e-5
        Points with coefficients up to this are not support vectors. With ``outputs='support'`` this
        also holds during learning.
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
        Whether 'smo' leaves out points that will probably stay at a bound. They are checked before
        it ends, so the solution is the same within `tol`.
    warm_start : bool, default=False
        Whether 'smo' begins with the coefficients that the last fit gave to the rows with the same
        indices, in proportion to C. This changes the number of steps, but not the solution, even if
        rows or labels have changed.
    probability : bool, default=False
        Whether ``solver='smo'`` prepares `predict_proba`: up to 512 points are left out, a
        fifth at a time, and scored by what the others teach. The other solvers have
        probabilities anyway.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        With ``multi_class='ovo'``, whether `decision_function` gives what decides between the
        classes, or the scores of their pairs.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', 'cosine'} \
or compiled kernel, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance. A compiled
        kernel may come from another package (docs/extending.md) and has its own parameters:
        `gamma`, `degree` and `coef0` then stay at their defaults.
    gamma : {'median', 'scale', 'auto'} or float > 0, default='median'
        Width of every kernel but the linear and cosine ones. 'median' is 2 over the median of
        ``||x - z||^2`` (Laplacian: ``||x - z||_1``) over all pairs of the first 200 samples, in
        the order in which they are learnt, however many come in a call. It is measured at 2, 5,
        10, 20, 50, 100 and 200 samples; a new model then learns them again, and what was
        predicted and counted before stays. 'scale' is ``1 / (n_features * X.var())`` and 'auto'
        ``1 / n_features``, as in scikit-learn's SVC; X is what `fit` gets, or the first batch
        given to `partial_fit`. A paper's bandwidth sigma is ``gamma = 1 / (2 * sigma**2)``.
    degree : int >= 1, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the weights of the samples of each class, see `sample_weight`: a dictionary
        from labels to numbers >= 0 (labels that it leaves out have 1), or 'balanced',
        ``n_samples / (n_classes * n_samples_of_class)``. `fit` counts all that it gets;
        `partial_fit` and `learn_one` count the samples so far, each with itself.
    multi_class : {'ovr', 'margin', 'softmax', 'ovo'}, default='ovr'
        For more than two classes: 'ovr' solves one binary problem per class, 'margin' compares
        the true class with its strongest rival (Crammer and Singer 2001). 'softmax' is
        multinomial logistic regression (kernel multi-logit [1]_): one loss for all classes, the
        log loss of the softmax of their scores; it needs ``loss='logistic'``. 'ovo' solves one
        problem per pair of classes, as SVC does, and lets them vote. 'ovo' needs
        ``solver='smo'``, which has no 'margin' and no 'softmax'. All problems share one set of
        support vectors.
    encode : {'auto', True, False}, default='auto'
        Whether the model encodes the columns of tables itself, with an encoder `encoder_`
        (docs/tables.md). 'auto' does if the first samples are a data frame or an Arrow table with
        text, categories, dates or missing values, or dictionaries; numbers stay as they are. True
        also encodes arrays. False never encodes.
    n_epochs : int >= 1, default=10
        Largest number of passes over the data.
    random_state : int, RandomState instance or None, default=None
        Seed of the orders.
    window : int >= 1 or None, default=None
        Points whose kernel values are computed together with ``outputs='support'``; None
        chooses by the size of the model. It changes the speed, never a result.
    n_jobs : int or None, default=None
        Threads used to predict, and by 'smo' to solve the problems of several classes side by
        side; None means 1 unless in a ``joblib.parallel_backend`` context.
    verbose : int, default=0
        If not 0, `fit` shows its progress: as a bar on a terminal and in a notebook, and as some
        lines in a log, on standard error. It counts passes, and with 'smo' the binary machines.
        Results do not change.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_mistakes_ : int
        Samples whose prediction, made before they were learnt, was wrong.
    support_ : ndarray of shape (n_SV,), int64
        Indices of the support vectors in the samples of `fit`, ascending.
    support_vectors_ : ndarray of shape (n_SV, n_features), or CSR matrix
        The support vectors, in the dtype of the samples; CSR when these were sparse.
    dual_coef_ : ndarray of shape (n_outputs, n_SV), float64
        Coefficients of the support vectors. n_outputs is 1 for two classes and regression, else the
        number of classes, or, with ``multi_class='ovo'``, of their pairs.
    intercept_ : ndarray of shape (n_outputs,), float64
        Offsets of the outputs, 0 without `fit_intercept`.
    n_support_ : int
        Number of support vectors.
    n_iter_ : int
        Epochs made; with 'smo', steps of all problems together.
    n_seen_ : int
        Steps made, without those of points of weight 0; with 'smo', the number of such points.
    cumulative_loss_ : float
        Sum of weight times loss over all steps; each loss is taken before its step. 0 with 'smo',
        which does not learn point by point.
    n_features_in_ : int
        Features of a sample.
    gamma_ : float
        The kernel width in use.

    Notes
    -----
    A sample of weight w has ``w C`` instead of C: 'smo' learns it as w copies. As in SVC, the width
    of the kernel does not depend on weights. ``gamma='median'`` is measured on 200 of the samples,
    at equal intervals.

    With the schedule ``sqrt(2 / t)``, the steps of the squared losses overshoot while ``eta_t C
    (kappa_ii + beta) > 2``, and may diverge; beta is 1 with an offset, else 0. The steps of the
    exponential loss may diverge at any C. The slopes of the other losses are bounded.
    ``step='safe'`` bounds these steps. 'squared', 'squared_hinge' and 'huber' take the slope at
    the end of the step (an implicit step), which divides ``eta_t C (y - o_i)`` by ``1 + eta_t C
    (kappa_ii + beta)``. 'epsilon_insensitive' stops at its kink. 'exponential' is bounded by
    ``max(1, |1 - y o_i|) / (kappa_ii + beta)``. If the steps diverge nevertheless
    (``step='paper'``), learning stops with a ``ConvergenceWarning`` and keeps the last finite
    model.

    ``solver='smo'`` solves the dual of ``w'w / 2 + C sum l(y_i, f(x_i))``, with the coefficients a
    of the model: maximise ``t'a - e |a|_1 - a'(K + R) a / 2`` with ``sum a = 0`` if there is an
    offset. The maximum, of each output, is the attribute `dual_objective_`, which the other solvers
    lack. 'hinge': t is the label, a_i has its sign, and ``|a_i| <= C``; 'smooth_hinge': also R =
    delta / C; 'squared_hinge': R = 1 / C, no bound; 'squared': any sign too; 'epsilon_insensitive':
    t is the target, ``|a_i| <= C``, e = epsilon; 'huber': e = 0, ``|a_i| <= delta C``, R = 1 / C.
    The duals of 'logistic' and 'exponential' are not quadratic. Two coefficients move at a time,
    chosen to second order (R.-E. Fan, P.-H. Chen, C.-J. Lin 2005, JMLR 6); without an offset, one.
    Samples in float32 have kernel values in float32, as in LIBSVM; slopes and coefficients are in
    double.

    ``selection='max_violator'`` meets the worst points first. So probabilities are then fitted to
    scores of points that have been learnt, and are surer than they should be.

    With ``multi_class='margin'`` the regulariser acts on the coefficients of all classes of a
    point. 'newton' needs 'ovr': each class is then a problem of its own. The votes of 'ovo' are
    those of SVC with ``break_ties=True``: between classes of equal votes the scores decide.

    Deviations from the paper: the soft threshold of 'l1' and the safe steps (``prox=False`` and
    ``step='paper'`` turn them off); the stop by `tol`; losses with a kink have no slope at ``y o =
    1``.

    References
    ----------
    .. [1] V. Kecman (2016). Fast online algorithm for nonlinear support vector machines and other
       alike models. Optical Memory and Neural Networks.

    Examples
    --------
    >>> from onlinekern import OLLAClassifier
    >>> from onlinekern.streams import two_spirals
    >>> X, y = two_spirals(1000, noise=0.01, random_state=0)
    >>> model = OLLAClassifier(gamma=16.0, C=100.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.98), model.n_support_ < 300
    (True, True)
    >>> machine = OLLAClassifier(solver="smo", gamma=16.0, C=100.0).fit(X, y)
    >>> bool(machine.score(X, y) > 0.98), machine.n_support_ < model.n_support_
    (True, True)
    """

    loss: LabelLossName = "hinge"
    delta: Positive = 1.0

    def _check_combination(self) -> None:
        super()._check_combination()
        wanted = MULTI_CLASS[self.solver]
        if len(self.classes_) > 2 and self.multi_class not in wanted:
            raise ValueError(
                f"solver={self.solver!r} needs multi_class={' or '.join(map(repr, wanted))} for "
                f"more than two classes, got {self.multi_class!r}"
            )
        if len(self.classes_) > 2 and self.multi_class == "softmax" and self.loss != "logistic":
            raise ValueError(f"multi_class='softmax' needs loss='logistic', got {self.loss!r}")

    def _train(
        self, model: Model, X: Any, y: Any, weight: Any, draws: np.random.RandomState
    ) -> Model:
        model = super()._train(model, X, y, weight, draws)
        if self.selection == "max_violator":
            rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
            rows = rows[:: max(1, len(rows) // 512)][:512]
            scores = np.empty((len(rows), model.head.n_outputs))
            model.scores(X[rows], scores)
            weights = np.ones(len(rows)) if weight is None else weight[rows]
            model.recent.replace(scores, y[rows], weights)
        return model

    def _is_steady(self, before: Any, now: Any) -> Any:
        same = np.array_equal(self._winners(before), self._winners(now))
        return same and super()._is_steady(before, now)


@estimator
class OLLARegressor(OLLA, Regressor):
    """OLLA for regression: support vector regression and its like, learnt point by point.

    The model and its steps are those of `OLLAClassifier`, with a loss of regression [1]_.

    Parameters
    ----------
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss in 'epsilon_insensitive'; in standard deviations
        of y.
    delta : float > 0, default=1.0
        Deviations beyond it count linearly in 'huber'; in standard deviations of y.
    loss : {'epsilon_insensitive', 'squared', 'huber'}, default='epsilon_insensitive'
        Loss of a point. 'epsilon_insensitive' is support vector regression, 'squared' kernel ridge
        regression; 'huber' tolerates outliers.
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
        Apply 'l1' as a soft threshold, which sets coefficients to 0, and needs a `C` above 1. False
        subtracts the paper's ``eta_t sgn(a_i)``, with which coefficients oscillate around 0.
    fit_intercept : bool, default=True
        Whether to learn the offset b.
    solver : {'gradient', 'newton', 'smo'}, default='gradient'
        How the problem is solved. 'gradient' is the paper's algorithm. 'newton' takes
        Newton-Raphson steps on one coefficient at a time; it has no step size. It needs the
        logistic loss, which no regressor has, ``penalty='l2'`` and ``fit_intercept=False``.
        'smo' solves the dual by sequential minimal optimisation, to the solution of
        scikit-learn's SVC and SVR; it needs ``penalty='l2'`` and a loss other than 'logistic'
        and 'exponential', see Notes. A parameter that the solver does not read, a step size
        with the last two for one, must have its default.
    step : {'safe', 'paper'}, default='safe'
        Which steps to take. 'paper' takes plain gradient steps. 'safe' bounds those that can
        diverge: of the squared losses, 'exponential', 'huber' and 'epsilon_insensitive', see Notes.
    schedule : {'invsqrt', 'inverse', 'constant', 'power'}, default='invsqrt'
        The step size eta_t is ``eta / sqrt(t)``, ``eta / t``, eta or ``eta / t**power``; t counts
        the points of all epochs. 'inverse' may not converge with an offset.
    eta : float > 0 or None, default=None
        Step size. None is ``sqrt(2)`` for 'invsqrt', which gives the paper's ``sqrt(2 / t)``, and 1
        otherwise.
    power : float >= 0, default=0.5
        Exponent of the schedule 'power'.
    relaxation : float in (0, 2), default=1.0
        Factor omega of the steps of ``solver='newton'``, the only one that reads it. Above 1 can be
        faster; with C of 100 and more, the steps oscillate unless it is below 1.
    selection : {'shuffled', 'cyclic', 'max_violator'}, default='shuffled'
        Order of the points: a new random order in each epoch, the given order, or always the
        point of smallest ``y f`` (in regression, of largest residual). 'max_violator' scans all
        outputs at every step.
    outputs : {'all', 'support'} or None, default=None
        How outputs are computed. 'all' stores the outputs of all points and updates them at every
        step (List 1 of the paper). 'support' computes the output of a point from the support
        vectors when it is learnt (List 2). With ``support_tol=0`` both give the same model up to
        rounding. None is 'all' if all kernel values fit into `cache_size`, or for 'max_violator'.
    support_tol : float >= 0, default=1e-5
        Points with coefficients up to this are not support vectors. With ``outputs='support'`` this
        also holds during learning.
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
        Whether 'smo' leaves out points that will probably stay at a bound. They are checked before
        it ends, so the solution is the same within `tol`.
    warm_start : bool, default=False
        Whether 'smo' begins with the coefficients that the last fit gave to the rows with the same
        indices, in proportion to C. This changes the number of steps, but not the solution, even if
        rows or labels have changed.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', 'cosine'} \
or compiled kernel, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance. A compiled
        kernel may come from another package (docs/extending.md) and has its own parameters:
        `gamma`, `degree` and `coef0` then stay at their defaults.
    gamma : {'median', 'scale', 'auto'} or float > 0, default='median'
        Width of every kernel but the linear and cosine ones. 'median' is 2 over the median of
        ``||x - z||^2`` (Laplacian: ``||x - z||_1``) over all pairs of the first 200 samples, in
        the order in which they are learnt, however many come in a call. It is measured at 2, 5,
        10, 20, 50, 100 and 200 samples; a new model then learns them again, and what was
        predicted and counted before stays. 'scale' is ``1 / (n_features * X.var())`` and 'auto'
        ``1 / n_features``, as in scikit-learn's SVC; X is what `fit` gets, or the first batch
        given to `partial_fit`. A paper's bandwidth sigma is ``gamma = 1 / (2 * sigma**2)``.
    degree : int >= 1, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    standardize_target : bool, default=True
        Whether to learn ``(y - mean) / scale``, with the mean and the standard deviation of the
        targets so far, y among them, and to predict ``mean + scale f``: targets may have any units.
        They settle as the stream goes on; a learner with `forgetting` forgets them too. A target
        counts as at most 30 standard deviations off, by what is known before it, unless two in a
        row before it were farther. False learns y itself; parameters in standard deviations are
        then in units of y.
    encode : {'auto', True, False}, default='auto'
        Whether the model encodes the columns of tables itself, with an encoder `encoder_`
        (docs/tables.md). 'auto' does if the first samples are a data frame or an Arrow table with
        text, categories, dates or missing values, or dictionaries; numbers stay as they are. True
        also encodes arrays. False never encodes.
    n_epochs : int >= 1, default=10
        Largest number of passes over the data.
    random_state : int, RandomState instance or None, default=None
        Seed of the orders.
    window : int >= 1 or None, default=None
        Points whose kernel values are computed together with ``outputs='support'``; None
        chooses by the size of the model. It changes the speed, never a result.
    n_jobs : int or None, default=None
        Threads used to predict, and by 'smo' to solve the problems of several classes side by
        side; None means 1 unless in a ``joblib.parallel_backend`` context.
    verbose : int, default=0
        If not 0, `fit` shows its progress: as a bar on a terminal and in a notebook, and as some
        lines in a log, on standard error. It counts passes, and with 'smo' the binary machines.
        Results do not change.

    Attributes
    ----------
    target_mean_, target_scale_ : float
        Mean and scale of the targets so far; 0 and 1 without `standardize_target`.
    support_ : ndarray of shape (n_SV,), int64
        Indices of the support vectors in the samples of `fit`, ascending.
    support_vectors_ : ndarray of shape (n_SV, n_features), or CSR matrix
        The support vectors, in the dtype of the samples; CSR when these were sparse.
    dual_coef_ : ndarray of shape (n_outputs, n_SV), float64
        Coefficients of the support vectors. n_outputs is 1 for two classes and regression, else the
        number of classes, or, with ``multi_class='ovo'``, of their pairs.
    intercept_ : ndarray of shape (n_outputs,), float64
        Offsets of the outputs, 0 without `fit_intercept`.
    n_support_ : int
        Number of support vectors.
    n_iter_ : int
        Epochs made; with 'smo', steps of all problems together.
    n_seen_ : int
        Steps made, without those of points of weight 0; with 'smo', the number of such points.
    cumulative_loss_ : float
        Sum of weight times loss over all steps; each loss is taken before its step. 0 with 'smo',
        which does not learn point by point.
    n_features_in_ : int
        Features of a sample.
    gamma_ : float
        The kernel width in use.

    Notes
    -----
    A sample of weight w has ``w C`` instead of C: 'smo' learns it as w copies. As in SVC, the width
    of the kernel does not depend on weights. ``gamma='median'`` is measured on 200 of the samples,
    at equal intervals.

    With the schedule ``sqrt(2 / t)``, the steps of the squared losses overshoot while ``eta_t C
    (kappa_ii + beta) > 2``, and may diverge; beta is 1 with an offset, else 0. The steps of the
    exponential loss may diverge at any C. The slopes of the other losses are bounded.
    ``step='safe'`` bounds these steps. 'squared', 'squared_hinge' and 'huber' take the slope at
    the end of the step (an implicit step), which divides ``eta_t C (y - o_i)`` by ``1 + eta_t C
    (kappa_ii + beta)``. 'epsilon_insensitive' stops at its kink. 'exponential' is bounded by
    ``max(1, |1 - y o_i|) / (kappa_ii + beta)``. If the steps diverge nevertheless
    (``step='paper'``), learning stops with a ``ConvergenceWarning`` and keeps the last finite
    model.

    ``solver='smo'`` solves the dual of ``w'w / 2 + C sum l(y_i, f(x_i))``, with the coefficients a
    of the model: maximise ``t'a - e |a|_1 - a'(K + R) a / 2`` with ``sum a = 0`` if there is an
    offset. The maximum, of each output, is the attribute `dual_objective_`, which the other solvers
    lack. 'hinge': t is the label, a_i has its sign, and ``|a_i| <= C``; 'smooth_hinge': also R =
    delta / C; 'squared_hinge': R = 1 / C, no bound; 'squared': any sign too; 'epsilon_insensitive':
    t is the target, ``|a_i| <= C``, e = epsilon; 'huber': e = 0, ``|a_i| <= delta C``, R = 1 / C.
    The duals of 'logistic' and 'exponential' are not quadratic. Two coefficients move at a time,
    chosen to second order (R.-E. Fan, P.-H. Chen, C.-J. Lin 2005, JMLR 6); without an offset, one.
    Samples in float32 have kernel values in float32, as in LIBSVM; slopes and coefficients are in
    double.

    ``solver='newton'`` exists for no loss of regression. The paper treats classification only.

    References
    ----------
    .. [1] V. Kecman (2016). Fast online algorithm for nonlinear support vector machines and other
       alike models. Optical Memory and Neural Networks.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import OLLARegressor
    >>> X = np.linspace(0, 6, 500)[:, None]
    >>> model = OLLARegressor(gamma=1.0, C=10.0, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.95)
    True
    """

    loss: Literal["squared", "epsilon_insensitive", "huber"] = "epsilon_insensitive"
    epsilon: NotNegative = 0.1
    delta: Positive = 1.0

    def _train(
        self, model: Model, X: Any, y: Any, weight: Any, draws: np.random.RandomState
    ) -> Model:
        if self.standardize_target:
            # All targets are known: that of a point is the same in every pass.
            mean = np.average(y, weights=weight)
            scale = np.sqrt(np.average((y - mean) ** 2, weights=weight))
            model.fix_targets(mean, scale if scale > 1e-15 * abs(mean) else 1.0)
        return super()._train(model, X, y, weight, draws)
