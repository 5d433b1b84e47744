"""Learners that evict support vectors: against naive loops, and the properties of each eviction."""

import copy

import numpy as np
import pytest
from budgeted import DTYPES, LAYOUTS, OVERFLOWING, WINDOWS, check_undo, weights_of
from grids import forms, marked
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.kernels import kernel_matrix
from registry import OTHER_KERNELS, REMOVALS, cases_of
from sklearn.base import is_classifier
from test_algorithms import build, check, naive, order_of_epochs

from onlinekern import BOGDClassifier, BOGDRegressor, BPAClassifier, BPARegressor, all_estimators
from onlinekern.core.budgets.forgetron import shrinking

CASES = cases_of("test_budgeted")
CLASSIFIERS = {name for name, _ in all_estimators("classifier")}
SETTINGS = [
    pytest.param(name, task, case, id=f"{name}-{task}-{number}")
    for name in CASES
    for task in (["binary", "ovr", "margin"] if name in CLASSIFIERS else ["regression"])
    for number, case in enumerate(CASES[name])
]
FIRST = [p for p in SETTINGS if p.id.endswith("-0")]


def learn(model, X, y, labels=None, **arguments):
    """Learn in the given order; the classes of a classifier default to the labels of y."""
    if is_classifier(model):
        arguments["classes"] = np.unique(y if labels is None else labels)
    return model.partial_fit_predict(X, y, **arguments)


@pytest.mark.parametrize(
    ("weighted", "budget"),
    [
        *((True, 1), (False, 2), (True, 12)),
        *(marked(row, True) for row in ((False, 1), (True, 2), (False, 12))),
    ],
)
@pytest.mark.parametrize(("name", "task", "case"), SETTINGS)
def test_twin(name, task, case, weighted, budget, stream, as_layout, close):
    X, y = stream(task)
    weights = weights_of(len(y)) if weighted else None
    settings = {**case, "budget": budget}
    expected = naive(build(name, task, **settings), X, y, sample_weight=weights)
    assert len(expected.support) == budget
    for dtype, layout, window in forms(DTYPES, LAYOUTS, WINDOWS, budget + weighted):
        model = build(name, task, window=window, **settings)
        predictions = learn(model, as_layout(X, layout, dtype), y, sample_weight=weights)
        check(model, predictions, expected, X, dtype, close)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("name", "task", "case"), FIRST)
def test_epochs(name, task, case, shuffle, stream, close):
    X, y = stream(task, n=60)
    model = build(name, task, n_epochs=3, shuffle=shuffle, budget=10, **case)
    order = order_of_epochs(60, shuffle)
    expected = naive(model, X[order], y[order])
    model.fit(X, y)
    np.testing.assert_array_equal(model.support_vectors_, X[order][expected.support])
    close(model.dual_coef_, expected.dual_coef, np.float64)
    close(model.cumulative_loss_, expected.cumulative_loss, np.float64)


@pytest.mark.parametrize("kernel", OTHER_KERNELS)
@pytest.mark.parametrize(("name", "task", "case"), FIRST)
def test_other_kernels(name, task, case, kernel, stream, as_layout, close):
    # The stream has an empty row: most kernels of it with other rows are 0.
    X, y = stream(task, n=60)
    settings = {"kernel": kernel, "gamma": 0.2, "degree": 2, "budget": 10, **case}
    settings |= {"eta": 0.05} if "eta" in build(name, task).get_params() else {}
    expected = naive(build(name, task, **settings), X, y)
    for layout in LAYOUTS:
        model = build(name, task, **settings)
        predictions = learn(model, as_layout(X, layout), y)
        check(model, predictions, expected, X, np.float64, close)


