"""Gradients of kernel expansions f(x) = sum_j a_j kappa(x, c_j).

The gradient of a kernel of products or of Euclidean distances is p x + q c, with two numbers of x
and c. So the gradients of all rows are two products of matrices, beside those of the kernel values.
"""
import numpy as np

from onlinekern.core.kernels.kernels import (
    Cosine, EuclideanLaplacian, Gaussian, Kernel, Laplacian, Polynomial, Sigmoid)


def check_gradient(kernel, metric):
    """Raise ValueError, which names `metric`, unless the gradient of this kernel is known."""
    if type(kernel) not in SLOPES:
        known = ", ".join(sorted(cls.__name__ for cls in SLOPES))
        raise ValueError(
            f"metric={metric!r} needs the gradient of the kernel, which {type(kernel).__name__} "
            f"does not have: use metric='none', or one of {known}")


def expansion_slopes(kernel, X, C, weights):
    """Gradients of kernel expansions, one for each output, at rows.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n, d), float64
    C : ndarray of shape (m, d), float64
    weights : ndarray of shape (n_outputs, m)

    Returns
    -------
    list of ndarray of shape (n, d)
    """
    return SLOPES[type(kernel)](X, C, weights, *kernel.arguments)


def pulled(pull, X, C):
    """sum_j p_j (x - c_j) of rows, ndarray of shape (n, d); p is `pull`, of shape (n, m)."""
    return pull.sum(axis=1)[:, None] * X - pull @ C


def squared_distances(X, C):
    """|x - c|^2 of rows, ndarray of shape (n, m)."""
    squares = (X * X).sum(axis=1)[:, None] + (C * C).sum(axis=1) - 2 * X @ C.T
    return np.maximum(squares, 0.0, out=squares)


def of_gaussian(X, C, weights, gamma):
    values = squared_distances(X, C)
    values *= -gamma
    np.exp(values, out=values)
    values *= -2 * gamma
    return [pulled(values * own, X, C) for own in weights]


def of_exponential(X, C, weights, gamma):
    """-sqrt(gamma) sum_j a_j kappa(x, c_j) (x - c_j) / |x - c_j|, 0 at c_j."""
    distances = np.sqrt(squared_distances(X, C))
    # Nearer than rounding, there is no direction.
    least = np.sqrt(np.finfo(X.dtype).eps) * (1 + np.sqrt((X * X).sum(axis=1)))[:, None]
    near = distances < 4 * least
    root = np.sqrt(gamma)
    values = -root * np.exp(-root * distances) / np.where(near, 1, distances)
    values[near] = 0
    return [pulled(values * own, X, C) for own in weights]


def of_laplacian(X, C, weights, gamma):
    """-gamma sum_j a_j sign(x - c_j) kappa(x, c_j), one feature after the other."""
    distances = np.zeros((len(X), len(C)))
    for x, c in zip(X.T, C.T):
        distances += np.abs(x[:, None] - c)
    values = np.exp(-gamma * distances)
    found = [np.empty(X.shape) for _ in weights]
    for j, (x, c) in enumerate(zip(X.T, C.T)):
        turned = np.sign(x[:, None] - c) * values
        for k, own in enumerate(weights):
            found[k][:, j] = -gamma * (turned @ own)
    return found


def of_products(slopes, C, weights):
    return [(slopes * own) @ C for own in weights]


def of_polynomial(X, C, weights, gamma, degree, coef0):
    slopes = gamma * degree * (gamma * (X @ C.T) + coef0) ** (degree - 1)
    return of_products(slopes, C, weights)


def of_linear(X, C, weights):
    return of_products(np.ones((len(X), len(C))), C, weights)


def of_sigmoid(X, C, weights, gamma, coef0):
    return of_products(gamma * (1 - np.tanh(gamma * (X @ C.T) + coef0) ** 2), C, weights)


def of_cosine(X, C, weights):
    inverse, others = inverse_norms(X)[:, None], inverse_norms(C)
    cosines = (X @ C.T) * inverse * others
    own = np.square(inverse)
    return [(inverse * others * each) @ C - (cosines @ each)[:, None] * own * X
            for each in weights]


def inverse_norms(X):
    norms = np.sqrt((X * X).sum(axis=1))
    return np.where(norms > 0, 1 / np.where(norms > 0, norms, 1), 0)


SLOPES = {
    Gaussian: of_gaussian, EuclideanLaplacian: of_exponential, Laplacian: of_laplacian,
    Polynomial: of_polynomial, Kernel: of_linear, Sigmoid: of_sigmoid, Cosine: of_cosine,
}
