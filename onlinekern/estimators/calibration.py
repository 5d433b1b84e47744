"""Calibration: what turns scores into probabilities, fitted to recent scores.

The scores are those that samples had before they were learnt (`core.learning.recent_scores`), so
no samples are held out, and the fit is not flattered. It follows the stream: it is made anew from
the last 512 of them, which reach back 2,048 samples.
"""

from __future__ import annotations

from math import inf, log1p
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_expit, log_softmax

from onlinekern.core.learning.heads import OneVsOne
from onlinekern.core.learning.recent_scores import linked
from onlinekern.estimators.types import Array, Floats

# These numbers bound Newton's method (Lin, Lin and Weng 2007).
MOST_STEPS = 100
RIDGE = 1e-12
# No step is told from rounding errors that lessens the misfit by a smaller share.
ROUNDING = 1e-13
SMALLEST_STEP = 1e-10
DECREASE = 1e-4
TOLERANCE = 1e-10
# The first step moves no logit by more: where probabilities are nearly 0 and 1 no curvature is
# left, and the next step would lead nowhere. Of many classes it would be much longer. A step that
# goes so far doubles it: the logit of an outlier has a long way to go.
FARTHEST = 4.0
# The probability of the largest score is off the middle by so much at least: the predicted class
# stays the likeliest even where scores tell nothing.
LEAST = 1e-6
# So many scores of 0, half of which are of either class, one for so many others at first, hold the
# probability of a side of the border near 1/2 there, unless others say otherwise.
AT_BORDER, FOR_ONE = 10.0, 50.0
# Of several classes, targets of n samples have (PRIOR / (n + PRIOR))^2 of the shares of all:
# a third of 12, a thousandth of 512. As in Platt's targets, nothing is certain.
PRIOR = 16.0
# Of several classes, score s of n counts ((s + PRIOR) / (n + PRIOR))^(1 - n / FULL): of few scores,
# the first ones are of a model that had learnt next to nothing.
FULL = 512
# Of n scores, which reach back so many times as far, no probability is certain to more than
# 1 / (REACH n + 2) before the logarithm.
REACH = 4
# What is added to a share before its logarithm is taken: none is certain to be nothing.
FLOOR = 0.02


class Calibration(NamedTuple):
    """Sigmoid that makes probabilities of two classes of a score f.

    That of the second class is ``1 / (1 + exp(-z))`` with ``z = above f + offset_above`` if f > 0,
    else ``z = below f + offset_below``, and ``offset_below <= 0 <= offset_above``. So the predicted
    class is the likeliest, however unequal the classes are, and a side of the border where scores
    tell little has the share that was right there.

    Attributes
    ----------
    below, above : float > 0
    offset_below, offset_above : float
    most : float
        What is beyond +-most counts by its logarithm: ``most + log(1 + z - most)``. So scores far
        from those that were seen are in order, and not taken for certain.
    n_samples : int
        To which they were fitted.
    floor : float, default=0.0
        If above 0, scores are differences of two shares p of the classes, and f is the logarithm of
        the odds of ``p + floor``.
    """

    below: float
    above: float
    offset_below: float
    offset_above: float
    most: float
    n_samples: int
    floor: float = 0.0

    def log_proba(self, scores: Floats) -> Floats:
        """Return the logarithms of the probabilities of scores (n, 1), ndarray (n, 2)."""
        z = linked(logits_of(scores, self.floor), *self[:5])
        return log_expit(z, out=z)


class SoftmaxCalibration(NamedTuple):
    """Softmax that makes probabilities of several classes of their scores f_k.

    They are the softmax of ``z_k = above f_k + others_k`` if f_k > 0, else ``below f_k +
    others_k``, where the class of the largest score has `winner` in place of its `others_k`.
    ``others_k <= 0 <= winner``: so the predicted class is the likeliest, and what it leaves goes to
    the others by scores and by their shares of the samples.

    Attributes
    ----------
    below, above : float > 0
    winner : float
    others : ndarray of shape (n_classes,)
    most : float
        Of what z_k is below the largest, all beyond most counts by its logarithm.
    n_samples : int
        To which they were fitted.
    floor : float, default=0.0
        If above 0, scores are shares p_k of the classes, and f_k is the logarithm of ``p_k +
        floor`` over that of equal shares.
    """

    below: float
    above: float
    winner: float
    others: Floats
    most: float
    n_samples: int
    floor: float = 0.0

    def log_proba(self, scores: Floats) -> Floats:
        """Return the logarithms of the probabilities of scores, ndarray (n, n_classes)."""
        z = linked(logits_of(scores, self.floor), self.below, self.above, 0.0, 0.0, inf)
        z += np.where(wins_of(scores), self.winner, self.others)
        z = linked(z - z.max(axis=1, keepdims=True), 1.0, 1.0, 0.0, 0.0, self.most)
        return log_softmax(z, axis=1)


