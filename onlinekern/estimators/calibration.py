"""Calibration: converts scores to probabilities, by a fit to recent scores.

Each score was computed before its sample was learnt (`core.learning.recent_scores`). So the fit is
unbiased, and no samples are held out. It follows the stream: it is fitted to the last 512 scores,
which reach back 2,048 samples.
"""

from __future__ import annotations

from math import inf, log1p
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_expit, log_softmax

from onlinekern.core.learning.heads import OneVsOne
from onlinekern.core.learning.recent_scores import linked
from onlinekern.estimators.types import Array, Floats

# Limits of Newton's method (Lin, Lin and Weng 2007).
MOST_STEPS = 100
RIDGE = 1e-12
# A step that lowers the loss by less than this share cannot be told from rounding errors.
ROUNDING = 1e-13
SMALLEST_STEP = 1e-10
DECREASE = 1e-4
TOLERANCE = 1e-10
# Largest change of a logit in the first step. Otherwise a first step, long with many classes, could
# lead to probabilities of nearly 0 and 1, where the curvature vanishes and Newton's method fails. A
# step of this length doubles it, because logits of outliers may have to move far.
FARTHEST = 4.0
# Least slope, so that the predicted class has the largest probability even if scores are useless.
LEAST = 1e-6
# Artificial samples of score 0, half of them of either class, keep the probability at the border
# near 1/2: one for FOR_ONE samples, AT_BORDER at most.
AT_BORDER, FOR_ONE = 10.0, 50.0
# With several classes, the targets of n samples are mixed with the class shares, whose weight is
# (PRIOR / (n + PRIOR))^2: a third for 12 samples, a thousandth for 512. As with Platt's targets, no
# probability becomes 0 or 1.
PRIOR = 16.0
# With several classes, score s of n has the weight ((s + PRIOR) / (n + PRIOR))^(1 - n / FULL): if
# there are few scores, the first ones are of a model that had learnt almost nothing.
FULL = 512
# n scores reach back REACH n samples. Logits are compressed by a logarithm beyond those of the
# probabilities 1 / (REACH n + 2) and 1 - 1 / (REACH n + 2).
REACH = 4
# Added to a class share before its logarithm, so that this is finite.
FLOOR = 0.02


class Calibration(NamedTuple):
    """Sigmoid that converts a score f to the probabilities of two classes.

    The second class has the probability ``1 / (1 + exp(-z))``, with ``z = above f + offset_above``
    if f > 0, else ``z = below f + offset_below``, and ``offset_below <= 0 <= offset_above``. So the
    predicted class has the larger probability, also for unbalanced classes. On a side where the
    size of scores is not informative, the probability is the share of correct predictions.

    Attributes
    ----------
    below, above : float > 0
    offset_below, offset_above : float
    most : float
        z beyond +-most is compressed to ``most + log(1 + z - most)``. So scores larger than all
        those seen keep their order, but give no extreme probabilities.
    n_samples : int
        Number of samples of the fit.
    floor : float, default=0.0
        If above 0, a score is the difference of two class shares p, and f is the logarithm of the
        ratio of their ``p + floor``.
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
    """Softmax that converts the scores f_k of several classes to probabilities.

    They are the softmax of ``z_k = above f_k + others_k`` if f_k > 0, else ``below f_k +
    others_k``, where the class of the largest score has `winner` in place of its `others_k`.
    ``others_k <= 0 <= winner``, so the predicted class has the largest probability. The rest is
    divided among the other classes by their scores and their shares of the samples.

    Attributes
    ----------
    below, above : float > 0
    winner : float
    others : ndarray of shape (n_classes,)
    most : float
        The difference of z_k from the largest is compressed by a logarithm beyond most.
    n_samples : int
        Number of samples of the fit.
    floor : float, default=0.0
        If above 0, scores are class shares p_k, and f_k is the logarithm of ``(p_k + floor) / (1 /
        n_classes + floor)``.
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
    """Return the calibration of a model of the core, which no other thread may change meanwhile.

    `floor` is above 0 if scores are class shares. The model caches the calibration until its recent
    scores change: once there are 512, at every fourth sample.
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

    If there are fewer than `FULL`, they must be in the order in which they came.
    """
    n_samples, n_outputs = len(rows), rows.shape[1] - 2
    scores, labels, weights = rows[:, :n_outputs], rows[:, n_outputs], rows[:, n_outputs + 1]
    scores = logits_of(scores, floor)
    most = log1p(REACH * n_samples)
    if n_outputs > 1:
        weights = weights * counting(n_samples)
    if n_samples > 0:
        # Divide by a power of two, so that their sum is finite.
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
    """Return factors of the weights of n scores of a stream, in their order; see `FULL`."""
    places: Floats = np.arange(1.0, n + 1)
    shares: Floats = (places + PRIOR) / (n + PRIOR)
    return np.power(shares, max(0.0, 1 - n / FULL))


def logits_of(scores: Floats, floor: float) -> Floats:
    """Return f: the scores if floor is 0, else the logarithms of class shares.

    With several classes, f_k > 0 if the share of class k is above 1 / n_classes.
    """
    if floor == 0:
        return scores
    n_outputs = scores.shape[1]
    if n_outputs == 1:
        return 2 * np.arctanh(np.clip(scores, -1, 1) / (1 + 2 * floor))
    return np.log((np.maximum(scores, 0) + floor) / (1 / n_outputs + floor))


def side(sizes: Floats, right: Array, weights: Floats, n_samples: int) -> tuple[float, float]:
    """Fit the probability that predictions on one side of the border are correct.

    Returns slope and offset, both >= 0.

    Parameters
    ----------
    sizes : ndarray of shape (n,)
        Absolute values of scores of one sign.
    right : ndarray of shape (n,) of bool
        Whether the sign is that of the sample's class.
    weights : ndarray of shape (n,)
        Their mean over both sides is 1.
    n_samples : int
        Number of samples on both sides.
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
    """Return a mask of the predicted class, (n, n_classes): the first with the largest score."""
    return np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]


def unit_of(scores: Floats) -> float:
    """Return the unit of scores for the fit: the largest absolute value."""
    largest = float(np.abs(scores).max(initial=0))
    # Slopes of smaller scores would overflow.
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
    """Return the coefficients >= 0 of maximum likelihood, by Newton's method from `start` on.

    The probabilities of a sample are the softmax of its ``features @ coefficients``. There is a
    line search (algorithm 1 of [1]_). A step changes no logit by more than `FARTHEST`; this limit
    is doubled after each step that reaches it. Coefficients are clipped at 0; those at 0 that the
    step would lower are fixed.

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
        # The ridge makes it invertible: a feature that is equal for all classes has no curvature.
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
