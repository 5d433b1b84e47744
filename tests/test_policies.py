"""Budget policies as objects: what they remember survives copies, pickles and failed calls."""

import copy
import pickle
import warnings

import budgeted
import numpy as np
import pytest
import registry
import test_dual_sgd
from sklearn.exceptions import ConvergenceWarning
from test_algorithms import build, naive

import onlinekern
from onlinekern import BOLSSVMClassifier, BSGDClassifier
from onlinekern.core import POLICIES
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.space import KernelSpace

COPIES = [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]
# Under an indefinite kernel the pivot of a new support vector may be negative.
INDEFINITE = {"kernel": "polynomial", "gamma": 1.0, "coef0": -0.1, "budget": 40}


def with_broken_inverse(cls, stream):
    """A model whose inverse met a bad pivot and waits for the next eviction, and later samples."""
    X, y = stream("binary", n=400)
    model = cls(**INDEFINITE, **{"maintenance": "project"} if cls is BSGDClassifier else {})
    for i in range(100):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=["no", "yes"])
        if model._model.space.budget.gram.get_state()["broken"]:
            break
    assert model._model.space.budget.gram.get_state()["broken"]
    assert model.n_support_ < 40
    return model, X[i + 1 : i + 10], y[i + 1 : i + 10]


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("cls", [BOLSSVMClassifier, BSGDClassifier])
def test_a_broken_inverse_is_copied(cls, copied, stream, same_state):
    model, X, y = with_broken_inverse(cls, stream)
    other = copied(model)
    assert other._model.space.budget.gram.get_state()["broken"]
    same_state(other.partial_fit(X, y), model.partial_fit(X, y))


@pytest.mark.parametrize("cls", [BOLSSVMClassifier, BSGDClassifier])
def test_a_broken_inverse_survives_a_failed_call(cls, stream, same_state):
    model, X, y = with_broken_inverse(cls, stream)
    twin = copy.deepcopy(model)
    with pytest.raises(FloatingPointError):
        model.partial_fit(np.vstack([X[:-1], np.full((1, X.shape[1]), 1e150)]), y)
    same_state(model, twin)
    same_state(model.partial_fit(X, y), twin.partial_fit(X, y))


def task_of(name):
    return "regression" if name in dict(onlinekern.all_estimators("regressor")) else "binary"


POLICY_ESTIMATORS = list(registry.POLICIES.values())


def expected_of(model, X, y):
    """Return the predictions and coefficients of the naive loop of an estimator that has learnt."""
    entry = registry.ESTIMATORS[type(model).__name__]
    if entry.home == "test_dual_sgd":
        classes, numbers = np.unique(y, return_inverse=True)
        expected = test_dual_sgd.twin(model, X, numbers, "binary", "dense")
        coefficients = expected.coefficients(model.average)[:, expected.support]
        return classes[expected.predictions.astype(int)], coefficients
    if entry.home in registry.SHARED:
        expected = naive(model, X, y)
    else:
        expected = budgeted.naive(entry.twin, model, X, y)
    return expected.predictions, expected.dual_coef


@pytest.mark.filterwarnings("ignore:max_support")
@pytest.mark.parametrize("name", sorted(POLICIES))
def test_twin(name, stream):
    estimator, settings = registry.POLICIES[name]
    X, y = stream(task_of(estimator), n=160)
    model = build(estimator, task_of(estimator), **settings)
    predictions = budgeted.learn(model, X, y)
    assert type(model._model.space.budget) is POLICIES[name]
    expected, coefficients = expected_of(model, X, y)
    if task_of(estimator) == "regression":
        np.testing.assert_allclose(predictions, expected, atol=1e-6)
    else:
        np.testing.assert_array_equal(predictions, expected)
    # Merging and projecting are exact to 1e-6 only.
    np.testing.assert_allclose(
        model.dual_coef_, coefficients, atol=1e-6 * np.abs(coefficients).max()
    )


def in_mid_stream(name, settings, stream):
    X, y = stream(task_of(name), n=160)
    model = getattr(onlinekern, name)(gamma=0.4, random_state=0, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        budgeted.learn(model, X[:80], y[:80])
    return model, X[80:], y[80:]


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize(("name", "settings"), POLICY_ESTIMATORS)
def test_a_policy_alone_is_copied(name, settings, copied, stream):
    model, _, _ = in_mid_stream(name, settings, stream)
    space = model._model.space
    budget = copied(space.budget)
    assert budget == space.budget
    assert budget.support is None
    assert type(budget)(*budget.arguments) != budget
    # With a copy of its support set, it goes on as the original does.
    support = SupportSet(*space.support.arguments())
    support.set_state(space.support.get_state())
    again = type(space)(support, budget)
    assert again.budget == space.budget
    assert again.budget.refused == space.budget.refused


def test_policies_of_different_states_differ(stream):
    model, X, y = in_mid_stream("ForgetronClassifier", {"budget": 12}, stream)
    before = copy.deepcopy(model._model.space.budget)
    assert before == model._model.space.budget
    model.partial_fit(X, y)
    assert before != model._model.space.budget
    assert POLICIES["refuse"](3) == POLICIES["refuse"](3) != POLICIES["refuse"](4)
    assert POLICIES["refuse"](3) != POLICIES["merge"](3)
    with pytest.raises(TypeError, match="unhashable"):
        hash(before)


def test_what_was_refused_is_copied_and_undone(stream):
    model, _, _ = in_mid_stream(
        "KernelPerceptronClassifier", {"max_support": 12, "when_full": "stop"}, stream
    )
    refused = model._model.space.budget.refused
    assert refused > 0
    assert copy.deepcopy(model)._model.space.budget.refused == refused
    model._model.undo()
    assert model._model.space.budget.refused == 0


def test_a_policy_belongs_to_one_set(stream):
    model, _, _ = in_mid_stream("ForgetronClassifier", {"budget": 12}, stream)
    space = model._model.space
    other = SupportSet(*space.support.arguments())
    with pytest.raises(ValueError, match="belongs to another support set; attach a copy"):
        KernelSpace(other, space.budget)
    # A copy has the state of a set that has learnt, which this one has not.
    with pytest.raises(ValueError, match="was learnt with"):
        KernelSpace(other, copy.copy(space.budget))


def test_spaces_are_copied_shallowly(stream):
    model, _, _ = in_mid_stream("BPAClassifier", {"budget": 12}, stream)
    space = model._model.space
    other = copy.copy(space)
    assert other.budget == space.budget
    assert other.budget is not space.budget
