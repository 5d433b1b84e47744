"""The NumPy twins of the parts against cases computed by hand.

This file imports nothing of the package. `test_oracles_algorithms.py` does the same for the
algorithms.
"""

import math

import numpy as np
import pytest
from oracles.heads import HEADS
from oracles.kernels import ALIASES, KERNELS, kernel_matrix, resolve_gamma
from oracles.losses import LOSSES, PerceptronLoss
from oracles.rules import RULES, Pegasos
from oracles.schedules import SCHEDULES
from registry import LABEL_LOSSES

# Losses

# (y, f, value, negative slope), delta = 0.5 and epsilon = 0.1.
LOSS_CASES = {
    "hinge": [(1, 0.25, 0.75, 1), (-1, 0.25, 1.25, -1), (1, 1, 0, 0), (-1, -3, 0, 0)],
    "squared_hinge": [(1, 0.5, 0.125, 0.5), (-1, 1, 2, -2), (1, 1, 0, 0)],
    # Quadratic part (1 - 0.75)^2 / (2 0.5) = 0.0625; it meets 1 - m - 0.25 at m = 0.5.
    "smooth_hinge": [
        (1, 0.75, 0.0625, 0.5),
        (1, 0.53125, 0.46875**2, 0.9375),
        (-1, -0.5, 0.25, -1),
        (1, -1, 1.75, 1),
        (1, 1, 0, 0),
    ],
    "logistic": [(1, 0, math.log(2), 0.5), (-1, math.log(3), math.log(4), -0.75)],
    "exponential": [(1, 0, 1, 1), (-1, math.log(2), 2, -2), (1, math.log(2), 0.5, 0.5)],
    "squared": [(3, 1, 2, 2), (-1, 1, 2, -2)],
    "absolute": [(3, 1, 2, 1), (-1, 1, 2, -1), (2, 2, 0, 0)],
    "epsilon_insensitive": [(1, 0.5, 0.4, 1), (0, 0.5, 0.4, -1), (0.1, 0, 0, 0)],
    # 0.5 (2 - 0.25) beyond delta; 0.25^2 / 2 within.
    "huber": [(3, 1, 0.875, 0.5), (-1, 1, 0.875, -0.5), (1, 0.75, 0.03125, 0.25)],
}


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_loss_by_hand(name):
    loss = LOSSES[name](delta=0.5, epsilon=0.1)
    for y, f, value, slope in LOSS_CASES[name]:
        assert loss.value(y, f) == pytest.approx(value, abs=1e-15)
        assert loss.negative_slope(y, f) == pytest.approx(slope, abs=1e-15)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_negative_slope_is_the_derivative(name):
    loss, h = LOSSES[name](delta=0.7, epsilon=0.3), 1e-6
    targets = [-1.0, 1.0] if name in LABEL_LOSSES else [-1.3, 0.0, 2.1]
    # No f of this grid is within h of a kink.
    for y in targets:
        for f in np.linspace(-3.0, 3.0, 61) + 0.0137:
            slope = (loss.value(y, f - h) - loss.value(y, f + h)) / (2 * h)
            assert loss.negative_slope(y, f) == pytest.approx(slope, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", LABEL_LOSSES)
@pytest.mark.parametrize("f", [-1e4, 1e4])
def test_classification_losses_stay_finite(name, f):
    loss = LOSSES[name]()
    assert math.isfinite(loss.value(1, f))
    assert math.isfinite(loss.negative_slope(1, f))
    if name == "logistic":
        assert loss.value(1, f) == max(0.0, -f)
        assert loss.negative_slope(1, f) == (1.0 if f < 0 else 0.0)


def test_perceptron_loss():
    assert PerceptronLoss().value(1, -2.0) == 2.0
    assert PerceptronLoss().value(-1, -2.0) == 0.0


# Kernels


def test_kernels_by_hand():
    # <x, z> = 3 - 2 = 1, ||x - z||^2 = 4 + 9 = 13, ||x - z||_1 = 5, ||x||^2 = 5, ||z||^2 = 10.
    X, Z = [[1.0, 2.0]], [[3.0, -1.0], [0.0, 0.0]]
    expected = {
        "gaussian": [math.exp(-6.5), math.exp(-2.5)],
        "exponential": [math.exp(-math.sqrt(6.5)), math.exp(-math.sqrt(2.5))],
        "laplacian": [math.exp(-2.5), math.exp(-1.5)],
        "polynomial": [3.375, 1.0],  # (0.5 + 1)^3
        "linear": [1.0, 0.0],
        "sigmoid": [math.tanh(1.5), math.tanh(1.0)],
        "cosine": [1 / math.sqrt(50), 0.0],
    }
    assert set(expected) == set(KERNELS)
    for name, row in expected.items():
        block = KERNELS[name](X, Z, 0.5, 3, 1.0)
        assert block.dtype == np.float64
        np.testing.assert_allclose(block, [row], rtol=1e-15)
    for alias, name in ALIASES.items():
        np.testing.assert_array_equal(
            kernel_matrix(alias, X, Z, 0.5, 3, 1.0), KERNELS[name](X, Z, 0.5, 3, 1.0)
        )


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_kernels_are_symmetric_and_psd(name):
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[7] = 0.0
    block = KERNELS[name](X, X, 0.4, 2, 0.5)
    np.testing.assert_array_equal(block, block.T)
    if name != "sigmoid":
        eigenvalues = np.linalg.eigvalsh(block)
        assert eigenvalues.min() > -1e-12 * eigenvalues.max()


def test_resolve_gamma():
    X = [[0.0, 2.0], [0.0, 2.0]]  # variance 1 over all entries
    assert resolve_gamma("scale", X) == 0.5
    assert resolve_gamma("auto", X) == 0.5
    assert resolve_gamma("scale", np.ones((3, 4))) == 1.0
    assert resolve_gamma(0.3, X) == 0.3


# Schedules, rules, heads


def test_schedules_by_hand():
    assert {name: schedule(16, 2.0, 0.25) for name, schedule in SCHEDULES.items()} == {
        "constant": 2.0,
        "invsqrt": 0.5,
        "inverse": 0.125,
        "power": 1.0,
    }


def test_rules_by_hand():
    hinge = LOSSES["hinge"]()
    # f = 0.5, y = -1: hinge 1.5; q = 2; importance 3.
    sample = {"f": 0.5, "y": -1.0, "q": 2.0, "t": 4, "importance": 3.0}
    gradient = {"eta": 0.5, "schedule": "invsqrt", "reg": 2.0}  # eta_4 = 0.25
    cases = {
        "perceptron": (-3.0, 1.0),
        "gradient": (-0.75, 0.5),
        "pa": (-(math.sqrt(3) + 0.5) / 2, 1.0),  # the importance 3 demands a margin of sqrt(3)
        "pa1": (-0.6, 1.0),  # C importance = 0.6 < 0.75
        "pa2": (-1.5 / (2.0 + 1.0 / 1.2), 1.0),
        "arow": (-1.5 / (2.0 + 1.0 / 3.0), 1.0),
    }
    for name, expected in cases.items():
        assert RULES[name](hinge, C=0.2, **gradient).step(**sample) == pytest.approx(expected)
    assert RULES["arow"](hinge, r=0.5).contraction(**{**sample, "importance": 1.0}) == 0.4
    assert Pegasos(hinge, reg=0.5).step(**sample) == pytest.approx((-1.5, 0.75))
    # The shrink never turns the model round.
    assert RULES["gradient"](hinge, eta=1.0, reg=3.0).shrink(1) == 0.0


def test_rules_at_the_kink():
    loss = LOSSES["hinge"]()
    assert RULES["perceptron"](loss).coefficient(0.0, -1.0, 1.0, 1) == -1.0
    for name in ("gradient", "pa", "pa1", "pa2"):
        assert RULES[name](loss).coefficient(1.0, 1.0, 1.0, 1) == 0.0
    for name in ("pa", "pa1", "pa2"):
        assert RULES[name](loss).coefficient(0.0, 1.0, 0.0, 1) == 0.0


def test_heads_by_hand():
    scores = np.array([2.0, 5.0, 5.0])
    [margin] = HEADS["margin"](3).problems(scores, 0)
    assert (margin.f, margin.y, margin.direction.tolist()) == (-3.0, 1.0, [1.0, -1.0, 0.0])
    [margin] = HEADS["margin"](3).problems(scores, 1)
    assert (margin.f, margin.direction.tolist()) == (0.0, [0.0, 1.0, -1.0])
    ovr = HEADS["ovr"](3).problems(scores, 2)
    assert [(p.f, p.y) for p in ovr] == [(2.0, -1.0), (5.0, -1.0), (5.0, 1.0)]
    np.testing.assert_array_equal([p.direction for p in ovr], np.eye(3))
    assert HEADS["ovr"](3).predict(scores) == HEADS["margin"](3).predict(scores) == 1
    [binary] = HEADS["binary"](2).problems(np.array([0.5]), 0)
    assert (binary.f, binary.y) == (0.5, -1.0)
    assert [HEADS["binary"](2).predict([f]) for f in (-1.0, 0.0, 1e-9)] == [0, 0, 1]
    [regression] = HEADS["regression"]().problems(np.array([0.5]), 7.0)
    assert (regression.f, regression.y) == (0.5, 7.0)
