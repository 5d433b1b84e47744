"""Coefficients of many outputs that are listed are those in arrays, bit for bit."""

import pickle

import numpy as np
import pytest
from learners import CLASSES, build

from onlinekern.core.kernels import cost_model
from onlinekern.core.learning.heads import HEADS
from onlinekern.core.stream import Model

N_CLASSES = 40
LISTED, ARRAYS = (cost_model.WAYS["coefficients"][name] for name in ("listed", "arrays"))
# Every support vector kept, averages of each kind, shrinking, and each way to make room.
CASES = [
    ("KernelPAClassifier", {"max_support": None}),
    ("KernelPAClassifier", {"max_support": 30, "when_full": "nearest"}),
    ("KernelPAClassifier", {"max_support": 30, "when_full": "oldest"}),
    ("SPAClassifier", {"average": "decay", "max_support": 30}),
    ("SPAClassifier", {"average": 0.9}),
    ("KernelOGDClassifier", {}),
    ("BOGDClassifier", {}),
    ("BPAClassifier", {}),
    ("BSGDClassifier", {}),
    ("RBPClassifier", {}),
    ("ForgetronClassifier", {}),
    ("ProjectronClassifier", {}),
    ("OSKLClassifier", {}),
    ("NOGDClassifier", {}),
    ("DualSGDClassifier", {}),
]


def samples(n=240):
    """Return overlapping groups of samples, one for each class."""
    random = np.random.default_rng(4)
    y = random.integers(0, N_CLASSES, n)
    X = random.standard_normal((N_CLASSES, 5))[y] + 0.4 * random.standard_normal((n, 5))
    return X.astype(np.float32), y


def learnt(name, parameters, multi_class, cuts):
    X, y = samples()
    multi = {"multi_class": multi_class} if hasattr(CLASSES[name], "multi_class") else {}
    model = build(name, **parameters, **multi)
    found = []
    for part in np.split(np.arange(len(y)), cuts):
        found.append(model.partial_fit_predict(X[part], y[part], classes=range(N_CLASSES)))
    return model, np.concatenate(found), model.decision_function(X)


@pytest.mark.parametrize("multi_class", ["margin", "ovr"])
@pytest.mark.parametrize(("name", "parameters"), CASES)
@pytest.mark.filterwarnings("ignore:max_support")
def test_bits(name, parameters, multi_class, equal):
    results = []
    for way, cuts in [(ARRAYS, [150]), (LISTED, [150]), (LISTED, [1, 2, 70, 71, 180]), ({}, [9])]:
        with cost_model.overridden(**way):
            results.append(learnt(name, parameters, multi_class, cuts))
    (first, *arrays), *others = results
    for model, *listed in others:
        for one, two in zip(arrays, listed, strict=True):
            equal(two, one)
        if hasattr(first, "dual_coef_"):
            equal(model.dual_coef_, first.dual_coef_)
            assert model.dual_coef_.shape == (N_CLASSES, model.n_support_)


@pytest.mark.parametrize("average", [False, True, 0.9])
@pytest.mark.parametrize("parameters", [{"max_support": None}, {"max_support": 30}])
@pytest.mark.parametrize("way", [LISTED, ARRAYS, {}])
def test_undo(way, parameters, average, equal):
    """Of calls that add, that replace, and that write the list out."""
    X, y = samples()
    with cost_model.overridden(**way):
        for multi_class, end in [("margin", 150), ("margin", 151), ("ovr", 150)]:
            model = build("KernelPAClassifier", average=average, multi_class=multi_class)
            model.set_params(when_full="oldest", **parameters)
            model.partial_fit(X[:100], y[:100], classes=range(N_CLASSES))
            before, scores = model.dual_coef_, model.decision_function(X)
            model.partial_fit(X[100:end], y[100:end])
            after = model.decision_function(X)
            for _ in range(2):
                model._model.undo()
                equal(model.dual_coef_, before)
                equal(model.decision_function(X), scores)
                model.partial_fit(X[100:end], y[100:end])
                equal(model.decision_function(X), after)


def test_undo_of_the_call_that_writes_the_list_out(equal):
    """Margins change two outputs; steps of one against the rest change all."""
    X, y = samples()
    model = build("KernelPAClassifier", multi_class="margin", max_support=None, average=True)
    model.partial_fit(X[:100], y[:100], classes=range(N_CLASSES))
    inner = model._model
    space, coefficients = inner.space, inner.space.support.coefficients
    before, values = model.decision_function(X), coefficients.get_state()
    other = Model(
        space, HEADS["ovr"](N_CLASSES), inner.rule, inner.sampler, inner.rng, X.shape[1], X.dtype
    )
    for _ in range(2):
        assert coefficients.listed
        other.learn(X[100:], y[100:].astype(float))
        assert not coefficients.listed
        other.undo()
        equal(model.decision_function(X), before)
        equal(coefficients.get_state()["companions"], values["companions"])
    other.learn(X[100:], y[100:].astype(float))
    after = model.decision_function(X)
    other.learn(X[:9], y[:9].astype(float))
    other.undo()
    assert not coefficients.listed
    equal(model.decision_function(X), after)


@pytest.mark.parametrize("saved", [LISTED, ARRAYS])
@pytest.mark.parametrize("resumed", [LISTED, ARRAYS])
@pytest.mark.parametrize("name", ["SPAClassifier", "BSGDClassifier"])
def test_a_saved_model_resumes_in_another_form(name, saved, resumed, equal):
    X, y = samples()
    whole, half = (build(name, multi_class="margin") for _ in range(2))
    whole.partial_fit(X, y, classes=range(N_CLASSES))
    with cost_model.overridden(**saved):
        half.partial_fit(X[:130], y[:130], classes=range(N_CLASSES))
        text = pickle.dumps(half)
    with cost_model.overridden(**resumed):
        half = pickle.loads(text)
        half.partial_fit(X[130:], y[130:])
    equal(half.dual_coef_, whole.dual_coef_)
    equal(half.decision_function(X), whole.decision_function(X))
