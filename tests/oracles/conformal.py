"""The twin of `core.learning.coverage`: thresholds of scores, one after the other.

DtACI, Gibbs and Candes 2024, algorithm 1, whose names are kept: k levels alpha_i with the rates
gamma_i, weights w_i, and beta_t, the highest level at which the set still holds the target. The
level in use is the mean of the alpha_i by their weights. Levels end at -alpha, not at 0: below
1 / (n + 1) the threshold is beyond the largest of the n scores, for each alpha of level by a tenth
of their range. Added to the mean is a correction, a level that follows what is missed of all.
"""

import numpy as np

GAMMAS = np.array([0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128])
INTERVAL = 500
BEYOND, CORRECTING = 0.1, 0.01


def quantile(last, level, alpha):
    """Return the threshold of a level, of scores in ascending order."""
    n = len(last)
    rank = int(np.ceil((n + 1) * (1 - level) - 1e-9))
    if rank <= n:
        return last[rank - 1] if rank > 0 else -np.inf
    return last[-1] + (1 / (n + 1) - level) * slope_beyond(last, alpha)


def slope_beyond(last, alpha):
    """Return what a level that is lower by 1 adds to a threshold beyond the largest score."""
    with np.errstate(invalid="ignore"):
        slope = BEYOND * (last[-1] - last[0]) / alpha
    return slope if np.isfinite(slope) else 0


def highest_level(last, score, alpha):
    """Return beta: the highest level whose threshold holds a score, -1 if none does."""
    n = len(last)
    smaller = np.sum(last < score)
    if smaller < n:
        return 1 - smaller / (n + 1)
    slope = slope_beyond(last, alpha)
    return max(1 / (n + 1) - (score - last[-1]) / slope, -1) if slope > 0 else -1


def thresholds(scores, alpha, size):
    """Return the threshold before each score, and the one after them; NaN is passed over."""
    k = len(GAMMAS)
    alphas, weights = np.full(k, alpha), np.full(k, 1 / k)
    sigma = 1 / (2 * INTERVAL)
    spread = (1 - alpha) ** 2 * alpha**3 + alpha**2 * (1 - alpha) ** 3
    eta = np.sqrt(3 / INTERVAL) * np.sqrt((np.log(k * INTERVAL) + 2) / spread)
    seen, found, correction = [], [], 0.0
    for score in [*scores, np.nan]:
        last = np.sort(seen[-size:])
        known = (len(last) + 1) * alpha >= 1 - 1e-9
        level = np.sum(weights * alphas) / np.sum(weights) + correction
        threshold = quantile(last, level, alpha) if known else np.inf
        found.append(threshold)
        if np.isnan(score):
            continue
        if (known and threshold < np.inf) or len(last) == size:
            beta = highest_level(last, score, alpha)
            losses = alpha * (beta - alphas) - np.minimum(0, beta - alphas)
            errors = alphas > beta
            raised = weights * np.exp(-eta * (losses - np.min(losses)))
            weights = (1 - sigma) * raised / np.sum(raised) + sigma / k
            alphas = np.clip(alphas + GAMMAS * (alpha - errors), -alpha, 1)
            correction += CORRECTING * alpha * (alpha - (score > threshold))
            correction = np.clip(correction, -alpha, alpha)
        seen.append(score)
    return np.array(found[:-1]), found[-1]


def thresholds_of_classes(scores, numbers, n_classes, alpha, size):
    """Return the thresholds of all classes before each sample, and those after them.

    The threshold of a class is that of the scores of its samples (Mondrian conformal prediction,
    Vovk 2012). Its first one tells nothing: nobody knew the class.
    """
    found = np.empty((len(scores) + 1, n_classes))
    for k in range(n_classes):
        own = np.equal(numbers, k)
        told = np.append(*thresholds(scores[own][1:], alpha, size))
        met = np.append(0, np.cumsum(own))
        found[:, k] = told[np.maximum(met - 1, 0)]
    return found[:-1], found[-1]
