"""Statistics of features and targets in one pass over a stream: ranges and moments."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse

from onlinekern.estimators.types import Floats

# Four float64 arrays of this length take 32 MiB; with more features, no arrays are stored.
MOST_FEATURES = 1 << 20
# Integer targets with more distinct values than this are numbers, not classes.
MOST_CLASSES = 200
MOST_DISTINCT = 10_000


class FeatureStatistics:
    """Smallest and largest value, mean and variance of every feature, and the share of non-zeros.

    Blocks may grow in width, as LIBSVM text does; a feature not yet met counts as zero.

    Attributes
    ----------
    low, high, mean, variance : ndarray of shape (d,)
    n_samples, n_nonzero, n_features : int
    complete : bool
        False if there are too many features for the arrays above.
    """

    def __init__(self) -> None:
        self.n_samples = self.n_nonzero = self.n_features = 0
        self.low = self.high = self.mean = self._squares = np.zeros(0)
        self.smallest_index: int | None = None
        self.complete = True

    @property
    def variance(self) -> Floats:
        return self._squares / max(self.n_samples, 1)

    @property
    def density(self) -> float:
        """Share of the entries that are stored (CSR) or not zero (dense)."""
        return self.n_nonzero / max(self.n_samples * self.n_features, 1)

    def update(self, X: Any) -> None:
        """Add a block, float64, dense or CSR."""
        rows, width = X.shape
        self.n_nonzero += int(X.nnz if sparse.issparse(X) else np.count_nonzero(X))
        if sparse.issparse(X) and X.nnz:
            first = int(X.indices.min())
            known = self.smallest_index
            self.smallest_index = first if known is None else min(first, known)
            width = int(X.indices.max()) + 1
        elif sparse.issparse(X):
            width = 0
        self.widen(width)
        if self.complete:
            with np.errstate(over="ignore", invalid="ignore"):  # variances may overflow
                self._merge(rows, *_moments(X, self.n_features))
        self.n_samples += rows

    def widen(self, n_features: int) -> None:
        """Extend to at least `n_features`; new features were zero in all samples so far."""
        self.n_features = max(self.n_features, n_features)
        self.complete = self.complete and self.n_features <= MOST_FEATURES
        grown = self.n_features - len(self.low)
        if self.complete and grown:
            for name in ("low", "high", "mean", "_squares"):
                setattr(self, name, np.pad(getattr(self, name), (0, grown)))

    def _merge(self, rows: Any, low: Any, high: Any, mean: Any, squares: Any) -> None:
        """Update mean and sum of squares pairwise: (2.1) of Chan, Golub and LeVeque (1983)."""
        if self.n_samples:
            low, high = np.minimum(self.low, low), np.maximum(self.high, high)
        total = self.n_samples + rows
        delta = mean - self.mean
        self.low, self.high = low, high
        self.mean = self.mean + delta * (rows / total)
        self._squares = self._squares + squares + delta**2 * (self.n_samples * rows / total)


def _moments(X: Any, width: int) -> Any:
    """Return the column-wise minimum, maximum, mean and sum of squared deviations of a block."""
    rows = X.shape[0]
    if not sparse.issparse(X):
        mean = X.mean(axis=0)
        return X.min(axis=0), X.max(axis=0), mean, ((X - mean) ** 2).sum(axis=0)
    low, high = np.zeros(width), np.zeros(width)
    columns, values = X.indices, X.data
    stored = np.bincount(columns, minlength=width)
    full = stored == rows  # no implicit zero in this column
    low[full], high[full] = np.inf, -np.inf
    np.minimum.at(low, columns, values)
    np.maximum.at(high, columns, values)
    mean = np.bincount(columns, values, minlength=width) / rows
    away = np.bincount(columns, (values - mean[columns]) ** 2, minlength=width)
    return low, high, mean, away + (rows - stored) * mean**2


class TargetStatistics:
    """Distinct targets with their counts (while they are few), mean and variance."""

    def __init__(self) -> None:
        self.counts: Counter[float] = Counter()
        self.many = False
        self.integers = True
        self.n_samples = 0
        self.mean = self._squares = 0.0

    @property
    def deviation(self) -> float:
        return float(np.sqrt(self._squares / max(self.n_samples, 1)))

    def update(self, y: Any) -> None:
        """Add the targets of a block, float64."""
        values, counts = np.unique(y, return_counts=True)
        self.integers = self.integers and bool((values == np.rint(values)).all())
        if not self.many:
            for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                self.counts[value] += count
            self.many = len(self.counts) > MOST_DISTINCT
        total = self.n_samples + len(y)
        with np.errstate(over="ignore", invalid="ignore"):  # the variance may overflow
            mean = float(y.mean())
            delta = mean - self.mean
            between = delta * delta * self.n_samples * len(y) / total
            self._squares += float(((y - mean) ** 2).sum()) + between
        self.mean += delta * len(y) / total
        self.n_samples = total

    def task(self) -> str:
        """Return "classification" for up to 200 integers, else "regression"."""
        few = not self.many and len(self.counts) <= MOST_CLASSES
        return "classification" if few and self.integers else "regression"
