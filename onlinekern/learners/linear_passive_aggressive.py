"""Linear Passive-Aggressive learners, which take the place of scikit-learn's."""

import math
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_class_weight

from onlinekern.core import HEADS, RULES
from onlinekern.core.base.pool import run_together
from onlinekern.core.base.random import Generator, shuffled
from onlinekern.core.learning.heads import Weighted
from onlinekern.core.models.linear import LinearSpace
from onlinekern.core.stream import Model
from onlinekern.estimators.atomic import fit_method
from onlinekern.estimators.class_weights import factors_of
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.contract import new_generator
from onlinekern.estimators.linear import LinearEstimator
from onlinekern.estimators.parameters import Count, NotNegative, Share, estimator
from onlinekern.estimators.passes import (
    Patience,
    draw_problems,
    initial_weights,
    learnt_last,
    report,
    score_held_out,
)
from onlinekern.estimators.regression import OnlineRegressor
from onlinekern.estimators.scikit_learn import Interval
from onlinekern.estimators.types import ArrayLike, Samples, Weights
from onlinekern.estimators.warnings import warn

# On sparse samples the steps of the constant are this factor smaller than those of the weights.
SPARSE_INTERCEPT = 0.01
# As in scikit-learn, models are averaged from the sample of this number on.
FromSample: TypeAlias = Count | bool | Literal["uniform", "decay"]


