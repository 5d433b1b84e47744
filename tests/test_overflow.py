"""Numbers too large to be learnt: the call fails, names it, and leaves a model that can be saved.

What overflows in the last sample of a call is seen by no score of that call.
"""

import pickle

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from states import difference, state_of

import onlinekern
from onlinekern import KernelRLSRegressor, OGDRegressor, StreamRegressor, all_estimators

STREAMS = {name: cls for name, cls in all_estimators() if hasattr(cls, "partial_fit")}
# Factors of features and targets.
LARGE = {
    "features": (1e200, 1),
    "largest": (1e307, 1),
    "targets": (1, 1e300),
    "both": (1e154, 1e100),
}
KERNELS = ("gaussian", "linear", "polynomial")


def cases():
    for name, cls in STREAMS.items():
        kernels = KERNELS if "kernel" in cls().get_params() else (None,)
        for kernel in kernels:
            if takes(cls, kernel):
                yield pytest.param(name, kernel, id=f"{name}-{kernel}" if kernel else name)


def takes(cls, kernel):
    """Return whether an estimator takes a kernel, or has none."""
    X = np.eye(4)
    try:
        teach(cls(**({} if kernel is None else {"kernel": kernel})), X, X[:, 0])
    except ValueError:
        return False
    return True


def teach(model, X, y):
    if is_classifier(model):
        model.partial_fit(X, y > 0, classes=[False, True])
    elif is_regressor(model):
        model.partial_fit(X, y)
    else:
        model.partial_fit(X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("large", LARGE)
@pytest.mark.parametrize(("name", "kernel"), list(cases()))
def test_what_overflows_is_not_learnt(name, kernel, large):
    """Sample by sample, on a new model and on one that has learnt."""
    X = np.random.default_rng(0).normal(size=(24, 4))
    parameters = {} if kernel is None else {"kernel": kernel}
    for known in (0, 20):
        model = STREAMS[name](**parameters)
        if large in ("targets", "both") and not is_regressor(model):
            return
        if known:
            teach(model, X[:known], X[:known, 0])
        for row in X[20:]:
            before = state_of(model)
            try:
                teach(model, row[None] * LARGE[large][0], row[:1] * LARGE[large][1])
            except (FloatingPointError, ValueError):
                assert difference(state_of(model), before) is None
                break
            pickle.loads(pickle.dumps(model))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", [OGDRegressor, KernelRLSRegressor, StreamRegressor])
def test_the_error_says_what_happened(cls, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 4))
    model = cls().fit(X, X[:, 0])
    scores = model.predict(X)
    large = (X[:1], np.array([1e300])) if cls is StreamRegressor else (X[:1] * 1e200, X[:1, 1])
    for learn in (model.partial_fit, lambda x, y: model.learn_one(x[0], float(y[0]))):
        with pytest.raises(FloatingPointError, match="is not finite"):
            learn(*large)
        np.testing.assert_array_equal(model.predict(X), scores)
    model.save(tmp_path / "model.okn")
    again = onlinekern.load(tmp_path / "model.okn").partial_fit(X, X[:, 0])
    np.testing.assert_array_equal(again.predict(X), model.partial_fit(X, X[:, 0]).predict(X))


def test_an_overflow_that_leaves_no_trace_is_no_error():
    """What was noted before the call, and on the way to a finite number, is none of it."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    model = OGDRegressor().fit(X, X[:, 0])
    with np.errstate(over="ignore"):
        assert np.isinf(np.float64(1e300) * np.float64(1e300))
    model.partial_fit(X[:1], X[:1, 0])
    assert model.n_seen_ == 61
