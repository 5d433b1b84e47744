"""The twin of kernel least squares against ridge regression, and against cases computed by hand.

This file imports nothing of the package.
"""

import numpy as np
import pytest
from oracles.kernel_rls import kernel_rls
from oracles.kernels import kernel_matrix
from scipy.linalg import solve_triangular
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

RNG = np.random.default_rng(7)
X, Z = RNG.standard_normal((60, 3)), RNG.standard_normal((15, 3))
T = np.sin(X).sum(axis=1) + 0.1 * RNG.standard_normal(60)
LABELS, THREE = np.where(T > 0, "yes", "no"), np.digitize(T, [-0.7, 0.7])
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 2.0], 60)
MAPS = {
    "fourier": {"features": "fourier", "frequencies": RNG.standard_normal((8, 3))},
    "first": {"n_components": 20},
    "ald": {"n_components": 40, "selection": "ald", "novelty": 0.3},
    "alone": {"n_components": 25, "linear": False, "kernel": "polynomial", "coef0": 1.0},
}
REGRESSION = {"task": "regression", "gamma": 0.4}
# One feature x, and the features are x / |first x|: everything is a fraction.
LINE = {"kernel": "linear", "linear": False, "reg": 1.0, "classes": [-1, 1]}


def padded(run):
    """Return the features of the samples that entered, with 0 for later coordinates."""
    rows = np.zeros((len(run.features), len(run.A)))
    for row, phi in zip(rows, run.features, strict=True):
        row[: len(phi)] = phi
    return rows


# Without a gate: ridge regression.


@pytest.mark.parametrize("name", MAPS)
def test_it_is_ridge_regression(name):
    run = kernel_rls(X, T, reg=0.3, sample_weight=WEIGHTS, **REGRESSION, **MAPS[name])
    used = WEIGHTS > 0
    ridge = Ridge(alpha=0.3, fit_intercept=False).fit(padded(run), T[used], WEIGHTS[used])
    np.testing.assert_allclose(run.weights[0], ridge.coef_, atol=1e-10)
    assert run.entered == list(np.flatnonzero(used))
    assert run.n_seen == used.sum()
    losses = (T - run.scores[:, 0]) ** 2 / 2
    assert run.cumulative_loss == pytest.approx(WEIGHTS @ losses)


@pytest.mark.parametrize("linear", [False, True])
def test_with_every_row_a_landmark_it_is_kernel_ridge_regression(linear):
    def kernel(A, B):
        return kernel_matrix("gaussian", A, B, 0.4) + linear * (A @ B.T / 3 + 1)

    run = kernel_rls(X, T, reg=0.2, linear=linear, **REGRESSION)
    assert run.map.places == list(range(60))
    for i in range(1, 60, 9):
        known, one = X[:i], X[i : i + 1]
        batch = KernelRidge(alpha=0.2, kernel="precomputed").fit(kernel(known, known), T[:i])
        cross, gram = kernel(one, known)[0], kernel(known, known)
        assert run.scores[i, 0] == pytest.approx(batch.predict(cross[None])[0], abs=1e-9)
        # Of a Gaussian process of noise 0.2, less what the landmarks do not explain.
        variance = kernel(one, one)[0, 0] - cross @ np.linalg.solve(gram + 0.2 * np.eye(i), cross)
        values, alone = kernel_matrix("gaussian", np.vstack([one, known]), known, 0.4), 1.0
        alone -= values[0] @ np.linalg.solve(values[1:], values[0])
        assert run.variances[i] == pytest.approx((variance - alone) / 0.2, abs=1e-8)
    batch = KernelRidge(alpha=0.2, kernel="precomputed").fit(kernel(X, X), T)
    found = run.decision_function(Z)[:, 0]
    np.testing.assert_allclose(found, batch.predict(kernel(Z, X)), atol=1e-9)


