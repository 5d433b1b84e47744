"""Kernels: decision functions against the twins, for every dtype, layout and store."""

import numpy as np
import pytest
from oracles.kernels import ALIASES, kernel_matrix, resolve_gamma
from scipy import sparse

from onlinekern import KernelOGDRegressor, KernelPAClassifier
from onlinekern.core import KERNEL_ALIASES, KERNELS

DTYPES = [np.float32, np.float64]
LAYOUTS = ["dense", "csr", "wide"]
PARAMETERS = {"gamma": 0.3, "degree": 3, "coef0": 0.5}
POSITIVE_DEFINITE = sorted(set(KERNELS) - {"sigmoid"})

grid = [
    pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"]),
    pytest.mark.parametrize("layout", LAYOUTS),
]


def over_grid(test):
    for mark in grid:
        test = mark(test)
    return test


def gram(X, Z, kernel, layout, dtype, as_layout, **parameters):
    """Return the core's kernel matrix; a column is a model of one sample, coefficient 1."""
    rows, others = as_layout(X, layout, dtype), as_layout(Z, layout, dtype)
    columns = []
    for i in range(len(Z)):
        settings = {"loss": "absolute", "eta": 1.0, "standardize_target": False}
        model = KernelOGDRegressor(kernel=kernel, **settings, **parameters)
        model.partial_fit(others[i : i + 1], [1.0])
        assert model.dual_coef_ == 1
        columns.append(model.predict(rows))
    return np.array(columns).T


@over_grid
@pytest.mark.parametrize("kernel", sorted([*KERNELS, *KERNEL_ALIASES]))
@pytest.mark.parametrize("average", [False, True])
def test_decision_function(kernel, average, layout, dtype, stream, as_layout, close):
    X, y = stream("ovr", n=150)
    Z = X[100:]
    model = KernelPAClassifier(kernel=kernel, average=average, C=0.1, random_state=0, **PARAMETERS)
    model.fit(as_layout(X[:100], layout, dtype), y[:100])
    assert model.n_support_ > 64  # more than a panel
    rows = model.support_vectors_
    rows = rows if layout == "dense" else rows.toarray()
    assert rows.dtype == dtype
    expected = kernel_matrix(kernel, as_dense(Z, layout, as_layout), rows, **PARAMETERS)
    scores = model.decision_function(as_layout(Z, layout, dtype))
    assert scores.dtype == np.float64
    size = np.abs(expected) @ np.abs(model.dual_coef_).T
    close(scores / size, expected @ model.dual_coef_.T / size, dtype)


def as_dense(X, layout, as_layout):
    rows = as_layout(X, layout)
    return rows if layout == "dense" else rows.toarray()


@over_grid
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_kernel_values(kernel, layout, dtype, stream, as_layout, close):
    X, _ = stream(n=24, seed=3)
    matrix = gram(X, X, kernel, layout, dtype, as_layout, **PARAMETERS)
    close(matrix, kernel_matrix(kernel, X, X, **PARAMETERS), dtype)
    np.testing.assert_array_equal(matrix, matrix.T)  # bit for bit: see vector.h
    if kernel in POSITIVE_DEFINITE:
        scale = np.abs(matrix).max()
        assert np.linalg.eigvalsh(matrix).min() > -100 * np.finfo(dtype).eps * scale
    if kernel in ("gaussian", "exponential", "laplacian"):
        assert matrix.max() <= 1
        close(np.diag(matrix), 1.0, dtype)


