"""Calibration: a sigmoid that turns scores into probabilities, fitted to recent scores.

The scores are those that samples had before they were learnt (`core.learning.recent_scores`), so
no samples are held out, and the fit is not flattered. It follows the stream: it is made anew from
the last 512 of them, which reach back 2,048 samples.
"""

from __future__ import annotations

from math import inf, log1p
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from onlinekern.core.learning.heads import OneVsOne
from onlinekern.core.learning.recent_scores import linked
from onlinekern.estimators.types import Array, Floats

# These numbers bound Newton's method (Lin, Lin and Weng 2007).
MOST_STEPS = 100
SMALLEST_STEP = 1e-10
DECREASE = 1e-4
TOLERANCE = 1e-10
# The probability of the largest score is off the middle by so much at least: the predicted class
# stays the likeliest even where scores tell nothing.
LEAST = 1e-6
# So many scores of 0, half of which are of either class, hold the probability of a side of the
# border near 1/2 there, unless others say otherwise.
AT_BORDER = 10.0
# Of n scores, which reach back so many times as far, no probability is certain to more than
# 1 / (REACH n + 2) before the logarithm.
REACH = 4


class Calibration(NamedTuple):
    """Sigmoid that makes a probability of a score f.

    It is ``1 / (1 + exp(-z))`` with ``z = above f + offset_above`` if f > 0, else ``z = below f +
    offset_below``. Two classes have a line for each side of the border, with ``offset_below <= 0 <=
    offset_above``: so the predicted class is the likeliest, however unequal the classes are, and a
    side where scores tell little has the share that was right there. More classes, each of which
    has a problem against the rest, share one line: so the largest score is the likeliest.

    Attributes
    ----------
    below, above : float > 0
    offset_below, offset_above : float
    most : float
        What is beyond +-most counts by its logarithm: ``most + log(1 + z - most)``. So scores far
        from those that were seen are in order, and not taken for certain.
    n_samples : int
        To which they were fitted.
    """

    below: float
    above: float
    offset_below: float
    offset_above: float
    most: float
    n_samples: int

    def of(self, scores: Floats) -> Floats:
        """Return z of scores, ndarray (n, n_outputs); -z and z of one score, ndarray (n, 2)."""
        return linked(scores, *self[:5])


# Scores with a link of their own have this one.
IDENTITY = Calibration(1.0, 1.0, 0.0, 0.0, inf, 0)


def calibration_of(model: Any) -> Calibration:
    """Return the calibration of a model of the core, which no thread changes meanwhile.

    It is kept in the model until other scores are: once there are 512, that is every fourth sample.
    """
    kept = model.recent.rows()
    if model.calibration is None or not np.array_equal(model.calibration[0], kept):
        rows = kept
        if isinstance(model.head, OneVsOne):
            pairs = model.head.n_outputs
            votes = model.head.strengths(np.ascontiguousarray(rows[:, :pairs]))
            rows = np.column_stack([votes, rows[:, pairs:]])
        model.calibration = kept, calibrated(rows)
    return model.calibration[1]


def calibrated(rows: Floats) -> Calibration:
    """Return the calibration for rows of scores, class number and weight (`RecentScores.rows`)."""
    n_samples, n_outputs = len(rows), rows.shape[1] - 2
    scores, labels, weights = rows[:, :n_outputs], rows[:, n_outputs], rows[:, n_outputs + 1]
    most = log1p(REACH * n_samples)
    if n_samples > 0:
        # Divided by a power of two, their sum is finite.
        weights = np.ldexp(weights, -np.frexp(weights.max())[1])
        weights = weights / weights.mean()
    if n_outputs == 1:
        is_above, right = scores[:, 0] > 0, (scores[:, 0] > 0) == (labels > 0)
        (below, down), (above, up) = (
            side(np.abs(scores[here, 0]), right[here], weights[here])
            for here in (~is_above, is_above)
        )
        return Calibration(below, above, 0.0 - down, up, most, n_samples)
    positive = (labels[:, None] == np.arange(n_outputs)).ravel()
    slope, offset = sigmoid(scores.ravel(), positive, np.repeat(weights, n_outputs))
    return Calibration(slope, slope, offset, offset, most, n_samples)


