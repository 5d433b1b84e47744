"""Logistic regression by online Newton steps: its steps, and the probabilities that they give.

The model is compared with its twin in tests/test_kernel_second_order.py.
"""

import itertools

import numpy as np
import pytest
from oracles.kernel_logistic import LogisticNewton, minimum, softmax
from oracles.losses import LOSSES as ORACLE_LOSSES
from scipy.special import expit

from onlinekern import KernelLogisticClassifier
from onlinekern.core import COVARIANCES, HEADS, LOSSES, RULES, SAMPLERS
from onlinekern.core.base.random import Generator
from onlinekern.core.models.linear_second_order import SecondOrderSpace
from onlinekern.core.stream import Model

MARGINS = [-1e4, -700.0, -40.0, -3.0, -1e-9, 0.0, 0.3, 20.0, 37.5, 100.0, 700.0]
LENGTHS = [1e-12, 1e-3, 1.0, 30.0, 1e6, 1e12]


@pytest.mark.parametrize("importance", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("q", LENGTHS)
def test_extreme_steps_are_exact(q, importance):
    rule = RULES["logistic_newton"](LOSSES["logistic"](), 0.5)
    twin = LogisticNewton(ORACLE_LOSSES["logistic"](), r=0.5)
    for margin, y in itertools.product(MARGINS, [-1.0, 1.0]):
        found = rule.evaluate(y * margin, y, q, 1, importance)[0]
        expected = twin.coefficient(y * margin, y, q, 1, importance)
        # What the step leaves of the margin is a difference of numbers of its size.
        size = 1e-15 * (1 + abs(margin)) / q
        assert found == pytest.approx(expected, rel=1e-12, abs=size)
        contraction = rule.evaluate_contraction(y * margin, y, q, importance)
        assert 0 <= contraction * q <= 1


def test_a_step_does_not_overshoot():
    # A Newton step from the old score would move it by g q / (r + h q), about 1,000.
    rule = RULES["logistic_newton"](LOSSES["logistic"](), 0.01)
    moved = -9.0 + 10.0 * rule.evaluate(-9.0, 1.0, 10.0)[0]
    assert 0 < moved < 9


def one_step(scores, x, label, r, weight, covariance):
    """Return the coefficients of a step of linear softmax regression from these scores of x."""
    K = len(scores)
    space = SecondOrderSpace(len(x), np.float64, K, False, False, covariance)
    state = space.get_state()
    weights = np.zeros((K, len(x) + 1))
    weights[:, : len(x)] = np.outer(scores, x / (x @ x))
    space.resume(weights)
    rule = RULES["logistic_newton"](LOSSES["logistic"](), r)
    model = Model(
        space, HEADS["softmax"](K), rule, SAMPLERS["always"](), Generator(0), len(x), np.float64
    )
    model.learn(x[None], np.array([float(label)]), np.array([weight]))
    assert state["covariance"].shape == space.get_state()["covariance"].shape
    return model, space.latest()[:, : len(x)] - weights[:, : len(x)]


@pytest.mark.parametrize("covariance", ["diagonal", "full", "shared"])
@pytest.mark.parametrize("size", [0.0, 1.0, 30.0, 400.0])
def test_several_classes_are_solved_together(size, covariance):
    rng = np.random.default_rng(0)
    for K, weight, r in itertools.product([2, 3, 20], [0.01, 1.0, 300.0], [0.03, 1.0]):
        scores, x = size * rng.standard_normal(K), rng.standard_normal(4)
        label = int(rng.integers(K))
        model, moved = one_step(scores, x, label, r, weight, covariance)
        q = np.full(K, x @ x)
        a = minimum(scores, q, label, weight / r)
        tolerance = 1e-13 * (1 + size) * max(1, weight / r)
        np.testing.assert_allclose(moved, np.outer(a, x), rtol=1e-7, atol=tolerance)
        # The steps add up to 0, as the probabilities do to 1.
        assert abs(moved.sum()) < 1e-9 * (1 + np.abs(moved).sum())
        loss = np.logaddexp.reduce(scores) - scores[label]
        assert model.cumulative_loss == pytest.approx(weight * loss, rel=1e-9, abs=1e-12)
        p = softmax(scores + q * a)
        h = weight / r * p * (1 - p)
        along = x @ np.diag(np.ones(4)) @ x
        beta = h / (1 + h * along)
        if covariance == "full":
            left = 1 - beta[:, None] * x**2
            found = np.diagonal(model.space.covariance.to_array(), axis1=1, axis2=2)
        elif covariance == "shared":
            left = 1 - beta.max() * x**2
            found = np.diagonal(model.space.covariance.to_array()[0])
        else:
            left, found = 1 - beta[:, None] * x**2, model.space.covariance.to_array()
        np.testing.assert_allclose(found, left, rtol=1e-7, atol=1e-10)


def test_an_empty_row_teaches_nothing(stream):
    X, y = stream("ovr")
    settings = {"linear": False, "kernel": "linear", "selection": "ald", "n_components": 5}
    model = KernelLogisticClassifier(**settings).partial_fit(X, y, np.unique(y))
    before = model.coef_
    model.partial_fit(np.zeros((1, 6)), y[:1])
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("covariance", sorted(COVARIANCES))
@pytest.mark.parametrize("n_classes", [2, 4])
def test_they_find_the_truth(n_classes, covariance):
    """Labels are drawn by a softmax of linear scores; the probabilities approach it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 3))
    truth = np.array([softmax(row) for row in 1.5 * X @ rng.standard_normal((3, n_classes))])
    y = (truth.cumsum(axis=1) < rng.random((6000, 1))).sum(axis=1)
    settings = {"n_components": 8, "random_state": 0, "covariance": covariance, "sketch_size": 6}
    model = KernelLogisticClassifier(**settings).partial_fit(X[:4000], y[:4000], range(n_classes))
    found = model.predict_proba(X[4000:])
    assert np.abs(found - truth[4000:]).mean() < 0.06


def test_a_lot_of_weights_is_unbiased():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8000, 2))
    truth = expit(2 * X[:, 0])
    y = (rng.random(8000) < truth).astype(int)
    settings = {"n_components": 5, "gate": "loss_proportional", "beta": 2.0, "random_state": 0}
    errors = []
    for weighted in (True, False):
        model = KernelLogisticClassifier(weighted=weighted, **settings).fit(X[:6000], y[:6000])
        found = expit(model.decision_function(X[6000:]))
        errors.append(np.abs(found - truth[6000:]).mean())
    assert errors[0] < 0.05 < errors[1]


def test_a_third_class_keeps_the_odds_of_two():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = (X[:, 0] + rng.standard_normal(300) > 0).astype(int)
    model = KernelLogisticClassifier(n_components=20, random_state=0).partial_fit(X, y, [0, 1])
    before = model.decision_function(X)
    model.partial_fit(X[:1], [2], [0, 1, 2], sample_weight=[0.0])
    after = model.decision_function(X)
    np.testing.assert_allclose(after[:, 1] - after[:, 0], before, rtol=1e-9)
    model.partial_fit(X[:1], [2])
    assert model.predict_proba(X[:1])[0].argmax() == 2


@pytest.mark.parametrize(
    "parameters", [{"r": 0.0}, {"gate": "margin"}, {"multi_class": "margin"}, {"sketch_size": 0}]
)
def test_parameters_out_of_range(parameters, stream):
    X, y = stream("binary")
    with pytest.raises(ValueError, match=next(iter(parameters))):
        KernelLogisticClassifier(**parameters).fit(X, y)
