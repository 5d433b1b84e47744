"""FOGD and NOGD against their twins, and NOGD's switch from kernel values to features."""

import copy
import pickle

import numpy as np
import pytest
from grids import forms
from learners import columns_of
from oracles.kernels import kernel_matrix
from oracles.mapped import fogd, nogd
from registry import LABEL_LOSSES, TARGET_LOSSES
from sklearn.base import is_classifier

import onlinekern
from onlinekern import FOGDClassifier, FOGDRegressor, NOGDClassifier, NOGDRegressor

DTYPES = [np.float32, np.float64]
LAYOUTS = ["dense", "csr", "wide"]
WINDOWS = [1, 7, 64]
# Features are of the dtype of the samples; those of NOGD divide kernel values by roots of
# eigenvalues, which magnifies their errors.
TOLERANCE = {np.float32: 3e-4, np.float64: 1e-9}
TASKS = ["binary", "ovr", "margin", "regression"]
FAMILIES = ["FOGD", "NOGD"]
SMALL = {"FOGD": {"n_components": 20}, "NOGD": {"budget": 12, "n_components": 8}}
# With eta reg = 0.4 the scale is folded more than once in a stream.
STEPS = [
    {"schedule": "invsqrt", "eta": 0.8, "reg": 0.01},
    {"schedule": "inverse", "eta": 2.0, "reg": 0.3},
    {"schedule": "power", "power": 0.3, "eta": 0.4},
    {"schedule": "constant", "eta": 0.4, "reg": 1.0},
]
OF_THE_LOOP = {
    *("n_epochs", "shuffle", "random_state", "window", "n_jobs", "verbose", "encode"),
    "multi_class",
    *("standardize_target", "class_weight"),
}  # fmt: skip


def build(family, task, **parameters):
    settings = {
        "gamma": 0.3,
        "random_state": 1,
        "eta": 0.2,
        "average": False,
        **SMALL[family],
        **parameters,
    }
    if task in ("ovr", "margin"):
        settings["multi_class"] = task
    elif task == "regression":
        settings["standardize_target"] = False
    task = "Regressor" if task == "regression" else "Classifier"
    return getattr(onlinekern, family + task)(**settings)


def learn(model, rows, y, **arguments):
    """Learn one pass with labels as class numbers; return the predictions."""
    if is_classifier(model):
        arguments["classes"] = np.unique(y)
    return model.partial_fit_predict(rows, y, **arguments)


def twin(model, X, y, task, rows, **arguments):
    """Run the oracle with the parameters (and frequencies) of a fitted model."""
    parameters = {k: v for k, v in model.get_params().items() if k not in OF_THE_LOOP}
    if is_classifier(model):
        arguments["n_classes"] = len(np.unique(y))
        y = np.searchsorted(np.unique(y), y)
    if isinstance(model, NOGDClassifier | NOGDRegressor):
        return nogd(X, y, head=task, **parameters, **arguments)
    for name in ("kernel", "gamma", "n_components"):
        parameters.pop(name)
    parameters["frequencies"] = model.frequencies_[:, columns_of(rows)]
    return fogd(X, y, head=task, **parameters, **arguments)


def compare(model, predictions, expected, X, Z, dtype):
    """Compare all public results of a model with the oracle's."""
    close = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
    if is_classifier(model):
        np.testing.assert_array_equal(predictions, model.classes_[expected.predictions.astype(int)])
        assert model.n_mistakes_ == expected.mistakes
    else:
        np.testing.assert_allclose(predictions, expected.predictions, **close)
    assert model.n_seen_ == expected.model.t
    np.testing.assert_allclose(model.cumulative_loss_, expected.cumulative_loss, **close)
    if hasattr(model, "coef_"):
        found = np.hstack([model.coef_, model.intercept_[:, None]])
        weights = expected.model.effective(model.average)
        np.testing.assert_allclose(found[:, : weights.shape[1]], weights, **close)
        assert model.fit_intercept or not model.intercept_.any()
    else:
        rows = model.support_vectors_
        rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
        np.testing.assert_array_equal(rows[:, columns_of(rows)], X[expected.support])
        scale = max(1.0, np.abs(expected.dual_coef(model.average)).max())
        dual_coef = expected.dual_coef(model.average)
        np.testing.assert_allclose(model.dual_coef_ / scale, dual_coef / scale, **close)
    score = getattr(model, "decision_function", model.predict)
    Z, rows = Z
    scores = score(rows).reshape(len(Z), -1)
    np.testing.assert_allclose(scores, expected.scores(Z, model.average), **close)