def calibration_of(model: Any, floor: float = 0.0) -> Calibration | SoftmaxCalibration:
    """Return the calibration of a model of the core, which no thread changes meanwhile.

    Scores that are shares of the classes have a floor. It is kept in the model until other scores
    are: once there are 512, that is every fourth sample.
    """
    kept = model.recent.rows()
    if model.calibration is None or not np.array_equal(model.calibration[0], kept):
        rows = kept
        if isinstance(model.head, OneVsOne):
            pairs = model.head.n_outputs
            votes = model.head.strengths(np.ascontiguousarray(rows[:, :pairs]))
            rows = np.column_stack([votes, rows[:, pairs:]])
        model.calibration = kept, calibrated(rows, floor)
    return model.calibration[1]


def calibrated(rows: Floats, floor: float = 0.0) -> Calibration | SoftmaxCalibration:
    """Return the calibration for rows of scores, class number and weight (`RecentScores.rows`).

    As long as they are fewer than `FULL`, they are in the order in which they came.
    """
    n_samples, n_outputs = len(rows), rows.shape[1] - 2
    scores, labels, weights = rows[:, :n_outputs], rows[:, n_outputs], rows[:, n_outputs + 1]
    scores = logits_of(scores, floor)
    most = log1p(REACH * n_samples)
    if n_outputs > 1:
        weights = weights * counting(n_samples)
    if n_samples > 0:
        # Divided by a power of two, their sum is finite.
        weights = np.ldexp(weights, -np.frexp(weights.max())[1])
        weights = weights / weights.mean()
    if n_outputs > 1:
        found = softmax(scores, labels.astype(int), weights)
        return SoftmaxCalibration(*found, most, n_samples, floor)
    (below, down), (above, up) = (
        side(np.abs(scores[here, 0]), labels[here] == is_above, weights[here], n_samples)
        for is_above in (False, True)
        for here in [(scores[:, 0] > 0) == is_above]
    )
    return Calibration(below, above, 0.0 - down, up, most, n_samples, floor)


def counting(n: int) -> Floats:
    """Return how much each of the first n scores of a stream counts, in their order."""
    places: Floats = np.arange(1.0, n + 1)
    shares: Floats = (places + PRIOR) / (n + PRIOR)
    return np.power(shares, max(0.0, 1 - n / FULL))


def logits_of(scores: Floats, floor: float) -> Floats:
    """Return what slopes are those of: scores, or the logarithms of shares where there is a floor.

    Those of several classes are above 0 where a share is larger than that of equal ones.
    """
    if floor == 0:
        return scores
    n_outputs = scores.shape[1]
    if n_outputs == 1:
        return 2 * np.arctanh(np.clip(scores, -1, 1) / (1 + 2 * floor))
    return np.log((np.maximum(scores, 0) + floor) / (1 / n_outputs + floor))


def side(sizes: Floats, right: Array, weights: Floats, n_samples: int) -> tuple[float, float]:
    """Return slope and offset, both >= 0, of the probability that a side of the border is right.

    Parameters
    ----------
    sizes : ndarray of shape (n,)
        Absolute values of scores of one sign.
    right : ndarray of shape (n,) of bool
        Whether the sign is that of the sample's class.
    weights : ndarray of shape (n,)
        Their mean over both sides is 1.
    n_samples : int
        Those of both sides.
    """
    unit = unit_of(sizes)
    targets = np.append(smoothed(right, weights), 0.5)
    features = np.zeros((len(targets), 2, 2))
    features[:-1, 1, 0], features[:, 1, 1] = sizes / unit, 1.0
    weights = np.append(weights, min(max(n_samples, 1) / FOR_ONE, AT_BORDER))
    slope, offset = newton(features, np.column_stack([1 - targets, targets]), weights, np.zeros(2))
    return float(max(slope, LEAST) / unit), float(offset)


