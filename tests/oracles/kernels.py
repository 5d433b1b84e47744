"""Kernel matrices by their definitions, in float64.

The squared distance is summed from differences, never expanded into three terms: this form has no
cancellation.
"""

import numpy as np


def _gaussian(x, z, gamma, degree, coef0):
    """Return exp(-gamma ||x - z||^2); a paper's bandwidth sigma is gamma = 1 / (2 sigma^2)."""
    difference = x - z
    return np.exp(-gamma * np.sum(difference * difference, axis=-1))


def _exponential(x, z, gamma, degree, coef0):
    """Return exp(-sqrt(gamma) ||x - z||)."""
    difference = x - z
    return np.exp(-np.sqrt(gamma * np.sum(difference * difference, axis=-1)))


def _laplacian(x, z, gamma, degree, coef0):
    """Return exp(-gamma ||x - z||_1)."""
    return np.exp(-gamma * np.sum(np.abs(x - z), axis=-1))


def _inner(x, z):
    return np.sum(x * z, axis=-1)


def _polynomial(x, z, gamma, degree, coef0):
    """Return (gamma <x, z> + coef0)^degree."""
    base = gamma * _inner(x, z) + coef0
    if degree != int(degree):
        return np.power(base, degree)
    # Multiplied out, so that integer data give exact integers (a library power need not).
    result = np.ones_like(base)
    for _ in range(int(degree)):
        result = result * base
    return result


def _linear(x, z, gamma, degree, coef0):
    """Return <x, z>."""
    return _inner(x, z)


def _sigmoid(x, z, gamma, degree, coef0):
    """Return tanh(gamma <x, z> + coef0); it is not positive definite in general."""
    return np.tanh(gamma * _inner(x, z) + coef0)


def _cosine(x, z, gamma, degree, coef0):
    """Return <x, z> / (||x|| ||z||), and 0 where a row is zero."""
    lengths = np.sqrt(_inner(x, x)) * np.sqrt(_inner(z, z))
    result = np.zeros_like(lengths)
    np.divide(_inner(x, z), lengths, out=result, where=lengths > 0.0)
    return result


def _matrix_of(function):
    """Turn kappa(x, rows of Z) into the function (X, Z, gamma, degree, coef0) -> (n, m) matrix."""

    def matrix(X, Z, gamma=1.0, degree=3, coef0=0.0):
        X = np.asarray(X, dtype=np.float64)
        Z = np.asarray(Z, dtype=np.float64)
        result = np.empty((len(X), len(Z)))
        for i, x in enumerate(X):
            result[i] = function(x, Z, gamma, degree, coef0)
        return result

    matrix.__doc__ = function.__doc__
    return matrix


KERNELS = {
    "gaussian": _matrix_of(_gaussian),
    "exponential": _matrix_of(_exponential),
    "laplacian": _matrix_of(_laplacian),
    "polynomial": _matrix_of(_polynomial),
    "linear": _matrix_of(_linear),
    "sigmoid": _matrix_of(_sigmoid),
    "cosine": _matrix_of(_cosine),
}

ALIASES = {"rbf": "gaussian", "poly": "polynomial"}


def kernel_matrix(kernel, X, Z, gamma=1.0, degree=3, coef0=0.0):
    """Return the (n, m) matrix kappa(X_i, Z_j) of a kernel given by name or alias."""
    return KERNELS[ALIASES.get(kernel, kernel)](X, Z, gamma, degree, coef0)


def resolve_gamma(gamma, X):
    """Return gamma as a number, "scale" and "auto" as scikit-learn defines them.

    "scale" is 1 / (n_features Var(X)), the variance over all entries, and 1 if it is 0;
    "auto" is 1 / n_features.
    """
    X = np.asarray(X, dtype=np.float64)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        variance = X.var()
        return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0
    return float(gamma)