def check(family, task, stream, as_layout, weight=None, **parameters):
    """Compare every dtype, layout and window with the oracle."""
    X, y = stream(task, n=130)
    Z, _ = stream(task, n=20, seed=9)
    expected = {}
    for dtype, layout, window in forms(DTYPES, LAYOUTS, WINDOWS, TASKS.index(task)):
        rows, outside = as_layout(X, layout, dtype), as_layout(Z, layout, dtype)
        model = build(family, task, window=window, **parameters)
        predictions = learn(model, rows, y, sample_weight=weight)
        # The frequencies are of the dtype, and as many as the layout has columns.
        drawn = (dtype, rows.shape[1]) if family == "FOGD" else None
        if drawn not in expected:
            expected[drawn] = twin(model, X, y, task, rows, sample_weight=weight)
        run = expected[drawn]
        compare(model, predictions, run, X, (Z, outside), dtype)
    return run


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("family", FAMILIES)
def test_losses_against_the_oracle(family, task, average, stream, as_layout):
    for loss in TARGET_LOSSES if task == "regression" else LABEL_LOSSES:
        parameters = {"loss": loss, "delta": 0.5, "epsilon": 0.2}
        run = check(family, task, stream, as_layout, average=average, **parameters)
        assert family == "FOGD" or len(run.projection) == 8


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize("step", STEPS, ids=[step["schedule"] for step in STEPS])
@pytest.mark.parametrize("task", ["ovr", "regression"])
@pytest.mark.parametrize("family", FAMILIES)
def test_steps_and_weights_against_the_oracle(family, task, step, average, stream, as_layout):
    weight = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 2.5], 130)
    check(family, task, stream, as_layout, weight, average=average, **step)


@pytest.mark.parametrize(
    "parameters",
    [
        {"fit_intercept": True},
        {"fit_intercept": True, "average": True, "reg": 1.0, "eta": 0.4},
        {"fit_intercept": True, "n_components": 1},
        {"n_components": 1},
        {"n_components": 16},
        {"n_components": 64},
        {"n_components": 65, "fit_intercept": True},
        {"kernel": "laplacian", "gamma": 0.1},
        {"frequencies": "orthogonal", "n_components": 15},
    ],
)
@pytest.mark.parametrize("task", ["binary", "margin", "regression"])
def test_fourier_parameters_against_the_oracle(task, parameters, stream, as_layout):
    check("FOGD", task, stream, as_layout, **parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {"budget": 1, "n_components": None},
        {"budget": 12, "n_components": 1},
        {"budget": 12, "n_components": None},
        {"budget": 70, "n_components": 20},
        {"budget": 1000, "n_components": 10},
        {"kernel": "laplacian", "gamma": 0.1},
        {"kernel": "polynomial", "degree": 2, "coef0": 1.0, "eta": 0.02, "n_components": 5},
        {"kernel": "linear", "eta": 0.02, "n_components": 4},
        {"kernel": "cosine"},
    ],
)
@pytest.mark.parametrize("task", ["binary", "margin", "regression"])
def test_nystroem_parameters_against_the_oracle(task, parameters, stream, as_layout):
    check("NOGD", task, stream, as_layout, **parameters)


