"""Every estimator against its naive loop: predictions, coefficients, losses, support vectors."""

import itertools

import numpy as np
import pytest
from budgeted import DTYPES, LAYOUTS, NOT_OF_THE_LOOP, WINDOWS, as_dense, weights_of
from grids import forms, grid
from registry import ESTIMATORS, OTHER_KERNELS, STEPS, cases_of
from sklearn.base import is_classifier

import onlinekern
from onlinekern import all_estimators
from onlinekern.core.base.random import Generator

SEED = 3

CASES = cases_of("test_algorithms")
CLASSIFIERS = [name for name, _ in all_estimators("classifier")]
SETTINGS = [
    pytest.param(name, task, case, id=f"{name}-{task}-{number}")
    for name in CASES
    for task in (["binary", "ovr", "margin"] if name in CLASSIFIERS else ["regression"])
    for number, case in enumerate(CASES[name])
]


def build(name, task, **parameters):
    if task in ("ovr", "margin"):
        parameters["multi_class"] = task
    elif task == "regression":
        parameters["standardize_target"] = False
    return getattr(onlinekern, name)(**{"gamma": 0.4, "random_state": SEED, **parameters})


def naive(model, X, y, **arguments):
    """Run the naive loop of an estimator with its parameters."""
    parameters = model.get_params()
    arguments |= {name: value for name, value in parameters.items() if name not in NOT_OF_THE_LOOP}
    if is_classifier(model):
        arguments["classes"] = np.unique(y)
    else:
        arguments["task"] = "regression"
    draws = np.random.RandomState(SEED)
    seed = draws.randint(np.iinfo(np.int64).max, dtype=np.int64)
    arguments["uniforms"] = iter(Generator(seed).random(10 * len(y)))
    return ESTIMATORS[type(model).__name__].twin(X, y, **arguments)


def order_of_epochs(n, shuffle):
    """Return the order in which `fit` takes n samples in three passes."""
    draws = np.random.RandomState(SEED)
    draws.randint(np.iinfo(np.int64).max, dtype=np.int64)  # the model's own seed comes first
    return np.concatenate([draws.permutation(n) if shuffle else np.arange(n) for _ in range(3)])


def check(model, predictions, expected, X, dtype, close):
    """Compare an estimator and its predictions before each sample with the naive loop."""
    if is_classifier(model):
        np.testing.assert_array_equal(predictions, expected.predictions)
        assert model.n_mistakes_ == expected.mistakes
    else:
        close(predictions, expected.predictions, dtype)
    assert model.n_seen_ == expected.n_seen
    assert model.n_support_ == len(expected.support)
    np.testing.assert_array_equal(support_rows(model), X[expected.support])
    scale = max(1.0, np.abs(expected.dual_coef).max(initial=0))
    close(model.dual_coef_ / scale, expected.dual_coef / scale, dtype)
    close(model.cumulative_loss_, expected.cumulative_loss, dtype)


def support_rows(model):
    """Return the support vectors with the columns of the original samples."""
    return as_dense(model.support_vectors_, 6)


@pytest.mark.parametrize(
    ("average", "weighted", "cap"), grid([False, True], [False, True], [None, 12])
)
@pytest.mark.parametrize(("name", "task", "case"), SETTINGS)
@pytest.mark.filterwarnings("ignore:max_support")
def test_twin(name, task, case, average, weighted, cap, stream, as_layout, close):
    X, y = stream(task)
    Z, _ = stream(task, n=20, seed=9)
    weights = weights_of(len(y)) if weighted else None
    settings = {**case, "average": average, "max_support": cap}
    expected = naive(build(name, task, **settings), X, y, sample_weight=weights)
    assert len(expected.support) > 5
    for dtype, layout, window in forms(DTYPES, LAYOUTS, WINDOWS, average + weighted):
        model = build(name, task, window=window, **settings)
        first = {"classes": np.unique(y)} if is_classifier(model) else {}
        rows = as_layout(X, layout, dtype)
        predictions = model.partial_fit_predict(rows, y, sample_weight=weights, **first)
        check(model, predictions, expected, X, dtype, close)
        score = model.decision_function if is_classifier(model) else model.predict
        outside, scores = expected.decision_function(Z), score(as_layout(Z, layout, dtype))
        scale = max(1.0, np.abs(outside).max())
        close(scores / scale, outside / scale, dtype)