@pytest.mark.parametrize("budget", [1, 2, 7])
@pytest.mark.parametrize(("name", "task", "case"), SETTINGS)
def test_never_more_than_the_budget(name, task, case, budget, stream):
    X, y = stream(task)
    model = build(name, task, budget=budget, **case)
    learn(model, X[:1], y[:1], labels=y)
    sizes = []
    for row, target in zip(X, y.tolist(), strict=True):
        sizes.append(model.learn_one(row, target).n_support_)
        assert len(model.support_vectors_) == sizes[-1]
    assert max(sizes) == budget
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "task", "case"), SETTINGS)
def test_failed_call_takes_removals_back(name, task, case, layout, stream, as_layout, same_state):
    X, y = stream(task, n=200)
    check_undo(build(name, task, **OVERFLOWING, **case), X, y, layout, as_layout, same_state)


@given(
    size=st.floats(0, 3),
    alignment=st.floats(-10, 10),
    spare=st.floats(0.4, 5),
)
def test_forgetron_factor_is_the_largest_that_may_be(size, alignment, spare):
    # `spare` is the damage still allowed: at least 15/32, up to rounding.
    phi = shrinking(size, alignment, spare)

    def added(phi):
        return (size * phi) ** 2 + 2 * size * phi - 2 * phi**2 * alignment

    assert 0 < phi <= 1
    assert added(phi) <= spare + 1e-6
    larger = np.linspace(phi, 1, 1000)[1:]
    assert phi == 1 or np.all(added(larger[larger > phi * (1 + 1e-6)]) > spare - 1e-6)
    assume(phi < 1)
    assert added(phi) == pytest.approx(spare, rel=1e-6)


@pytest.mark.parametrize("task", ["binary", "ovr", "margin"])
def test_forgetron_keeps_its_damage_in_bounds(task, stream):
    X, y = stream(task, n=600)
    model = build("ForgetronClassifier", task, budget=15)
    shrunk = 0
    for part in np.array_split(np.arange(600), 60):
        learn(model, X[part], y[part], labels=y)
        state = model._model.space.budget.get_learnt()
        assert state["damage"] <= 15 / 32 * state["n_steps"] * (1 + 1e-12)
        shrunk += state["damage"] > 0.9 * 15 / 32 * state["n_steps"]
    assert shrunk  # the bound has been reached


def objective(before, after, gram, score, target, C, loss):
    """Return ||f_after - f_before||^2 / 2 + C l(f_after) for the last sample of the Gram matrix."""
    change = after - before
    return change @ gram @ change / 2 + C * loss(target, score(after))


def least_over_b(function, low=-50.0, high=50.0):
    """Return the minimum of a convex function of one number, by golden section."""
    ratio = (5**0.5 - 1) / 2
    for _ in range(120):
        one, two = high - ratio * (high - low), low + ratio * (high - low)
        if function(one) < function(two):
            high = two
        else:
            low = one
    return function((low + high) / 2)


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize(
    ("cls", "kernel"),
    [(BPAClassifier, "gaussian"), (BPAClassifier, "polynomial"), (BPARegressor, "gaussian")],
)
def test_bpa_finds_the_true_minimum(cls, kernel, C, stream):
    classify = cls is BPAClassifier
    X, y = stream("binary" if classify else "regression", n=120)
    settings = {"kernel": kernel, "gamma": 0.3, "degree": 2, "coef0": 0.5, "budget": 8}
    model = cls(C=C, **settings)
    if not classify:
        model.set_params(standardize_target=False)
    learn(model, X[:60], y[:60])

    def loss(target, score):
        return max(0, 1 - target * score) if classify else max(0, abs(target - score) - 0.1)

    replaced = 0
    for x, label in zip(X[60:], y[60:].tolist(), strict=True):
        rows, coefficients = model.support_vectors_, model.dual_coef_[0]
        near = np.vstack([rows, x])
        gram = kernel_matrix(kernel, near, near, 0.3, 2, 0.5)
        before = np.r_[coefficients, 0.0]
        target = (1.0 if label == "yes" else -1.0) if classify else label
        model.learn_one(x, label)
        if loss(target, before @ gram[-1]) == 0 or not np.any(x):
            continue
        replaced += 1

        def with_b(r, b, before=before):
            after = before.copy()
            after[[r, -1]] = 0.0, b
            return after

        def value(after, before=before, gram=gram, target=target):
            return objective(before, after, gram, lambda a: a @ gram[-1], target, C, loss)

        best = min(least_over_b(lambda b, r=r: value(with_b(r, b))) for r in range(len(rows)))
        kept = [np.flatnonzero((model.support_vectors_ == row).all(axis=1)) for row in near]
        found = np.array([model.dual_coef_[0][k[0]] if len(k) else 0.0 for k in kept])
        assert value(found) == pytest.approx(best, rel=1e-7, abs=1e-9)
    assert replaced > 15


