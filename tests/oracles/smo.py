"""Sequential minimal optimisation as LIBSVM states its problems, with the whole kernel matrix.

minimise a'Q a / 2 + p'a over lower <= a <= upper, with y'a = 0 where there is an offset; Q_ij =
y_i y_j K_ij, with a ridge on the diagonal. A regression has two variables for each point, y = +1
and -1. The pair of the largest violation moves (Keerthi et al. 2001), slow as that is.
"""

from typing import NamedTuple

import numpy as np


class Problem(NamedTuple):
    """Q, p, y and the bounds of the variables; whether there are two for each point."""

    Q: np.ndarray
    p: np.ndarray
    y: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    doubled: bool


class Result(NamedTuple):
    """Coefficients of the points, the offset, and the objective of the dual that is maximised."""

    coefficients: np.ndarray
    offset: float
    objective: float


def problem_of(loss, kernel, targets, C, delta=1.0, epsilon=0.1):
    """Return the dual of a machine; `targets` are signs for a loss of classification."""
    n = len(targets)
    most, ridge, demand = np.full(n, np.inf), np.zeros(n), np.zeros(n)
    if loss in ("hinge", "smooth_hinge", "epsilon_insensitive"):
        most = C * np.ones(n)
    if loss == "huber":
        most = delta * C * np.ones(n)
    if loss == "smooth_hinge":
        ridge = delta / (C * np.ones(n))
    if loss in ("squared_hinge", "squared", "huber"):
        ridge = 1 / (C * np.ones(n))
    if loss == "epsilon_insensitive":
        demand = np.full(n, epsilon)
    if loss in ("hinge", "smooth_hinge", "squared_hinge"):
        Q = np.outer(targets, targets) * kernel + np.diag(ridge)
        return Problem(Q, -np.ones(n), targets, np.zeros(n), most, False)
    y = np.concatenate([np.ones(n), -np.ones(n)])
    Q = np.outer(y, y) * np.tile(kernel, (2, 2)) + np.diag(np.tile(ridge, 2))
    p = np.concatenate([demand - targets, demand + targets])
    return Problem(Q, p, y, np.zeros(2 * n), np.tile(most, 2), True)


def solve(problem, has_offset, tol=1e-10, most_steps=200_000):
    """Move variables until none violates its condition by more than tol."""
    Q, p, y, lower, upper, doubled = problem
    a, gradient = np.zeros(len(p)), p.copy()
    for _ in range(most_steps):
        slopes = -y * gradient
        rises = np.where(y > 0, a < upper, a > lower)  # y a can rise
        falls = np.where(y > 0, a > lower, a < upper)
        high, low = np.where(rises, slopes, -np.inf), np.where(falls, slopes, np.inf)
        if has_offset:
            i, j = high.argmax(), low.argmin()
            if high[i] - low[j] <= tol:
                break
            move_pair(a, i, j, problem, slopes)
        else:
            i = np.maximum(high, -low).argmax()
            if max(high[i], -low[i]) <= tol:
                break
            a[i] = np.clip(a[i] - gradient[i] / Q[i, i], lower[i], upper[i])
        gradient = Q @ a + p
    coefficients = y * a
    if doubled:
        coefficients = coefficients.reshape(2, -1).sum(axis=0)
    offset = offset_of(a, problem, -y * (Q @ a + p)) if has_offset else 0.0
    return Result(coefficients, offset, -float(a @ Q @ a / 2 + p @ a))


def move_pair(a, i, j, problem, slopes):
    """Let y_i a_i rise and y_j a_j fall by the same, to the minimum or to a bound."""
    Q, _, y, lower, upper, _ = problem
    bend = Q[i, i] + Q[j, j] - 2 * y[i] * y[j] * Q[i, j]
    step = (slopes[i] - slopes[j]) / max(bend, 1e-12)
    rooms = [upper[i] - a[i] if y[i] > 0 else a[i] - lower[i],
             a[j] - lower[j] if y[j] > 0 else upper[j] - a[j]]  # fmt: skip
    step = min(step, *rooms)
    a[i] += y[i] * step
    a[j] -= y[j] * step
    # The bounds are met exactly.
    for k, room in zip((i, j), rooms, strict=True):
        if room == step:
            a[k] = upper[k] if abs(upper[k] - a[k]) < abs(a[k] - lower[k]) else lower[k]


def offset_of(a, problem, slopes):
    """Return the mean slope of the variables at no bound, else the middle of what is possible."""
    _, _, y, lower, upper, _ = problem
    free = (lower < a) & (a < upper)
    if free.any():
        return slopes[free].mean()
    rises = np.where(y > 0, a < upper, a > lower)
    return (slopes[rises].max() + slopes[~rises].min()) / 2
