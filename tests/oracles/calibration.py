"""Calibrations as a minimisation of a few numbers, and the ring of scores as a list."""

import numpy as np
from scipy.optimize import minimize


def logits(scores, floor):
    """Return the logarithms of shares of the classes; two classes have their difference."""
    if scores.shape[1] == 1:
        share = np.clip((1 + scores) / 2, 0, 1)
        return np.log(share + floor) - np.log(1 - share + floor)
    equal = np.log(1 / scores.shape[1] + floor)
    return np.log(np.maximum(scores, 0) + floor) - equal


def smoothed(positive, weights):
    """Return Platt's smoothed targets."""
    more, less = weights[positive].sum(), weights[~positive].sum()
    return np.where(positive, (more + 1) / (more + 2), 1 / (less + 2))


def side(sizes, right, weights, n_samples):
    """Return slope and offset of one side of the border, beside samples of 1/2 at the border."""
    t = smoothed(right, weights)

    def loss(point):
        z = point[0] * sizes + point[1]
        at_0 = np.logaddexp(0, point[1]) - 0.5 * point[1]
        return (weights * (np.logaddexp(0, z) - t * z)).sum() + min(n_samples / 50, 10) * at_0

    return least(loss, [0.1, 0.1])


def softmax(scores, labels, weights, prior=16.0):
    """Return slopes, offset of the winner, and offsets of the others, of several classes.

    The samples are in the order in which they came.
    """
    n, n_classes = scores.shape
    fading = max(0.0, 1 - n / 512)
    weights = [weights[i] * ((i + 1 + prior) / (n + prior)) ** fading for i in range(n)]
    weights = np.array(weights) / np.mean(weights)
    shares = np.array([(weights * (labels == k)).sum() + 1 for k in range(n_classes)])
    shares /= shares.sum()
    rarity = np.log(shares / shares.max())
    targets = np.zeros((n, n_classes))
    for i in range(n):
        of_all = prior**2 / (n + prior) ** 2
        targets[i] = of_all * shares
        targets[i, labels[i]] += 1 - of_all

    def loss(point):
        total = 0.0
        for i in range(n):
            wins = np.arange(n_classes) == np.argmax(scores[i])
            z = np.where(scores[i] > 0, point[1], point[0]) * scores[i]
            z = z + np.where(wins, point[2], point[3] * rarity)
            total -= weights[i] * targets[i] @ (z - np.logaddexp.reduce(z))
        return total

    below, above, winner, rare = least(loss, [0.1, 0.1, 0.1, 0.9])
    return below, above, winner, rare * rarity


def least(loss, start):
    """Return the numbers >= 0 of least loss."""
    options = {"gtol": 1e-9, "ftol": 1e-15, "maxfun": 10_000}
    bounds = [(0, None)] * len(start)
    return minimize(loss, start, bounds=bounds, method="L-BFGS-B", options=options).x


def recent(scores, labels, weights, kept=512, every=4):
    """Return the rows that are kept of samples learnt in this order, the oldest first."""
    rows, n_learnt = [], 0
    for score, label, weight in zip(scores, labels, weights, strict=True):
        if weight == 0:
            continue
        n_learnt += 1
        if len(rows) < kept or n_learnt % every == 0:
            rows.append([*score, label, weight])
            rows = rows[-kept:]
    return np.array(rows)
