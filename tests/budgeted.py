"""Compare budgeted learners with their naive loops."""

import copy
import itertools
from functools import lru_cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier

DTYPES = [np.float32, np.float64]
LAYOUTS = ["dense", "csr", "wide"]
WINDOWS = [1, 7, None]
OVERFLOWING = {"kernel": "polynomial", "gamma": 0.01, "degree": 2, "coef0": 1.0, "budget": 9}
# Parameters of the run, not of the algorithm.
NOT_OF_THE_LOOP = {
    *("n_epochs", "shuffle", "random_state", "window", "n_jobs", "verbose", "encode"),
    "standardize_target",
    "class_weight",
}  # fmt: skip


@lru_cache(maxsize=4)
def weights_of(n):
    weights = np.random.default_rng(5).choice([0.0, 0.5, 1.0, 2.5], size=n)
    weights[[0, n - 1]] = 0
    weights.flags.writeable = False
    return weights


def as_dense(rows, d):
    """Return dense rows with the columns of the original samples."""
    rows = rows.toarray() if sparse.issparse(rows) else rows
    if rows.shape[1] == d:
        return rows
    return rows[:, np.linspace(7, rows.shape[1] - 5, d).astype(int)]


def build(cls, task, **parameters):
    if task == "regression":
        parameters["standardize_target"] = False
    model = cls(gamma=0.4, random_state=3, **parameters)
    return model.set_params(multi_class=task) if task in ("ovr", "margin") else model


def naive(loop, model, X, y, sample_weight=None):
    arguments = {k: v for k, v in model.get_params().items() if k not in NOT_OF_THE_LOOP}
    if not is_classifier(model):
        arguments |= {"task": "regression", "multi_class": None}
    return loop(X, y, sample_weight=sample_weight, **arguments)


def learn(model, X, y, sample_weight=None):
    first = {"classes": np.unique(y)} if is_classifier(model) else {}
    return model.partial_fit_predict(X, y, sample_weight=sample_weight, **first)


def check(model, predictions, expected, tolerance):
    """Compare a model and its predictions before each sample with the naive loop."""
    if is_classifier(model):
        np.testing.assert_array_equal(predictions, expected.predictions)
        assert model.n_mistakes_ == expected.mistakes
    else:
        scale = max(1, np.abs(expected.predictions).max())
        np.testing.assert_allclose(predictions / scale, expected.predictions / scale,
                                   atol=tolerance)  # fmt: skip
    assert model.n_seen_ == expected.n_seen
    machine = expected.machine
    assert model.n_support_ == len(machine.rows)
    rows = as_dense(model.support_vectors_, len(machine.rows[0]))
    np.testing.assert_allclose(rows, np.array(machine.rows), atol=tolerance)
    scale = max(1, np.abs(expected.dual_coef).max())
    np.testing.assert_allclose(model.dual_coef_ / scale, expected.dual_coef / scale,
                               atol=tolerance)  # fmt: skip
    np.testing.assert_allclose(model.cumulative_loss_, expected.cumulative_loss, rtol=tolerance)


def check_twin(cls, loop, task, settings, stream, as_layout, tolerances, weighted=False, n=110):
    """Compare an estimator with its naive loop in every dtype, layout and window."""
    X, y = stream("ovr" if task == "margin" else task, n=n)
    Z, _ = stream("binary", n=20, seed=9)
    weights = weights_of(n) if weighted else None
    expected = naive(loop, build(cls, task, **settings), X, y, weights)
    assert len(expected.machine.rows) > 5
    for dtype, layout, window in itertools.product(DTYPES, LAYOUTS, WINDOWS):
        model = build(cls, task, window=window, **settings)
        predictions = learn(model, as_layout(X, layout, dtype), y, weights)
        check(model, predictions, expected, tolerances[dtype])
        score = model.decision_function if is_classifier(model) else model.predict
        outside, scores = expected.decision_function(Z), score(as_layout(Z, layout, dtype))
        scale = max(1.0, np.abs(outside).max())
        np.testing.assert_allclose(scores / scale, outside / scale, atol=tolerances[dtype])
    return expected


def check_windows(make, X, y, as_layout, state_of, same_state):
    """Compare the models of different windows, bit for bit."""
    for dtype, layout in itertools.product(DTYPES, LAYOUTS):
        rows = as_layout(X / 3, layout, dtype)  # Thirds have no exact digits in either dtype.
        reference = None
        for window in [1, 7, 64, 1000, None]:
            model = make().set_params(window=window, random_state=3)
            for part in np.split(np.arange(len(y)), [40, 170]):
                if is_classifier(model):
                    model.partial_fit(rows[part], y[part], classes=np.unique(y))
                else:
                    model.partial_fit(rows[part], y[part])
            model.window = None
            reference = reference or state_of(model)
            same_state(model, reference)


def check_undo(model, X, y, layout, as_layout, same_state):
    """Let a call of an `OVERFLOWING` model fail at its last sample: all that it did is undone."""
    X[-1] = 1e160
    rows = as_layout(X, layout)
    learn(model, rows[:60], y[:60])
    twin = copy.deepcopy(model)
    with pytest.raises(FloatingPointError):
        model.partial_fit(rows[60:], y[60:])
    same_state(model, twin)
    same_state(model.partial_fit(rows[60:-1], y[60:-1]), twin.partial_fit(rows[60:-1], y[60:-1]))
