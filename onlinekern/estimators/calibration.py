"""Calibration: a sigmoid that turns scores into probabilities, fitted to recent scores.

The scores are those that samples had before they were learnt (`core.learning.recent_scores`), so
no samples are held out, and the fit is not flattered. It follows the stream: it is made anew from
the last 512 of them, which reach back 2,048 samples.
"""

from __future__ import annotations

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


class Calibration(NamedTuple):
    """Sigmoid that makes a probability of a score f.

    It is ``1 / (1 + exp(-z))`` with ``z = offset + above max(f, 0) + below min(f, 0)``. Two
    classes have no offset, and a slope for each side of the border: so their probabilities are 1/2
    where `predict` changes its mind, however unequal the classes are. More classes, each of which
    has a problem against the rest, share one slope and one offset: so the largest score is the
    likeliest.

    Attributes
    ----------
    below, above : float > 0
    offset : float
    n_samples : int
        To which they were fitted.
    """

    below: float
    above: float
    offset: float
    n_samples: int

    def of(self, scores: Floats) -> Floats:
        """Return z of scores, ndarray (n, n_outputs); -z and z of one score, ndarray (n, 2)."""
        return linked(scores, self.below, self.above, self.offset)


# Scores with a link of their own have this one.
IDENTITY = Calibration(1.0, 1.0, 0.0, 0)


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
    if n_outputs == 1:
        features = np.column_stack([np.minimum(scores, 0), np.maximum(scores, 0)])
        below, above = sigmoid(features, labels > 0, weights)
        return Calibration(below, above, 0.0, n_samples)
    positive = (labels[:, None] == np.arange(n_outputs)).ravel()
    features = np.column_stack([scores.ravel(), np.ones(scores.size)])
    slope, offset = sigmoid(features, positive, np.repeat(weights, n_outputs), with_offset=True)
    return Calibration(slope, slope, offset, n_samples)


def sigmoid(
    features: Floats, positive: Array, weights: Floats, with_offset: bool = False
) -> tuple[float, float]:
    """Return the two coefficients of the features in a sigmoid for the probability of `positive`.

    The likelihood of Platt's smoothed targets [1]_, (N+ + 1) / (N+ + 2) and 1 / (N- + 2), is
    maximised by Newton's method with a line search [2]_, over slopes that are positive.

    Parameters
    ----------
    features : ndarray of shape (n, 2)
        Those of one row are not both other than 0, unless the second is 1 throughout.
    positive : ndarray of shape (n,) of bool
    weights : ndarray of shape (n,)
    with_offset : bool
        Whether the second feature is 1: its coefficient may have either sign.

    References
    ----------
    .. [1] J. C. Platt (2000). Probabilities for SV machines. Advances in Large Margin Classifiers,
       61-74.
    .. [2] H.-T. Lin, C.-J. Lin, R. C. Weng (2007). A note on Platt's probabilistic outputs for
       support vector machines. Machine Learning 68, 267-276.
    """
    largest = float(np.abs(features[:, 0]).max(initial=0))
    if not with_offset:
        largest = max(largest, float(features[:, 1].max(initial=0)))
    # Slopes of smaller scores would be beyond the largest number.
    unit = largest if largest > 1e-290 else 1.0
    found, constant = np.zeros(2), 0.0
    if len(features) > 0:
        weights = weights / weights.mean()
        more, less = weights[positive].sum(), weights[~positive].sum()
        targets = np.where(positive, (more + 1) / (more + 2), 1 / (less + 2))
        mean = (weights * targets).sum() / weights.sum()
        constant = float(np.log(mean) - np.log1p(-mean)) if with_offset else 0.0
        scaled = features / np.array([unit, 1.0 if with_offset else unit])
        found = newton(scaled, targets, weights, np.array([0.0, constant]))
    if with_offset:
        slope, offset = (found[0], found[1]) if found[0] > LEAST else (LEAST, constant)
        return float(slope / unit), float(offset)
    # The two sides of the border have nothing in common: each optimum is the nearest to its own.
    below, above = np.maximum(found, LEAST) / unit
    return float(below), float(above)


def newton(features: Floats, targets: Floats, weights: Floats, start: Floats) -> Floats:
    """Return the coefficients of largest likelihood, from `start` on (Lin et al., algorithm 1)."""
    one, other = features.T

    def value(point: Floats) -> float:
        z = point[0] * one + point[1] * other
        return float((weights * (np.logaddexp(0, z) - targets * z)).sum())

    point, present = start, value(start)
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
        while not (new := value(point + length * step)) <= present + length * descent:
            length /= 2
            if length < SMALLEST_STEP:
                return point
        point, present = point + length * step, new
    return point
