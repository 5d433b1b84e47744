"""Gradients of functions w . z(x) of explicit features, and their mean outer product.

The average gradient outer product (AGOP) tells along which features, or directions, a function
changes: a metric is learnt from it (Radhakrishnan, Beaglehole, Pandit and Belkin 2024).
"""
import numpy as np

from onlinekern.core.features.joined import WithLinear
from onlinekern.core.features.map import FourierMap
from onlinekern.core.features.metric import InMetric
from onlinekern.core.features.nested import NestedNystroem
from onlinekern.core.kernels.derivatives import expansion_slopes


def slopes_of(features, weights, X):
    """Gradients of functions of explicit features at rows: see `slopes_at`."""
    return slopes_at(features, weights, X.dtype)(X)


def slopes_at(features, weights, dtype):
    """A function of rows, ndarray (n_rows, d) of a dtype: a list of gradients, (n_rows, d) each.

    There is one for each output. It stays as it is where the features have more landmarks later.

    Parameters
    ----------
    features : FeatureMap
        `NestedNystroem` or Fourier features, in a metric or not, with linear ones or not.
    weights : ndarray of shape (n_outputs, n)
        Of the features, in the order of `features.columns`; later ones may be missing.
    dtype : dtype
        Of the samples.
    """
    weights = weights.astype(dtype)
    if isinstance(features, WithLinear):
        d = features.d
        inner, linear = slopes_at(features.map, weights[:, d:], dtype), weights[:, :d]
        linear = linear / dtype.type(np.sqrt(max(d, 1)))
        return lambda X: [slopes + own for slopes, own in zip(inner(X), linear)]
    if isinstance(features, InMetric):
        # As the map moves them: a row that is a landmark is where that is, to the last bit.
        root, inner = features.root.astype(dtype), slopes_at(features.map, weights, dtype)
        return lambda X: [slopes @ root if root.ndim == 2 else slopes * root
                          for slopes in inner(features.moved(X))]
    if isinstance(features, NestedNystroem):
        n, kernel = weights.shape[1], features.landmarks.kernel
        C = np.array(features.landmarks.rows()[:n], dtype=dtype)
        pulls = weights @ np.ascontiguousarray(features.whitening()[:n, :n], dtype=dtype)
        return lambda X: expansion_slopes(kernel, X, C, pulls)
    if isinstance(features, FourierMap):
        frequencies = features.frequencies().astype(dtype)
        return lambda X: fourier_slopes(frequencies, weights, X)
    raise TypeError(f"the gradient of the features {type(features).__name__} is not known")


def fourier_slopes(frequencies, weights, X):
    """Gradients of the cosines, then the sines, of frequencies (n_components, d)."""
    n = len(frequencies)
    angles = X @ frequencies.T
    cosines, sines = np.cos(angles), np.sin(angles)
    root = X.dtype.type(np.sqrt(n))
    return [((cosines * own[n:] - sines * own[:n]) / root) @ frequencies for own in weights]


def sum_of_products(gradients, full):
    """Outer products of gradients, or their diagonals, summed over rows and outputs, in double.

    Rows whose gradient is not finite count as rows without one: samples may be as large as they
    like.

    Parameters
    ----------
    gradients : list of ndarray of shape (n_rows, d)
        One for each output; they may be changed.
    full : bool

    Returns
    -------
    ndarray of shape (d, d), or (d,), float64
    """
    total = 0.0
    for slopes in gradients:
        slopes[~np.isfinite(slopes).all(axis=1)] = 0
        total = total + (slopes.T @ slopes if full else (slopes * slopes).sum(axis=0))
    return total.astype(np.float64)
