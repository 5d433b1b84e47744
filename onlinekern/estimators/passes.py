"""`fit` in passes until the loss stops improving, as in scikit-learn's PassiveAggressive."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot

from onlinekern.core.base.pool import run_together
from onlinekern.core.base.random import shuffled
from onlinekern.estimators.atomic import fit_method
from onlinekern.estimators.constraints import COUNT
from onlinekern.estimators.contract import new_generator
from onlinekern.estimators.linear import LinearModel
from onlinekern.estimators.scikit_learn import Interval
from onlinekern.estimators.types import ArrayLike, Floats, Samples
from onlinekern.estimators.warnings import warn

if TYPE_CHECKING:
    from onlinekern.core.stream import Model

MOST = np.iinfo(np.int32).max


class Patience:
    """Counts successive values that do not exceed the best one by `tol`."""

    def __init__(self, tol: float | None, patience: int) -> None:
        self.tol = -math.inf if tol is None else tol
        self.patience = patience
        self.best = -math.inf
        self.idle = 0

    def is_over(self, value: Any) -> bool:
        """Count a value; return whether `patience` values in a row brought no improvement."""
        self.idle = self.idle + 1 if value < self.best + self.tol else 0
        self.best = max(self.best, value)
        return self.idle >= self.patience


@dataclass(kw_only=True, eq=False, repr=False)
class PassesEstimator(LinearModel):
    """Mixin: passes until a stopping rule holds; each one-vs-rest problem stops by itself."""

    # max_iter and the stopping rule replace n_epochs.
    n_epochs: ClassVar[int] = 1  # type: ignore[misc]
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    verbose: int = 0
    warm_start: bool = False

    _constraints: ClassVar[dict[str, Any]] = {
        "n_epochs": None,
        "fit_intercept": ["boolean"],
        "max_iter": COUNT,
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": COUNT,
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
    }
    # Rows of all passes that were not learnt: held out, or of weight 0.
    _passed_over = 0

    # scikit-learn's PassiveAggressive has the initial weights before sample_weight.
    @fit_method
    def fit(  # type: ignore[override]
        self,
        X: Samples,
        y: ArrayLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
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
        first = initial_weights(coef_init, intercept_init, head.n_outputs, X.shape[1])
        separate = head.n_outputs > 1 and self.multi_class == "ovr"
        held_out, seeds = self._draw(y, head.n_outputs if separate else 1)
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
        model = self._compose(X, self._space(X, head.n_outputs, rng), head, rng)
        model.space.resume(first)
        return model

    def _fit_separately(self, stream: Any, seeds: Any, first: Any) -> None:
        """One problem for each class, with its own order and its own end; then one model."""
        X, y, weight, held_out = stream
        recent = self._learnt_last(stream, seeds)

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

    def _learnt_last(self, stream: Any, seeds: Any) -> Any:
        """The rows that the first pass of no problem learns early, 512 at most.

        Each problem has an order of its own, and probabilities need the scores of a row in all.
        """
        X, _, weight, held_out = stream
        learnt = ~held_out if weight is None else ~held_out & (weight > 0)
        earliest = np.arange(X.shape[0])
        for seed in seeds if self.shuffle else ():
            order = np.empty_like(earliest)
            order[shuffled(X.shape[0], seed)] = np.arange(X.shape[0])
            earliest = order if seed is seeds[0] else np.minimum(earliest, order)
        rows = np.argsort(earliest, kind="stable")
        return rows[learnt[rows]][-512:]

    def _pass(self, model: Model, stream: Any, seed: Any, scores: Any = None) -> Any:
        """Learn the rows that are not held out, pass after pass; returns how many.

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
            value = self._validate_on(model, stream) if self.early_stopping else -loss
            if self.verbose:
                report(number, model, loss, value if self.early_stopping else None)
            if patience.is_over(value):
                break
        return number

    def _validate_on(self, model: Model, stream: Any) -> Any:
        """Score of the last model on the rows held out: accuracy, or R2."""
        from sklearn.metrics import accuracy_score, r2_score  # slow to import, seldom needed

        X, y, weight, held_out = stream
        weight = None if weight is None else weight[held_out]
        latest = model.space.latest()
        scores = safe_sparse_dot(X[held_out], latest[:, :-1].T, dense_output=True) + latest[:, -1]
        if not is_classifier(self):
            return r2_score(y[held_out], scores[:, 0], sample_weight=weight)
        single = scores.shape[1] == 1
        predictions = scores[:, 0] > 0 if single else scores.argmax(axis=1)
        return accuracy_score(y[held_out], predictions, sample_weight=weight)

    def _draw(self, y: Any, n_problems: int) -> Any:
        """The rows held out, and a seed for each problem, in scikit-learn's order of draws."""
        if n_problems == 1 and is_classifier(self):
            draws = check_random_state(self.random_state)
            draws.randint(1, MOST)
            return self._split(y), [draws.randint(MOST)]
        held_out = self._split(y)
        draws = check_random_state(self.random_state)
        if n_problems == 1:
            return held_out, [draws.randint(MOST)]
        own = [np.random.RandomState(seed) for seed in draws.randint(MOST, size=n_problems)]
        return held_out, [one.randint(1, MOST) and one.randint(MOST) for one in own]

    def _split(self, y: Any) -> Any:
        """Which rows are held out to decide when to stop."""
        held_out = np.zeros(len(y), dtype=bool)
        if self.early_stopping:
            # Slow to import, seldom needed.
            from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

            kind = StratifiedShuffleSplit if is_classifier(self) else ShuffleSplit
            split = kind(test_size=self.validation_fraction, random_state=self.random_state)
            held_out[next(split.split(np.zeros((len(y), 1)), y))[1]] = True
        return held_out

    def _partial_fit(self, X: Any, y: Any, labels: Any, sample_weight: ArrayLike | None) -> Any:
        if self.early_stopping:
            raise ValueError("early_stopping=True needs fit; partial_fit holds no rows out")
        if not self.__sklearn_is_fitted__():
            self._weigh_classes(None)
        return super()._partial_fit(X, y, labels, sample_weight)

    def _finish(self) -> None:
        self.n_iter_ = 1

    def _weigh_classes(self, y: Any) -> None:
        """Store the weights of the classes; y is None before the first call of `partial_fit`."""

    @property
    def t_(self) -> float:
        """1 plus the number of samples in all passes."""
        return 1.0 + self.n_seen_ + self._passed_over


