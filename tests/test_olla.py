"""OLLA against its equations: models, regularisers, offsets, orders, lists, stopping, caches."""

import itertools
import pickle
import warnings
from typing import NamedTuple

import numpy as np
import pytest
from grids import grid
from learners import alpha_of
from oracles import olla
from registry import OTHER_KERNELS, choices
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from onlinekern import OLLAClassifier, OLLARegressor
from onlinekern.core import PENALTIES, POINT_RULES
from onlinekern.core.learning.losses import LOSSES
from onlinekern.core.learning.schedules import SCHEDULES
from onlinekern.core.models.olla import AllOutputs, SupportOutputs
from onlinekern.core.models.row_cache import KernelRowCache
from onlinekern.streams import chess_board, two_spirals

LABEL_LOSSES, TARGET_LOSSES = choices("OLLAClassifier", "loss"), choices("OLLARegressor", "loss")
REGULARISERS = ["l2", "l1", "none"]
SELECTIONS = ["cyclic", "shuffled", "max_violator"]
DTYPES = [np.float32, np.float64]
LAYOUTS = ["dense", "csr", "wide"]
# Parameters of the run, which the twin lacks.
NOT_OF_THE_TWIN = {
    *("n_epochs", "random_state", "window", "n_jobs", "verbose", "encode"),
    *("cache_size", "multi_class"),
    *("standardize_target", "class_weight"),
    *("max_iter", "shrinking", "warm_start", "probability", "decision_function_shape"),
}  # fmt: skip


