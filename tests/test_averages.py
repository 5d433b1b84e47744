"""The averages of models: every learner that has one, against that of its own last models."""

import copy
import pickle

import numpy as np
import pytest
from learners import CLASSES, NAMES, data, learn, width
from oracles.averages import Average
from oracles.heads import HEADS
from sklearn.base import is_classifier, is_regressor

from onlinekern.core.models.linear import LinearSpace

KINDS = ["uniform", "decay", 0.9, 0.02]
# Exponential weights with 0.02 start from 1 again every 45 models.
AVERAGED = [name for name in NAMES if hasattr(CLASSES[name], "average")]
# Their average is that of parts of the model. `test_lol` has a twin for it.
PARTLY = {"LOLClassifier"}
# They average the models after each step, without the one before the first.
WITHOUT_FIRST = {"SDROGDClassifier", "PAClassifier", "PARegressor"}


def build(name, average):
    settings = {"n_components": 15} if name.startswith("NOGD") else {}
    if name.startswith("DualSGD"):
        settings = {"budget": 100}
    if name == "SDROGDClassifier":
        settings = {"batch_size": 1}
    if hasattr(CLASSES[name], "reg") and hasattr(CLASSES[name], "eta"):
        # The scale is folded after 54 steps.
        settings |= {"eta": 0.4, "reg": 0.3}
    if hasattr(CLASSES[name], "G"):
        settings |= {"G": 1.0}
    if "standardize_target" in CLASSES[name]().get_params():
        # Scores of the last models come in units that change along the stream.
        settings |= {"standardize_target": False}
    return CLASSES[name](**{**width(name), **settings}, random_state=7, average=average)


def kinds_of(name):
    return KINDS[:2] if name.startswith("PA") else KINDS


def scores(model, Z):
    values = model.decision_function(Z) if is_classifier(model) else model.predict(Z)
    return values.reshape(len(Z), -1)


def head_of(model):
    if not is_classifier(model):
        return HEADS["regression"]()
    n_classes = len(model.classes_)
    return HEADS["binary" if n_classes == 2 else "ovr"](n_classes)


def averaged(kind, models, head, y, name):
    """Return the average of models, given their scores of the samples and of other rows.

    The scores of sample i are row i; model i is that before sample i.
    """
    average = Average(kind)
    for i, model in enumerate(models[:-1]):
        if name in WITHOUT_FIRST and i == 0:
            continue
        if name != "SDROGDClassifier":
            average.compare(head, model[i], average.including(model)[i], y[i])
        average.add(model)
    return average.including(models[-1])


@pytest.mark.parametrize("name", [name for name in AVERAGED if name not in PARTLY])
def test_average_of_the_last_models(name, stream):
    X, y = data(name, stream, n=100)
    rows = np.concatenate([X, data(name, stream, n=20, seed=4)[0]])
    last = build(name, False)
    learn(last, X[:1], y[:1])
    models = [np.zeros_like(scores(last, rows)), scores(last, rows)]
    for i in range(1, len(X)):
        learn(last, X[i : i + 1], y[i : i + 1])
        models.append(scores(last, rows))
    assert np.abs(models[-1] - models[50]).max() > 1e-3
    targets = np.searchsorted(last.classes_, y) if is_classifier(last) else y
    for kind in kinds_of(name):
        expected = averaged(kind, models, head_of(last), targets, name)
        model = build(name, kind)
        learn(model, X, y)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(scores(model, rows) / scale, expected / scale, atol=1e-9)


def corrections(model, x, y):
    """Return how often a model must learn another target of a sample until it predicts it."""
    regression = is_regressor(model)
    before = model.predict(x[None])[0]
    corrected = before + 2 * y.std() if regression else y[y != before][0]
    reached = corrected - y.std() / 2 if regression else corrected
    for repeats in range(100):
        after = model.predict(x[None])[0]
        if after >= reached if regression else after == reached:
            return repeats
        model.learn_one(x, corrected)
    return 100


IN_SERVICE = ["KernelPAClassifier", "KernelPARegressor", "LOLClassifier", "SPAClassifier"]


