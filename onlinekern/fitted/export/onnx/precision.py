"""Choice of the terms that need double where the graph is in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.fitted.export import terms
from onlinekern.fitted.export.onnx.values import middle, used_columns

# Rounding errors are estimated at so many rows.
PROBES = 64
# A score in float32 may be off by this share of the largest score, as estimated from above. Errors
# of many summands cancel, so scores are off by a fraction of it.
TOLERANCE = 5e-5


def precision_of(term: terms.Term, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that a term is computed in."""
    if dtype == np.float64 or not needs_double(term):
        return dtype
    return np.dtype(np.float64)


def needs_double(term: terms.Term) -> bool:
    """Return whether float32 would be too coarse for a term."""
    if isinstance(term, terms.Leverage):  # a difference of nearly equal numbers is divided by `reg`
        return True
    if isinstance(term, terms.Expansion) and term.kernel.name == "exponential":
        return True  # the root of a difference of nearly equal numbers
    if isinstance(term, terms.Local):
        return bool(spread(term.prototypes) > TOLERANCE * term.bandwidth / unit())
    if isinstance(term, terms.Mapped) and isinstance(term.map, terms.Fourier):
        total = np.abs(term.weights).sum(axis=1).max(initial=0) / np.sqrt(len(term.map.frequencies))
        return bool(total * unit() > TOLERANCE)
    return isinstance(term, terms.Expansion) and term.coefficients.size > 0 and is_coarse(term)


def is_coarse(term: terms.Expansion) -> bool:
    """Return whether the summands of a kernel expansion are much larger than the sum.

    Kernel values have an error of half a unit, and a Gaussian has that of its exponent too.
    """
    vectors, columns = term.vectors, used_columns(term.vectors)
    if columns is not None:
        vectors = vectors[:, columns]
    count = vectors.shape[0]
    places = np.unique(np.linspace(0, count - 1, min(count, PROBES)).astype(int))
    signed = term.kernel.values(terms.dense(vectors[places]), vectors)
    values, scores = np.abs(signed), signed @ term.coefficients.T
    error = unit() * (values @ np.abs(term.coefficients).T)
    if term.kernel.name == "gaussian":
        error *= 1 + term.kernel.gamma * spread(vectors)
    return bool(error.max() > TOLERANCE * max(np.abs(scores).max(), np.finfo(float).tiny))


def spread(vectors: Any) -> float:
    """Return the largest squared distance of vectors from their middle."""
    if sp.issparse(vectors):
        return float(np.max(np.asarray(vectors.multiply(vectors).sum(axis=1)), initial=0))
    center = middle(vectors, np.dtype(np.float32))
    return float(np.square(vectors - center).sum(axis=1).max(initial=0))


def unit() -> float:
    """Return half a unit in the last place of 1 in float32."""
    return float(np.finfo(np.float32).eps) / 2
