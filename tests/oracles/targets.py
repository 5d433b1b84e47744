"""Targets in units of their own: mean and scale of those so far, computed anew each time."""

import numpy as np


def statistics(y, weights, forgetting=1.0):
    """Return mean and scale of targets, the last of which has the weight it came with."""
    weights = weights * forgetting ** np.arange(len(y))[::-1]
    mean = np.average(y, weights=weights)
    scale = np.sqrt(np.average((y - mean) ** 2, weights=weights))
    return mean, scale if scale > 0 else 1.0


def learnt(y, weights, forgetting=1.0):
    """Return each target as the rule sees it: standardised by those up to itself."""
    found = []
    for t in range(1, len(y) + 1):
        mean, scale = statistics(y[:t], weights[:t], forgetting)
        found.append((y[t - 1] - mean) / scale)
    return np.array(found)


def predictions(scores, y, weights, forgetting=1.0):
    """Return scores in the units of the targets that came before."""
    found = [scores[0]]
    for t in range(1, len(y)):
        mean, scale = statistics(y[:t], weights[:t], forgetting)
        found.append(mean + scale * scores[t])
    return np.array(found)