def initial_weights(
    coef: ArrayLike | None, intercept: ArrayLike | None, n_outputs: int, n_features: int
) -> Floats:
    """Initial weights, ndarray of shape (n_outputs, n_features + 1)."""
    first = np.zeros((n_outputs, n_features + 1))
    for name, value, place in (
        ("coef_init", coef, first[:, :-1]),
        ("intercept_init", intercept, first[:, -1]),
    ):
        if value is not None:
            value = np.asarray(value, dtype=np.float64)
            shape = place.shape
            allowed = {shape, (1, *shape), shape[1:]} if n_outputs == 1 else {shape}
            if value.shape not in allowed:
                raise ValueError(f"{name} must have the shape {shape}, got {value.shape}")
            if not np.all(np.isfinite(value)):
                raise ValueError(f"{name} must hold finite numbers")
            place[:] = value.reshape(shape)
    return first


def report(number: int, model: Model, loss: Any, score: Any) -> None:
    """Print how a pass went."""
    latest = model.space.latest()
    text = f"pass {number}: norm {np.linalg.norm(latest[:, :-1]):.2f}, "
    text += f"non-zero weights {np.count_nonzero(latest[:, :-1])}, samples {model.n_seen}, "
    text += f"mean loss {loss:.6f}"
    print(text if score is None else f"{text}, validation score {score:.6f}")
