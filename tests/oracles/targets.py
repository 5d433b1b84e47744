"""Targets in units of their own: mean and scale of those so far, computed anew each time."""

import numpy as np


def statistics(y, weights, forgetting=1.0):
    """Return mean and scale of targets, the last of which has the weight it came with."""
    weights = weights * forgetting ** np.arange(len(y))[::-1]
    mean = np.average(y, weights=weights)
    scale = np.sqrt(np.average((y - mean) ** 2, weights=weights))
    return mean, scale if scale > 0 else 1.0


def within_reach(y, seen, weights, weight, far=0, forgetting=1.0):
    """Return what is seen in the place of y, what is of the targets before, with weights, and far.

    They are seen as no farther from the mean than 30 deviations. Of eight targets at most an
    outlier is forgotten, if the others are one number to a ten-thousandth of what it is off, and y
    is beside that number, but not that number itself. Only their mean and deviation tell of that.
    Where they are forgotten in time, none is so. `far` counts those in a row that were farther:
    behind two, others are seen as they are.
    """
    if len(seen) == 0:
        return y, seen, weights, far
    mean, scale = statistics(seen, weights, forgetting)
    ages = weights * forgetting ** np.arange(len(seen))[::-1]
    if np.sum(ages * (seen - mean) ** 2) == 0:
        return y, seen, weights, far
    n = ages.sum() / weight
    if forgetting == 1 and 1.5 < n < 8.5:
        side = scale / np.sqrt(n - 1)
        for near in (mean - side, mean + side):
            if 1e-12 < abs(y - near) / (n * side) <= 1e-4:
                return y, np.full(len(seen), near), weights * (1 - 1 / n), 0
    far = far + 1 if abs(y - mean) > 30 * scale else 0
    now = y if far > 2 else np.clip(y, mean - 30 * scale, mean + 30 * scale)
    return now, seen, weights, far


def learnt(y, weights, forgetting=1.0):
    """Return each target as the rule sees it: standardised by those up to itself."""
    return seen_and_units(y, weights, forgetting)[0]


def predictions(scores, y, weights, forgetting=1.0):
    """Return scores in the units of the targets that came before."""
    units = seen_and_units(y, weights, forgetting)[1]
    return np.array([scores[0], *(mean + scale * f for f, (mean, scale) in zip(
        scores[1:], units, strict=False))])  # fmt: skip


def seen_and_units(y, weights, forgetting=1.0):
    """Return the targets as the rule sees them, and mean and scale behind each."""
    seen, own, found, units, far = np.empty(0), np.empty(0), [], [], 0
    for target, weight in zip(y, weights, strict=True):
        now, seen, own, far = within_reach(target, seen, own, weight, far, forgetting)
        seen, own = np.append(seen, now), np.append(own, weight)
        mean, scale = statistics(seen, own, forgetting)
        found.append((now - mean) / scale)
        units.append((mean, scale))
    return np.array(found), units
