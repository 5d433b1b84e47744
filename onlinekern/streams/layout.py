"""The form in which a stream reaches the learner: dtype, dense or CSR, scaling, target units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from onlinekern.streams.errors import StreamError

SCALES = ("none", "minmax", "standard")
# A dense row costs d multiplications per support vector, a sparse row about two memory accesses per
# stored entry. Dense rows are faster if at least half of the entries are stored and a block fits
# into the cache.
DENSE_SHARE = 0.5
DENSE_FEATURES = 2048
# A feature has no effect on a distance if its range is a hundred times smaller than another's.
WILD_RATIO = 100


@dataclass(frozen=True)
class Layout:
    """Conversion of raw blocks to blocks for the learner, based on a training stream's statistics.

    Attributes
    ----------
    n_features : int
    first_index : int
        Index of the first feature in the file: 0 or 1 (LIBSVM text), 0 for tables and arrays.
    dtype : numpy dtype
    dense : bool
    factor, offset : ndarray of shape (n_features,) or None
        x becomes factor * x + offset; CSR rows are only multiplied, so that zeros stay zeros.
    target_mean, target_deviation : float
        Regression targets become (y - mean) / deviation.
    """

    n_features: int
    first_index: int
    dtype: np.dtype
    dense: bool
    factor: np.ndarray | None = None
    offset: np.ndarray | None = None
    target_mean: float = 0.0
    target_deviation: float = 1.0

    def rows(self, X: Any) -> Any:
        """Return raw rows X, converted to this form."""
        if sparse.issparse(X):
            X = sparse.csr_matrix(
                (X.data, X.indices - self.first_index, X.indptr),
                shape=(X.shape[0], self.n_features),
            )
            if self.dense:
                X = X.toarray()
        if self.factor is not None:
            if sparse.issparse(X):
                X.data = X.data * self.factor[X.indices]
            else:
                X = X * self.factor + self.offset
        if sparse.issparse(X):
            return X.astype(self.dtype, copy=False)
        return np.ascontiguousarray(X, dtype=self.dtype)

    def targets(self, y: Any) -> Any:
        """Return raw targets y, converted to this form."""
        return (y - self.target_mean) / self.target_deviation


def make_layout(
    statistics: Any, *, is_sparse: Any, first_index: Any, dtype: Any, scale: Any
) -> Any:
    """Choose the layout of a training stream (see ``onlinekern.streams.Source``)."""
    n_features = max(statistics.n_features - first_index, 1)
    dense = not is_sparse or (
        n_features <= DENSE_FEATURES and (statistics.density > DENSE_SHARE or scale != "none")
    )
    layout = Layout(n_features, first_index, np.dtype(dtype), dense)
    if scale == "none":
        return layout
    if not statistics.complete:
        raise StreamError(f"{n_features} features are too many to scale")
    low, high, mean, deviation = (
        values[first_index:]
        for values in (
            statistics.low,
            statistics.high,
            statistics.mean,
            np.sqrt(statistics.variance),
        )
    )
    if not dense:
        factor = _inverse(np.maximum(abs(low), abs(high)) if scale == "minmax" else deviation)
        return replace(layout, factor=factor, offset=np.zeros(n_features))
    factor = 2 * _inverse(high - low) if scale == "minmax" else _inverse(deviation)
    middle = (low + high) / 2 if scale == "minmax" else mean
    return replace(layout, factor=factor, offset=-middle * factor)


def _inverse(spread: Any) -> Any:
    """Return 1 / spread; 0 for a constant feature, which carries no information."""
    with np.errstate(divide="ignore", over="ignore"):
        inverse = 1 / spread
    return np.where(np.isfinite(inverse), inverse, 0.0)


def range_hint(statistics: Any, first_index: Any) -> Any:
    """Return one line of advice if the features' ranges differ wildly, else None."""
    if not statistics.complete or statistics.n_features > DENSE_FEATURES:
        return None
    ranges = (statistics.high - statistics.low)[first_index:]
    ranges = ranges[ranges > 0]
    if not len(ranges):
        return None
    ratio = ranges.max() / np.percentile(ranges, 10, method="lower")
    if ratio < WILD_RATIO:
        return None
    return (
        f"the widest feature range is about {float(f'{ratio:.1g}'):,.0f} times the narrowest: "
        "try --scale running or minmax"
    )