@pytest.mark.parametrize(
    ("first", "average", "how"),
    grid(
        [p.values for p in SETTINGS if p.id.endswith("-0")],
        [False, True, "decay", 0.9],
        ["nearest", "oldest", "stop"],
    ),
)
@pytest.mark.filterwarnings("ignore:max_support")
def test_a_full_set_goes_on_learning(first, average, how, stream, as_layout, close):
    name, task, case = first
    X, y = stream(task)
    # With this kernel some samples are far from all support vectors, and more are near to one.
    settings = {**case, "gamma": 0.6, "average": average, "max_support": 12, "when_full": how}
    expected = naive(build(name, task, **settings), X, y)
    assert len(expected.support) == 12
    assert how == "stop" or expected.support[0] > 0
    for layout, window in itertools.product(LAYOUTS, WINDOWS):
        model = build(name, task, window=window, **settings)
        known = {"classes": np.unique(y)} if is_classifier(model) else {}
        predictions = model.partial_fit_predict(as_layout(X, layout), y, **known)
        check(model, predictions, expected, X, np.float64, close)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("name", "task", "case"), [p for p in SETTINGS if p.id.endswith("-0")])
def test_epochs(name, task, case, shuffle, stream, close):
    X, y = stream(task, n=60)
    model = build(name, task, n_epochs=3, shuffle=shuffle, **case)
    order = order_of_epochs(60, shuffle)
    expected = naive(model, X[order], y[order])
    model.fit(X, y)
    if is_classifier(model):
        assert model.n_mistakes_ == expected.mistakes
    np.testing.assert_array_equal(support_rows(model), X[order][expected.support])
    close(model.dual_coef_, expected.dual_coef, np.float64)
    close(model.cumulative_loss_, expected.cumulative_loss, np.float64)


@pytest.mark.parametrize("cap", [None, 9])
@pytest.mark.parametrize("kernel", OTHER_KERNELS)
@pytest.mark.parametrize("name", sorted(CASES))
def test_other_kernels(name, kernel, cap, stream, as_layout, close):
    # The stream has empty rows, where kappa(x, x) = 0: plain PA must pass them over.
    task = "ovr" if name in CLASSIFIERS else "regression"
    X, y = stream(task, n=60)
    settings = {"kernel": kernel, "gamma": 0.2, "degree": 2, "coef0": 0.0, **CASES[name][0]}
    settings |= {"eta": 0.05} if "eta" in settings else {}
    settings |= {"max_support": cap}
    expected = naive(build(name, task, **settings), X, y)
    for layout in LAYOUTS:
        model = build(name, task, **settings)
        first = {"classes": np.unique(y)} if is_classifier(model) else {}
        predictions = model.partial_fit_predict(as_layout(X, layout), y, **first)
        check(model, predictions, expected, X, np.float64, close)


def test_weight_zero_is_absence(stream, same_state):
    X, y = stream("ovr")
    weights = weights_of(len(y))
    kept = weights > 0
    for name in set(CLASSIFIERS) & set(CASES):
        one, other = build(name, "ovr"), build(name, "ovr")
        one.partial_fit(X, y, classes=np.unique(y), sample_weight=weights)
        other.partial_fit(X[kept], y[kept], classes=np.unique(y), sample_weight=weights[kept])
        same_state(one, other)


def test_scale_is_folded_in_the_cases(stream):
    # A stream too short to fold the scale would not test the fold.
    X, y = stream("regression")
    model = build("KernelOGDRegressor", "regression", average=True, **STEPS[-1])
    model.partial_fit(X, y)
    state = model._model.space.support.get_state()
    assert state["scale"] > 1e9 * 0.6 ** len(y)
