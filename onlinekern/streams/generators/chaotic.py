"""Chaotic series from the papers on adaptive filters; equal seeds give equal series."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.signal import lfilter

from onlinekern.estimators.types import Floats
from onlinekern.streams.errors import check_count
from onlinekern.streams.generators.synthetic import check_finite

# Steps of the integration in one delay of the Mackey-Glass equation. With 300, the error of a step
# is below 1e-10 for a delay of 30.
STEPS_PER_DELAY = 300
# Seconds of the system before the first sample, after which it is on its attractor.
TRANSIENT = 1000.0
LORENZ_TRANSIENT = 20.0
# Lorenz systems whose states grow beyond this are of no use.
FAR = 1e6


def mackey_glass(
    n_samples: int,
    *,
    tau: float = 30.0,
    step: float = 6.0,
    embedding: int = 7,
    horizon: int = 1,
    noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Floats, Floats]:
    """Predict the Mackey-Glass series, ``x' = 0.2 x(t - tau) / (1 + x(t - tau)^10) - 0.1 x(t)``.

    The equation is that of [1]_, and a task for filters since [2]_.

    Parameters
    ----------
    n_samples : int
    tau : float > 0
        The delay in seconds. The series is chaotic from 17 on; the papers take 17 or 30.
    step : float > 0
        Seconds between two values of the series.
    embedding : int
        Values in a sample: the last ones, the latest at the end.
    horizon : int
        Steps that the target lies ahead of the latest value.
    noise : float
        Standard deviation of the normal noise added to the series. Its own is 0.25 or so.
    random_state : None, int or numpy.random.Generator
        Of the start, a constant in [0.5, 1.5] up to 1,000 seconds before the first value, and of
        the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, embedding)
    y : ndarray of shape (n_samples,)

    References
    ----------
    .. [1] M. C. Mackey, L. Glass (1977). Oscillation and chaos in physiological control systems.
       Science 197, 287-289.
    .. [2] W. Liu, P. P. Pokharel, J. C. Príncipe (2008). The kernel least-mean-square algorithm.
       IEEE Transactions on Signal Processing 56, 543-554.

    Examples
    --------
    >>> from onlinekern.streams import mackey_glass
    >>> X, y = mackey_glass(1000, random_state=0)
    >>> X.shape, bool((X[1:, -1] == y[:-1]).all())
    ((1000, 7), True)
    """
    check_positive("tau", tau)
    check_positive("step", step)
    check_series(n_samples, embedding, horizon, noise)
    generator = np.random.default_rng(random_state)
    times = TRANSIENT + step * np.arange(n_samples + embedding + horizon - 1, dtype=np.float64)
    values = integrate_mackey_glass(times, tau, generator.uniform(0.5, 1.5))
    return embedded(values, embedding, horizon, noise, generator)


def lorenz(
    n_samples: int,
    *,
    sigma: float = 10.0,
    rho: float = 28.0,
    beta: float = 8 / 3,
    step: float = 0.05,
    embedding: int = 5,
    horizon: int = 1,
    noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Floats, Floats]:
    """Predict the first coordinate of the Lorenz system.

    ``x' = sigma (y - x)``, ``y' = x (rho - z) - y``, ``z' = x y - beta z`` [1]_.

    Parameters
    ----------
    n_samples : int
    sigma, rho, beta : float
        Constants of the equations; the defaults are Lorenz's own, for which the system is chaotic.
    step : float > 0
        Seconds between two values of the series.
    embedding : int
        Values in a sample: the last ones, the latest at the end.
    horizon : int
        Steps that the target lies ahead of the latest value.
    noise : float
        Standard deviation of the normal noise added to the series. Its own is 8 or so.
    random_state : None, int or numpy.random.Generator
        Of the start, near (1, 1, 1) and 20 seconds before the first value, and of the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, embedding)
        The series as it is: scale it for a learner.
    y : ndarray of shape (n_samples,)

    References
    ----------
    .. [1] E. N. Lorenz (1963). Deterministic nonperiodic flow. Journal of the Atmospheric Sciences
       20, 130-141.

    Examples
    --------
    >>> from onlinekern.streams import lorenz
    >>> X, y = lorenz(1000, random_state=0)
    >>> X.shape, bool(abs(y).max() < 25)
    ((1000, 5), True)
    """
    for name, value in (("sigma", sigma), ("rho", rho), ("beta", beta)):
        check_finite(name, value)
    check_positive("step", step)
    check_series(n_samples, embedding, horizon, noise)
    generator = np.random.default_rng(random_state)
    times = LORENZ_TRANSIENT + step * np.arange(n_samples + embedding + horizon - 1)

    def slope(_: float, state: Floats) -> list[float]:
        x, y, z = state
        return [sigma * (y - x), x * (rho - z) - y, x * y - beta * z]

    def runs_away(_: float, state: Floats) -> float:
        return FAR - float(np.abs(state).max())

    runs_away.terminal = True  # type: ignore[attr-defined]
    solution = solve_ivp(
        slope, (0.0, times[-1]), generator.uniform(0.5, 1.5, 3), "DOP853", times,
        events=runs_away, rtol=1e-9, atol=1e-9,
    )  # fmt: skip
    if solution.status != 0:
        raise ValueError(
            f"sigma={sigma!r}, rho={rho!r}, beta={beta!r} give no series that stays below {FAR:g}"
        )
    return embedded(solution.y[0], embedding, horizon, noise, generator)


def check_positive(name: str, value: float) -> None:
    """Raise ValueError unless a value is a finite number > 0."""
    check_finite(name, value)
    if value <= 0:
        raise ValueError(f"{name} must be > 0, got {value!r}")


def check_series(n_samples: int, embedding: int, horizon: int, noise: float) -> None:
    """Raise ValueError if an argument common to both series is out of range."""
    check_count("n_samples", n_samples)
    check_count("embedding", embedding)
    check_count("horizon", horizon)
    check_finite("noise", noise, least=0.0)


def embedded(
    values: Floats, embedding: int, horizon: int, noise: float, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return samples of `embedding` successive values, and the value `horizon` steps later."""
    values = values + noise * generator.standard_normal(len(values))
    rows = np.lib.stride_tricks.sliding_window_view(values[:-horizon], embedding)
    return np.ascontiguousarray(rows), values[embedding - 1 + horizon :]


