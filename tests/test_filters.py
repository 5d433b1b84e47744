"""Kernel adaptive filters against their twins, and what their papers say of them."""

import numpy as np
import pytest
from budgeted import build, check_twin, check_windows, learn
from oracles import filters

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
