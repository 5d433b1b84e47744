"""BSGD against its twin, and the properties of its three kinds of maintenance."""

import numpy as np
import pytest
from budgeted import build, check_twin, check_windows, learn
from oracles import projection
from oracles.kernels import kernel_matrix

from onlinekern import BSGDClassifier, BSGDRegressor
from onlinekern.core.budgets.merging import best_merge, tabulated

KINDS = ["remove", "project", "merge"]
# Projections divide by ridges of 1e-5, golden section finds h to 1e-8.
TOLERANCES = {
    "remove": {np.float32: 1e-5, np.float64: 1e-11},
    "project": {np.float32: 5e-3, np.float64: 1e-7},
    "merge": {np.float32: 1e-3, np.float64: 1e-6},
}
SETTINGS = {"reg": 0.02, "budget": 14}


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("task", ["binary", "ovr", "margin"])
@pytest.mark.parametrize("maintenance", KINDS)
def test_classifier(maintenance, task, weighted, stream, as_layout):
    settings = {**SETTINGS, "maintenance": maintenance}
    check_twin(BSGDClassifier, projection.bsgd, task, settings, stream, as_layout,
               TOLERANCES[maintenance], weighted)  # fmt: skip


@pytest.mark.parametrize("own", [
    {"loss": "absolute"}, {"loss": "epsilon_insensitive", "epsilon": 0.3, "max_step": None},
])  # fmt: skip
@pytest.mark.parametrize("maintenance", KINDS)
def test_regressor(maintenance, own, stream, as_layout):
    settings = {**SETTINGS, "reg": 0.3, "maintenance": maintenance, **own}
    check_twin(BSGDRegressor, projection.bsgd, "regression", settings, stream, as_layout,
               TOLERANCES[maintenance])  # fmt: skip


@pytest.mark.parametrize(("maintenance", "kernel"), [
    *[("remove", kernel) for kernel in ("laplacian", "polynomial", "linear", "cosine")],
    ("project", "laplacian"), ("project", "polynomial"),
])  # fmt: skip
def test_other_kernels(maintenance, kernel, stream, as_layout):
    settings = {**SETTINGS, "maintenance": maintenance, "kernel": kernel, "degree": 2}
    tolerances = {np.float32: 2e-2, np.float64: 1e-6}
    check_twin(BSGDClassifier, projection.bsgd, "binary", settings, stream, as_layout,
               tolerances)  # fmt: skip


@pytest.mark.parametrize("task", ["binary", "margin"])
@pytest.mark.parametrize("gamma", [0.9, 200.0])
@pytest.mark.parametrize("maintenance", KINDS)
def test_windows(maintenance, gamma, task, stream, as_layout, state_of, same_state):
    X, y = stream("ovr" if task == "margin" else task, n=300)
    settings = {"reg": 0.01, "budget": 30, "maintenance": maintenance, "gamma": gamma}
    check_windows(lambda: BSGDClassifier(**settings), X, y, as_layout, state_of, same_state)


def test_merging_needs_the_gaussian_kernel(stream):
    X, y = stream("binary")
    with pytest.raises(ValueError, match="maintenance='merge' needs kernel='gaussian'"):
        BSGDClassifier(kernel="linear").fit(X, y)
    BSGDClassifier(kernel="rbf").fit(X, y)


def by_golden_section(A, C, D, kappa):
    """Return (error, h) of the merged point of rows with these products, by golden section."""
    alpha = np.array([np.sqrt(A), 0.0])
    beta = np.array([C / np.sqrt(A), np.sqrt(max(0.0, D - C * C / A))])
    return projection.merged(alpha, beta, kappa)


@pytest.mark.parametrize("angle", [0.0, 0.8, 1.5])
def test_merged_point_is_the_optimum(angle):
    rng = np.random.default_rng(0)
    for _ in range(200):
        small, large, kappa = [*np.sort(rng.random(2)), rng.random()]
        A, C, D = small**2, small * large * np.cos(angle), large**2
        h, error = best_merge(A, C, D, kappa)
        expected, golden = by_golden_section(A, C, D, kappa)
        assert 0 <= h <= 0.5
        assert error == pytest.approx(expected, rel=1e-6, abs=1e-12)
        assert error <= expected + 1e-13
        if 0.05 < kappa < 0.95 and small < 0.98 * large:
            assert h == pytest.approx(golden, abs=1e-6)


