"""The Mackey-Glass and Lorenz series: the equations, their known facts, and the embedding."""

import numpy as np
import pytest

from onlinekern.streams import lorenz, mackey_glass
from onlinekern.streams.generators.chaotic import integrate_mackey_glass

BOTH = [mackey_glass, lorenz]


def series(function, n, **arguments):
    """Return the first n values of a series: those of the first sample, then the targets."""
    X, y = function(n, embedding=1, random_state=3, **arguments)
    return np.concatenate([X[0], y[:-1]])


def steps_of_euler(tau, start, seconds, h):
    """Integrate the Mackey-Glass equation in the plainest way."""
    delay = round(tau / h)
    x = [start] * (delay + 1)
    for _ in range(round(seconds / h)):
        late = x[-delay - 1]
        x.append(x[-1] + h * (0.2 * late / (1 + late**10) - 0.1 * x[-1]))
    return x[-1]


@pytest.mark.parametrize("tau", [17.0, 30.0])
def test_mackey_glass_is_its_equation(tau):
    times = np.array([0.0, 5.5, 40.0, 100.0])
    x = integrate_mackey_glass(times, tau, 1.2)
    assert x[0] == 1.2
    # Euler's error falls with h: Richardson's extrapolation leaves h^2.
    for time, value in zip(times[1:], x[1:], strict=True):
        coarse, fine = (steps_of_euler(tau, 1.2, time, h) for h in (0.02, 0.01))
        assert value == pytest.approx(2 * fine - coarse, abs=2e-5)


def test_the_first_delay_is_known_in_closed_form():
    # x' = u - x / 10 with a constant u, as long as the history is constant.
    times = np.linspace(0, 30, 50)
    u = 0.2 * 0.9 / (1 + 0.9**10)
    expected = 10 * u + (0.9 - 10 * u) * np.exp(-0.1 * times)
    np.testing.assert_allclose(integrate_mackey_glass(times, 30.0, 0.9), expected, atol=1e-12)


def test_lorenz_is_its_equation():
    """The first two equations give y and z from the series; the third one is then checked."""
    sigma, rho, beta, h = 10.0, 28.0, 8 / 3, 1e-3

    def slope(values):
        return np.gradient(values, h, edge_order=2)

    x = series(lorenz, 3000, step=h)
    y = slope(x) / sigma + x
    z = rho - (slope(y) + y) / np.where(x == 0, np.nan, x)
    # z is a quotient by x.
    far = np.flatnonzero(np.abs(x) > 2)[20:-20]
    assert len(far) > 2000
    expected = x * y - beta * z
    np.testing.assert_allclose(slope(z)[far], expected[far], atol=1e-2 * np.abs(expected).max())


def test_known_ranges():
    x = series(mackey_glass, 4000)
    assert 0.2 < x.min() < 0.4
    assert 1.2 < x.max() < 1.5
    assert 0.2 < x.std() < 0.35
    x = series(lorenz, 4000)
    assert 16 < x.max() < 21
    assert 7 < x.std() < 9
    assert abs(x.mean()) < 2  # both wings, equally often


def test_a_delay_of_five_is_not_chaotic():
    """Below a delay of 4.53 the fixed point 1 is stable."""
    np.testing.assert_allclose(series(mackey_glass, 100, tau=4.0), 1, atol=1e-3)
    assert series(mackey_glass, 100, tau=8.0).std() > 0.1


def test_a_lorenz_system_of_small_rho_comes_to_rest():
    np.testing.assert_allclose(series(lorenz, 50, rho=0.5), 0, atol=1e-3)
    np.testing.assert_allclose(np.abs(series(lorenz, 50, rho=2.0)), np.sqrt(8 / 3), atol=1e-3)


@pytest.mark.parametrize("function", BOTH)
def test_embedding(function):
    X, y = function(60, embedding=4, horizon=3, random_state=1)
    long, _ = function(60, embedding=7, horizon=1, random_state=1)
    assert X.shape == (60, 4)
    np.testing.assert_array_equal(X, long[:60, :4])
    np.testing.assert_array_equal(y[:59], long[1:, 5][:59])
    np.testing.assert_array_equal(X[1:, :-1], X[:-1, 1:])
    np.testing.assert_array_equal(X[3:, -1], y[:-3])


@pytest.mark.parametrize("function", BOTH)
def test_seeds_and_noise(function):
    one, other = function(500, random_state=1), function(500, random_state=1)
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])
    assert not np.array_equal(one[1], function(500, random_state=2)[1])
    noise = function(500, random_state=1, noise=0.5)[1] - one[1]
    assert noise.std() == pytest.approx(0.5, rel=0.1)
    # The series itself is noisy: what is a target becomes part of the samples.
    X, y = function(50, noise=0.5, random_state=1)
    np.testing.assert_array_equal(X[1:, -1], y[:-1])


def test_a_series_that_runs_away_is_an_error():
    with pytest.raises(ValueError, match=r"sigma=10\.0, rho=28\.0, beta=-50\.0 give no series"):
        lorenz(50, beta=-50.0, random_state=0)