def integrate_mackey_glass(times: Floats, tau: float, start: float) -> Floats:
    """Compute x at ascending times >= 0, by Runge-Kutta of order 4, with x = start before time 0.

    Within one delay the equation is ``x' = u(t) - 0.1 x`` with a known u: a step of Runge-Kutta is
    ``x <- R x + a u_0 + b u_1/2 + c u_1``, and all steps of a delay are one linear filter. x in the
    middle of a step comes from Hermite's cubic interpolation, whose error is of order 4 too.
    """
    h = tau / STEPS_PER_DELAY
    z = -0.1 * h
    R = 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24
    weights = h / 6 * np.array([1 + z + z**2 / 2 + z**3 / 4, 4 + 2 * z + z**2 / 2, 1])
    n_delays = int(times[-1] // tau) + 1
    x = np.full((n_delays + 1, STEPS_PER_DELAY + 1), start)
    slopes = np.zeros_like(x)  # of the history too, which is constant
    for k in range(1, n_delays + 1):
        u, u_half = production(x[k - 1]), production(middles(x[k - 1], slopes[k - 1], h))
        forces = weights @ [u[:-1], u_half, u[1:]]
        x[k, 0] = x[k - 1, -1]
        x[k, 1:] = lfilter([1.0], [1.0, -R], forces, zi=[R * x[k, 0]])[0]
        slopes[k] = u - 0.1 * x[k]
    return hermite(times, x[1:], slopes[1:], h, tau)


def production(delayed: Floats) -> Floats:
    """Return 0.2 x / (1 + x^10)."""
    return 0.2 * delayed / (1 + delayed**10)


def middles(x: Floats, slopes: Floats, h: float) -> Floats:
    """Return the values in the middle of each step, from those at its ends."""
    return (x[:-1] + x[1:]) / 2 + h / 8 * (slopes[:-1] - slopes[1:])


def hermite(times: Floats, x: Floats, slopes: Floats, h: float, tau: float) -> Floats:
    """Compute x at any times, by cubic interpolation of a delay in each row."""
    row = np.minimum((times // tau).astype(int), len(x) - 1)
    place = (times - row * tau) / h
    left = np.minimum(place.astype(int), STEPS_PER_DELAY - 1)
    s = place - left
    return (
        (1 + 2 * s) * (1 - s) ** 2 * x[row, left]
        + s**2 * (3 - 2 * s) * x[row, left + 1]
        + h * s * (1 - s) ** 2 * slopes[row, left]
        - h * s**2 * (1 - s) * slopes[row, left + 1]
    )
