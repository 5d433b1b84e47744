"""Passes of `fit` that end when the loss stops improving, as in scikit-learn's PassiveAggressive.

Here are the rows held out, the draws and the stopping rule."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot

from onlinekern.core.base.random import shuffled
from onlinekern.estimators.types import ArrayLike, Floats

if TYPE_CHECKING:
    from onlinekern.core.stream import Model

MOST = np.iinfo(np.int32).max


class Patience:
    """Count of successive values that do not exceed the best one by `tol`."""

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


def draw_problems(learner: Any, y: Any, n_problems: int) -> Any:
    """Draw the rows held out, and a seed for each problem, in scikit-learn's order."""
    if n_problems == 1 and is_classifier(learner):
        draws = check_random_state(learner.random_state)
        draws.randint(1, MOST)
        return held_out_rows(learner, y), [draws.randint(MOST)]
    held_out = held_out_rows(learner, y)
    draws = check_random_state(learner.random_state)
    if n_problems == 1:
        return held_out, [draws.randint(MOST)]
    own = [np.random.RandomState(seed) for seed in draws.randint(MOST, size=n_problems)]
    return held_out, [one.randint(1, MOST) and one.randint(MOST) for one in own]


def held_out_rows(learner: Any, y: Any) -> Any:
    """Return which rows are held out to decide when to stop."""
    held_out = np.zeros(len(y), dtype=bool)
    if learner.early_stopping:
        # It is slow to import, and seldom needed.
        from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

        kind = StratifiedShuffleSplit if is_classifier(learner) else ShuffleSplit
        split = kind(test_size=learner.validation_fraction, random_state=learner.random_state)
        held_out[next(split.split(np.zeros((len(y), 1)), y))[1]] = True
    return held_out


def learnt_last(learner: Any, stream: Any, seeds: Any) -> Any:
    """Return the rows that the first pass of no problem learns early, 512 at most.

    Each problem has an order of its own, and probabilities need the scores of a row in all.
    """
    X, _, weight, held_out = stream
    learnt = ~held_out if weight is None else ~held_out & (weight > 0)
    earliest = np.arange(X.shape[0])
    for seed in seeds if learner.shuffle else ():
        order = np.empty_like(earliest)
        order[shuffled(X.shape[0], seed)] = np.arange(X.shape[0])
        earliest = order if seed is seeds[0] else np.minimum(earliest, order)
    rows = np.argsort(earliest, kind="stable")
    return rows[learnt[rows]][-512:]


def score_held_out(learner: Any, model: Model, stream: Any) -> Any:
    """Score the last model on the rows held out: accuracy, or R2."""
    from sklearn.metrics import accuracy_score, r2_score  # It is slow to import, and seldom needed.

    X, y, weight, held_out = stream
    weight = None if weight is None else weight[held_out]
    latest = model.space.latest()
    scores = safe_sparse_dot(X[held_out], latest[:, :-1].T, dense_output=True) + latest[:, -1]
    if not is_classifier(learner):
        return r2_score(y[held_out], scores[:, 0], sample_weight=weight)
    single = scores.shape[1] == 1
    predictions = scores[:, 0] > 0 if single else scores.argmax(axis=1)
    return accuracy_score(y[held_out], predictions, sample_weight=weight)


def initial_weights(
    coef: ArrayLike | None, intercept: ArrayLike | None, n_outputs: int, n_features: int
) -> Floats:
    """Return the initial weights, ndarray of shape (n_outputs, n_features + 1)."""
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