@pytest.mark.parametrize("targets", ["one", "three"])
def test_block_innovations_are_the_recursion(targets):
    labels = T if targets == "one" else THREE
    task = "regression" if targets == "one" else "classification"
    run = kernel_rls(X, labels, gate="always", task=task, reg=0.3, **MAPS["fourier"])
    Y = T[:, None] if targets == "one" else np.where(THREE[:, None] == range(3), 1.0, -1.0)
    for m in (1, 7, 60):
        A, b = 0.3 * np.eye(len(run.A)), np.zeros_like(run.b)
        for first in range(0, 60, m):
            rows, y = np.array(run.features[first : first + m]), Y[first : first + m]
            L = np.linalg.cholesky(A)
            U = solve_triangular(L, rows.T, lower=True)
            C = np.linalg.cholesky(np.eye(len(rows)) + U.T @ U)
            w = np.linalg.solve(A, b)
            E = solve_triangular(C, y - rows @ w, lower=True)
            here = slice(first, first + m)
            found = y - np.diag(C)[:, None] * E
            np.testing.assert_allclose(found, run.scores[here], atol=1e-10)
            variances = np.diag(C) ** 2 - 1
            np.testing.assert_allclose(variances, run.variances[here], atol=1e-10)
            A, b = A + rows.T @ rows, b + rows.T @ y
        np.testing.assert_allclose(A, run.A, atol=1e-10)
        np.testing.assert_allclose(b, run.b, atol=1e-10)


def test_leverage_is_the_share_of_a_sample_in_its_own_fit():
    run = kernel_rls(X, T, reg=0.3, **REGRESSION, **MAPS["fourier"])
    for i in (0, 20, 59):
        rows = np.array(run.features[: i + 1])
        hat = rows @ np.linalg.solve(rows.T @ rows + 0.3 * np.eye(len(run.A)), rows.T)
        assert run.leverages[i] == pytest.approx(hat[i, i], abs=1e-12)


# Landmarks


def test_features_are_whitened_and_nested():
    run = kernel_rls(X, T, **REGRESSION, **MAPS["ald"])
    rows = np.array(run.map.rows)
    gram = kernel_matrix("gaussian", rows, rows, 0.4)
    np.testing.assert_allclose(run.map.inverse, np.linalg.inv(np.linalg.cholesky(gram)), atol=1e-11)
    z = np.array([run.map.features(x) for x in rows])
    np.testing.assert_allclose(z, np.linalg.cholesky(gram), atol=1e-12)
    np.testing.assert_allclose(z @ z.T, gram, atol=1e-12)


def test_who_becomes_a_landmark():
    # In this order: 0; 1, which 0 explains; 2, far away; 0 again.
    rows = np.array([[0.0], [0.01], [9.0], [0.0]])
    y = np.array([1, 1, -1, -1])
    common = {"gamma": 1.0, "linear": False, "reg": 0.1}
    first = kernel_rls(rows, y, **common)
    assert first.map.places == [0, 1, 2]
    # 1 - exp(-2e-4) = 2e-4 is above the rounding of double precision, and not of single.
    assert kernel_rls(rows, y, dtype=np.float32, **common).map.places == [0, 2]
    assert kernel_rls(rows, y, selection="ald", **common).map.places == [0, 2]
    assert kernel_rls(rows, y, selection="ald", novelty=1e-5, **common).map.places == [0, 1, 2]
    assert kernel_rls(rows, y, n_components=1, **common).map.places == [0]


def test_the_gate_keeps_landmarks_out():
    # The second row is certain enough to stay out: margin 0.9 exp(-0.1) = .82 above .5.
    rows, y, common = np.array([[0.0], [1.0], [9.0]]), np.array([1, 1, -1]), {"gamma": 0.1}
    common |= {"linear": False, "reg": 1 / 9, "margin": 0.5, "classes": [-1, 1]}
    for selection, places in (("margin", [0, 2]), ("ald", [0, 1, 2]), ("first", [0, 1, 2])):
        run = kernel_rls(rows, y, selection=selection, **common)
        assert run.map.places == places
        assert run.entered == [0, 2]
        assert run.scores[1, 0] == pytest.approx(0.9 * np.exp(-0.1))
    # A coordinate of a sample that did not enter has a weight of 0 until another one uses it.
    second = kernel_rls(rows[:2], y[:2], selection="first", **common)
    np.testing.assert_allclose(second.weights[0], [0.9, 0.0])
    np.testing.assert_allclose(second.A, np.diag([10 / 9, 1 / 9]))


# Gates


def test_margin_by_hand():
    rows, y = np.array([[1.0], [4.0], [-1.0], [2.0]]), np.array([1, 1, -1, -1])
    run = kernel_rls(rows, y, **LINE)
    # w = 1/2 after the first; 4/2 = 2 stays out; w = 2/3 after the third; 2 * 2/3 has the wrong
    # sign: A = 3 + 4, b = 2 - 2.
    np.testing.assert_allclose(run.scores[:, 0], [0, 2, -0.5, 4 / 3])
    assert run.entered == [0, 2, 3]
    assert (run.A[0, 0], run.b[0, 0], run.mistakes) == pytest.approx((7, 0, 2))
    # A score of 0 is class -1, so the first is a mistake.
    assert run.cumulative_loss == pytest.approx(1 + 0 + 0.5 + 7 / 3)
    assert list(run.predictions) == [-1, 1, -1, 1]


