"""First-order linear learners: against their twins, and the properties of their space."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from harness.subjects import WIDE
from oracles import linear
from oracles import losses as oracle_losses
from oracles import rules as oracle_rules
from registry import cases_of
from sklearn.base import is_classifier

import onlinekern

DTYPES = [np.float32, np.float64]
LAYOUTS = ["dense", "csr", "wide"]
WINDOWS = [1, 7, None]
SEED = 3
CASES = cases_of("test_linear")
SETTINGS = [
    pytest.param(name, task, case, id=f"{name}-{task}-{number}")
    for name in CASES
    for task in (["regression"] if name.endswith("Regressor") else ["binary", "ovr", "margin"])
    for number, case in enumerate(CASES[name])
]
# A learner of each kind of space, with an incomplete batch at the end of most calls.
KINDS = [
    ("OGDRegressor", "regression", {"eta": 0.2, "schedule": "constant", "reg": 2.0}),
    ("OGDClassifier", "ovr", {"eta": 0.2, "schedule": "constant", "reg": 2.0}),
    ("PegasosClassifier", "margin", {"reg": 0.5, "batch_size": 7, "projection": True}),
    ("PAClassifier", "ovr", {}),
]


def build(name, task, **parameters):
    if task in ("ovr", "margin"):
        parameters["multi_class"] = task
    elif name == "OGDRegressor":
        parameters["standardize_target"] = False
    return getattr(onlinekern, name)(random_state=SEED, **parameters)


def numbers(model, y):
    """Return labels as class numbers, and targets unchanged."""
    return np.searchsorted(np.unique(y), y) if is_classifier(model) else y


def twin(model, task, X, y):
    """Run the naive loop of an estimator over a stream."""
    parameters = model.get_params()
    settings = {key: parameters[key] for key in ("average", "fit_intercept")}
    settings |= {"task": task, "n_classes": 3 if task in ("ovr", "margin") else 2}
    if "batch_size" in parameters:
        settings |= {key: parameters[key] for key in ("reg", "batch_size", "projection")}
        settings["n_problems"] = 3 if task == "ovr" else 1
        return linear.pegasos(X, y, **settings)
    if "loss" not in parameters:
        return linear.perceptron(X, y, **settings)
    own = {key: parameters[key] for key in ("delta", "epsilon")}
    loss = oracle_losses.LOSSES[model.loss](**own)
    step = {key: parameters[key] for key in ("eta", "schedule", "power", "reg")}
    return linear.ogd(X, y, rule=oracle_rules.Gradient(loss, **step), **settings)


def check(model, expected, X, dtype, close):
    """Compare an estimator with the naive loop."""
    weights = np.atleast_2d(model.coef_)
    if weights.shape[1] == WIDE:
        weights = weights[:, np.linspace(7, WIDE - 5, X.shape[1]).astype(int)]
    scale = max(1.0, np.abs(expected.predicting).max())
    close(weights / scale, expected.predicting[:, :-1] / scale, dtype)
    close(model.intercept_ / scale, expected.predicting[:, -1] / scale, dtype)
    close(model.cumulative_loss_, expected.cumulative_loss, dtype)
    assert model.n_seen_ == len(expected.models) - 1
    if is_classifier(model):
        assert model.n_mistakes_ == expected.mistakes


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize(("name", "task", "case"), SETTINGS)
def test_twin(name, task, case, average, stream, as_layout, close):
    X, y = stream(task)
    expected = twin(
        build(name, task, average=average, **case), task, X, numbers(build(name, task), y)
    )
    for dtype, layout, window in itertools.product(DTYPES, LAYOUTS, WINDOWS):
        model = build(name, task, average=average, window=window, **case)
        first = {"classes": np.unique(y)} if is_classifier(model) else {}
        predictions = model.partial_fit_predict(as_layout(X, layout, dtype), y, **first)
        check(model, expected, X, dtype, close)
        if is_classifier(model):
            np.testing.assert_array_equal(numbers(model, predictions), expected.predictions)
        else:
            close(predictions, expected.predictions, dtype)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("name", "task", "case"), SETTINGS)
def test_epochs(name, task, case, shuffle, stream, close):
    X, y = stream(task, n=60)
    X[3] = 1  # for an empty row, constants of equal counts tie, and rounding decides
    model = build(name, task, n_epochs=3, shuffle=shuffle, **case).fit(X, y)
    draws = np.random.RandomState(SEED)
    draws.randint(np.iinfo(np.int64).max, dtype=np.int64)  # the model's own seed comes first
    order = np.concatenate([draws.permutation(60) if shuffle else np.arange(60) for _ in range(3)])
    expected = twin(model, task, X[order], numbers(model, y)[order])
    if expected.n_gathered:
        expected.end_batch()
    check(model, expected, X, np.float64, close)


@pytest.mark.parametrize("task", ["binary", "ovr", "margin"])
def test_the_ball_holds_the_model(task, stream):
    X, y = stream(task)
    free, held = (build("PegasosClassifier", task, reg=2.0, projection=on) for on in (False, True))
    for model in (free, held):
        model.partial_fit(10 * X[:3], y[:3], classes=np.unique(y))
    squares = [np.sum(np.c_[model.coef_, model.intercept_] ** 2) for model in (free, held)]
    radius = (3 if task == "ovr" else 1) / 2.0
    assert squares[1] <= radius * (1 + 1e-12) < squares[0]


def test_a_new_regularisation_has_a_new_ball(stream):
    X, y = stream("binary")
    model = build("PegasosClassifier", "binary", reg=0.01, projection=True).fit(10 * X, y)
    model.set_params(reg=50.0).partial_fit(X, y)
    assert np.sum(np.c_[model.coef_, model.intercept_] ** 2) <= (1 + 1e-12) / 50


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "task", "case"), KINDS, ids=[kind[0] for kind in KINDS])
def test_undo(name, task, case, layout, average, stream, as_layout, same_state):
    X, y = stream(task, n=120)
    rows = as_layout(X, layout)
    model = build(name, task, average=average, **case)
    first = {"classes": np.unique(y)} if is_classifier(model) else {}
    model.partial_fit(rows[:50], y[:50], **first)
    before = copy.deepcopy(model)
    # Of these, one sample; and as many as end batches and fold the scale.
    for count in (1, 60):
        model.partial_fit(rows[50 : 50 + count], y[50 : 50 + count])
        model._model.undo()
        same_state(model, before)
    model.learn_one(X[50] if layout != "wide" else rows[50], y[50])
    model._model.undo()
    same_state(model, before)
    same_state(model.partial_fit(rows[50:], y[50:]), before.partial_fit(rows[50:], y[50:]))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("cls", ["PerceptronClassifier", "OGDClassifier", "PegasosClassifier"])
def test_divergence(cls, layout, stream, as_layout, state_of, same_state):
    X, y = stream("binary", n=60)
    X[-2:] = 1e200
    y[-2], y[-1] = "no", "yes"
    rows = as_layout(X, layout)
    model = build(cls, "binary").partial_fit(rows[:50], y[:50], classes=["no", "yes"])
    model.partial_fit(np.ones((1, rows.shape[1])), ["yes"])  # "no" is now a mistake
    before = state_of(model)
    with pytest.raises(FloatingPointError, match="sample 9"):
        model.partial_fit(rows[50:], y[50:])
    same_state(model, before)


@pytest.mark.parametrize("batch_size", [1, 7])
def test_open_batches_are_copied(batch_size, stream, same_state):
    X, y = stream("ovr")
    model = build("PegasosClassifier", "ovr", reg=0.1, batch_size=batch_size, average=True)
    model.partial_fit(X[:40], y[:40], classes=np.unique(y))
    assert model._model.space.n_pending == 40 % batch_size
    other = pickle.loads(pickle.dumps(model))
    same_state(other, model)
    same_state(other.partial_fit(X[40:], y[40:]), model.partial_fit(X[40:], y[40:]))


def test_many_folds_lose_nothing(stream, close):
    X, y = stream("regression", n=3000)
    settings = {"eta": 0.1, "schedule": "constant", "reg": 5.0, "average": True}
    model = build("OGDRegressor", "regression", **settings).partial_fit(X, y)
    state = model._model.space.get_state()
    assert 1e-3 <= state["scale"] <= 1  # a product of 3000 halves would be 0
    check(model, twin(model, "regression", X, y), X, np.float64, close)


def test_learners_that_take_over_go_on_alike(stream, close):
    X, y = stream("regression")
    model = build("PARegressor", "regression", average=4).partial_fit(X[:50], y[:50])
    space = model._model.space
    latest, predicting = space.latest(), space.effective()
    assert not np.allclose(latest, predicting)
    space.resume(latest, predicting, 50)
    close(space.effective(), predicting, np.float64)
    expected = linear.pa(X, y, average=4, task="regression")
    check(model.partial_fit(X[50:], y[50:]), expected, X, np.float64, close)