def side(sizes: Floats, right: Array, weights: Floats) -> tuple[float, float]:
    """Return slope and offset, both >= 0, of the probability that a side of the border is right.

    Parameters
    ----------
    sizes : ndarray of shape (n,)
        Absolute values of scores of one sign.
    right : ndarray of shape (n,) of bool
        Whether the sign is that of the sample's class.
    weights : ndarray of shape (n,)
        Their mean over both sides is 1.
    """
    unit = unit_of(sizes)
    targets = np.append(smoothed(right, weights), 0.5)
    weights = np.append(weights, AT_BORDER)
    features = np.column_stack([np.append(sizes / unit, 0.0), np.ones(len(targets))])
    given = features, targets, weights
    found = newton(*given, np.zeros(2))
    if min(found) < 0:
        # The optimum over both numbers >= 0 is then that of one of them, beside 0.
        alone = (newton(features * only, *given[1:], np.zeros(2)) for only in np.eye(2))
        found = min(
            (np.maximum(point, 0) for point in alone), key=lambda point: misfit(point, *given)
        )
    return float(max(found[0], LEAST) / unit), float(found[1])


def sigmoid(scores: Floats, positive: Array, weights: Floats) -> tuple[float, float]:
    """Return slope, > 0, and offset of a sigmoid for the probability of `positive`.

    Parameters
    ----------
    scores : ndarray of shape (n,)
    positive : ndarray of shape (n,) of bool
    weights : ndarray of shape (n,)
        Their mean is 1.
    """
    unit, constant, found = unit_of(scores), 0.0, np.zeros(2)
    if len(scores) > 0:
        targets = smoothed(positive, weights)
        mean = (weights * targets).sum() / weights.sum()
        constant = float(np.log(mean) - np.log1p(-mean))
        features = np.column_stack([scores / unit, np.ones(len(scores))])
        found = newton(features, targets, weights, np.array([0.0, constant]))
    slope, offset = (found[0], found[1]) if found[0] > LEAST else (LEAST, constant)
    return float(slope / unit), float(offset)


def unit_of(scores: Floats) -> float:
    """Return the unit in which scores are fitted: the largest, in absolute value."""
    largest = float(np.abs(scores).max(initial=0))
    # Slopes of smaller scores would be beyond the largest number.
    return largest if largest > 1e-290 else 1.0


def smoothed(positive: Array, weights: Floats) -> Floats:
    """Return Platt's smoothed targets [1]_, (N+ + 1) / (N+ + 2) and 1 / (N- + 2).

    References
    ----------
    .. [1] J. C. Platt (2000). Probabilities for SV machines. Advances in Large Margin Classifiers,
       61-74.
    """
    more, less = weights[positive].sum(), weights[~positive].sum()
    return np.where(positive, (more + 1) / (more + 2), 1 / (less + 2))


def misfit(point: Floats, features: Floats, targets: Floats, weights: Floats) -> float:
    """Return minus the logarithm of the likelihood of two coefficients."""
    z = features @ point
    return float((weights * (np.logaddexp(0, z) - targets * z)).sum())


def newton(features: Floats, targets: Floats, weights: Floats, start: Floats) -> Floats:
    """Return the coefficients of largest likelihood, from `start` on.

    It is Newton's method with a line search (algorithm 1 of [1]_).

    Parameters
    ----------
    features : ndarray of shape (n, 2)
    targets, weights : ndarray of shape (n,)
    start : ndarray of shape (2,)

    References
    ----------
    .. [1] H.-T. Lin, C.-J. Lin, R. C. Weng (2007). A note on Platt's probabilistic outputs for
       support vector machines. Machine Learning 68, 267-276.
    """
    one, other = features.T
    point, present = start, misfit(start, features, targets, weights)
    for _ in range(MOST_STEPS):
        p = expit(point[0] * one + point[1] * other)
        residuals, curvatures = weights * (p - targets), weights * p * (1 - p)
        gradient = np.array([(residuals * one).sum(), (residuals * other).sum()])
        if np.abs(gradient).max() < TOLERANCE * len(features):
            break
        first, second = (curvatures * one * one).sum(), (curvatures * other * other).sum()
        mixed = (curvatures * one * other).sum()
        # A feature that is 0 throughout has no curvature: its coefficient stays.
        hessian = np.array([[first, mixed], [mixed, second]])
        hessian += (1e-12 * (first + second) + 1e-300) * np.eye(2)
        step = -np.linalg.solve(hessian, gradient)
        length, descent = 1.0, DECREASE * (gradient * step).sum()
        while (
            not (new := misfit(point + length * step, features, targets, weights))
            <= present + length * descent
        ):
            length /= 2
            if length < SMALLEST_STEP:
                return point
        point, present = point + length * step, new
    return point