def test_margin_of_more_classes():
    run = kernel_rls(X, THREE, gamma=0.4, margin=0.6, n_components=30)
    own = run.scores[np.arange(60), THREE]
    others = np.where(THREE[:, None] == range(3), -np.inf, run.scores).max(axis=1)
    assert run.entered == list(np.flatnonzero(own - others < 0.6))
    assert 10 < len(run.entered) < 55
    assert run.cumulative_loss == pytest.approx(np.maximum(0, 1 - own + others).sum())
    # The outputs share A alone.
    rows, entered = padded(run), run.entered
    ridge = Ridge(alpha=0.1, fit_intercept=False)
    expected = ridge.fit(rows, np.where(THREE[entered, None] == range(3), 1.0, -1.0)).coef_
    np.testing.assert_allclose(run.weights, expected, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_lots_by_hand(weighted):
    rows, y = np.array([[1.0], [4.0], [1.0], [1.0]]), np.array([1, 1, 1, -1])
    gate = {"gate": "loss_proportional", "alpha": 0.5, "beta": 1.0, "weighted": weighted}
    # Losses 1 (probability .5), 0, .5 or .33, and above 1 (probability .5).
    lots = iter([0.4, 0.0, 0.5, 0.49, 0.9])
    run = kernel_rls(rows, y, uniforms=lots, **gate, **LINE)
    assert run.entered == [0, 3]
    assert (run.gate.n_uniforms, next(lots)) == (4, 0.9)
    w = 2 / 3 if weighted else 1 / 2
    np.testing.assert_allclose(run.scores[:, 0], [0, 4 * w, w, w])
    assert run.A[0, 0] == pytest.approx(5 if weighted else 3)
    assert run.b[0, 0] == pytest.approx(0)


def test_rows_without_weight_are_predicted_only():
    kept = WEIGHTS > 0
    lots = RNG.uniform(size=60)
    gate = {"gate": "loss_proportional", "gamma": 0.4, "n_components": 20, "selection": "margin"}
    run = kernel_rls(X, LABELS, uniforms=iter(lots), sample_weight=WEIGHTS, **gate)
    without = kernel_rls(
        X[kept], LABELS[kept], uniforms=iter(lots), sample_weight=WEIGHTS[kept], **gate
    )
    np.testing.assert_array_equal(run.weights, without.weights)
    np.testing.assert_array_equal(run.scores[kept], without.scores)
    assert (run.mistakes, run.gate.n_uniforms) == (without.mistakes, kept.sum())
    assert set(run.predictions) == {"no", "yes"}


# Forgetting


@pytest.mark.parametrize("block", [1, 7, 20, 100])
def test_old_samples_fade_and_the_prior_returns(block):
    run = kernel_rls(X, T, reg=0.3, forgetting=0.9, block=block, **REGRESSION, **MAPS["fourier"])
    rows, ages = np.array(run.features), np.arange(60)[::-1]
    prior = 0.9**60
    for end in range(block, 61, block):
        prior += (1 - 0.9**block) * 0.9 ** (60 - end)
    A = (rows.T * 0.9**ages) @ rows + 0.3 * prior * np.eye(len(run.A))
    np.testing.assert_allclose(run.A, A, atol=1e-12)
    np.testing.assert_allclose(run.b[:, 0], (rows.T * 0.9**ages) @ T, atol=1e-12)
    # At the end of each block the prior is reg again.
    if 60 % block == 0:
        assert prior == pytest.approx(1)


def test_only_samples_that_enter_are_forgotten():
    run = kernel_rls(X, LABELS, gamma=0.4, forgetting=0.9, margin=0.5, **MAPS["fourier"])
    entered = run.entered
    assert 5 < len(entered) < 50
    alone = kernel_rls(
        X[entered], LABELS[entered], forgetting=0.9, gate="always", **MAPS["fourier"]
    )
    np.testing.assert_allclose(run.A, alone.A, atol=1e-12)
    np.testing.assert_allclose(run.weights, alone.weights, atol=1e-10)
