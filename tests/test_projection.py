"""Projectron against its twin, and the Cholesky factor under it."""

import numpy as np
import pytest
from budgeted import build, check_twin, check_windows, learn
from oracles import projection
from oracles.kernels import kernel_matrix

from onlinekern import KernelPerceptronClassifier, ProjectronClassifier
from onlinekern.core.linalg.cholesky import Cholesky

# Projections divide by the squared distance of a sample from the span, at least eta^2.
TOLERANCES = {np.float32: 2e-3, np.float64: 1e-8}
SETTINGS = [
    {"budget": None, "eta": 0.6},
    {"budget": 12, "eta": 0.1},
    {"budget": None, "eta": 0.6, "plus_plus": True},
    {"budget": 12, "eta": 0.3, "plus_plus": True},
]


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("task", ["binary", "ovr", "margin"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_twin(settings, task, weighted, stream, as_layout):
    check_twin(ProjectronClassifier, projection.projectron, task, settings, stream, as_layout,
               TOLERANCES, weighted)  # fmt: skip


@pytest.mark.parametrize("kernel", ["laplacian", "polynomial", "linear", "cosine"])
def test_other_kernels(kernel, stream, as_layout):
    settings = {"kernel": kernel, "degree": 2, "budget": 6, "eta": 0.1, "coef0": 0.5}
    check_twin(ProjectronClassifier, projection.projectron, "binary", settings, stream, as_layout,
               {np.float32: 2e-2, np.float64: 1e-5})  # fmt: skip


@pytest.mark.parametrize("task", ["binary", "margin"])
@pytest.mark.parametrize("gamma", [0.9, 200.0])
def test_windows(gamma, task, stream, as_layout, state_of, same_state):
    X, y = stream("ovr" if task == "margin" else task, n=300)
    settings = {"budget": 30, "gamma": gamma, "plus_plus": True}
    check_windows(lambda: ProjectronClassifier(**settings), X, y, as_layout, state_of, same_state)


def test_without_projection_it_is_the_perceptron(stream):
    X, y = stream("binary")
    one = build(ProjectronClassifier, "binary", budget=None, eta=1e-6)
    other = build(KernelPerceptronClassifier, "binary")
    np.testing.assert_array_equal(learn(one, X, y), learn(other, X, y))
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)


def test_every_support_vector_was_far_from_the_others(stream):
    X, y = stream("binary", n=400)
    model = build(ProjectronClassifier, "binary", budget=None, eta=0.7)
    learn(model, X, y)
    rows = model.support_vectors_
    for i in range(1, len(rows)):
        K = kernel_matrix("gaussian", rows[:i], rows[:i], 0.4)
        k = kernel_matrix("gaussian", rows[:i], rows[i : i + 1], 0.4)[:, 0]
        assert 1 - k @ np.linalg.solve(K, k) > 0.7**2 * (1 - 1e-6)
    assert 5 < len(rows) < 200


def test_projection_is_orthogonal_to_the_span(stream):
    X, y = stream("binary", n=150)
    model = build(ProjectronClassifier, "binary", budget=15)
    learn(model, X[:60], y[:60])
    count = 0
    for i in range(60, 150):
        before = model.dual_coef_[0]
        wrong = model.predict(X[i : i + 1])[0] != y[i]
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        change = model.dual_coef_[0] - before
        if wrong:
            rows = model.support_vectors_
            sample = kernel_matrix("gaussian", rows, X[i : i + 1], 0.4)[:, 0]
            gain = kernel_matrix("gaussian", rows, rows, 0.4) @ change
            np.testing.assert_allclose(gain, sample * (1 if y[i] == "yes" else -1), atol=1e-6)
            count += 1
        else:
            assert not change.any()
    assert count > 10


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_duplicates_do_no_harm(dtype, stream):
    X, y = stream("binary", n=40)
    X, y = np.tile(X, (8, 1)), np.tile(y, 8)
    X[40:80] += 1e-7
    model = ProjectronClassifier(gamma=0.4, budget=200, eta=1e-9, plus_plus=True)
    predictions = learn(model, X.astype(dtype), y)
    assert np.mean(predictions[-80:] == y[-80:]) > 0.9
    assert np.abs(model.dual_coef_).max() < 100


def factor_of(rows, gamma=0.4, jitter=1e-8):
    K = kernel_matrix("gaussian", rows, rows, gamma)
    factor = Cholesky(jitter)
    for i in range(len(rows)):
        factor.extend(K[i, :i], K[i, i])
    return factor, K


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 200])
def test_factor(n):
    rows = np.random.default_rng(0).standard_normal((n, 6))
    factor, K = factor_of(rows)
    L = factor.to_array()
    np.testing.assert_allclose(L @ L.T, K + 1e-8 * np.eye(n), atol=1e-13)
    k = kernel_matrix("gaussian", rows, np.ones((1, 6)), 0.4)[:, 0] if n else np.zeros(0)
    np.testing.assert_allclose((K + 1e-8 * np.eye(n)) @ factor.solve(k), k, atol=1e-12)
    copy = Cholesky(1e-8)
    copy.set_array(L)
    np.testing.assert_array_equal(copy.solve(k), factor.solve(k))


def test_factor_of_duplicates():
    rows = np.repeat(np.random.default_rng(0).standard_normal((20, 3)), 5, axis=0)
    rows[::7] += 1e-9
    factor, K = factor_of(rows)
    L = factor.to_array()
    assert np.diag(L).min() >= 1e-4 * (1 - 1e-12)
    k = kernel_matrix("gaussian", rows, np.ones((1, 3)), 0.4)[:, 0]
    solution = factor.solve(k)
    np.testing.assert_allclose(K @ solution, k, atol=1e-6)
    assert np.abs(solution).max() < 1e3