def test_fogd_by_hand():
    # omega = pi: z(0) = (1, 0), z(1) = (-1, 0). eta = 1/2, hinge, shrink 1 - eta reg = 3/4.
    # x = 0, +: f = 0, w = 1/2.  x = 1, -: f = -1/2, w = 3/8 + 1/2.  x = 1, +: f = -7/8,
    # w = 21/32 - 1/2 = 5/32, loss 15/8.
    X, y = np.array([[0.0], [1.0], [1.0]]), [1, 0, 1]
    run = fogd(X, y, [[np.pi]], eta=0.5, reg=0.5)
    np.testing.assert_allclose(run.model.weights, [[5 / 32, 0]], atol=1e-15)
    np.testing.assert_array_equal(run.predictions, [0, 0, 0])
    assert run.cumulative_loss == pytest.approx(1 + 1 / 2 + 15 / 8)
    np.testing.assert_allclose(run.model.effective(True)[0, 0] * 4, 1 / 2 + 7 / 8 + 5 / 32)


def test_nogd_by_hand():
    # gamma = ln 2: kappa(0, 1) = 1/2, kappa(0, 2) = 1/16. Two support vectors, 0 and 1, one
    # feature: the eigenvector (1, 1)/sqrt 2 of eigenvalue 3/2, z(x) = (k_0 + k_1) / sqrt 3.
    # x = 0, +: a_0 = 1/2.  x = 1, -: f = 1/4, a_1 = -1/2, and f becomes 0, w = 0.
    # x = 2, +: f = 0, w = eta z(2) = 1/2 (1/16 + 1/2) / sqrt 3.
    X, y = np.array([[0.0], [1.0], [2.0]]), [1, 0, 1]
    run = nogd(X, y, budget=2, n_components=1, gamma=np.log(2), eta=0.5)
    assert run.support == [0, 1]
    np.testing.assert_allclose(np.abs(run.projection), [[1 / np.sqrt(3)] * 2])
    np.testing.assert_allclose(np.abs(run.model.weights), [[9 / 32 / np.sqrt(3)]])
    np.testing.assert_allclose(run.dual_coef(False), [[3 / 32, 3 / 32]])


def with_settings(family):
    """Return an averaged three-class model with shrinking; NOGD switches within 40 samples."""
    return build(family, "margin", average=True, reg=0.05, loss="logistic")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_any_split_and_any_window(family, dtype, layout, stream, as_layout, same_state, equal):
    X, y = stream("margin", n=300)
    rows = as_layout(X / 3, layout, dtype)
    models = []
    for window in (1, 5, 64, 1000, None):
        for cuts in ([], [3, 4, 11, 12, 170]):
            model = with_settings(family).set_params(window=window)
            for part in np.split(np.arange(len(y)), cuts):
                model.partial_fit(rows[part], y[part], classes=np.unique(y))
            models.append(model.set_params(window=None))
    for model in models[1:]:
        same_state(model, models[0])
        equal(model.decision_function(rows), models[0].decision_function(rows))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_learn_one_is_partial_fit(family, dtype, stream, same_state, equal):
    X, y = stream("margin")
    X = X.astype(dtype)
    one, many = with_settings(family), with_settings(family)
    one.learn_one(X[0], y[0], classes=np.unique(y))
    for i in range(1, len(y)):
        # Scored with the same window before and after the change.
        one.score_one(X[i])
        one.learn_one(X[i], y[i])
    many.partial_fit(X, y, classes=np.unique(y))
    same_state(one, many)
    equal(np.array([one.score_one(x) for x in X]), many.decision_function(X))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("learnt", [3, 12, 77])
@pytest.mark.parametrize("family", FAMILIES)
def test_copies_continue_alike(family, learnt, layout, stream, as_layout, same_state, equal):
    X, y = stream("margin", n=200)
    rows = as_layout(X / 3, layout, np.float32)
    model = with_settings(family)
    model.partial_fit(rows[:learnt], y[:learnt], classes=np.unique(y))
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for other in copies:
        same_state(other, model)
        equal(other.decision_function(rows), model.decision_function(rows))
    model.partial_fit(rows[learnt:], y[learnt:])
    for other in copies:
        other.partial_fit(rows[learnt:], y[learnt:])
        same_state(other, model)
        equal(other.decision_function(rows), model.decision_function(rows))


