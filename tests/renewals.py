"""Forests and races that begin anew, and streams on which they do."""

import numpy as np
from test_race import drifting
from test_race import same_model as same_race

from onlinekern import (
    KernelForestClassifier,
    KernelForestRegressor,
    StreamClassifier,
    StreamRegressor,
)

FOREST = {"n_trees": 10, "memory": 512, "random_state": 0}
RACE = {"time_budget": 15.0, "random_state": 0}
TURN = 1100


def new_learner(kind, task, **parameters):
    """Return a forest or a race."""
    classes = task in ("binary", "classes")
    if kind == "race":
        cls = StreamClassifier if classes else StreamRegressor
        return cls(**{**RACE, **parameters})
    cls = KernelForestClassifier if classes else KernelForestRegressor
    return cls(**{**FOREST, **parameters})


def stream(kind, task, n=2600, **parameters):
    """Samples whose concept changes, and their targets, known classes and the learner."""
    X, y, f = drifting(n, classes=2 if task == "binary" else 3, turn=TURN)
    made = new_learner(kind, task, **parameters)
    if task == "targets":
        f = np.column_stack([f, np.where(np.arange(n) < TURN, X[:, 0], X[:, 1])])
    if task in ("regression", "targets"):
        return X, f, {}, made
    return X, y, {"classes": np.unique(y)}, made


def with_weights(n):
    return np.random.default_rng(3).integers(0, 3, n).astype(float)


def same_model(one, other, X):
    """Raise unless two learners are in the same state, in the same place of a trial."""
    scores = "decision_function" if hasattr(one, "classes_") else "predict"
    np.testing.assert_array_equal(getattr(one, scores)(X), getattr(other, scores)(X))
    if hasattr(one, "classes_"):
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
        assert one.n_mistakes_ == other.n_mistakes_
    if hasattr(one._model, "vote"):
        same_race(one, other, X)
    assert one.n_seen_ == other.n_seen_
    assert one.cumulative_loss_ == other.cumulative_loss_
    assert one.alarms_.tolist() == other.alarms_.tolist()
    assert one._model.began == other._model.began
    assert one._model.trials.left == other._model.trials.left