@estimator
class LinearPA(LinearEstimator):
    """Mixin of learners whose passes end by a stopping rule, for each one-vs-rest problem."""

    # max_iter and the stopping rule replace n_epochs.
    n_epochs: ClassVar[int] = 1  # type: ignore[misc]
    C: Annotated[float, Interval(Real, 0, None, closed="right")] = 1.0
    loss: str = "hinge"
    variant: Literal["pa", "pa1", "pa2"] | None = None
    fit_intercept: bool = True
    max_iter: Count = 1000
    tol: NotNegative | None = 1e-3
    early_stopping: bool = False
    validation_fraction: Share = 0.1
    n_iter_no_change: Count = 5
    warm_start: bool = False
    average: FromSample = False

    # This counts rows of all passes that were not learnt: held out, or of weight 0.
    _passed_over = 0

    # scikit-learn's PassiveAggressive has the initial weights before sample_weight.
    @fit_method
    def fit(  # type: ignore[override]
        self,
        X: Samples,
        y: ArrayLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Learn from scratch, or from given weights, in passes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            float32 samples are kept as float32, everything else becomes float64.
        y : array-like of shape (n_samples,)
            Labels or targets.
        coef_init : array-like of the shape of `coef_`, default=None
            Initial weights; 0 by default, or with `warm_start` those of the last call.
        intercept_init : array-like of the shape of `intercept_`, default=None
            The same for the constants.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0, see Notes of the class; None is 1 for every sample.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X, y, sample_weight or the initial weights are invalid.
        FloatingPointError
            If the learner diverges.
        """
        if self.warm_start and self.__sklearn_is_fitted__():
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        X, y, weight = self._validate(X, y, sample_weight, start=True, whole=True)
        y = self._encode(y, self._labels(y))
        self._weigh_classes(y)
        self._look_at_scales(X, y, 0, X.shape[0])
        head = self._head()
        self._check_features(X, head.n_outputs)
        first = initial_weights(coef_init, intercept_init, head.n_outputs, X.shape[1])
        separate = head.n_outputs > 1 and getattr(self, "multi_class", None) == "ovr"
        held_out, seeds = draw_problems(self, y, head.n_outputs if separate else 1)
        stream = X, y, weight, held_out
        if separate:
            self._fit_separately(stream, seeds, first)
        else:
            self._model = self._begin(X, head, first)
            self.n_iter_ = self._pass(self._model, stream, seeds[0])
        self._passed_over = self.n_iter_ * X.shape[0] - self.n_seen_
        if self.tol is not None and self.n_iter_ == self.max_iter:
            warn(
                f"fit made max_iter={self.max_iter} passes before its stopping rule held: raise "
                "max_iter or tol.",
                ConvergenceWarning,
            )
        return self

    def _begin(self, X: Any, head: Any, first: Any) -> Any:
        # The core draws nothing here: the user's generator only draws the order.
        rng = new_generator(np.random.RandomState(0))
        self._check_features(X, head.n_outputs)
        model = self._compose(X, self._space(X, head.n_outputs, rng, None), head, rng)
        model.space.resume(first)
        return model

    def _fit_separately(self, stream: Any, seeds: Any, first: Any) -> None:
        """Learn a problem for each class, with its own order and end; then join the models."""
        X, y, weight, held_out = stream
        recent = learnt_last(self, stream, seeds)

        def solve(k: int) -> Any:
            model = self._begin(X, self._problem_head(k), first[k : k + 1])
            problem = X, (y == k).astype(np.float64), weight, held_out
            scores = np.empty((len(y), 1))
            return model, self._pass(model, problem, seeds[k], scores), scores[recent, 0]

        found = run_together(solve, range(len(seeds)), effective_n_jobs(self.n_jobs))
        models, passes, scores = zip(*found, strict=True)
        whole = self._begin(X, self._head(), first)
        seen = max(model.n_seen for model in models)
        whole.space.resume(
            np.vstack([model.space.latest() for model in models]),
            np.vstack([model.space.effective() for model in models]),
            seen,
        )
        counts = [(model.n_mistakes, model.cumulative_loss) for model in models]
        whole.resume_counts(seen, *map(sum, zip(*counts, strict=True)))
        weights = np.ones(len(recent)) if weight is None else weight[recent]
        whole.recent.replace(np.column_stack(scores), y[recent], weights)
        self._model = whole
        self.n_iter_ = max(passes)

    def _pass(self, model: Model, stream: Any, seed: Any, scores: Any = None) -> Any:
        """Learn the rows that are not held out, pass after pass; return how many.

        `scores`, if given, get those of the first pass.
        """
        X, y, weight, held_out = stream
        order = np.arange(X.shape[0])
        permutation = shuffled(X.shape[0], seed) if self.shuffle else order
        patience = Patience(self.tol, self.n_iter_no_change)
        for number in range(1, self.max_iter + 1):
            order = order[permutation]
            before = model.cumulative_loss
            first = number == 1
            model.learn(
                X,
                y,
                weight,
                order[~held_out[order]],
                self.window or 0,
                scores=scores if first else None,
                noted=first,
            )
            loss = (model.cumulative_loss - before) / np.sum(~held_out)
            value = score_held_out(self, model, stream) if self.early_stopping else -loss
            if self.verbose:
                report(number, model, loss, value if self.early_stopping else None)
            if patience.is_over(value):
                break
        return number

    def _partial_fit(
        self, X: Any, y: Any, labels: Any, sample_weight: Any, scored: bool = False
    ) -> Any:
        if self.early_stopping:
            raise ValueError("early_stopping=True needs fit; partial_fit holds no rows out")
        if not self.__sklearn_is_fitted__():
            self._weigh_classes(None)
        return super()._partial_fit(X, y, labels, sample_weight, scored)

    def _finish(self) -> None:
        self.n_iter_ = 1

    def _problem_head(self, k: int) -> Any:
        """Return the head of the problem of one class against the rest."""
        raise NotImplementedError(f"{type(self).__name__}._problem_head")

    def _weigh_classes(self, y: Any) -> None:
        """Store the class weights; y is None before the first call of `partial_fit`."""

    @property
    def t_(self) -> float:
        """Number of samples in all passes, plus 1."""
        return 1.0 + self.n_seen_ + self._passed_over

    def _rule(self) -> Any:
        variant = self.variant or ("pa2" if self.loss.startswith("squared") else "pa1")
        # Plain PA is PA-I without its bound, as is PA-II where C is infinite.
        if variant == "pa" or math.isinf(self.C):
            return RULES["scaled_pa1"](self._plain_loss(), math.inf)
        return RULES[f"scaled_{variant}"](self._plain_loss(), self.C)

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        # The first samples decide for the whole stream.
        constant = SPARSE_INTERCEPT if sp.issparse(X) else 1.0
        averaging, left_out = self._averaging()
        arguments = X.shape[1], X.dtype, n_outputs, averaging, self.fit_intercept * constant
        return LinearSpace(*arguments, left_out, self.variant == "pa")

    def _averaging(self) -> tuple[bool | str, int]:
        """Return which average predicts, and the number of first models that it leaves out."""
        if isinstance(self.average, str):
            return self.average, 1
        return self.average > 0, int(self.average)

    def _renew(self, model: Model) -> None:
        super()._renew(model)
        model.space.intercept_in_length = self.variant == "pa"


@estimator
class PAClassifier(LinearPA, OnlineClassifier):
    """Passive-Aggressive classification, with the parameters of scikit-learn's.

    A sample of hinge loss ``l = max(0, 1 - y (w.x + b)) > 0`` takes the step ``w <- w + tau y x``,
    ``b <- b + tau y`` with ``tau = min(C, l / ||x||^2)`` (PA-I) or ``l / (||x||^2 + 1 / (2 C))``
    (PA-II), section 3 of [1]_. Plain PA takes ``l / (||x||^2 + 1)``: the 1 is the constant feature
    of b.

    Parameters
    ----------
    C : float > 0, default=1.0
        Aggressiveness: the largest tau of PA-I. Not used by plain PA.
    loss : {'hinge', 'squared_hinge'}, default='hinge'
        Which step to take: 'hinge' is PA-I, 'squared_hinge' PA-II.
    variant : {'pa', 'pa1', 'pa2'} or None, default=None
        None leaves the choice to `loss`. PA-I tolerates noisy labels, plain PA does not.
    max_iter : int >= 1, default=1000
        Largest number of passes of `fit` over the data. `partial_fit` always makes one.
    tol : float >= 0 or None, default=0.001
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss is not below the
        smallest one so far by `tol`. None makes all `max_iter` passes.
    early_stopping : bool, default=False
        Whether to hold rows out, and stop by the score on them instead of by the loss.
    validation_fraction : float in (0, 1), default=0.1
        Share of the rows that `early_stopping` holds out.
    n_iter_no_change : int >= 1, default=5
        Passes without improvement before `fit` stops, see `tol`.
    warm_start : bool, default=False
        Whether `fit` starts from the weights of the last call.
    fit_intercept : bool, default=True
        Whether to learn a constant b.
    average : bool, int >= 1, 'uniform' or 'decay', default=False
        Predict with the average of the models after each sample instead of the last one; an integer
        n leaves out the models before sample n. True is 'uniform', their mean. 'decay' forgets the
        first models: model t has a weight of about ``t**3`` (Shamir and Zhang 2013, eta = 3); where
        the last model alone is right, it catches up, and follows a correction within tens of
        samples.
    class_weight : dict, 'balanced' or None, default=None
        Weights of the classes: factors of the steps of their samples. 'balanced' is ``n_samples /
        (n_classes * n_samples_of_class)`` of what `fit` gets. In a one-vs-rest problem the weight
        applies to the samples of the class; the rest has weight 1. Before any `fit`, `partial_fit`
        and `learn_one` take the counts so far, and multiply the weight of the sample in every
        problem.
    multi_class : {'ovr', 'margin'}, default='ovr'
        For more than two classes: 'ovr' solves one binary problem per class, 'margin' compares the
        true class with its strongest rival (section 8 of [1]_).
    encode : {'auto', True, False}, default='auto'
        Whether the model encodes the columns of tables itself, with an encoder `encoder_`
        (docs/tables.md). 'auto' does if the first samples are a data frame or an Arrow table with
        text, categories, dates or missing values, or dictionaries; numbers stay as they are. True
        also encodes arrays. False never encodes.
    shuffle : bool, default=True
        Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order and of the rows held out.
    window : int >= 1 or None, default=None
        Samples that are read together. It never changes a result, and hardly the speed of a
        linear learner.
    n_jobs : int or None, default=None
        Threads used to predict, and to fit the problems of several classes; None means 1 unless
        in a ``joblib.parallel_backend`` context.
    verbose : int, default=0
        If not 0, print the norm, the loss and the score of each pass of `fit`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_mistakes_ : int
        Samples whose prediction, made before they were learnt, was wrong.
    coef_ : ndarray of shape (n_outputs, n_features), or (n_features,) for regression, float64
        Weights of the model that predicts (the average, if `average`); n_outputs is 1 for two
        classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants, 0 without `fit_intercept`.
    cumulative_loss_ : float
        Sum of weight times loss; the loss of a sample is taken before it is learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.
    n_iter_ : int
        Passes of the last call, ``learn_one`` aside; with several problems, the largest number.
    t_ : float
        One more than the number of samples in all passes.

    Notes
    -----
    `fit` repeats scikit-learn's PassiveAggressive: the same order of samples for the same
    `random_state`, and the same weights up to rounding. Hence ``||x||^2`` in PA-I and PA-II leaves
    out the constant, whose steps C bounds. On sparse samples the constant moves a hundredth of a
    step. The loss that decides about stopping is taken before each step. The page "Coming from
    scikit-learn's PassiveAggressive" lists what differs. A `sample_weight` multiplies the loss of
    its sample, and the step, but not beyond the step after which the sample has no loss; a sample
    of weight 0 is skipped.

    With several classes, `fit` solves the one-vs-rest problems one by one, each with its own order
    and its own end; `n_mistakes_` is then the sum over the problems, and `n_seen_` is that of the
    longest.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer (2006). Online
       passive-aggressive algorithms. Journal of Machine Learning Research 7, 551-585.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onlinekern import PAClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PAClassifier(C=0.01, random_state=0).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.95)
    True
    """

    loss: Literal["hinge", "squared_hinge"] = "hinge"

    def _weigh_classes(self, y: Any) -> None:
        if self.class_weight is None or (y is None and self.class_weight == "balanced"):
            # A stream has no counts of the whole; `_weigh` uses those so far.
            self._class_weights = None
            return
        if isinstance(self.class_weight, dict):
            # Classes may come along a stream, unless the dictionary has none of those that did.
            known = not self.class_weight.keys().isdisjoint(self.classes_.tolist())
            weights = factors_of(self.class_weight, self.classes_, known and y is None)
        else:
            labels = self.classes_[y.astype(np.intp)]
            weights = compute_class_weight("balanced", classes=self.classes_, y=labels)
        self._class_weights = tuple(weights.tolist())

    def _weigh(self, y: Any, weight: Any, whole: bool = False) -> Any:
        # The head has the known weights, as factors of steps.
        by_head = self._class_weights is not None
        return weight if by_head else super()._weigh(y, weight, whole)

    def _weigh_one(self, number: float, weight: float) -> tuple[float, Any]:
        return super()._weigh_one(number, weight) if self._class_weights is None else (weight, None)

    def _head(self) -> Any:
        head = super()._head()
        return head if self._class_weights is None else Weighted(head, self._class_weights)

    def _problem_head(self, k: int) -> Any:
        """Return the head of class k against the rest."""
        head = HEADS["binary"]()
        return head if self._class_weights is None else Weighted(head, (1, self._class_weights[k]))


@estimator
class PARegressor(LinearPA, OnlineRegressor):
    """Passive-Aggressive regression, with the parameters of scikit-learn's.

    A sample of loss ``l = max(0, |y - w.x - b| - epsilon) > 0`` takes the step ``w <- w + sign(y -
    w.x - b) tau x``, ``b <- b + sign(y - w.x - b) tau``, tau as in `PAClassifier` (section 5 of
    [1]_).

    Parameters
    ----------
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss; in the units of y.
    C : float > 0, default=1.0
        Aggressiveness: the largest tau of PA-I. Not used by plain PA.
    loss : {'epsilon_insensitive', 'squared_epsilon_insensitive'}, default='epsilon_insensitive'
        Which step to take: 'epsilon_insensitive' is PA-I, the squared loss PA-II.
    variant : {'pa', 'pa1', 'pa2'} or None, default=None
        None leaves the choice to `loss`. PA-I tolerates noisy targets, plain PA does not.
    max_iter : int >= 1, default=1000
        Largest number of passes of `fit` over the data. `partial_fit` always makes one.
    tol : float >= 0 or None, default=0.001
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss is not below the
        smallest one so far by `tol`. None makes all `max_iter` passes.
    early_stopping : bool, default=False
        Whether to hold rows out, and stop by the score on them instead of by the loss.
    validation_fraction : float in (0, 1), default=0.1
        Share of the rows that `early_stopping` holds out.
    n_iter_no_change : int >= 1, default=5
        Passes without improvement before `fit` stops, see `tol`.
    warm_start : bool, default=False
        Whether `fit` starts from the weights of the last call.
    fit_intercept : bool, default=True
        Whether to learn a constant b.
    average : bool, int >= 1, 'uniform' or 'decay', default=False
        Predict with the average of the models after each sample instead of the last one; an integer
        n leaves out the models before sample n. True is 'uniform', their mean. 'decay' forgets the
        first models: model t has a weight of about ``t**3`` (Shamir and Zhang 2013, eta = 3); where
        the last model alone is right, it catches up, and follows a correction within tens of
        samples.
    encode : {'auto', True, False}, default='auto'
        Whether the model encodes the columns of tables itself, with an encoder `encoder_`
        (docs/tables.md). 'auto' does if the first samples are a data frame or an Arrow table with
        text, categories, dates or missing values, or dictionaries; numbers stay as they are. True
        also encodes arrays. False never encodes.
    shuffle : bool, default=True
        Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order and of the rows held out.
    window : int >= 1 or None, default=None
        Samples that are read together. It never changes a result, and hardly the speed of a
        linear learner.
    n_jobs : int or None, default=None
        Threads used to predict, and to fit the problems of several classes; None means 1 unless
        in a ``joblib.parallel_backend`` context.
    verbose : int, default=0
        If not 0, print the norm, the loss and the score of each pass of `fit`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_features), or (n_features,) for regression, float64
        Weights of the model that predicts (the average, if `average`); n_outputs is 1 for two
        classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants, 0 without `fit_intercept`.
    cumulative_loss_ : float
        Sum of weight times loss; the loss of a sample is taken before it is learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.
    n_iter_ : int
        Passes of the last call, ``learn_one`` aside; with several problems, the largest number.
    t_ : float
        One more than the number of samples in all passes.

    Notes
    -----
    `fit` repeats scikit-learn's PassiveAggressive: the same order of samples for the same
    `random_state`, and the same weights up to rounding. Hence ``||x||^2`` in PA-I and PA-II leaves
    out the constant, whose steps C bounds. On sparse samples the constant moves a hundredth of a
    step. The loss that decides about stopping is taken before each step. The page "Coming from
    scikit-learn's PassiveAggressive" lists what differs. A `sample_weight` multiplies the loss of
    its sample, and the step, but not beyond the step after which the sample has no loss; a sample
    of weight 0 is skipped.

    Targets are learnt as they are, as scikit-learn's does, unlike in the other regressors: scale
    targets that are far from 0 and 1 first.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer (2006). Online
       passive-aggressive algorithms. Journal of Machine Learning Research 7, 551-585.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from onlinekern import PARegressor
    >>> X, y = make_regression(500, 10, noise=1.0, random_state=0)
    >>> model = PARegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    # scikit-learn's class learns targets as they are.
    standardize_target: ClassVar[bool] = False  # type: ignore[misc]
    _absent = {}
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive"
    epsilon: NotNegative = 0.1