def broken(X, family):
    """Return X with a last row whose score overflows."""
    X = X.copy()
    X[-1] = 2.9e307 if family == "FOGD" else 1e160
    return X


# NOGD's change comes at sample 11: before, in, and after the first call that fails.
@pytest.mark.parametrize("window", [1, 16, None])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("learnt", [1, 5, 60])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_call_that_fails(family, learnt, layout, window, stream, as_layout, same_state, equal):
    X, y = stream("margin", n=150)
    rows, bad = as_layout(X, layout), as_layout(broken(X, family), layout)
    kernel = (
        {"gamma": 30.0}
        if family == "FOGD"
        else {"kernel": "polynomial", "gamma": 0.1, "coef0": 1.0}
    )
    models = [with_settings(family).set_params(window=window, **kernel) for _ in range(2)]
    for each in models:
        each.partial_fit(rows[:learnt], y[:learnt], classes=np.unique(y))
    model, other = models
    before, scores = copy.deepcopy(model), model.decision_function(rows)
    assert family == "FOGD" or before._model.space.moved == (learnt == 60)
    for _ in range(2):
        with pytest.raises(FloatingPointError, match="sample"):
            model.partial_fit(bad[learnt:], y[learnt:])
        same_state(model, before)
        equal(model.decision_function(rows), scores)
        if layout == "dense":
            equal(model.score_one(X[0]), scores[0])
    for each in models:
        each.partial_fit(rows[learnt:], y[learnt:])
    same_state(model, other)
    if layout == "dense":
        equal(model.score_one(X[0]), model.decision_function(rows)[0])
        with pytest.raises(FloatingPointError):
            model.learn_one(bad[-1], y[-1])
        same_state(model, other)


def test_another_change_after_one_that_was_undone(stream, equal):
    # The window that scores single rows has met the features of the change that was undone.
    X, y = stream("binary", n=60)
    model = build("NOGD", "binary", kernel="polynomial", gamma=0.1, coef0=1.0)
    model.partial_fit(X[:5], y[:5], classes=np.unique(y))
    model.partial_fit(X[5:40], y[5:40])
    model.score_one(X[0])
    assert model._model.space.moved
    model._model.undo()
    assert not model._model.space.moved
    equal(model.score_one(X[0]), model.decision_function(X[:1])[0])
    model.partial_fit(X[::-1], y[::-1])
    assert model._model.space.moved
    equal(model.score_one(X[0]), model.decision_function(X[:1])[0])


def test_a_kernel_matrix_that_is_not_finite(same_state):
    # Two rows whose kernel value with each other is finite, but not that with themselves.
    X = np.array([[1.0, 0.0], [1e160, 1e-300]])
    model = NOGDClassifier(kernel="linear", budget=2)
    model.partial_fit(X[:1], [0], classes=[0, 1])
    before = copy.deepcopy(model)
    with pytest.raises(FloatingPointError, match="sample 0"):
        model.partial_fit(X[1:], [1])
    same_state(model, before)


