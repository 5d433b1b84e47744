"""Kernel adaptive filters against their twins, and what their papers say of them."""

import pickle

import numpy as np
import pytest
import registry
import states
from budgeted import build, check_twin, check_windows, learn, naive
from oracles import filters
from oracles.kernels import kernel_matrix
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge

import onlinekern
from onlinekern import (
    FixedBudgetKRLSRegressor,
    KAPARegressor,
    KernelOGDRegressor,
    KLMSRegressor,
    KRLSRegressor,
    KRLSTRegressor,
    QKLMSRegressor,
    SlidingWindowKRLSRegressor,
)
from onlinekern.core import HEADS, KERNELS, SAMPLERS
from onlinekern.core.base.random import Generator
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.space import KernelSpace
from onlinekern.core.stream import Model
from onlinekern.streams import mackey_glass

TOLERANCES = {np.float32: 2e-4, np.float64: 1e-9}
# Estimator, twin and settings.
CASES = [
    (QKLMSRegressor, filters.qklms, {"epsilon": 1.7}),
    (QKLMSRegressor, filters.qklms, {"epsilon": 0.9, "budget": 12, "eta": 0.3}),
    (QKLMSRegressor, filters.qklms, {"epsilon": 2.5, "budget": None, "kernel": "laplacian"}),
    (KAPARegressor, filters.kapa, {"order": 5, "eta": 0.4}),
    (KAPARegressor, filters.kapa, {"order": 7, "budget": 9, "eta": 0.3, "reg": 0.1}),
    (KAPARegressor, filters.kapa, {"variant": "kapa1", "order": 4, "budget": 30}),
    (KRLSRegressor, filters.krls, {"nu": 0.6}),
    (KRLSRegressor, filters.krls, {"nu": 0.1, "budget": 15}),
    (SlidingWindowKRLSRegressor, filters.sliding_window_krls, {"budget": 14, "reg": 0.1}),
    (FixedBudgetKRLSRegressor, filters.fixed_budget_krls, {"budget": 14}),
    (FixedBudgetKRLSRegressor, filters.fixed_budget_krls, {"budget": 9, "reg": 0.3, "eta": 0.4}),
    (KRLSTRegressor, filters.krlst, {"budget": 14}),
    (KRLSTRegressor, filters.krlst, {"budget": 9, "forgetting": 0.9, "noise": 0.2}),
    (KRLSTRegressor, filters.krlst, {"budget": 12, "forgetting": 0.95, "mode": "ui"}),
]
IDS = [f"{cls.__name__}-{number}" for number, (cls, _, _) in enumerate(CASES)]
each_case = pytest.mark.parametrize(("cls", "twin", "settings"), CASES, ids=IDS)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@each_case
def test_twin(cls, twin, settings, weighted, stream, as_layout):
    check_twin(cls, twin, "regression", settings, stream, as_layout, TOLERANCES, weighted)


@each_case
def test_windows(cls, twin, settings, stream, as_layout, state_of, same_state):
    X, y = stream("regression", n=300)
    check_windows(lambda: cls(gamma=0.9, **settings), X, y, as_layout, state_of, same_state)


def test_klms_is_gradient_descent(stream):
    X, y = stream("regression")
    one, other = build(KLMSRegressor, "regression"), build(KernelOGDRegressor, "regression")
    np.testing.assert_array_equal(learn(one, X, y), learn(other, X, y))


def test_quantisation_ends_between_one_and_all(stream):
    X, y = stream("regression")
    everything = build(QKLMSRegressor, "regression", epsilon=0, budget=None)
    np.testing.assert_array_equal(
        learn(everything, X, y), learn(build(KLMSRegressor, "regression"), X, y)
    )
    one = build(QKLMSRegressor, "regression", epsilon=1e3, budget=None)
    learn(one, X, y)
    np.testing.assert_array_equal(one.support_vectors_, X[:1])


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_support_vectors_are_further_apart_than_epsilon(kernel, stream):
    X, y = stream("regression", n=300)
    model = build(QKLMSRegressor, "regression", epsilon=1.5, budget=None, kernel=kernel)
    learn(model, X, y)
    rows = model.support_vectors_
    order = 1 if kernel == "laplacian" else 2
    apart = np.linalg.norm(rows[:, None] - rows, ord=order, axis=2)
    assert apart[~np.eye(len(rows), dtype=bool)].min() > 1.5
    nearest = np.linalg.norm(X[:, None] - rows, ord=order, axis=2).min(axis=1)
    assert nearest.max() <= 1.5
    assert 20 < len(rows) < 290


