"""Online kernel CUSUM, for the comparison of `alarms.py`; no part of the library."""

import numpy as np

from onlinekern import FourierFeatures

FIRST, REFERENCE = 100, 500
# Lengths of the blocks of last rows; the paper has all up to the largest.
BLOCKS = (5, 10, 20, 50, 100, 200)
SEGMENTS, SEGMENT = 40, 500
EULER = 0.5772156649


class KernelCUSUM:
    """Online kernel CUSUM (Wei, Xie 2022, arXiv 2211.15070) in random Fourier features.

    The statistic is the largest over blocks of the last B rows of their squared distance in mean
    from the reference rows, centred and divided by its deviation. These and the threshold come of a
    bootstrap of the reference rows: segments with a reference of their own, whose largest values
    get a Gumbel distribution, so that an alarm comes once in `run_length` rows.
    """

    def __init__(self, run_length=20_600, seed=0):
        self.run_length, self.seed = run_length, seed

    def update_many(self, X):
        alarms, start = [], 0
        while start + FIRST + REFERENCE < len(X):
            place = self._first_alarm(X[start:])
            if place is None:
                break
            start += place
            alarms.append(start)
        self.alarms_ = np.array(alarms, dtype=int)
        return self

    def _first_alarm(self, X):
        """Return after how many rows an alarm comes, None if none does."""
        features = FourierFeatures(n_components=200, random_state=self.seed).fit(X[:FIRST])
        Z = features.transform(X[FIRST:])
        known, later = Z[:REFERENCE], Z[REFERENCE:]
        rng = np.random.default_rng(self.seed)
        drawn = []
        for _ in range(SEGMENTS):
            own = known[rng.integers(REFERENCE, size=REFERENCE)].mean(axis=0)
            drawn.append(distances(known[rng.integers(REFERENCE, size=SEGMENT)], own))
        table = np.stack(drawn)
        means, deviations = np.nanmean(table, axis=(0, 1)), np.nanstd(table, axis=(0, 1))
        highest = largest((table - means) / deviations).max(axis=1)
        scale = highest.std() * 6**0.5 / np.pi
        place = highest.mean() - EULER * scale
        threshold = place - scale * np.log(-np.log(1 - SEGMENT / self.run_length))
        values = largest((distances(later, known.mean(axis=0)) - means) / deviations)
        found = np.flatnonzero(values > threshold)
        return FIRST + REFERENCE + int(found[0]) + 1 if len(found) else None


def largest(values):
    """Return the largest of the last axis, minus infinity where there is none."""
    return np.where(np.isnan(values), -np.inf, values).max(axis=-1)


def distances(Z, mean):
    """Return the squared distances of block means from a mean, (n_rows, n_blocks); NaN at first."""
    sums = np.cumsum(np.vstack([np.zeros_like(mean), Z - mean]), axis=0)
    found = np.full((len(Z), len(BLOCKS)), np.nan)
    for k, size in enumerate(BLOCKS):
        if size <= len(Z):
            blocks = (sums[size:] - sums[:-size]) / size
            found[size - 1 :, k] = (blocks**2).sum(axis=1)
    return found
