"""The NumPy twins of the algorithms against streams computed by hand, and their definitions.

With the linear kernel the model is a weight w = sum_i a_i x_i that can be computed on paper.
"""

import numpy as np
import pytest
from oracles import algorithms

LINEAR = {"kernel": "linear", "gamma": 1.0}


def column(*values):
    """Return one-dimensional samples."""
    return np.array(values, dtype=float)[:, np.newaxis]


def check(result, support, coefficients, losses):
    """Compare a result with the one computed on paper."""
    assert result.support.tolist() == support
    np.testing.assert_allclose(result.coefficients, np.atleast_2d(coefficients), atol=1e-15)
    np.testing.assert_allclose(result.losses, losses, atol=1e-15)
    assert result.cumulative_loss == pytest.approx(sum(losses))


def noisy_stream(n=60, n_classes=2, seed=0):
    """Return two-dimensional samples with overlapping classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, 2)) + np.c_[y, y % 2], y


def test_perceptron():
    # t  x   y   w_t  f_t  prediction
    # 1   1  +1   0    0   -1 wrong, add +1
    # 2   2  -1   1    2   +1 wrong, add -1, loss 2
    # 3  -1  +1  -1    1   +1 right
    # 4   1  +1  -1   -1   -1 wrong, add +1, loss 1; w_5 = 0
    X, y = column(1, 2, -1, 1), ["yes", "no", "yes", "yes"]
    result = algorithms.kernel_perceptron(X, y, **LINEAR)
    check(result, [0, 1, 3], [1, -1, 1], [0, 2, 0, 1])
    assert result.predictions.tolist() == ["no", "yes", "yes", "no"]
    assert (result.mistakes, result.n_seen) == (3, 4)
    assert result.scores[:, 0].tolist() == [0, 2, 1, -1]
    # Averages of w: 0, 1/2, 0, -1/4 and, after the stream, -1/5.
    assert result.averaged_scores[:, 0].tolist() == [0, 1, 0, -0.25]
    np.testing.assert_allclose(result.averaged_coefficients, [[4 / 5, -3 / 5, 1 / 5]])
    averaged = algorithms.kernel_perceptron(X, y, average=True, **LINEAR)
    assert averaged.predictions.tolist() == ["no", "yes", "no", "no"]
    assert averaged.mistakes == 4
    np.testing.assert_allclose(averaged.decision_function(column(10)), [-2])
    check(averaged, [0, 1, 3], [1, -1, 1], [0, 2, 0, 1])


def test_ogd_with_shrink():
    # eta = reg = 1/2: shrink 3/4 at every step, with or without a loss.
    # x = 2: f = 0, add 1/2, w = 1.  x = 1: f = 1, loss 0, w = 3/4.  x = -1: f = -3/4, add 1/2.
    result = algorithms.kernel_ogd(
        column(2, 1, -1), [1, 1, 1], classes=[0, 1], eta=0.5, reg=0.5, **LINEAR
    )
    check(result, [0, 2], [0.28125, 0.5], [1, 0, 1.75])
    # The first coefficient was 0, 0.5, 0.375, 0.28125; the second 0, 0, 0, 0.5.
    np.testing.assert_allclose(result.averaged_coefficients, [[1.15625 / 4, 0.125]])


def test_pegasos():
    # reg = 1/4: eta_t = 4/t, shrink 1 - 1/t.
    # x = 1, +: f = 0, add 4.  x = 1, -: f = 4, loss 5, (2, -2), w = 0.  x = -1, +: f = 0, add 4/3.
    result = algorithms.kernel_pegasos(column(1, 1, -1), [1, 0, 1], reg=0.25, **LINEAR)
    check(result, [0, 1, 2], [4 / 3, -4 / 3, 4 / 3], [1, 5, 1])


@pytest.mark.parametrize(
    ("variant", "C", "weight", "coefficients", "second_loss"),
    [
        # x = 2, +: loss 1, kappa 4.  x = 1, -: loss 1 + w, kappa 1.
        ("pa", 0.1, 1, [0.25, -1.5], 1.5),
        ("pa1", 0.1, 1, [0.1, -0.1], 1.2),
        ("pa2", 0.5, 1, [0.2, -0.7], 1.4),
        # The margin is sqrt(2): 0.25 sqrt(2), then sqrt(2) + 0.5 sqrt(2).
        ("pa", 0.1, 2, [0.5**1.5, -1.5 * 2**0.5], 1 + 0.5**0.5),
        ("pa1", 0.1, 2, [0.2, -0.2], 1.4),
        ("pa2", 0.25, 2, [0.2, -0.7], 1.4),
    ],
)
def test_pa(variant, C, weight, coefficients, second_loss):
    arguments = {"variant": variant, "C": C, "sample_weight": [weight, weight], **LINEAR}
    result = algorithms.kernel_pa(column(2, 1), [1, 0], **arguments)
    np.testing.assert_allclose(result.coefficients, [coefficients])
    np.testing.assert_allclose(result.losses, [1, second_loss])
    assert result.cumulative_loss == pytest.approx(weight * (1 + second_loss))


def test_pa_regression():
    # x = 2, y = 1: loss 0.9, tau = 0.9 / 4.  x = 1, y = -1: f = 0.45, loss 1.35, tau = 1.35.
    result = algorithms.kernel_pa(
        column(2, 1), [1, -1], task="regression", variant="pa", epsilon=0.1, **LINEAR
    )
    check(result, [0, 1], [0.225, -1.35], [0.9, 1.35])
    np.testing.assert_allclose(result.predictions, [0, 0.45])
    assert result.mistakes is None


def test_spa():
    # alpha = 1, beta = 2, eta = 0.1.
    # x = 2, +: loss 1, rho = 1/2 > 0.3: tau = min(0.1 / 0.5, 1/4) = 0.2, w = 0.4.
    # x = 1, -: f = 0.4, loss 1.4, rho = 1/2, not above 0.5: no step.
    # x = 1, +: f = 0.4, loss 0.6, rho = 0.3 > 0.29: tau = min(1/3, 0.6), w = 0.4 + 1/3.
    # x = 3, +: f = 2.2, loss 0, rho = 0: no number is below it.
    X, y = column(2, 1, 1, 3), [1, 0, 1, 1]
    arguments = {"eta": 0.1, "alpha": 1.0, "beta": 2.0, **LINEAR}
    result = algorithms.spa(X, y, uniforms=iter([0.3, 0.5, 0.29, 0.0]), **arguments)
    check(result, [0, 2], [0.2, 1 / 3], [1, 1.4, 0.6, 0])
    assert result.n_uniforms == 4
    np.testing.assert_allclose(result.averaged_coefficients, [[0.2 * 4 / 5, 2 / 5 / 3]])
    np.testing.assert_allclose(result.dual_coef, result.averaged_coefficients)
    # A weight of 2 doubles eta, not rho: tau = min(0.4, 1/4) for the first sample.
    first = algorithms.spa(
        X[:1], y[:1], classes=[0, 1], uniforms=iter([0.3]), sample_weight=[2], **arguments
    )
    np.testing.assert_allclose(first.coefficients, [[0.25]])


def test_spa_regression():
    # loss 0.9, rho = 0.45, tau = min(0.1 / 0.45, 0.9 / 4) = 0.2222, sign -1.
    result = algorithms.spa(
        column(2), [-1.0], task="regression", uniforms=iter([0.4]), eta=0.1, beta=2.0, **LINEAR
    )
    np.testing.assert_allclose(result.coefficients, [[-0.1 / 0.45]])


def test_one_versus_rest_perceptron():
    # (1, 0) of class 1: scores 0, every problem steps.  (0, 1) of class 2: the same.
    # (1, 1) of class 2: scores (-2, 0, 0), predicted 1, problems 1 and 2 step.
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    result = algorithms.kernel_perceptron(X, [1, 2, 2], classes=[0, 1, 2], **LINEAR)
    check(result, [0, 1, 2], [[-1, -1, 0], [1, -1, -1], [-1, 1, 1]], [0, 0, 0])
    assert result.predictions.tolist() == [0, 0, 1]
    assert result.mistakes == 3


def test_one_versus_rest_spa_shares_the_uniform():
    # First sample, class 0: losses (1, 1, 1), rho 1/2.  Second, class 0, the same x = 1:
    # scores (0.2, -0.2, -0.2), losses 0.8 each, rho 0.4: all accept or all refuse u.
    X, y = column(1, 1, 1), [0, 0, 0]
    arguments = {"classes": [0, 1, 2], "eta": 0.1, "alpha": 1.0, "beta": 2.0, **LINEAR}
    result = algorithms.spa(X, y, uniforms=iter([0.49, 0.4, 0.39]), **arguments)
    check(result, [0, 2], [[0.2, 0.25], [-0.2, -0.25], [-0.2, -0.25]], [3, 3 * 0.8, 3 * 0.8])


def test_one_versus_rest_spa_accepts_per_problem():
    # x = 1, class 0, u = 0: scores (1, -1, -1) after it (eta = 10, so tau = loss / kappa).
    # x = 1/2, class 1: scores (1/2, -1/2, -1/2), losses (3/2, 3/2, 1/2), rho (1/2, 1/2, 1/4):
    # u = 0.3 accepts problems 0 and 1 only, tau = 1.5 / (1/4) = 6.
    arguments = {"classes": [0, 1, 2], "eta": 10.0, "alpha": 1.0, "beta": 2.0, **LINEAR}
    result = algorithms.spa(column(1, 0.5), [0, 1], uniforms=iter([0.0, 0.3]), **arguments)
    check(result, [0, 1], [[1, -6], [-1, 6], [-1, 0]], [3, 3.5])


def test_margin_pa():
    # (1, 0) of class 1: f = 0 against class 0, loss 1, q = 2, tau = 1/2.
    # (2, 0) of class 2: scores (-1, 1, 0), rival 1, f = -1, loss 2, q = 8, tau = 1/4.
    X = np.array([[1.0, 0.0], [2.0, 0.0]])
    arguments = {"classes": [0, 1, 2], "multi_class": "margin", "variant": "pa", **LINEAR}
    result = algorithms.kernel_pa(X, [1, 2], **arguments)
    check(result, [0, 1], [[-0.5, 0], [0.5, -0.25], [0, 0.25]], [1, 2])
    # Plain PA meets its constraint: the margin of the last sample is now 1.
    np.testing.assert_allclose(result.decision_function(X[1:]), [[-1, 0, 1]])


def test_max_support_keeps_counting():
    # reg = 1/4 as in test_pegasos, one support vector: w = 4, then 2 (loss 5), then 4/3 (loss 3).
    result = algorithms.kernel_pegasos(
        column(1, 1, -1), [1, 0, 1], reg=0.25, max_support=1, **LINEAR
    )
    check(result, [0], [4 / 3], [1, 5, 3])
    np.testing.assert_allclose(result.averaged_coefficients, [[(0 + 4 + 2 + 4 / 3) / 4]])


def test_empty_row_makes_no_passive_aggressive_step():
    X, y = column(0, 1), [1, 1]
    for variant in ("pa", "pa1", "pa2"):
        result = algorithms.kernel_pa(X, y, classes=[0, 1], variant=variant, **LINEAR)
        assert result.support.tolist() == [1]
        assert result.losses.tolist() == [1, 1]
    result = algorithms.spa(X, y, classes=[0, 1], uniforms=iter([0.0, 0.0]), **LINEAR)
    assert (result.support.tolist(), result.n_uniforms) == ([1], 2)


SETTINGS = [
    (algorithms.kernel_perceptron, {}),
    (algorithms.kernel_ogd, {"loss": "logistic", "schedule": "invsqrt", "reg": 0.1}),
    (algorithms.kernel_pegasos, {"reg": 0.05}),
    (algorithms.kernel_pa, {"variant": "pa2"}),
    (algorithms.spa, {"eta": 0.3, "beta": 2.0}),
]


def with_uniforms(function, arguments, n=100):
    """Add new, reproducible uniforms for the algorithm that uses them."""
    if function is not algorithms.spa:
        return arguments
    return {**arguments, "uniforms": iter(np.random.default_rng(1).random(n))}


@pytest.mark.parametrize("multi_class", ["binary", "ovr", "margin"])
@pytest.mark.parametrize(("function", "arguments"), SETTINGS)
def test_average_is_the_mean_of_all_models(function, arguments, multi_class):
    # f_t is the model after the first t - 1 samples.
    classes = [0, 1] if multi_class == "binary" else [0, 1, 2]
    X, y = noisy_stream(25, len(classes))
    arguments = {"gamma": 0.5, "classes": classes, "multi_class": multi_class, **arguments}

    def model(t):
        return function(X[: t - 1], y[: t - 1], **with_uniforms(function, arguments))

    full = function(X, y, **with_uniforms(function, arguments))
    outputs = full.scores.shape[1]
    for t in range(1, len(X) + 1):
        scores = []
        for u in range(1, t + 1):
            past = model(u)
            past.average = False
            scores.append(past.decision_function(X[t - 1 : t]).reshape(outputs))
        np.testing.assert_allclose(full.scores[t - 1], scores[-1], atol=1e-13)
        np.testing.assert_allclose(full.averaged_scores[t - 1], np.mean(scores, axis=0), atol=1e-13)


@pytest.mark.parametrize(("function", "arguments"), SETTINGS)
def test_weight_zero_is_absence(function, arguments):
    X, y = noisy_stream(40)
    weight = (np.arange(40) % 3 > 0).astype(float)
    kept = np.flatnonzero(weight)
    arguments = {"gamma": 0.5, "classes": [0, 1], "average": True, **arguments}
    full = function(X, y, sample_weight=weight, **with_uniforms(function, arguments))
    part = function(X[kept], y[kept], **with_uniforms(function, arguments))
    assert (full.n_seen, full.mistakes) == (part.n_seen, part.mistakes)
    assert full.cumulative_loss == pytest.approx(part.cumulative_loss)
    np.testing.assert_array_equal(full.support, kept[part.support])
    np.testing.assert_array_equal(full.predictions[kept], part.predictions)
    np.testing.assert_allclose(full.averaged_coefficients, part.averaged_coefficients)


def test_linear_ogd_is_least_mean_squares():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=80)
    weights = rng.integers(1, 4, size=80)
    w = np.zeros(3)
    for t, (x, target) in enumerate(zip(X, y, strict=True), start=1):
        eta = 0.1 / np.sqrt(t)
        # A step of weight 1, and the limit of small ones, in which what is left decays.
        gap, q = target - w @ x, x @ x
        left = gap * (1 - eta * q)
        step = eta * gap + left * -np.expm1(-eta * (weights[t - 1] - 1) * q) / q
        w = (1 - eta * 0.2) * w + step * x
    parameters = {"eta": 0.1, "schedule": "invsqrt", "reg": 0.2, "sample_weight": weights}
    result = algorithms.kernel_ogd(X, y, task="regression", **parameters, **LINEAR)
    np.testing.assert_allclose(result.coefficients @ X[result.support], [w])


def test_spa_that_always_accepts_is_pa1():
    # alpha = beta far below every loss: rho = 1.
    X, y = noisy_stream()
    sure = {"alpha": 1e-9, "beta": 1e-9, "uniforms": iter([0.999] * 60), "average": False}
    spa = algorithms.spa(X, y, eta=0.3, gamma=0.5, **sure)
    pa = algorithms.kernel_pa(X, y, C=0.3, gamma=0.5)
    np.testing.assert_array_equal(spa.support, pa.support)
    np.testing.assert_allclose(spa.coefficients, pa.coefficients)


def test_spa_support_is_within_its_bound():
    # E[number of support vectors] <= alpha T / beta = 80; 4 standard deviations are 32.
    X, y = noisy_stream(400)
    uniforms = iter(np.random.default_rng(5).random(400))
    assert len(algorithms.spa(X, y, uniforms=uniforms, gamma=0.5).support) <= 112