def test_a_fit_keeps_the_order_of_the_series(stream):
    X, y = mackey_glass(200, random_state=0)
    one, other = QKLMSRegressor(gamma=1.0), QKLMSRegressor(gamma=1.0)
    learn(other, X, y)
    np.testing.assert_array_equal(one.fit(X, y).dual_coef_, other.dual_coef_)


def test_a_step_of_kapa_corrects_the_last_samples(stream):
    X, y = stream("regression")
    model = build(KAPARegressor, "regression", order=8, eta=1.0, reg=1e-9)
    learn(model, X, y)
    np.testing.assert_allclose(model.predict(X[-8:]), y[-8:], atol=1e-6)
    assert np.abs(model.predict(X[:60]) - y[:60]).mean() > 0.1


def test_kapa_of_order_one_is_klms(stream):
    X, y = stream("regression")
    one = build(KAPARegressor, "regression", order=1, eta=0.3, variant="kapa1")
    other = build(KLMSRegressor, "regression", eta=0.3)
    np.testing.assert_allclose(learn(one, X, y), learn(other, X, y), atol=1e-12)


def test_an_order_above_the_budget_is_refused():
    with pytest.raises(ValueError, match="order must be at most budget=5, got order=6"):
        KAPARegressor(order=6, budget=5).fit(np.eye(9), np.arange(9.0))


def test_kapa_under_a_kernel_that_is_not_positive_definite(stream):
    X, y = stream("regression", n=200)
    model = KAPARegressor(kernel="sigmoid", gamma=1.0, coef0=-1.0, eta=0.01, budget=30)
    learn(model, X, y)
    assert np.isfinite(model.predict(X)).all()


def test_krls_is_least_squares_in_its_span(stream):
    """Without new members, the coefficients minimise the errors of the samples as combinations."""
    X, y = stream("regression", n=150)
    model = build(KRLSRegressor, "regression", nu=0.2, budget=15)
    learn(model, X[:50], y[:50])
    assert model.n_support_ == 15
    first, rows = model.dual_coef_[0], model.support_vectors_
    P = model._model.space.budget.get_learnt()["covariance"]
    learn(model, X[50:], y[50:])
    K = kernel_matrix("gaussian", rows, rows, 0.4)
    A = np.linalg.solve(K, kernel_matrix("gaussian", rows, X[50:], 0.4)).T
    # The values at the dictionary have the prior N(K first, P).
    precision = np.linalg.inv(P)
    values = np.linalg.solve(precision + A.T @ A, precision @ K @ first + A.T @ y[50:])
    np.testing.assert_allclose(model.dual_coef_[0], np.linalg.solve(K, values), rtol=1e-5)


def test_a_sliding_window_is_kernel_ridge_regression(stream):
    X, y = stream("regression", n=200)
    weights = np.random.default_rng(1).uniform(0.3, 3, len(y))
    model = build(SlidingWindowKRLSRegressor, "regression", budget=40, reg=0.05)
    learn(model, X, y, weights)
    batch = KernelRidge(kernel="rbf", gamma=0.4, alpha=0.05)
    batch.fit(X[-40:], y[-40:], sample_weight=weights[-40:])
    np.testing.assert_allclose(model.predict(X), batch.predict(X), atol=1e-10)
    np.testing.assert_array_equal(model.support_vectors_, X[-40:])


def test_a_tracker_that_forgets_nothing_is_a_gaussian_process(stream):
    X, y = stream("regression", n=80)
    Z, _ = stream("regression", n=30, seed=5)
    model = build(KRLSTRegressor, "regression", forgetting=1.0, noise=0.1)
    learn(model, X, y)
    batch = GaussianProcessRegressor(
        RBF(np.sqrt(1 / 0.8)) + WhiteKernel(0.1), alpha=1e-10, optimizer=None
    ).fit(X, y)
    mean, std = model.predict(Z, return_std=True)
    expected, deviation = batch.predict(Z, return_std=True)
    np.testing.assert_allclose(mean, expected, atol=1e-4)
    np.testing.assert_allclose(std, deviation * np.sqrt(model.signal_power_), rtol=1e-4)