class Case(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    task: str


@pytest.fixture
def case(stream):
    def make(task="binary", n=60):
        X, y = stream("ovr" if task in ("margin", "softmax") else task, n=n)
        return Case(X, y, task)

    return make


def build(task, **parameters):
    cls = OLLARegressor if task == "regression" else OLLAClassifier
    extra = {"multi_class": task} if task in ("ovr", "margin", "softmax") else {}
    if task == "regression":
        extra["standardize_target"] = False
    defaults = {"gamma": 0.4, "C": 0.7, "n_epochs": 3, "tol": 0.0, "support_tol": 0.0}
    return cls(**{**defaults, "random_state": 5, **extra, **parameters})


def orders_of(model, n):
    """Return the orders that the model will generate; the seed of its generator comes first."""
    draws = np.random.RandomState(model.random_state)
    draws.randint(np.iinfo(np.int64).max, dtype=np.int64)
    shuffled = model.selection == "shuffled"
    return [draws.permutation(n) if shuffled else np.arange(n) for _ in range(model.n_epochs)]


def twin_of(model, case, sample_weight=None):
    """Run the twin with the parameters of a model."""
    parameters = {
        name: value for name, value in model.get_params().items() if name not in NOT_OF_THE_TWIN
    }
    if parameters["outputs"] is None:
        parameters["outputs"] = "all"
    y, n_classes = case.y, None
    if case.task != "regression":
        labels, y = np.unique(case.y, return_inverse=True)
        n_classes = len(labels)
    return olla.olla(
        case.X, y, task=case.task, orders=orders_of(model, len(y)), n_classes=n_classes,
        sample_weight=sample_weight, **parameters,
    )  # fmt: skip


def assert_twin(model, case, close, dtype=np.float64, sample_weight=None):
    twin = twin_of(model, case, sample_weight)
    close(alpha_of(model, len(case.y)), twin.alpha, dtype)
    close(model.intercept_, twin.offset, dtype)
    if model.tol > 0:  # else it ends when no bit moves, which is a matter of rounding
        assert model.n_iter_ == twin.n_iter
    return twin


@pytest.mark.parametrize(
    ("penalty", "fit_intercept", "selection"), grid(REGULARISERS, [True, False], SELECTIONS)
)
@pytest.mark.parametrize(
    ("task", "loss"),
    [("binary", loss) for loss in LABEL_LOSSES] + [("regression", loss) for loss in TARGET_LOSSES],
)
def test_every_variant(task, loss, penalty, fit_intercept, selection, case, close):
    data = case(task, n=40)
    variant = {"loss": loss, "penalty": penalty, "fit_intercept": fit_intercept}
    for step, prox in (("safe", True), ("paper", False)):
        model = build(task, **variant, selection=selection, step=step, prox=prox, C=1.2)
        if loss == "exponential" and step == "paper":
            model.set_params(C=0.05)  # larger steps overflow, see test_divergence
        if penalty == "l1":
            model.set_params(eta=0.3)
            if prox:  # a step of the slope 1/2 must pass the threshold
                model.set_params(C=4.0)
        twin = assert_twin(model.fit(data.X, data.y), data, close)
        assert np.any(twin.alpha != 0)


@pytest.mark.parametrize(
    ("task", "layout", "dtype", "selection", "outputs"),
    grid(
        ["binary", "ovr", "margin", "regression"], LAYOUTS, DTYPES, ["cyclic", "shuffled"],
        ["all", "support"],
    ),
)  # fmt: skip
def test_tasks_layouts_and_types(task, layout, dtype, selection, outputs, case, close, as_layout):
    data = case(task)
    loss = "squared" if task == "regression" else "smooth_hinge"
    model = build(task, loss=loss, selection=selection, outputs=outputs, delta=0.5)
    X = as_layout(data.X, layout, dtype)
    assert_twin(model.fit(X, data.y), data, close, dtype)
    scores = model.predict(X) if task == "regression" else model.decision_function(X)
    alpha = alpha_of(model, len(data.y))
    kernel = olla.kernel_matrix("gaussian", data.X, data.X, 0.4, 3, 0.0)
    expected = kernel @ alpha + model.intercept_
    close(scores, expected[:, 0] if expected.shape[1] == 1 else expected, dtype)
    np.testing.assert_array_equal(
        model.support_vectors_.toarray() if layout != "dense" else model.support_vectors_,
        (X.toarray() if layout != "dense" else X)[model.support_],
    )
    assert model.support_vectors_.dtype == dtype


@pytest.mark.parametrize("kernel", OTHER_KERNELS)
@pytest.mark.parametrize("outputs", ["all", "support"])
def test_kernels(kernel, outputs, case, close):
    data = case("binary")
    model = build("binary", kernel=kernel, outputs=outputs, loss="logistic", C=0.1, degree=2)
    assert_twin(model.set_params(gamma=0.1).fit(data.X, data.y), data, close)


@pytest.mark.parametrize("task", ["ovr", "margin", "regression"])
def test_the_worst_comes_first(task, case, close):
    data = case(task, n=40)
    loss = "huber" if task == "regression" else "logistic"
    assert_twin(build(task, loss=loss, selection="max_violator").fit(data.X, data.y), data, close)


@pytest.mark.parametrize(
    "schedule",
    [
        {"schedule": "inverse"},
        {"schedule": "inverse", "eta": 3.0},
        {"schedule": "constant", "eta": 0.1},
        {"schedule": "power", "power": 0.3, "eta": 0.4},
        {"schedule": "invsqrt", "eta": 0.5},
    ],
    ids=str,
)
def test_schedules(schedule, case, close):
    data = case("binary")
    assert_twin(build("binary", **schedule).fit(data.X, data.y), data, close)


@pytest.mark.parametrize("outputs", ["all", "support"])
@pytest.mark.parametrize(("task", "relaxation"), [("binary", 1.0), ("binary", 1.4), ("ovr", 0.6)])
def test_newton(task, relaxation, outputs, case, close):
    data = case(task)
    newton = {"solver": "newton", "loss": "logistic", "fit_intercept": False}
    model = build(task, **newton, relaxation=relaxation, outputs=outputs)
    assert_twin(model.fit(data.X, data.y), data, close)


def test_newton_finds_the_minimum(case):
    data = case("binary")
    model = build("binary", solver="newton", loss="logistic", fit_intercept=False, C=5.0,
                  n_epochs=300, tol=1e-14)  # fmt: skip
    model.fit(data.X, data.y)
    assert model.n_iter_ < 300
    # At the minimum of ||w||^2 / 2 + C sum l the coefficients are C y / (1 + e^yf).
    y = np.where(data.y == "yes", 1, -1)
    expected = 5.0 * y / (1 + np.exp(y * model.decision_function(data.X)))
    np.testing.assert_allclose(alpha_of(model, len(y))[:, 0], expected, rtol=1e-8)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("penalty", REGULARISERS)
@pytest.mark.parametrize("task", ["binary", "ovr", "margin"])
def test_both_lists_give_the_same_model(task, penalty, loss, case):
    data = case(task, n=90)
    models = [
        build(task, loss=loss, penalty=penalty, outputs=outputs, C=3.0).fit(data.X, data.y)
        for outputs in ("all", "support")
    ]
    np.testing.assert_array_equal(models[0].support_, models[1].support_)
    np.testing.assert_allclose(models[0].dual_coef_, models[1].dual_coef_, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(models[0].intercept_, models[1].intercept_, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("outputs", ["all", "support"])
def test_small_coefficients_are_no_support_vectors(outputs, case, close):
    data = case("binary", n=90)
    model = build("binary", loss="logistic", outputs=outputs, support_tol=0.2).fit(data.X, data.y)
    twin = twin_of(model, data)
    kept = np.flatnonzero(np.abs(twin.alpha[:, 0]) > 0.2)
    assert 0 < len(kept) < 90
    np.testing.assert_array_equal(model.support_, kept)
    close(model.dual_coef_[0], twin.alpha[kept, 0], np.float64)
    assert model.n_support_ == len(kept)


@pytest.mark.parametrize("window", [1, 7, 64])
def test_no_bit_depends_on_the_window(window, case, equal):
    data = case("ovr", n=150)
    for loss in ("hinge", "logistic"):
        usual = build("ovr", outputs="support", loss=loss, support_tol=0.05, C=3.0, penalty="l1")
        usual.fit(data.X, data.y)
        model = build("ovr", **{**usual.get_params(), "window": window}).fit(data.X, data.y)
        equal(model.support_, usual.support_)
        equal(model.dual_coef_, usual.dual_coef_)
        equal(model.intercept_, usual.intercept_)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_bit_depends_on_the_cache(selection, layout, case, equal, as_layout):
    data = case("binary", n=150)
    X = as_layout(data.X, layout)
    models = [
        build("binary", selection=selection, outputs="all", cache_size=size, C=3.0).fit(X, data.y)
        for size in (1e-9, 0.02, 200.0)
    ]
    for model in models[:2]:
        equal(model.support_, models[2].support_)
        equal(model.dual_coef_, models[2].dual_coef_)
        equal(model.intercept_, models[2].intercept_)


def test_the_cache_keeps_what_was_used_last():
    rng = np.random.default_rng(0)
    cache, recent = KernelRowCache(30, 64, 64 * 7), []
    assert cache.capacity == 7
    for row in rng.zipf(1.4, 2000) % 30:
        assert cache.use(int(row)) == (row in recent)
        recent = [*(other for other in recent if other != row), row][-7:]
        assert cache.kept() == recent
    assert cache.hits + cache.misses == 2000
    assert KernelRowCache(30, 64, 1e300).capacity == 30
    assert KernelRowCache(30, 64, 1.0).capacity == 1


def test_outputs_are_chosen_by_size(case):
    data = case("binary", n=100)

    def space_of(**parameters):
        model = build("binary", **parameters)
        model.classes_ = ["no", "yes"]
        return type(model._space(data.X, 1, None, None))

    assert space_of() is AllOutputs
    assert space_of(cache_size=0.08) is AllOutputs
    assert space_of(cache_size=0.079) is SupportOutputs
    assert space_of(cache_size=0.079, selection="max_violator") is AllOutputs
    assert space_of(cache_size=0.079, outputs="all") is AllOutputs
    assert space_of(outputs="support") is SupportOutputs


@pytest.mark.parametrize("outputs", ["all", "support"])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_learning_ends_when_the_outputs_do_not_move(selection, outputs, case, close):
    if (selection, outputs) == ("max_violator", "support"):
        pytest.skip("excluded, see test_combinations")
    data = case("binary")
    model = build("binary", selection=selection, outputs=outputs, n_epochs=60, tol=0.03)
    assert_twin(model.fit(data.X, data.y), data, close)
    assert 1 < model.n_iter_ < 60


def test_learning_ends_when_nothing_violates():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    for selection in SELECTIONS:
        model = build("binary", n_epochs=500, penalty="none", C=1.0, selection=selection)
        model.fit(X, [0, 0, 1, 1])
        assert model.n_iter_ < 500
        assert np.all(np.abs(model.decision_function(X)) >= 1 - 1e-12)


def test_a_label_that_changes_goes_on(case):
    # With the largest tol, only labels keep learning from ending after two epochs.
    data = case("binary", n=90)
    model = build("binary", n_epochs=40, tol=1e9, C=30.0).fit(data.X, data.y)
    assert model.n_iter_ > 2
    data = case("regression")
    assert build("regression", n_epochs=40, tol=1e9).fit(data.X, data.y).n_iter_ == 2


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("task", ["binary", "margin", "regression"])
def test_weights(task, selection, case, close):
    data = case(task, n=50)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, 50)
    weight[::4] = 0
    loss = "squared" if task == "regression" else "squared_hinge"
    model = build(task, loss=loss, selection=selection).fit(data.X, data.y, sample_weight=weight)
    assert_twin(model, data, close, sample_weight=weight)
    assert not set(model.support_) & set(range(0, 50, 4))
    assert model.n_seen_ == 3 * (np.count_nonzero(weight) if selection != "max_violator" else 50)


@pytest.mark.parametrize("task", ["binary", "ovr", "margin", "regression"])
def test_pickle(task, case, equal):
    data = case(task)
    model = build(task).fit(data.X, data.y)
    copy = pickle.loads(pickle.dumps(model))
    equal(copy.predict(data.X), model.predict(data.X))
    equal(copy.dual_coef_, model.dual_coef_)
    equal(copy.intercept_, model.intercept_)
    equal(copy.support_, model.support_)
    assert copy.score_one(data.X[0]) == pytest.approx(model.score_one(data.X[0]))
    assert (copy.n_seen_, copy.cumulative_loss_) == (model.n_seen_, model.cumulative_loss_)


def test_scoring_agrees(case, equal):
    data = case("ovr")
    model = build("ovr").fit(data.X, data.y)
    scores = model.decision_function(data.X)
    equal(np.array([model.score_one(row) for row in data.X]), scores)
    equal(build("ovr", n_jobs=2).fit(data.X, data.y).decision_function(data.X), scores)


# Steps that overflow: the published ones of a loss without bound, and of Newton undamped.
DIVERGING = [
    {"loss": "squared", "step": "paper", "C": 100.0, "penalty": "none", "schedule": "constant"},
    {"loss": "squared_hinge", "step": "paper", "C": 1e5, "kernel": "polynomial"},
    {"loss": "exponential", "step": "paper", "C": 100.0},
]


@pytest.mark.parametrize("outputs", ["all", "support"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("parameters", DIVERGING, ids=lambda item: item["loss"])
def test_divergence(parameters, dtype, outputs, case):
    data = case("binary", n=90)
    X = data.X.astype(dtype)
    model = build("binary", **parameters, outputs=outputs, n_epochs=200)
    with pytest.warns(ConvergenceWarning, match="diverged in epoch"):
        model.fit(X, data.y)
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(model.decision_function(X)).all()
    assert model.n_support_ > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        safe = build("binary", **{**parameters, "step": "safe"}, n_epochs=20).fit(X, data.y)
    assert np.isfinite(safe.decision_function(X)).all()


@pytest.mark.parametrize("loss", ["squared", "squared_hinge", "exponential"])
@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
def test_safe_steps_learn_at_every_C(loss, C):
    X, y = two_spirals(1500, random_state=0)
    model = OLLAClassifier(loss=loss, C=C, gamma=32.0, random_state=0).fit(X, y)
    assert model.score(X, y) >= 0.999


def test_kernel_values_without_end_fail(case, state_of, same_state):
    data = case("binary")
    model = build("binary", kernel="polynomial", gamma=0.1).fit(data.X, data.y)
    before = state_of(model)
    with pytest.raises(FloatingPointError):
        model.fit(data.X * 1e150, data.y)
    same_state(model, before)


def test_failed_fit_keeps_the_fitted_model(case, state_of, same_state):
    data = case("binary")
    model = build("binary").fit(data.X, data.y)
    before = state_of(model)
    with pytest.raises(ValueError, match=r"one class only \('yes'\)"):
        model.fit(data.X, np.repeat("yes", len(data.y)))
    same_state(model, before)
    model.set_params(loss="squared", step="paper", C=100.0, schedule="constant", penalty="none",
                     n_epochs=200)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        with pytest.raises(ConvergenceWarning):
            model.fit(data.X, data.y)
    for name in ("loss", "step", "C", "schedule", "penalty", "n_epochs"):
        setattr(model, name, getattr(build("binary"), name))
    same_state(model, before)


NEWTON = {"solver": "newton", "loss": "logistic", "fit_intercept": False}


@pytest.mark.parametrize(
    ("task", "parameters", "message"),
    [
        ("binary", {"selection": "max_violator", "outputs": "support"}, "max_violator"),
        ("binary", {**NEWTON, "loss": "hinge"}, "needs loss='logistic', got loss='hinge'"),
        ("binary", {**NEWTON, "penalty": "l1"}, "needs penalty='l2'"),
        ("binary", {**NEWTON, "penalty": None}, "needs penalty='l2'"),
        ("binary", {**NEWTON, "fit_intercept": True}, "needs fit_intercept=False"),
        ("margin", NEWTON, "needs multi_class='ovr'"),
        ("softmax", NEWTON, "needs multi_class='ovr'"),
        ("softmax", {"loss": "hinge"}, "multi_class='softmax' needs loss='logistic'"),
        ("regression", {"solver": "newton"}, "needs loss='logistic'"),
        ("binary", {"loss": "absolute"}, "loss"),
        ("regression", {"loss": "hinge"}, "loss"),
        ("binary", {"cache_size": 0.0}, "cache_size"),
        ("binary", {"relaxation": 2.0}, "relaxation"),
        ("binary", {"relaxation": 0.5}, "relaxation=0.5 has no effect with solver='gradient'"),
        ("regression", {"relaxation": 0.5}, "relaxation=0.5 has no effect"),
        ("binary", {**NEWTON, "eta": 0.1}, "eta=0.1 has no effect with solver='newton'"),
        ("binary", {**NEWTON, "step": "paper"}, "step='paper' has no effect"),
        ("binary", {"penalty": "elastic"}, "penalty"),
        ("binary", {"tol": -1.0}, "tol"),
    ],
)
def test_combinations(task, parameters, message, case):
    data = case(task)
    model = build(task, **parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(data.X, data.y)
    assert vars(model) == vars(build(task, **parameters))


def test_none_is_no_penalty(case, equal):
    data = case("binary")
    word, nothing = build("binary", penalty="none"), build("binary", penalty=None)
    equal(word.fit(data.X, data.y).dual_coef_, nothing.fit(data.X, data.y).dual_coef_)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_one_loss_for_several_classes(fit_intercept, selection, case, close):
    data = case("softmax", n=50)
    settings = {"loss": "logistic", "fit_intercept": fit_intercept, "selection": selection}
    model = build("softmax", **settings).fit(data.X, data.y)
    assert_twin(model, data, close)
    scores = model.decision_function(data.X)
    np.testing.assert_allclose(
        model.predict_proba(data.X), np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    )
    # The steps on a point add up to 0, as its probabilities do to 1; the regulariser keeps that.
    np.testing.assert_allclose(alpha_of(model, 50).sum(axis=1), 0, atol=1e-12)


def test_one_loss_reaches_the_minimum_of_multinomial_regression(case):
    """The stationary point of ``w'w / 2 + C sum l``: a_ik = C (1[k = y_i] - p_ik)."""
    data = case("softmax", n=40)
    model = build("softmax", loss="logistic", fit_intercept=False, C=0.5, n_epochs=3000)
    model.fit(data.X, data.y)
    truth = model.classes_ == data.y[:, None]
    expected = 0.5 * (truth - model.predict_proba(data.X))
    np.testing.assert_allclose(alpha_of(model, 40), expected, atol=5e-3)


@pytest.mark.parametrize("prox", [True, False])
def test_the_soft_threshold_makes_zeros(prox, case):
    data = case("binary", n=90)
    model = build("binary", loss="logistic", penalty="l1", prox=prox, C=1.5, n_epochs=10)
    model.fit(data.X, data.y)
    assert (model.n_support_ < 70) == prox


def test_probabilities(case):
    data = case("binary")
    model = build("binary", loss="logistic").fit(data.X, data.y)
    expected = 1 / (1 + np.exp(-model.decision_function(data.X)))
    np.testing.assert_allclose(model.predict_proba(data.X)[:, 1], expected)
    assert model.calibration_ is None
    assert build("binary").fit(data.X, data.y).calibration_ is not None
    data = case("ovr")
    for task in ("ovr", "margin", "softmax"):
        model = build(task, loss="logistic").fit(data.X, data.y)
        probabilities = model.predict_proba(data.X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)],
                                      model.predict(data.X))  # fmt: skip


def test_it_is_a_batch_learner():
    for cls in (OLLAClassifier, OLLARegressor):
        for method in ("partial_fit", "partial_fit_predict", "learn_one"):
            assert not hasattr(cls, method)


def test_the_l2_hinge_is_a_support_vector_machine():
    X, y = chess_board(1500, random_state=0)
    model = OLLAClassifier(gamma=8.0, C=10.0, n_epochs=300, random_state=0).fit(X, y)
    machine = SVC(gamma=8.0, C=10.0).fit(X, y)
    assert np.abs(model.dual_coef_).max() <= 10.0
    Z, _ = chess_board(3000, random_state=1)
    assert np.mean(model.predict(Z) == machine.predict(Z)) > 0.98


def test_regression_is_near_scikit_learns():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (600, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(600)
    machine = SVR(gamma=1.0, C=10.0, epsilon=0.1).fit(X, y).score(X, y)
    for loss in TARGET_LOSSES:
        model = OLLARegressor(loss=loss, gamma=1.0, C=10.0, n_epochs=50, random_state=0)
        assert model.fit(X, y).score(X, y) > machine - 0.02


@pytest.mark.parametrize("name", PENALTIES)
def test_penalties(name):
    penalty, twin = PENALTIES[name](), olla.PENALTIES[name]
    for a, step, decay in itertools.product([-2.0, 0.0, 0.3], [-0.5, 0.0, 0.4], [0.0, 0.2, 1.0]):
        assert a + penalty.evaluate(a, step, decay) == pytest.approx(twin(a, step, decay))
    assert pickle.loads(pickle.dumps(penalty)) == penalty


@pytest.mark.parametrize("name", POINT_RULES)
def test_rules(name):
    loss = {"newton": "logistic", "stopped": "hinge"}.get(name, "exponential")
    for f, y, q, importance in itertools.product([-3.0, 0.0, 2.0], [-1, 1], [0.5, 2.0], [1, 0.5]):
        expected = olla.POINT_RULES[name](
            olla.LOSSES[loss](), f, y, q, 0.3 / 4, 2.0 * importance, 1.3
        )
        if name == "newton":
            rule = POINT_RULES[name](LOSSES[loss](), 2.0, 1.3)
            decay = rule.evaluate_contraction(f, y, q, importance)
        else:
            rule = POINT_RULES[name](LOSSES[loss](), SCHEDULES["inverse"](0.3), 2.0, True)
            decay = 1 - rule.evaluate(f, y, q, 4, importance)[1]
        found = rule.evaluate(f, y, q, 4, importance)[0], decay
        assert found == pytest.approx(expected)
        assert pickle.loads(pickle.dumps(rule)) == rule


@pytest.mark.parametrize(
    ("task", "parameters"),
    [
        ("binary", {"loss": "hinge", "C": 1.0}),
        ("ovr", {"loss": "logistic", "C": 0.9}),
        ("binary", {"loss": "smooth_hinge", "C": 1.0, "delta": 0.5}),
        ("regression", {"loss": "epsilon_insensitive", "C": 1.0}),
        ("regression", {"loss": "huber", "C": 3.0, "delta": 0.25}),
    ],
)
def test_a_threshold_that_takes_back_every_step_is_refused(task, parameters, case):
    data = case(task)
    model = build(task, penalty="l1", **parameters)
    with pytest.raises(ValueError, match=r"learns nothing at C=.*C must be above"):
        model.fit(data.X, data.y)
    # Twice the smallest C, by C or by the weights of the samples, is learnt.
    weights = np.full(len(data.y), 2.5 * (4 / 3 if parameters["loss"] == "huber" else 1))
    assert build(task, penalty="l1", **parameters).fit(data.X, data.y, weights).n_support_ > 0
    assert model.set_params(prox=False).fit(data.X, data.y).n_support_ > 0
    assert model.set_params(penalty="l2", prox=True).fit(data.X, data.y).n_support_ > 0
