"""BOLSSVM against its twin, and its inverse Gram matrix."""

import numpy as np
import pytest
from budgeted import build, check_twin, check_windows, learn
from oracles import projection
from oracles.kernels import kernel_matrix

from onlinekern import BOLSSVMClassifier
from onlinekern.core.linalg.inverse_gram import InverseGram

TOLERANCES = {np.float32: 2e-4, np.float64: 1e-9}


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("task", ["binary", "ovr", "margin"])
@pytest.mark.parametrize("removal", ["contradicted", "redundant"])
@pytest.mark.parametrize("C", [0.5, 20.0])
def test_twin(C, removal, task, weighted, stream, as_layout):
    settings = {"C": C, "budget": 14, "removal": removal}
    check_twin(BOLSSVMClassifier, projection.bolssvm, task, settings, stream, as_layout,
               TOLERANCES, weighted, n=160)  # fmt: skip


# With a rank below the budget, rounding decides which row is evicted.
@pytest.mark.parametrize("kernel", ["laplacian", "polynomial"])
def test_other_kernels(kernel, stream, as_layout):
    settings = {"kernel": kernel, "degree": 2, "budget": 9, "coef0": 0.5}
    check_twin(BOLSSVMClassifier, projection.bolssvm, "binary", settings, stream, as_layout,
               {np.float32: 5e-3, np.float64: 1e-8})  # fmt: skip


@pytest.mark.parametrize("task", ["binary", "margin"])
@pytest.mark.parametrize("gamma", [0.9, 200.0])
def test_windows(gamma, task, stream, as_layout, state_of, same_state):
    X, y = stream("ovr" if task == "margin" else task, n=300)
    settings = {"budget": 30, "gamma": gamma}
    check_windows(lambda: BOLSSVMClassifier(**settings), X, y, as_layout, state_of, same_state)


@pytest.mark.parametrize("task", ["binary", "margin"])
def test_the_model_solves_its_system(task, stream):
    X, y = stream("ovr" if task == "margin" else task, n=200)
    model = build(BOLSSVMClassifier, task, budget=20, C=5.0)
    learn(model, X, y)
    rows, alpha = model.support_vectors_, model.dual_coef_
    scores = np.atleast_2d(model.decision_function(rows).T)
    np.testing.assert_allclose(alpha.sum(axis=1), 0, atol=1e-10)
    labels = {tuple(x): label for x, label in zip(X, y, strict=True)}
    own = np.array([labels[tuple(row)] for row in rows])
    classes = model.classes_[-len(alpha) :]
    targets = np.where(own == classes[:, None], 1, -1)
    np.testing.assert_allclose(scores + alpha / model.C, targets, atol=1e-9)


def test_intercept(stream):
    X, y = stream("binary")
    model = build(BOLSSVMClassifier, "binary").fit(X, y)
    outside = model.decision_function(np.full((1, 6), 1e3))
    np.testing.assert_array_equal(outside, model.intercept_)
    assert model.intercept_.shape == (1,)
    assert model.intercept_[0] != 0


def test_samples_of_wrong_labels_do_not_fill_the_budget():
    # The paper's machine, and its twin, end near a coin's 50 %.
    found = {}
    for removal in ("redundant", "contradicted"):
        random = np.random.default_rng(1)
        X = random.standard_normal((6000, 5))
        y = (X[:, 0] + X[:, 1] ** 2 > 0.7).astype(int)
        noisy = np.where(random.random(6000) < 0.05, 1 - y, y)
        model = BOLSSVMClassifier(budget=60, gamma=0.2, removal=removal, random_state=0)
        model.fit(X[:5000], noisy[:5000])
        found[removal] = model.score(X[5000:], y[5000:])
    assert found["contradicted"] > 0.8
    assert found["redundant"] < 0.7


def random_walk(inverse, rows, K, ridge, n, rng):
    """Add and remove random rows, renew an inaccurate inverse; yield after each step."""
    places = np.full(inverse.size, -1)
    for _ in range(n):
        place = int(rng.integers(inverse.size))
        if places[place] >= 0:
            inverse.remove_row(place)
            places[place] = -1
        else:
            row = int(rng.integers(len(rows)))
            k = np.where(places >= 0, K[row, places], 0)
            inverse.add_row(place, k, K[row, row], ridge)
            places[place] = row
        if inverse.is_stale():
            present = places >= 0
            gram = np.where(present[:, None] & present, K[np.ix_(places, places)], 0)
            inverse.refresh(gram)
        yield places


def drift(inverse, places, K, ridge):
    """Return the largest |(K + ridge I) H - I| over the occupied slots."""
    present = np.flatnonzero(places >= 0)
    gram = K[np.ix_(places[present], places[present])] + ridge * np.eye(len(present))
    H = inverse.matrix()[np.ix_(present, present)]
    return np.abs(gram @ H - np.eye(len(present))).max(initial=0)


@pytest.mark.parametrize("steps", [3000, pytest.param(20000, marks=pytest.mark.long)])
@pytest.mark.parametrize(("ridge", "bound"), [(0.1, 1e-11), (1e-5, 1e-4)])
@pytest.mark.parametrize("duplicates", [False, True])
def test_inverse_does_not_drift(duplicates, ridge, bound, steps):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 3))
    if duplicates:
        rows[30:] = rows[:30] + 1e-9 * rng.standard_normal((30, 3))
    K = kernel_matrix("gaussian", rows, rows, 0.4)
    inverse = InverseGram(40)
    worst = 0
    for i, places in enumerate(random_walk(inverse, rows, K, ridge, steps, rng)):
        if i % 50 == 0:
            worst = max(worst, drift(inverse, places, K, ridge))
    assert worst < bound
    assert inverse.get_state()["n_updates"] < 100


def test_a_matrix_that_is_not_positive_definite():
    inverse = InverseGram(3)
    for place in range(3):
        inverse.add_row(place, np.zeros(3), 1.0, 0.0)
    K = np.array([[1.0, 1.0 + 1e-9, 0.0], [1.0 + 1e-9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    inverse.refresh(K)
    H = inverse.matrix()
    assert np.linalg.eigvalsh(H).min() > 0
    assert H[2, 2] == pytest.approx(1, rel=1e-6)
    inverse.refresh(np.full((3, 3), 1e9))  # only the diagonal alone is positive definite
    np.testing.assert_allclose(inverse.matrix(), np.eye(3), rtol=1, atol=1e-9)
