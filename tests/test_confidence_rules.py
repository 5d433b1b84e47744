"""CW and SCW solve their defining problems; the closed forms hold at the edges."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from onlinekern.core import RULES
from onlinekern.core.learning.losses import LOSSES
from onlinekern.core.learning.second_order_rules import AROW

HINGE = LOSSES["hinge"]()
NAMES = ["cw", "scw1", "scw2"]
FORMS = ["cw", "cw_variance"]
margins = st.floats(-5, 5)
variances = st.floats(0.01, 100)
confidences = st.floats(0.51, 0.999)


def rule(name, confidence, C=1.0):
    return RULES[name](HINGE, confidence, *([C] if name.startswith("scw") else []))


def alpha_and_beta(rule, m, v, weight=1.0):
    """Return both at a margin and a variance; the sign of the label must not matter."""
    alpha = rule.evaluate(m, 1.0, v, 1, weight)[0]
    beta = rule.evaluate_contraction(m, 1.0, v, weight)
    assert rule.evaluate(-m, -1.0, v, 1, weight)[0] == -alpha
    assert rule.evaluate_contraction(-m, -1.0, v, weight) == beta
    return alpha, beta


@given(m=margins, v=variances, confidence=confidences)
def test_cw_meets_its_constraint(m, v, confidence):
    phi = NormalDist().inv_cdf(confidence)
    alpha, beta = alpha_and_beta(rule("cw", confidence), m, v)
    if m >= phi * math.sqrt(v):
        assert alpha == beta == 0
        return
    margin, variance = m + alpha * v, v - beta * v * v
    assert margin == pytest.approx(phi * math.sqrt(variance), rel=1e-12, abs=1e-12)


@given(m=margins, v=variances, confidence=confidences)
def test_cw_of_the_variance_is_the_nearest_gaussian(m, v, confidence):
    phi = NormalDist().inv_cdf(confidence)
    alpha, beta = alpha_and_beta(rule("cw_variance", confidence), m, v)
    if m >= phi * v:
        assert alpha == beta == 0
        return
    margin, variance = m + alpha * v, v - beta * v * v
    assert 0 < variance < v
    assert margin == pytest.approx(phi * variance, rel=1e-9, abs=1e-12)
    # Lagrange: the gradients of the divergence in the margin and in the variance, alpha (1, -phi).
    assert (margin - m) / v == pytest.approx(alpha, rel=1e-6, abs=1e-12)
    assert (1 / variance - 1 / v) / 2 == pytest.approx(alpha * phi, rel=1e-6, abs=1e-9)


def test_cw_of_the_variance_step_has_all_its_digits():
    phi, v, e = NormalDist().inv_cdf(0.9), 1.7, 2.0**-40
    m = phi * v * (1 - e)
    # alpha = (phi v - m) / (v (1 + 2 phi m)), but for terms of its square.
    expected = (phi * v - m) / (v * (1 + 2 * phi * m))
    assert alpha_and_beta(rule("cw_variance", 0.9), m, v)[0] == pytest.approx(expected, rel=1e-11)


def divergence(margin, variance, m, v):
    """Return the Kullback-Leibler divergence from the old Gaussian, along x, up to a constant."""
    return (variance / v - math.log(variance) + (margin - m) ** 2 / v) / 2


def solve(m, v, phi, cost, most_slack):
    """Minimise divergence + cost(slack) numerically; slack >= phi sqrt(v') - m' is in 0 ... most.

    Returns margin, variance and the value there.
    """

    def objective(z):
        return divergence(z[0], z[1] ** 2, m, v) + cost(z[2])

    constraint = {"type": "ineq", "fun": lambda z: z[2] + z[0] - phi * z[1]}
    found = minimize(
        objective,
        [max(m, phi * math.sqrt(v)), math.sqrt(v), 0.0],
        bounds=[(None, None), (1e-9, None), (0, most_slack)],
        constraints=[constraint],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return found.x[0], found.x[1] ** 2, found.fun


# The start is an eyelash off the bounds, which SciPy before 1.15 tells when it goes back to them.
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.parametrize("C", [0.05, 0.5, 20.0])
@pytest.mark.parametrize("confidence", [0.6, 0.9, 0.99])
@pytest.mark.parametrize("name", NAMES)
def test_rule_is_the_optimum(name, confidence, C):
    phi = NormalDist().inv_cdf(confidence)
    cost = {"cw": lambda s: 0, "scw1": lambda s: C * s, "scw2": lambda s: C * s * s}[name]
    steps = 0
    for m, v in itertools.product((-2.0, -0.3, 0.0, 0.4, 1.5), (0.2, 1.0, 3.0)):
        alpha, beta = alpha_and_beta(rule(name, confidence, C), m, v)
        margin, variance = m + alpha * v, v - beta * v * v
        slack = 0 if name == "cw" else max(0, phi * math.sqrt(variance) - margin)
        *there, least = solve(m, v, phi, cost, 0 if name == "cw" else None)
        assert divergence(margin, variance, m, v) + cost(slack) <= least + 1e-7
        assert (margin, variance) == pytest.approx(there, abs=2e-3)
        steps += alpha > 0
    assert steps > 5


@pytest.mark.parametrize("name", NAMES)
@given(m=margins, v=variances, confidence=confidences)
def test_steps_go_the_right_way(name, m, v, confidence):
    alpha, beta = alpha_and_beta(rule(name, confidence, 0.7), m, v)
    assert alpha >= 0
    assert (alpha > 0) == (beta > 0) == (m < NormalDist().inv_cdf(confidence) * math.sqrt(v))
    assert beta * v < 1  # the variance stays positive
    if name == "scw1":
        assert alpha <= 0.7


@given(m=margins, v=variances, confidence=confidences)
def test_soft_rules_become_cw(m, v, confidence):
    alpha, beta = alpha_and_beta(rule("cw", confidence), m, v)
    for name in ("scw1", "scw2"):
        soft = alpha_and_beta(rule(name, confidence, 1e14), m, v)
        assert soft == pytest.approx((alpha, beta), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["scw1", "scw2"])
@given(m=margins, v=variances, weight=st.floats(0.01, 100))
def test_weight_multiplies_C(name, m, v, weight):
    weighted = alpha_and_beta(rule(name, 0.9, 0.5), m, v, weight)
    assert weighted == pytest.approx(alpha_and_beta(rule(name, 0.9, 0.5 * weight), m, v))


@pytest.mark.parametrize("name", FORMS)
def test_weight_asks_more_of_cw(name):
    alone, heavy = (alpha_and_beta(rule(name, 0.9), -1, 2, weight) for weight in (1.0, 5.0))
    assert all(np.array(heavy) > np.array(alone))


@pytest.mark.parametrize("name", NAMES)
def test_no_step_without_variance(name):
    for v in (0.0, -1e-20):
        assert alpha_and_beta(rule(name, 0.9), -1.0, v) == (0, 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("v", [1e-200, 1e-20, 1e20])
def test_extreme_variances(name, v):
    # In units of the standard deviation, CW's problem is the same at every scale.
    for m in (-2.0, 0.0, 0.5):
        alpha, beta = alpha_and_beta(rule(name, 0.9), m * math.sqrt(v), v)
        assert np.isfinite([alpha, beta]).all()
        assert 0 < beta * v < 1
        if name == "cw":
            usual = alpha_and_beta(rule(name, 0.9), m, 1.0)
            assert (alpha * math.sqrt(v), beta * v) == pytest.approx(usual, rel=1e-12)


def test_a_small_step_has_all_its_digits():
    # m = phi sqrt(v) (1 - e): alpha = 2 e phi / (sqrt(v) (2 + phi^2)) (1 + O(e)), no cancellation.
    phi, v, e = NormalDist().inv_cdf(0.9), 1.7, 2.0**-40
    m = phi * math.sqrt(v) * (1 - e)
    excess = phi * math.sqrt(v) - m
    expected = 2 * excess * phi * math.sqrt(v) / (v * m * (2 + phi * phi))
    assert alpha_and_beta(rule("cw", 0.9), m, v)[0] == pytest.approx(expected, rel=1e-11)


def test_arow_does_nothing_from_margin_one_on():
    arow = AROW(HINGE, 0.5)
    assert arow.evaluate(1.0, 1.0, 2.0)[0] == arow.evaluate_contraction(1.0, 1.0, 2.0) == 0
    assert arow.evaluate(1 - 1e-9, 1.0, 2.0)[0] > 0