@pytest.mark.parametrize("layout", ["dense", "csr", "wide"])
@pytest.mark.parametrize(
    "settings", [{"budget": 9, "forgetting": 0.9, "noise": 0.2}, {"mode": "ui", "noise": 0.2}]
)
def test_standard_deviations_are_the_twin_s(settings, layout, stream, as_layout):
    X, y = stream("regression")
    Z, _ = stream("regression", n=70, seed=9)
    Z[::7] *= 100  # far away only the prior is left
    model = build(KRLSTRegressor, "regression", **settings)
    expected = naive(filters.krlst, model, X, y)
    learn(model, as_layout(X, layout), y)
    mean, std = model.predict(as_layout(Z, layout), return_std=True)
    np.testing.assert_array_equal(mean, model.predict(as_layout(Z, layout)))
    variance = filters.krlst_variance(expected.machine, Z, settings["noise"])
    np.testing.assert_allclose(std, np.sqrt(variance[:, 0]), rtol=1e-7)
    sums = expected.machine.sums
    assert model.signal_power_ == pytest.approx(sums[0][0] / sums[1], rel=1e-9)


def test_standard_deviations_cover_what_they_should():
    X, y = mackey_glass(1500, noise=0.05, random_state=1)
    model = KRLSTRegressor(gamma=0.5, noise=0.02, forgetting=1.0).partial_fit(X[:1000], y[:1000])
    mean, std = model.predict(X[1000:], return_std=True)
    covered = np.mean(np.abs(y[1000:] - mean) < 1.645 * std)
    assert 0.8 < covered < 0.97


