"""What of a model can be made again from the rest is not in its pickles and files."""

import pickle

import numpy as np
import pytest

from onlinekern import KernelRLSClassifier, StreamClassifier, StreamRegressor
from onlinekern.core.linalg.copies import unpacked
from onlinekern.fitted.save import from_bytes, to_bytes


def state_of(space):
    """Return the state of the sums of a space of least squares."""
    return next(part for part in space.__reduce__()[1] if isinstance(part, dict))


@pytest.mark.parametrize("learner", [StreamClassifier, StreamRegressor, KernelRLSClassifier])
def test_half_of_a_symmetric_matrix_travels(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 10)).astype(np.float32)
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    known = {} if learner is StreamRegressor else {"classes": [0, 1]}
    y = f if learner is StreamRegressor else (f > 0).astype(int)
    model = learner(random_state=0).partial_fit(X[:900], y[:900], **known)
    race = getattr(model._model, "experts", (model._model,))
    squares = [e for e in race if hasattr(e.space, "map") and hasattr(e.space, "entered")]
    used = np.array([state_of(expert.space)["used"] for expert in squares])
    # A and L^-1 in double, N in single precision, at most 256 rows of features, 64 of products.
    room = sum(n * n * (4 + 4 + 2) + 4 * 320 * n + 4 * 64 * n for n in used.tolist())
    # Metrics keep the rows, targets and weights; the others take what they take.
    room += sum(hasattr(expert.space, "metric") * 900 * (4 * 10 + 8 + 8) for expert in squares)
    room += sum(len(pickle.dumps(expert)) for expert in race if expert not in squares)
    pickled, filed = pickle.dumps(model), to_bytes(model)
    assert max(len(pickled), len(filed)) < room + 100_000 + 20_000 * len(race)
    goes_on = [model, pickle.loads(pickled), from_bytes(filed, "a file")]
    for one in goes_on:
        one.partial_fit(X[900:], y[900:])
    for one in goes_on[1:]:
        assert to_bytes(one) == to_bytes(model)


def test_packed_panels_are_checked():
    whole = np.arange(9.0).reshape(3, 3)
    whole = whole + whole.T
    values = np.concatenate([whole[:, :2].ravel(), whole[2:, 2:].ravel()])
    np.testing.assert_array_equal(unpacked("a", values, 3, 2), whole)
    np.testing.assert_array_equal(unpacked("a", whole, 3, 2), whole)
    with pytest.raises(ValueError, match=r"a must have shape \(7,\)"):
        unpacked("a", values[1:], 3, 2)