def softmax(scores: Floats, labels: Array, weights: Floats) -> tuple[float, float, float, Floats]:
    """Return `below`, `above`, `winner` and `others` of a `SoftmaxCalibration`.

    Parameters
    ----------
    scores : ndarray of shape (n, n_classes)
    labels : ndarray of int, shape (n,)
    weights : ndarray of shape (n,)
        Their mean is 1.
    """
    n_samples, n_classes = scores.shape
    counts = np.bincount(labels, weights, n_classes) + 1
    shares = counts / counts.sum()
    rarity, unit = np.log(shares / shares.max()), unit_of(scores)
    wins = wins_of(scores)
    lower, upper = np.minimum(scores, 0) / unit, np.maximum(scores, 0) / unit
    features = np.stack([lower, upper, wins, np.where(wins, 0.0, rarity)], axis=2)
    share = (PRIOR / (n_samples + PRIOR)) ** 2
    targets = share * shares + (1 - share) * (labels[:, None] == np.arange(n_classes))
    *slopes, winner, rare = newton(features, targets, weights, np.array([0.0, 0.0, 0.0, 1.0]))
    below, above = (float(max(slope, LEAST) / unit) for slope in slopes)
    return below, above, float(winner), rare * rarity


def wins_of(scores: Floats) -> Array:
    """Return which class is predicted, ndarray of bool: the first one of the largest score."""
    return np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]


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


def newton(features: Floats, targets: Floats, weights: Floats, start: Floats) -> Floats:
    """Return the coefficients >= 0 of largest likelihood, from `start` on.

    The probabilities of a sample are the softmax of its `features`, each a row for each class,
    times the coefficients. It is Newton's method with a line search (algorithm 1 of [1]_). Steps
    move no logit by more than `FARTHEST`, which doubles with each that does; they end at 0, and
    coefficients that would go below it are left out.

    Parameters
    ----------
    features : ndarray of shape (n, n_classes, n_coefficients)
    targets : ndarray of shape (n, n_classes)
        Probabilities.
    weights : ndarray of shape (n,)
    start : ndarray of shape (n_coefficients,)

    References
    ----------
    .. [1] H.-T. Lin, C.-J. Lin, R. C. Weng (2007). A note on Platt's probabilistic outputs for
       support vector machines. Machine Learning 68, 267-276.
    """
    size = len(start)
    flat = features.reshape(-1, size)
    said = flat.T @ (weights[:, None] * targets).ravel()

    def logs_of(point: Floats) -> tuple[Floats, float]:
        z = features @ point
        largest = z.max(axis=1, keepdims=True)
        total = largest + np.log(np.exp(z - largest).sum(axis=1, keepdims=True))
        return z - total, float(weights @ total[:, 0] - said @ point)

    point, farthest = start, FARTHEST
    logs, present = logs_of(point)
    for _ in range(MOST_STEPS):
        p = np.exp(logs)
        weighted = weights[:, None] * p
        gradient = flat.T @ weighted.ravel() - said
        free = (point > 0) | (gradient < 0)
        if np.abs(gradient[free]).max(initial=0) < TOLERANCE * len(features):
            break
        apart = features - np.einsum("nk,nkj->nj", p, features)[:, None]
        apart = apart.reshape(-1, size)[:, free]
        hessian = apart.T @ (weighted.ravel()[:, None] * apart)
        # A feature that is the same for all classes has no curvature: its coefficient stays.
        hessian += (RIDGE * np.trace(hessian) + 1e-300) * np.eye(len(hessian))
        step = np.zeros(size)
        step[free] = -np.linalg.solve(hessian, gradient[free])
        if -float(gradient @ step) <= ROUNDING * (1 + abs(present)):
            return np.maximum(point + step, 0)
        moved = float(np.abs(flat @ step).max())
        length = longest = min(1.0, farthest / moved) if moved > 0 else 1.0
        while True:
            new = np.maximum(point + length * step, 0)
            logs, misfit = logs_of(new)
            if misfit <= present + DECREASE * float(gradient @ (new - point)):
                break
            length /= 2
            if length < SMALLEST_STEP:
                return point
        point, present = new, misfit
        if length == longest < 1:
            farthest *= 2
    return point