@pytest.mark.parametrize("name", IN_SERVICE)
def test_the_default_average_follows_a_correction(name, stream):
    # The average of t models would follow after some t / 5 samples.
    regression = name.endswith("Regressor")
    X, y = stream("regression" if regression else "binary", n=2000)
    model = CLASSES[name](**width(name), random_state=0)
    learn(model, X, y)
    for x in X[:3]:
        assert 1 <= corrections(model, x, y) <= 30


@pytest.mark.parametrize("shift", [0.0, 6.0])
@pytest.mark.parametrize("name", ["KernelPAClassifier", "KernelPARegressor", "SPAClassifier"])
def test_a_full_model_follows_a_correction(name, shift, stream):
    # With when_full="stop" it never does. Samples that are far from all are corrected too.
    regression = name.endswith("Regressor")
    X, y = stream("regression" if regression else "binary", n=2000)
    model = CLASSES[name](gamma=0.4, max_support=100, random_state=0)
    learn(model, X, y)
    assert model.n_support_ == 100
    for x in X[:3] + shift:
        assert 1 <= corrections(model, x, y) <= 40
        assert model.n_support_ == 100


@pytest.mark.parametrize("name", AVERAGED)
def test_names_of_the_mean(name, stream, state_of):
    X, y = data(name, stream)
    one, other = build(name, True), build(name, "uniform")
    learn(one, X, y)
    learn(other, X, y)
    if name == "SDROGDClassifier":
        decay = build(name, "decay")
        learn(decay, X, y)
        assert np.array_equal(decay.coef_, one.coef_)
        assert not np.array_equal(other.coef_, one.coef_)
    else:
        assert np.array_equal(scores(one, X), scores(other, X))


@pytest.mark.parametrize("kind", ["decay", 0.02])
@pytest.mark.parametrize("name", AVERAGED)
def test_cuts_copies_and_undone_calls(name, kind, stream, same_state):
    if kind not in kinds_of(name):
        pytest.skip("scikit-learn's average is a flag or a number of models")
    X, y = data(name, stream, n=150)
    whole, parts = build(name, kind), build(name, kind)
    learn(whole, X, y)
    for cut in (slice(0, 40), slice(40, 100), slice(100, 150)):
        learn(parts, X[cut], y[cut])
        before = copy.deepcopy(parts)
        learn(parts, X, y)
        parts._model.undo()  # as a call that fails does
        same_state(parts, before)
        parts = pickle.loads(pickle.dumps(parts))
    same_state(parts, whole)


@pytest.mark.parametrize("value", [0.0, 1.0, 1, 2, -0.5, "mean", None])
@pytest.mark.parametrize("name", [name for name in AVERAGED if not name.startswith("PA")])
def test_other_values_are_refused(name, value, stream):
    if value is None and name == "SDROGDClassifier":
        pytest.skip("None is its default")
    X, y = data(name, stream)
    with pytest.raises(ValueError, match="The 'average' parameter"):
        learn(build(name, value), X, y)


def test_values_that_a_space_refuses():
    for value in (0.0, 1.0, -1):
        with pytest.raises(ValueError, match=r"averaged must be in \(0, 1\)"):
            LinearSpace(3, np.float64, 1, value)
    for value in (None, "mean", []):
        with pytest.raises(TypeError, match="averaged must be True, False, 'uniform'"):
            LinearSpace(3, np.float64, 1, value)


@pytest.mark.parametrize("kind", [1e-300, 1e-20, 1 - 2**-53])
def test_extreme_forgetting(kind, stream):
    X, y = stream("regression", n=300)
    models = [
        CLASSES["KLMSRegressor"](gamma=0.4, average=a).partial_fit(X, y)
        for a in (False, True, kind)
    ]
    expected = models[0 if kind < 0.5 else 1]
    np.testing.assert_allclose(models[2].dual_coef_, expected.dual_coef_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["decay", 0.02])
def test_resumed_models(kind):
    # `fit` of several problems, and warm starts, go on from weights that another space learnt.
    rng = np.random.default_rng(0)
    latest, predicting = rng.standard_normal((2, 2, 4))
    space = LinearSpace(3, np.float64, 2, kind)
    space.resume(latest, predicting, 60)
    np.testing.assert_allclose(space.latest(), latest, rtol=1e-12)
    np.testing.assert_allclose(space.effective(), predicting, rtol=1e-9)
