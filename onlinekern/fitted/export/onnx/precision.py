"""Which terms need double where the graph is in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.fitted.export import terms
from onlinekern.fitted.export.onnx.values import middle, used_columns

# Rows at which rounding errors are estimated.
PROBES = 64
# Of float32, over the largest score: what a score may be off by, as estimated from above. Errors of
# many summands cancel, so that scores are off by a fraction of it.
TOLERANCE = 5e-5


def precision_of(term: terms.Term, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type that a term is computed in."""
    if dtype == np.float64 or not needs_double(term):
        return dtype
    return np.dtype(np.float64)


def needs_double(term: terms.Term) -> bool:
    """Whether float32 would be too coarse for a term."""
    if isinstance(term, terms.Leverage):  # a difference of nearly equal numbers is divided by `reg`
        return True
    if isinstance(term, terms.Local):
        return bool(spread(term.prototypes) > TOLERANCE * term.bandwidth / unit())
    if isinstance(term, terms.Mapped) and isinstance(term.map, terms.Fourier):
        total = np.abs(term.weights).sum(axis=1).max(initial=0) / np.sqrt(len(term.map.frequencies))
        return bool(total * unit() > TOLERANCE)
    return isinstance(term, terms.Expansion) and term.coefficients.size > 0 and is_coarse(term)


def is_coarse(term: terms.Expansion) -> bool:
    """Whether the sum of a kernel expansion is made of numbers that are much larger.

    Kernel values have an error of half a unit, and a Gaussian one that of its exponent.
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
    """The largest squared distance of vectors from their middle."""
    if sp.issparse(vectors):
        return float(np.max(np.asarray(vectors.multiply(vectors).sum(axis=1)), initial=0))
    center = middle(vectors, np.dtype(np.float32))
    return float(np.square(vectors - center).sum(axis=1).max(initial=0))


def unit() -> float:
    """Half a unit in the last place of 1 in float32."""
    return float(np.finfo(np.float32).eps) / 2
