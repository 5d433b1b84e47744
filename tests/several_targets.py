"""What every learner of several targets does: checks, and samples of three targets."""

import pickle

import numpy as np
import pytest

import onlinekern
from onlinekern.fitted.save import to_bytes


def samples(n, d, dtype=np.float64):
    """Return rows, three targets of very different sizes, and weights, some of them 0."""
    random = np.random.default_rng(5)
    X = random.standard_normal((n, d)).astype(dtype)
    Y = np.column_stack([np.sin(X[:, 0]), 3 + 10 * X[:, 1] ** 2, 100 + X.sum(axis=1)])
    return X, Y + 0.1 * random.standard_normal(Y.shape), random.integers(0, 3, n) / 2


def check_cuts(build, samples, size, tmp_path):
    """A stream of 500 samples may be cut, saved, copied and undone."""
    X, Y, weight = samples
    expected = build().partial_fit(X, Y, sample_weight=weight)
    model = build()
    for first in range(0, 400, size):
        rows = slice(first, min(first + size, 400))
        model.partial_fit(X[rows], Y[rows], sample_weight=weight[rows])
        model.save(tmp_path / "model")
        model = pickle.loads(pickle.dumps(onlinekern.load(tmp_path / "model")))
    for x, y, w in zip(X[400:440], Y[400:440], weight[400:440], strict=True):
        model.learn_one(x, y, w)
    before = to_bytes(model)
    model.partial_fit(X[:60], Y[:60])
    model._model.undo()
    assert to_bytes(model) == before
    model.partial_fit(X[440:], Y[440:], sample_weight=weight[440:])
    assert to_bytes(model) == to_bytes(expected)
    np.testing.assert_array_equal(model.score_one(X[3]), model.predict(X[3:4])[0])


def check_failures(build, X, Y):
    """A call that fails leaves the model as it was."""
    model = build().partial_fit(X, Y)
    before = to_bytes(model)
    with pytest.raises(FloatingPointError):
        model.partial_fit(X, np.where(np.arange(len(X)) == 60, 1e200, 1.0)[:, None] * Y)
    with pytest.raises(ValueError, match="y must have 3 targets a sample"):
        model.partial_fit(X, Y[:, :2])
    for bad, message in [
        (1.0, "y must have 3 targets a sample"),
        ([1.0, 2.0], "y must have 3 targets a sample"),
        ([1.0, np.nan, 2.0], "y must be finite"),
        ([[1.0, 2.0, 3.0]], "y must be 3 numbers"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.learn_one(X[0], bad)
    assert to_bytes(model) == before


def check_one_column(build, X, Y):
    """A column of targets is one target."""
    one, column = build().fit(X, Y[:, 0]), build().fit(X, Y[:, :1])
    assert to_bytes(one) == to_bytes(column)
    assert column.predict(X).shape == (len(X),)
    assert column.n_outputs_ == 1
