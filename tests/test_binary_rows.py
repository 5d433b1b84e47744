"""Points of zeros and ones, which OLLA's solver 'smo' stores as bytes: the same bits as others."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import olla, smo
from sklearn.svm import SVC

from onlinekern import OLLAClassifier
from onlinekern.core.kernels.kernels import Gaussian, Kernel, Laplacian, Polynomial
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.active_rows import ActiveRows
from onlinekern.core.models.smo import DualMinimiser

LAYOUTS = {"dense": np.ascontiguousarray, "csr": sp.csr_matrix}


def one_hot(n, d, share=0.3, seed=0):
    """Return rows of zeros and ones, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < share).astype(np.float64)
    score = X @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n)
    return X, np.where(score > np.median(score), 1.0, -1.0)


def minimiser_of(X, y, kernel, C=2.0, cache_bytes=1e8):
    """Return a dual of the hinge at 0."""
    form = SupportSet(kernel, X.shape[1], X.dtype, 1, False, sp.issparse(X))
    rows = ActiveRows(form, X, cache_bytes)
    bounds = np.where(y > 0, 0, -C), np.where(y > 0, C, 0)
    return DualMinimiser(rows, y, *bounds, np.zeros(len(y)), 0.0, True, 1e-3, True)


def row_of(X, y, kernel, point):
    """Return the kernel row of a point, made as a row of the solver and as an expansion."""
    minimiser = minimiser_of(X, y, kernel)
    minimiser.change(np.array([point]), np.ones(1), False)
    minimiser.minimise(0)
    return y - minimiser.slopes, minimiser.values_at(np.arange(len(y)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [1, 3, 64, 65, 129, 700])
@pytest.mark.parametrize(
    "kernel", [Gaussian(0.05), Polynomial(0.1, 2, 1.0), Kernel(), Laplacian(0.1)]
)
def test_kernel_rows_have_the_bits_of_other_points(kernel, d, layout, dtype, equal):
    X, y = one_hot(150, d, share=0.6)
    X[3] = 0
    X[4] = 1
    X[5:9] = X[9]
    # A point that is not binary makes all of them ordinary ones.
    others = np.vstack([X, np.full(d, 0.5)])
    for point in (0, 4, 75):
        binary = row_of(LAYOUTS[layout](X.astype(dtype)), y, kernel, point)
        ordinary = row_of(LAYOUTS[layout](others.astype(dtype)), np.append(y, 1.0), kernel, point)
        for one, other in zip(binary, ordinary, strict=True):
            equal(one, other[:150])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_long_rows_have_exact_distances(layout, dtype):
    X, y = one_hot(90, 400, share=0.01)
    X = np.abs(X - (np.arange(400) < 280))  # rows of about 280 ones that differ in few features
    kernel = Gaussian(0.5)  # beyond 128 ones by the differences of the features
    row, _ = row_of(LAYOUTS[layout](X.astype(dtype)), y, kernel, 45)
    np.testing.assert_allclose(row, np.exp(-0.5 * ((X - X[45]) ** 2).sum(1)), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_twin(layout, dtype):
    X, y = one_hot(50, 6)
    model = OLLAClassifier(
        solver="smo", gamma=0.4, C=2.0, tol=1e-6 if dtype == np.float32 else 1e-9
    )
    model.fit(LAYOUTS[layout](X.astype(dtype)), y)
    kernel = olla.kernel_matrix("gaussian", X, X, 0.4, 3, 0.0)
    twin = smo.solve(smo.problem_of("hinge", kernel, y, np.full(50, 2.0)), True)
    np.testing.assert_allclose(model.dual_objective_, [twin.objective], rtol=1e-5)
    np.testing.assert_allclose(model.intercept_, [twin.offset], atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [1, 20, 130])
@pytest.mark.parametrize("cache_size", [1e-9, 200.0])
def test_the_classifier_is_svc(cache_size, d, layout, dtype):
    X, y = one_hot(600, d)
    model = OLLAClassifier(solver="smo", gamma=0.1, C=3.0, tol=1e-4, cache_size=cache_size)
    model.fit(LAYOUTS[layout](X.astype(dtype)), y)
    machine = SVC(gamma=0.1, C=3.0, tol=1e-4).fit(X, y)
    scores = model.decision_function(LAYOUTS[layout](X.astype(dtype)))
    np.testing.assert_allclose(scores, machine.decision_function(X), atol=5e-3)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_several_classes(multi_class, equal):
    X, y = one_hot(300, 30)
    y = 2 * y + X[:, 0]
    models = [
        OLLAClassifier(solver="smo", gamma=0.1, multi_class=multi_class, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    ]
    dense, sparse = (
        model.fit(rows, y) for model, rows in zip(models, (X, sp.csr_matrix(X)), strict=True)
    )
    equal(dense.dual_coef_, sparse.dual_coef_)
    equal(dense.predict(X), sparse.predict(sp.csr_matrix(X)))


def test_all_zeros_and_stored_zeros(equal):
    X, y = one_hot(80, 5)
    stored = sp.csr_matrix(X + 1)
    stored.data -= 1
    assert stored.nnz > sp.csr_matrix(X).nnz
    models = [OLLAClassifier(solver="smo", gamma=0.2).fit(rows, y) for rows in (X, stored)]
    equal(models[0].dual_coef_, models[1].dual_coef_)
    assert stored.nnz == X.size  # the caller's matrix is as it was
    zeros = OLLAClassifier(solver="smo", gamma=0.2).fit(np.zeros((6, 4)), [0, 1, 0, 1, 1, 1])
    assert zeros.predict(np.zeros((1, 4))) == [1]


@pytest.mark.parametrize("value", [2.0, -1.0, 1 + 1e-6, 0.5])
def test_other_values_are_learnt_too(value):
    X, y = one_hot(200, 20)
    X[150, 3] = value
    model = OLLAClassifier(solver="smo", gamma=0.1, C=3.0, tol=1e-4).fit(X, y)
    machine = SVC(gamma=0.1, C=3.0, tol=1e-4).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), machine.decision_function(X), atol=5e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_set_gives_its_rows_back(dtype, equal):
    X, _ = one_hot(130, 9)
    rows = sp.csr_matrix(X.astype(dtype))
    support = SupportSet(Gaussian(0.1), 9, dtype, 1, False, True, True)
    support.add_rows(rows, np.ones((130, 1)))
    equal(support.rows(), X.astype(dtype))
    small, large = (
        SupportSet(Gaussian(0.1), 9, dtype, 1, False, True, ones) for ones in (True, False)
    )
    assert small.nbytes() < large.nbytes()