@over_grid
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_zero_rows(kernel, layout, dtype, stream, as_layout, close):
    X, _ = stream(n=5)
    Z = np.zeros((2, X.shape[1]))
    for rows, others in ((X, Z), (Z, X), (Z, Z)):
        matrix = gram(rows, others, kernel, layout, dtype, as_layout, **PARAMETERS)
        close(matrix, kernel_matrix(kernel, rows, others, **PARAMETERS), dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("distance", [0, 1e-7, 1e-5, 1e-3, 1e-2])
def test_near_duplicates_in_float32(layout, distance, as_layout):
    # ||x||^2 = 60, gamma = 1: just below the bound of the expanded distance, where it is at its
    # worst. A kernel value of nearly 1 may then be off by 1.5e-5, as the core's comment derives.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    X *= np.sqrt(60) / np.linalg.norm(X, axis=1, keepdims=True)
    Z = X + distance * rng.standard_normal(X.shape) / np.sqrt(8)
    X, Z = X.astype(np.float32).astype(float), Z.astype(np.float32).astype(float)
    matrix = gram(X, Z, "gaussian", layout, np.float32, as_layout, gamma=1.0)
    np.testing.assert_allclose(matrix, kernel_matrix("gaussian", X, Z, 1.0), atol=2e-5)
    assert matrix.max() <= 1


@pytest.mark.parametrize("d", [400, 50_000])
@pytest.mark.parametrize("length", [9, 3000, 20000])
def test_long_sparse_rows_do_not_depend_on_the_block(length, d):
    """Products in double, up to gamma ||x||^2 = 2^24; beyond differences of features."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((10, 400)) * (rng.random((10, 400)) < 0.03), 20, axis=0)
    X = length * X + 0.2 * rng.standard_normal(X.shape) * (X != 0)
    X *= rng.random(X.shape) < 0.95
    X[::7] /= length  # short rows among the long ones
    X = sparse.hstack([sparse.csr_matrix(X), sparse.csr_matrix((200, d - 400))]).tocsr()
    y = np.r_[0:200, 0:200] % 3 - 1.0
    expected = None
    for dtype in (np.float64, np.float32):
        rows = X.astype(np.float32).astype(dtype)[np.r_[0:200, 0:200]]
        model = KernelOGDRegressor(kernel="gaussian", gamma=1.0, loss="squared", eta=0.5)
        whole = model.partial_fit_predict(rows, y)
        model = KernelOGDRegressor(kernel="gaussian", gamma=1.0, loss="squared", eta=0.5)
        single = [model.partial_fit_predict(rows[i : i + 1], y[i : i + 1]) for i in range(400)]
        np.testing.assert_array_equal(np.concatenate(single), whole)
        expected = whole if expected is None else expected
    assert (np.abs(expected) > 1e-3).sum() > 100
    np.testing.assert_allclose(whole, expected, atol=2e-5)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("length", [9, 100, 3000])
def test_long_rows_in_float32(kernel, layout, length, as_layout, stream):
    # gamma ||x||^2 > 64 (up to 9e6): the expanded distance would lose all digits.
    rng = np.random.default_rng(0)
    near = rng.standard_normal((30, 8)) * 0.2
    X = (np.repeat(rng.standard_normal((3, 8)), 10, axis=0) * length + near).astype(np.float32)
    X[::7] = near[::7]  # short rows among the long ones
    X[5] = 0
    X = X.astype(np.float64)
    matrix = gram(X, X, kernel, layout, np.float32, as_layout, gamma=1.0)
    expected = kernel_matrix(kernel, X, X, 1.0)
    assert ((expected > 0.1) & (expected < 0.9)).sum() > 20
    # Differences of features are exact in float32 here or off by 2^-24 of the feature itself. The
    # shortest rows of the Laplacian kernel are below its limit.
    np.testing.assert_allclose(matrix, expected, atol=2e-6 if kernel == "gaussian" else 2e-5)
    # The same rows within one window: the model's values in mid-stream.
    y = np.sin(np.arange(30.0))
    arguments = {"kernel": kernel, "gamma": 1.0, "loss": "squared", "eta": 0.5}
    predictions = KernelOGDRegressor(**arguments).partial_fit_predict(
        as_layout(X, layout, np.float32), y
    )
    exact = KernelOGDRegressor(**arguments).partial_fit_predict(X, y)
    np.testing.assert_allclose(predictions, exact, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.7])
def test_gamma(gamma, layout, dtype, stream, as_layout):
    X, y = stream("binary")
    rows = as_layout(X, layout, dtype)
    model = KernelPAClassifier(gamma=gamma).fit(rows, y)
    dense = rows if layout == "dense" else rows.toarray()
    assert model.gamma_ == pytest.approx(resolve_gamma(gamma, dense), rel=1e-6)


def test_gamma_of_constant_samples():
    assert KernelPAClassifier().fit(np.ones((4, 2)), [0, 1, 0, 1]).gamma_ == 1


def test_aliases():
    assert KERNEL_ALIASES == ALIASES


@pytest.mark.parametrize("scale", [1e-25, 1e-12, 1e12, 1e25])
def test_cosine_does_not_know_lengths(scale, stream, as_layout, close):
    X, _ = stream(n=10)
    expected = kernel_matrix("cosine", X, X)
    matrix = gram(X * scale, X * scale, "cosine", "dense", np.float64, as_layout)
    close(matrix, expected, np.float64)
    if 1e-15 < scale < 1e15:  # products of longer rows are not exact in float32
        matrix = gram(X * scale, X * scale, "cosine", "dense", np.float32, as_layout)
        close(matrix, expected, np.float32)


def test_polynomial_degrees(stream, as_layout, close):
    X, _ = stream(n=12)
    for degree in (1, 2, 5):
        parameters = {"gamma": 0.5, "degree": degree, "coef0": -1.0}
        matrix = gram(X, X, "polynomial", "dense", np.float64, as_layout, **parameters)
        close(matrix, kernel_matrix("polynomial", X, X, **parameters), np.float64)
