"""The twin of `core.learning.coverage`: thresholds of scores, one after the other.

DtACI, Gibbs and Candes 2024, algorithm 1, whose names are kept: k levels alpha_i with the rates
gamma_i, weights w_i, and beta_t, the highest level at which the set still holds the target. The
level in use is the mean of the alpha_i by their weights.
"""

import numpy as np

GAMMAS = np.array([0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128])
INTERVAL = 500


def thresholds(scores, alpha, size):
    """Return the threshold before each score, and the one after them; NaN is passed over."""
    k = len(GAMMAS)
    alphas, weights = np.full(k, alpha), np.full(k, 1 / k)
    sigma = 1 / (2 * INTERVAL)
    spread = (1 - alpha) ** 2 * alpha**3 + alpha**2 * (1 - alpha) ** 3
    eta = np.sqrt(3 / INTERVAL) * np.sqrt((np.log(k * INTERVAL) + 2) / spread)
    seen, found = [], []
    for score in [*scores, np.nan]:
        last = np.sort(seen[-size:])
        n = len(last)
        known = (n + 1) * alpha >= 1 - 1e-9
        level = np.sum(weights * alphas) / np.sum(weights)
        rank = min(int(np.ceil((n + 1) * (1 - level) - 1e-9)), n)
        threshold = np.inf if not known else last[rank - 1] if rank > 0 else -np.inf
        found.append(threshold)
        if np.isnan(score):
            continue
        if (known and threshold < np.inf) or n == size:
            beta = 1 - np.sum(last < score) / (n + 1)
            losses = alpha * (beta - alphas) - np.minimum(0, beta - alphas)
            errors = alphas > beta
            raised = weights * np.exp(-eta * losses)
            weights = (1 - sigma) * raised / np.sum(raised) + sigma / k
            alphas = np.clip(alphas + GAMMAS * (alpha - errors), 0, 1)
        seen.append(score)
    return np.array(found[:-1]), found[-1]


def thresholds_of_classes(scores, numbers, n_classes, alpha, size):
    """Return the thresholds of all classes before each sample, and those after them.

    The threshold of a class is that of the scores of its samples (Mondrian conformal prediction,
    Vovk 2012). Its first one tells nothing: nobody knew the class.
    """
    found = np.empty((len(scores) + 1, n_classes))
    for i in range(len(scores) + 1):
        for k in range(n_classes):
            own = [score for score, of in zip(scores[:i], numbers[:i], strict=True) if of == k]
            found[i, k] = thresholds(own[1:], alpha, size)[1]
    return found[:-1], found[-1]