@pytest.mark.parametrize("average", [False, True])
def test_the_change_keeps_the_function(average, stream):
    X, y = stream("ovr", n=40)
    settings = {"average": average, "reg": 0.1, "n_components": None}
    early = build("NOGD", "ovr", **settings, budget=1000)
    late = build("NOGD", "ovr", **settings, budget=12)
    for i in range(len(y)):
        for model in (early, late):
            model.learn_one(X[i], y[i], classes=np.unique(y))
        if late._model.space.moved:
            break
    assert late.n_support_ == early.n_support_ == 12
    np.testing.assert_allclose(late.decision_function(X), early.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(late.dual_coef_, early.dual_coef_, atol=1e-10)


def test_the_change_projects_on_the_features(stream):
    # Fewer features than landmarks: the function is the one nearest in the norm of the kernel's
    # space among the functions of the features, so the rest is orthogonal to all of them.
    X, y = stream("binary", n=40)
    settings = {"n_components": 5, "average": False, "loss": "logistic"}
    early, late = (build("NOGD", "binary", **settings, budget=size) for size in (100, 12))
    for model in (early, late):
        model.partial_fit(X[:12], y[:12], classes=np.unique(y))
    rows = late.support_vectors_
    rest = (early.dual_coef_ - late.dual_coef_)[0]
    gram = kernel_matrix("gaussian", rows, rows, 0.3)
    projection = late._model.space.__reduce__()[1][-1][0]
    np.testing.assert_allclose(projection @ gram @ rest, 0, atol=1e-12)
    assert rest @ gram @ rest > 1e-4


def test_the_average_is_the_mean_of_all_models(stream):
    for family in FAMILIES:
        X, y = stream("binary", n=40)
        mean = 0.0
        for t in range(1, len(y) + 1):
            last = build(family, "binary", loss="logistic", reg=0.5, n_components=12)
            last.partial_fit(X[:t], y[:t], classes=np.unique(y))
            mean = mean + last.decision_function(X) / (len(y) + 1)
        model = build(family, "binary", loss="logistic", reg=0.5, n_components=12, average=True)
        model.partial_fit(X, y, classes=np.unique(y))
        np.testing.assert_allclose(model.decision_function(X), mean, atol=1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_landmarks_give_one_feature(dtype, stream, as_layout):
    X, _ = stream("binary", n=60)
    X = np.repeat(X[4:7], 20, axis=0)
    y = np.random.default_rng(0).integers(0, 2, 60)
    model = build("NOGD", "binary", budget=12, n_components=None, loss="logistic")
    model.partial_fit(as_layout(X, "dense", dtype), y, classes=[0, 1])
    assert model.n_support_ == 12
    projection = model._model.space.__reduce__()[1][-1][0]
    assert len(projection) <= 3
    assert np.isfinite(model.dual_coef_).all()
    # f of the landmarks and everything else depends on the sums of their coefficients.
    assert np.abs(model.decision_function(as_layout(X, "dense", dtype))).max() < 10


def test_a_kernel_of_zeros_learns_nothing():
    X, y = np.zeros((10, 2)), np.arange(10) % 2
    model = NOGDClassifier(kernel="linear", budget=4).partial_fit(X, y, classes=[0, 1])
    assert model.n_support_ == 4
    np.testing.assert_array_equal(model.decision_function(np.ones((3, 2))), 0)
    other = pickle.loads(pickle.dumps(model)).partial_fit(X, y)
    np.testing.assert_array_equal(other.dual_coef_, 0)


def test_several_threads_score_alike(stream, equal):
    for family in FAMILIES:
        X, y = stream("margin", n=500)
        model = with_settings(family).fit(X, y)
        expected = model.decision_function(X)
        equal(model.set_params(n_jobs=3).decision_function(X), expected)


def test_more_features_than_the_budget(stream):
    X, y = stream("binary")
    with pytest.raises(ValueError, match="n_components must be at most budget"):
        NOGDClassifier(budget=10, n_components=11).fit(X, y)


def test_orthogonal_frequencies_need_the_gaussian_kernel(stream):
    X, y = stream("binary")
    with pytest.raises(ValueError, match="frequencies='orthogonal'"):
        FOGDClassifier(kernel="laplacian", frequencies="orthogonal").fit(X, y)


def test_defaults_learn(stream):
    X, y = stream("regression", n=3000)
    for cls in (FOGDRegressor, NOGDRegressor):
        model = cls(gamma=0.3, random_state=0).fit(X[:2000], y[:2000])
        assert model.score(X[2000:], y[2000:]) > 0.8