@pytest.mark.parametrize("mode", ["b2p", "ui"])
def test_a_direction_without_samples_does_not_blow_up(mode, stream):
    X, y = stream("regression", n=60)
    model = build(KRLSTRegressor, "regression", forgetting=0.5, mode=mode, budget=20)
    learn(model, X, y)
    again = np.tile(X[:2], (1500, 1))  # 0.5^3000 is 0
    learn(model, again, np.tile(y[:2], 1500))
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert std.max() < 1e4
    np.testing.assert_allclose(mean[:2], y[:2], atol=0.1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fast_forgetting_does_not_diverge(dtype):
    """A covariance that is not symmetric to the bit gave infinite scores before sample 1,000."""
    X, y = mackey_glass(3000, noise=0.02, random_state=3)
    model = KRLSTRegressor(gamma=1.0, budget=50, forgetting=0.9, mode="ui")
    predictions = model.partial_fit_predict((X - 0.9).astype(dtype), y - 0.9)
    assert np.mean((predictions - y + 0.9)[-500:] ** 2) < 0.5 * y.var()
    covariance = model._model.space.budget.get_learnt()["covariance"][:, :51]
    np.testing.assert_array_equal(covariance, covariance.T)


def test_a_change_is_forgotten():
    X, y = mackey_glass(1200, random_state=0)
    changed = np.where(np.arange(1200) < 600, y, 2 - y)

    def error(model):
        predictions = model.partial_fit_predict(X, changed)
        return np.mean((predictions - changed)[700:] ** 2)

    errors = [error(KRLSTRegressor(gamma=1.0, forgetting=value)) for value in (1.0, 0.99)]
    assert errors[1] < 0.2 * errors[0]
    errors = [error(FixedBudgetKRLSRegressor(gamma=4.0, eta=value)) for value in (0.0, 0.1)]
    assert errors[1] < 0.5 * errors[0]


RECURSIVE = [KRLSRegressor, SlidingWindowKRLSRegressor, FixedBudgetKRLSRegressor, KRLSTRegressor]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cls", [KAPARegressor, *RECURSIVE])
def test_duplicates_do_no_harm(cls, dtype, stream):
    X, y = stream("regression", n=40)
    X, y = np.tile(X, (10, 1)), np.tile(y, 10)
    X[40:80] += 1e-7
    model = build(cls, "regression", budget=60)
    predictions = learn(model, X.astype(dtype), y)
    assert np.mean((predictions - y)[-80:] ** 2) < 0.1 * y.var()
    assert np.abs(model.dual_coef_).max() < 1e3 * np.abs(y).max()


@pytest.mark.parametrize("cls", [KAPARegressor, *RECURSIVE])
def test_tiny_weights_are_almost_absence(cls, stream):
    X, y = stream("regression", n=60)
    weights = np.where(np.arange(60) % 5 == 0, 1e-308, 1.0)
    model = build(cls, "regression", budget=70)
    learn(model, X, y, weights)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("cls", [KAPARegressor, *RECURSIVE])
def test_targets_that_are_too_large_change_nothing(cls, stream, state_of, same_state):
    X, y = stream("regression", n=60)
    large = {"variant": "kapa1", "eta": 1.0} if cls is KAPARegressor else {}
    model = build(cls, "regression", budget=20, **large)
    learn(model, X[:40], y[:40])
    before = state_of(model)
    y[50:] = 1e308
    with pytest.raises(FloatingPointError):
        learn(model, X[40:] * 1.01, y[40:])
    same_state(model, before)


@pytest.mark.parametrize("name", ["affine_projection", "linear_dependence", "sliding_window",
                                  "fixed_budget", "tracker"])  # fmt: skip
def test_a_policy_of_targets_refuses_labels_of_several_outputs(name):
    estimator, settings = registry.POLICIES[name]
    model = getattr(onlinekern, estimator)(gamma=1.0, **settings)
    support = SupportSet(KERNELS["gaussian"](1.0), 4, np.float64, 3, False, False)
    space = KernelSpace(support, model._budget(None))
    with pytest.raises(ValueError, match="the space is none for samples of 1 targets"):
        Model(space, HEADS["ovr"](3), model._rule(), SAMPLERS["always"](), Generator(0), 4, "f8")


@pytest.mark.parametrize(
    ("cls", "before", "after"),
    [
        (KAPARegressor, {"eta": 1e-3}, {"eta": 0.5, "reg": 0.1}),
        (KAPARegressor, {"eta": 1e-3}, {"variant": "kapa1", "eta": 0.1}),
        (KRLSRegressor, {"nu": 2.0}, {"nu": 0.01}),
        (SlidingWindowKRLSRegressor, {"reg": 1e3}, {"reg": 0.01}),
        (FixedBudgetKRLSRegressor, {"reg": 1e3}, {"reg": 0.01, "eta": 0.01}),
        (KRLSTRegressor, {"noise": 1e3}, {"noise": 0.01, "forgetting": 0.99, "mode": "ui"}),
    ],
)
def test_parameters_of_the_step_change_in_mid_stream(cls, before, after, stream, state_of):
    X, y = stream("regression", n=200)
    model = build(cls, "regression", budget=30, **before)
    learn(model, X[:30], y[:30])
    small = np.abs(model.predict(X)).max()
    model.set_params(budget=40, **after)  # the budget is that of the next fit
    other = pickle.loads(pickle.dumps(model))
    for one in (model, other):
        with pytest.warns(UserWarning, match="budget of .* will take effect"):
            learn(one, X[30:], y[30:])
    assert np.abs(model.predict(X)).max() > 5 * small
    assert model.n_support_ <= 30
    assert states.difference(state_of(other), state_of(model)) is None


def test_what_a_policy_cannot_change(stream):
    X, y = stream("regression")
    model = build(KAPARegressor, "regression", budget=30)
    learn(model, X, y)
    budget = model._model.space.budget
    for arguments, message in [
        ((31, 10, 0.1, 0.1, True), r"sizes of .* must stay \(30, 10\), got \(31, 10\)"),
        ((30, 9, 0.1, 0.1, True), r"must stay \(30, 10\), got \(30, 9\)"),
        ((30, 10, 0.5, -1.0, True), "reg must be > 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            budget.change(*arguments)
        assert budget.arguments == (30, 10, 0.1, 1.0, True)
    with pytest.raises(ValueError, match="'eta' parameter"):
        model.set_params(eta=-1.0)


@pytest.mark.parametrize(
    ("cls", "field", "value", "message"),
    [
        (KRLSTRegressor, "covariance", lambda a: a + 1, "covariance must be 0 but in"),
        (KRLSTRegressor, "residuals", lambda a: -a, "residuals must be sums >= 0"),
        (SlidingWindowKRLSRegressor, "values", lambda a: a + 1, "values must be 0 but in"),
        (KRLSRegressor, "covariance", lambda a: a[1:], "covariance must have 12 rows"),
        (KAPARegressor, "recent", lambda a: a * 0, "recent must name the slots of the last"),
        (KAPARegressor, "learnt", lambda a: -1, "learnt must be in"),
    ],
)
def test_a_state_that_is_none_is_refused(cls, field, value, message, stream):
    X, y = stream("regression")
    model = build(cls, "regression", budget=12, **{"nu": 0.1} if cls is KRLSRegressor else {})
    learn(model, X, y)
    budget = model._model.space.budget
    learnt = budget.get_learnt()
    with pytest.raises(ValueError, match=message):
        budget.set_learnt({**learnt, field: value(learnt[field])})
