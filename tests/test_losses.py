"""Losses of the core: against their twins, their own derivatives, and properties."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import losses as oracle
from registry import TARGET_LOSSES

from onlinekern.core import LOSSES

TWINS = {**oracle.LOSSES, "perceptron": oracle.PerceptronLoss}
# Losses with a parameter: the name of the twin's, and a value of it.
PARAMETERS = {
    "smooth_hinge": {"delta": 0.5},
    "huber": {"delta": 0.75},
    "epsilon_insensitive": {"epsilon": 0.25},
}
ALL = sorted(LOSSES)

scores = st.floats(-50, 50)
labels = st.sampled_from([-1.0, 1.0])


def make(name):
    return LOSSES[name](*PARAMETERS.get(name, {}).values())


def twin(name):
    return TWINS[name](**PARAMETERS.get(name, {}))


def targets_of(name):
    return st.floats(-50, 50) if name in TARGET_LOSSES else labels


@pytest.mark.parametrize("name", ALL)
def test_twin(name):
    loss, expected = make(name), twin(name)
    targets = [-1.0, 1.0, 0.0, 2.5] if name in TARGET_LOSSES else [-1.0, 1.0]
    # Eighths are exact: every kink (margins 0, 1/2, 1, residuals 0, 1/4, 3/4) is on the grid.
    for y in targets:
        for f in np.arange(-40, 41) / 8:
            value, slope = loss.evaluate(f, y)
            assert value == pytest.approx(expected.value(y, f), rel=1e-14, abs=1e-15)
            assert slope == pytest.approx(expected.negative_slope(y, f), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("name", ALL)
def test_slope_is_the_negative_derivative(name):
    loss, h = make(name), 1e-6
    for y in [-1.3, 0.0, 2.1] if name in TARGET_LOSSES else [-1.0, 1.0]:
        for f in np.linspace(-3, 3, 61) + 0.0137:
            derivative = (loss.evaluate(f + h, y)[0] - loss.evaluate(f - h, y)[0]) / (2 * h)
            assert loss.evaluate(f, y)[1] == pytest.approx(-derivative, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", ALL)
@given(data=st.data())
def test_never_negative_and_no_slope_without_loss(name, data):
    y, f = data.draw(targets_of(name)), data.draw(scores)
    value, slope = make(name).evaluate(f, y)
    assert value >= 0
    if value == 0 and not (name == "perceptron" and f == 0):
        assert abs(slope) < 1e-161  # its square is 0 in double


@pytest.mark.parametrize("name", ALL)
def test_travel(name):
    """It is that of the twin, and the limit of many small steps."""
    loss, expected = make(name), twin(name)
    for y in [-1.3, 0.0, 2.1] if name in TARGET_LOSSES else [-1.0, 1.0]:
        for f in [-40.0, -2.6, -0.4, 0.3, 1.7, 35.0]:
            for size in [1e-3, 0.5, 3.0, 1e3]:
                found = loss.evaluate_travel(f, y, size)
                assert found == pytest.approx(expected.travel(y, f, size), rel=1e-11, abs=1e-13)
            if abs(loss.evaluate(f, y)[1]) > 1e3:
                continue  # of the exponential loss, one of 4,000 steps is long
            score = f
            for _ in range(4000):
                score += 2.0 / 4000 * loss.evaluate(score, y)[1]
            travel = loss.evaluate_travel(f, y, 2.0)
            assert travel == pytest.approx(score - f, rel=5e-3, abs=1e-3)


@pytest.mark.parametrize("name", ALL)
@given(data=st.data())
def test_travel_ends_where_there_is_no_slope(name, data):
    loss, y, f = make(name), data.draw(targets_of(name)), data.draw(scores)
    size = data.draw(st.floats(1e-3, 1e6))
    (before, slope), travel = loss.evaluate(f, y), loss.evaluate_travel(f, y, size)
    after, left = loss.evaluate(f + travel, y)
    assert travel * slope >= 0
    assert after <= before + 1e-9
    assert left * slope >= 0 or abs(left * (f + travel - y)) <= 1e-6 or after <= 1e-9
    # In two parts it goes as far.
    part = loss.evaluate_travel(f, y, 0.3 * size)
    rest = loss.evaluate_travel(f + part, y, 0.7 * size)
    assert part + rest == pytest.approx(travel, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ALL)
@given(data=st.data())
def test_convex(name, data):
    loss, y = make(name), data.draw(targets_of(name))
    a, b, share = data.draw(scores), data.draw(scores), data.draw(st.floats(0, 1))
    chord = share * loss.evaluate(a, y)[0] + (1 - share) * loss.evaluate(b, y)[0]
    assert loss.evaluate(share * a + (1 - share) * b, y)[0] <= chord * (1 + 1e-9) + 1e-9
    # The tangent lies below, whatever one-sided slope a kink has.
    value, slope = loss.evaluate(a, y)
    below = value - slope * (b - a)
    assert below <= loss.evaluate(b, y)[0] * (1 + 1e-9) + 1e-9 * (1 + abs(value) + abs(below))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("f", [-1e4, 1e4])
def test_finite_far_out(name, f):
    for y in [-1.0, 1.0]:
        assert all(map(math.isfinite, make(name).evaluate(f, y)))


def test_smooth_hinge_between_its_relatives():
    smooth = LOSSES["smooth_hinge"]
    for f in np.linspace(-3, 3, 25):
        assert smooth(1e-9).evaluate(f, 1) == pytest.approx(make("hinge").evaluate(f, 1), abs=1e-8)


@pytest.mark.parametrize("name", ALL)
def test_is_a_value(name):
    loss = make(name)
    for other in (pickle.loads(pickle.dumps(loss)), copy.deepcopy(loss), make(name)):
        assert other == loss
        assert hash(other) == hash(loss)
        assert other.evaluate(0.3, 1) == loss.evaluate(0.3, 1)
    assert type(loss).__name__ in repr(loss)
    assert all(make(other) != loss for other in ALL if other != name)


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_parameter_counts(name):
    (value,) = PARAMETERS[name].values()
    assert LOSSES[name](value) != LOSSES[name](value + 1)
    assert LOSSES[name](value).evaluate(-5, 1) != LOSSES[name](value + 1).evaluate(-5, 1)