@pytest.mark.parametrize("removal", REMOVALS)
@pytest.mark.parametrize("task", ["binary", "ovr"])
def test_bogd_keeps_the_mean_of_the_model(task, removal, stream, close):
    # The mean over all evictions, by their probabilities, is the old model.
    X, y = stream(task)
    Z, _ = stream(task, n=20, seed=4)
    B = 6
    original = build("BOGDClassifier", task, removal=removal, cap=None, budget=B)
    learn(original, X[:50], y[:50])
    sizes = np.linalg.norm(original.dual_coef_, axis=0)
    share = 1 / B if removal == "uniform" else (1 - sizes / sizes.sum()) / (B - 1)
    probabilities = np.broadcast_to(share, B)
    rows = original.support_vectors_
    outcomes, counts = {}, np.zeros(B)
    for seed in range(400):
        model = copy.deepcopy(original)
        model._model.rng.set_state(np.random.default_rng(seed).integers(2**63, size=4).tolist())
        i = 50
        while len(np.unique(np.vstack([rows, model.support_vectors_]), axis=0)) == B:
            model.learn_one(X[i], y.tolist()[i])
            i += 1
        stays = [(model.support_vectors_ == row).all(axis=1).any() for row in rows]
        left = int(np.flatnonzero(~np.array(stays))[0])
        counts[left] += 1
        kernel = kernel_matrix("gaussian", Z, model.support_vectors_[:-1], 0.4, 3, 0.0)
        outcomes[left] = kernel @ model.dual_coef_[:, :-1].T
    assert len(outcomes) == B
    # Standard deviations of the counts are below 10.
    np.testing.assert_allclose(counts, 400 * probabilities, atol=40)
    mean = sum(probabilities[r] * outcome for r, outcome in outcomes.items())
    before = kernel_matrix("gaussian", Z, rows, 0.4, 3, 0.0) @ original.dual_coef_.T
    close(mean, before, np.float64)


@pytest.mark.parametrize("removal", REMOVALS)
def test_bogd_cap(removal, stream):
    X, y = stream("binary", n=400)
    for cap in (0.5, 1.0):
        model = BOGDClassifier(gamma=0.4, eta=0.2, cap=cap, budget=20, removal=removal)
        learn(model, X, y)
        sizes = np.sort(np.abs(model.dual_coef_[0]))
        assert sizes[-2] <= 0.2 * cap * (1 + 1e-12)  # all but the newest one
        assert sizes[-1] == pytest.approx(0.2)
    free = BOGDClassifier(gamma=0.4, eta=0.2, cap=None, budget=20, removal=removal)
    learn(free, X, y)
    assert np.abs(free.dual_coef_).max() > 0.3


def test_scale_that_grows_is_folded(stream):
    # With B = 2 each eviction doubles the rest: 1,000 of them would overflow a separate scale.
    X, y = stream("regression", n=3000)
    model = BOGDRegressor(gamma=0.4, eta=0.1, budget=2, cap=1.0, epsilon=0.0, loss="absolute")
    learn(model, X, y)
    state = model._model.space.support.get_state()
    assert 1e-3 <= state["scale"] <= 1e3
    assert np.all(np.isfinite(model.dual_coef_))
