"""Ahpatron against its naive loop, and what a halving keeps."""

import copy
from itertools import pairwise

import numpy as np
import pytest
from budgeted import (
    DTYPES,
    LAYOUTS,
    OVERFLOWING,
    WINDOWS,
    check_undo,
    check_windows,
    weights_of,
)
from grids import forms, grid
from oracles import budgeted
from oracles.kernels import kernel_matrix
from registry import cases_of
from test_algorithms import build, check, naive

from onlinekern import AhpatronClassifier, merge

NAME = "AhpatronClassifier"
CASES = cases_of("test_ahpatron")[NAME]
TASKS = ["binary", "ovr", "margin"]


def learn(model, X, y, labels=None, **arguments):
    classes = np.unique(y if labels is None else labels)
    return model.partial_fit_predict(X, y, classes=classes, **arguments)


@pytest.mark.parametrize(
    ("task", "case", "weighted", "budget"), grid(TASKS, CASES, [False, True], [1, 2, 7, 12])
)
def test_twin(task, case, weighted, budget, stream, as_layout, close):
    X, y = stream(task, n=200)
    weights = weights_of(len(y)) if weighted else None
    settings = {**case, "budget": budget}
    expected = naive(build(NAME, task, **settings), X, y, sample_weight=weights)
    for dtype, layout, window in forms(DTYPES, LAYOUTS, WINDOWS, budget + weighted):
        model = build(NAME, task, window=window, **settings)
        predictions = learn(model, as_layout(X, layout, dtype), y, sample_weight=weights)
        check(model, predictions, expected, X, dtype, close)


@pytest.mark.parametrize("kernel", ["laplacian", "polynomial", "linear", "cosine"])
def test_other_kernels(kernel, stream, as_layout, close):
    X, y = stream("binary", n=120)
    settings = {"kernel": kernel, "gamma": 0.2, "degree": 2, "budget": 10}
    expected = naive(build(NAME, "binary", **settings), X, y)
    for layout in LAYOUTS:
        model = build(NAME, "binary", **settings)
        check(model, learn(model, as_layout(X, layout), y), expected, X, np.float64, close)


def test_the_stream_of_the_twin_halves_and_meets_the_ball(stream):
    X, y = stream("binary", n=200)
    seen = []
    for case in CASES:
        common = {"gamma": 0.4, "classes": np.unique(y), "budget": 12, "seen": seen}
        budgeted.ahpatron(X, y, **common, **case)
    assert all(model.n_halvings > 2 for model in seen)
    assert all(model.n_scaled > 2 for model in seen)


@pytest.mark.parametrize("task", TASKS)
def test_windows(task, stream, as_layout, state_of, same_state):
    X, y = stream(task, n=300)
    how = {} if task == "binary" else {"multi_class": task}
    model = AhpatronClassifier(budget=20, gamma=0.9, **how)
    check_windows(lambda: copy.copy(model), X, y, as_layout, state_of, same_state)


def norm_of(model, gamma):
    gram = kernel_matrix("gaussian", model.support_vectors_, model.support_vectors_, gamma, 3, 0.0)
    return np.sqrt(np.sum(model.dual_coef_ @ gram * model.dual_coef_))


@pytest.mark.parametrize("task", TASKS)
def test_the_policy_knows_the_norm_and_keeps_it(task, stream):
    X, y = stream(task, n=300)
    model = build(NAME, task, budget=16, max_norm=1.5, eta=0.5)
    sizes, norms = [], []
    for row in range(300):
        learn(model, X[row : row + 1], y[row : row + 1], labels=y)
        sizes.append(model.n_support_)
        norms.append(norm_of(model, 0.4))
        known = model._model.space.budget.get_learnt()["square"]
        assert np.sqrt(known) == pytest.approx(norms[-1], rel=1e-9)
    most = 1.5 * np.sqrt(len(model.dual_coef_))
    assert max(norms) == pytest.approx(most, rel=1e-9)
    drops = {(a, b) for a, b in pairwise(sizes) if b < a}
    assert drops == {(16, 9)}
    assert max(sizes) == 16


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_failed_call_takes_halvings_back(layout, stream, as_layout, same_state):
    X, y = stream("binary", n=200)
    check_undo(build(NAME, "binary", **OVERFLOWING), X, y, layout, as_layout, same_state)


def known_norm(model):
    return np.sqrt(model._model.space.budget.get_learnt()["square"])


def test_a_merged_model_learns_its_norm(stream):
    X, y = stream("binary", n=300)
    parts = [build(NAME, "binary", budget=16) for _ in range(2)]
    for part, rows in zip(parts, np.split(np.arange(240), 2), strict=True):
        learn(part, X[rows], y[rows], labels=y)
    model = merge(parts)
    assert model._model.space.budget.get_learnt()["square"] == -1
    model.partial_fit(X[240:], y[240:])
    assert known_norm(model) == pytest.approx(norm_of(model, 0.4), rel=1e-9)


@pytest.mark.parametrize("epsilon", [-0.1, 1.0])
def test_epsilon_leaves_a_margin(epsilon, stream):
    X, y = stream("binary", n=20)
    with pytest.raises(ValueError, match="epsilon"):
        AhpatronClassifier(epsilon=epsilon).fit(X, y)
