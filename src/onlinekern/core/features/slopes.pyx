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
    """Gradients of functions of explicit features at rows, one for each output.

    Parameters
    ----------
    features : FeatureMap
        `NestedNystroem` or Fourier features, in a metric or not, with linear ones or not.
    weights : ndarray of shape (n_outputs, n)
        Of the features, in the order of `features.columns`.
    X : ndarray of shape (n_rows, d)
        Of the dtype of the samples, like the weights.

    Returns
    -------
    list of ndarray of shape (n_rows, d)
    """
    if isinstance(features, WithLinear):
        d = features.d
        found = slopes_of(features.map, weights[:, d:], X)
        for slopes, own in zip(found, weights[:, :d]):
            slopes += own / X.dtype.type(np.sqrt(max(d, 1)))
        return found
    if isinstance(features, InMetric):
        # As the map moves them: a row that is a landmark is where that is, to the last bit.
        root, moved = features.root.astype(X.dtype), features.moved(X)
        found = slopes_of(features.map, weights, moved)
        return [slopes @ root if root.ndim == 2 else slopes * root for slopes in found]
    if isinstance(features, NestedNystroem):
        landmarks = features.landmarks
        C = np.asarray(landmarks.rows(), dtype=X.dtype)
        whitening = features.whitening().astype(X.dtype)
        return expansion_slopes(landmarks.kernel, X, C, weights @ whitening)
    if isinstance(features, FourierMap):
        return fourier_slopes(features.frequencies().astype(X.dtype), weights, X)
    raise TypeError(f"the gradient of the features {type(features).__name__} is not known")


def fourier_slopes(frequencies, weights, X):
    """Gradients of the cosines, then the sines, of frequencies (n_components, d)."""
    n = len(frequencies)
    angles = X @ frequencies.T
    cosines, sines = np.cos(angles), np.sin(angles)
    root = X.dtype.type(np.sqrt(n))
    return [((cosines * own[n:] - sines * own[:n]) / root) @ frequencies for own in weights]


def mean_of_slopes(features, weights, X, full):
    """Mean outer product of the gradients at rows, summed over the outputs, or its diagonal.

    Rows whose gradient is not finite count as rows without one: samples may be as large as they
    like.

    Parameters
    ----------
    features, weights, X
        See `slopes_of`.
    full : bool

    Returns
    -------
    ndarray of shape (d, d), or (d,), float64
    """
    total = 0.0
    for slopes in slopes_of(features, weights.astype(X.dtype), X):
        slopes[~np.isfinite(slopes).all(axis=1)] = 0
        total = total + (slopes.T @ slopes if full else (slopes * slopes).sum(axis=0))
    return total.astype(np.float64) / len(X)
