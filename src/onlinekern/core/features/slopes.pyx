"""Gradients of functions w . z(x) of explicit features, and their mean outer product.

A metric is learnt from the mean outer product of the gradients (AGOP), which shows along which
features, or directions, a function changes (Radhakrishnan, Beaglehole, Pandit and Belkin 2024).
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
    """Return a function that computes the gradients at rows.

    It takes rows, ndarray (n_rows, d), and returns a list with a gradient (n_rows, d) for each
    output. Landmarks that the features get later do not change it.

    Parameters
    ----------
    features : FeatureMap
        `NestedNystroem` or Fourier features, in a metric or not, with linear ones or not.
    weights : ndarray of shape (n_outputs, n)
        Weights of the features in the order of `features.columns`; the last ones may be missing.
    dtype : dtype
        Type of the samples.
    """
    weights = weights.astype(dtype)
    if isinstance(features, WithLinear):
        d = features.d
        inner, linear = slopes_at(features.map, weights[:, d:], dtype), weights[:, :d]
        linear = linear / dtype.type(np.sqrt(max(d, 1)))
        return lambda X: [slopes + own for slopes, own in zip(inner(X), linear)]
    if isinstance(features, InMetric):
        # Transform rows as the map does: a row that is a landmark must have the same bits.
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
    """Gradients of functions of Fourier features with frequencies (n_components, d).

    `weights` are of the cosines, then of the sines.
    """
    n = len(frequencies)
    angles = X @ frequencies.T
    cosines, sines = np.cos(angles), np.sin(angles)
    root = X.dtype.type(np.sqrt(n))
    return [((cosines * own[n:] - sines * own[:n]) / root) @ frequencies for own in weights]


def sum_of_products(gradients, full):
    """Sum of the outer products of gradients, or of their diagonals, over rows and outputs.

    Gradients that are not finite count as 0: samples may be arbitrarily large.

    Parameters
    ----------
    gradients : list of ndarray of shape (n_rows, d)
        One for each output; modified in place.
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
