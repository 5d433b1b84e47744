"""Several targets: scikit-learn's MultiOutput estimators around each learner of streams."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor

from onlinekern import all_estimators


def of_streams(kind):
    return [(name, cls) for name, cls in all_estimators(kind) if hasattr(cls, "partial_fit")]


def small(cls):
    """The estimator with the same random numbers each time, and little memory."""
    wanted = {"random_state": 0, "budget": 20, "n_components": 10}
    known = cls().get_params()
    return cls(**{name: value for name, value in wanted.items() if name in known})


@pytest.mark.parametrize(("name", "cls"), of_streams("regressor"))
def test_targets_are_learnt_side_by_side(name, cls):
    X = np.random.default_rng(0).normal(size=(120, 3))
    Y = np.column_stack([X[:, 0] * X[:, 1], X[:, 2], X.sum(axis=1)])
    model = MultiOutputRegressor(small(cls))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for batch in (slice(0, 70), slice(70, 120)):
            model.partial_fit(X[batch], Y[batch])
        for place in range(3):
            alone = clone(small(cls)).partial_fit(X[:70], Y[:70, place])
            alone.partial_fit(X[70:], Y[70:, place])
            np.testing.assert_array_equal(model.predict(X)[:, place], alone.predict(X))


@pytest.mark.parametrize("name", ["KernelPAClassifier", "KernelRLSClassifier", "StreamClassifier"])
def test_labels_are_learnt_side_by_side(name):
    X = np.random.default_rng(0).normal(size=(200, 3))
    Y = np.column_stack([X[:, 0] * X[:, 1] > 0, X[:, 2] > 0]).astype(int)
    model = MultiOutputClassifier(small(dict(all_estimators())[name]))
    model.partial_fit(X, Y, classes=[np.array([0, 1]), np.array([0, 1])])
    assert (model.predict(X) == Y).mean() > 0.8
    assert [p.shape for p in model.predict_proba(X)] == [(200, 2), (200, 2)]