def test_extreme_pairs():
    assert best_merge(1.0, 1.0, 1.0, 0.0) == (0.0, 1.0)  # the smaller one has no weight
    assert best_merge(1.0, 2.0, 4.0, 1.0)[1] == 0.0  # a duplicate loses nothing
    h, _ = best_merge(1.0, 1.0, 1.0, 0.9)  # equal ones merge in the middle
    assert h == pytest.approx(0.5, abs=1e-6)
    h, _ = best_merge(1.0, 1.0, 1.0, 0.01)  # distant ones do not
    assert h < 0.05
    assert best_merge(1.0, 1.0, 1.0, 1 - 1e-9)[1] == pytest.approx(0.5e-18, rel=0.5)


def test_table_of_merged_points():
    rng = np.random.default_rng(1)
    pairs = [
        (0.5, 0.13),
        (1e-3, 0.5),
        (0.3, 1e-6),
        (0.3, 1 - 1e-4),
        *rng.random((20000, 2)) / [2, 1],
    ]
    found, exact = np.transpose([tabulated(a, kappa) for a, kappa in pairs])
    assert np.abs(found / exact - 1).max() < 1e-3  # TABLE_ERROR is twice that
    assert exact.min() > 0.49  # LEAST_QUOTIENT


def test_projection_residual_is_orthogonal(stream):
    X, y = stream("binary", n=150)
    model = build(BSGDClassifier, "binary", **SETTINGS, maintenance="project")
    learn(model, X[:60], y[:60])
    count = 0
    for i in range(60, 150):
        before = raw_model(model)
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        after = raw_model(model)
        gone = set(before) - set(after)
        if tuple(X[i]) not in after or len(gone) != 1:
            continue
        # The sample's step plus the model before, minus the model after.
        rows = np.array([*before, tuple(X[i])])
        change = np.array([*before.values(), (1 if y[i] == "yes" else -1) / model.reg])
        change -= [after.get(tuple(row), 0) for row in rows]
        error = kernel_matrix("gaussian", rows, rows, 0.4) @ change
        stay = [tuple(row) in after for row in rows]
        leaving = abs(before[gone.pop()])
        assert np.abs(error[stay]).max() < 1e-4 * leaving
        assert np.abs(change[stay]).max() > 1e-3 * leaving
        count += 1
    assert count > 10


def raw_model(model):
    """Return the support vectors and their coefficients in units of 1/t."""
    coefficients = model.n_seen_ * model.dual_coef_[0]
    return dict(zip(map(tuple, model.support_vectors_), coefficients, strict=True))


@pytest.mark.parametrize("maintenance", KINDS)
def test_never_more_than_the_budget(maintenance, stream):
    X, y = stream("binary", n=200)
    model = BSGDClassifier(gamma=0.4, reg=0.01, budget=9, maintenance=maintenance)
    for i in range(200):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=["no", "yes"])
        assert model.n_support_ <= 9
    assert model.n_support_ == 9


def test_without_a_partner_the_smallest_leaves():
    # Two support vectors of different sign cannot be merged.
    X = np.array([[0.0], [1.0]])
    model = BSGDClassifier(gamma=1.0, budget=1, reg=1.0)
    model.partial_fit(X, [0, 1], classes=[0, 1])
    np.testing.assert_array_equal(model.support_vectors_, [[1.0]])
    np.testing.assert_allclose(model.dual_coef_, [[0.5]])


@pytest.mark.parametrize("maintenance", KINDS)
def test_duplicates(maintenance, stream):
    X, y = stream("binary", n=40)
    X, y = np.tile(X, (8, 1)), np.tile(y, 8)
    X[40:80] += 1e-7
    model = BSGDClassifier(gamma=0.4, reg=0.01, budget=20, maintenance=maintenance)
    model.fit(X.astype(np.float32), y)
    assert model.score(X.astype(np.float32), y) > (0.5 if maintenance == "remove" else 0.7)
    assert np.abs(model.dual_coef_).max() < 10 / 0.01
