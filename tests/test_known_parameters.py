"""What is remembered of parameters is forgotten when one is set, however it is set."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from learners import CLASSES
from sklearn import config_context

from onlinekern import (
    ConformalClassifier,
    CWClassifier,
    FOGDClassifier,
    FourierFeatures,
    KernelOGDClassifier,
    OGDClassifier,
    OnlineStandardScaler,
    PAClassifier,
    QKLMSRegressor,
    SPAOneClass,
    StreamClassifier,
    TableEncoder,
)
from onlinekern.core import RULES
from onlinekern.estimators.parameters import are_same, parameters_of

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
Y = (X[:, 0] > 0).astype(int)
WAYS = {
    "attribute": lambda model, value: setattr(model, "C", value),
    "set_params": lambda model, value: model.set_params(C=value),
    "dictionary": lambda model, value: vars(model).update(C=value),
}


def fitted(make=PAClassifier, **parameters):
    """Return a learner in mid-stream, whose parameters are known."""
    model = make(random_state=0, **parameters)
    for rows, labels in ((X[:20], Y[:20]), (X[20:40], Y[20:40])):
        model.partial_fit(rows, labels, classes=[0, 1])
    return model


@pytest.mark.parametrize("way", WAYS)
def test_a_parameter_takes_effect(way):
    model, other = fitted(), fitted()
    WAYS[way](model, 0.001)
    model.partial_fit(X[40:], Y[40:])
    assert model._model.rule == RULES["scaled_pa1"](model._plain_loss(), 0.001)
    other.partial_fit(X[40:], Y[40:])
    assert (model.coef_ != other.coef_).any()
    WAYS[way](model, 1.0)
    model.partial_fit(X[40:], Y[40:])
    assert model._model.rule == other._model.rule


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"confidence": 1.5}, "'confidence' parameter of CWClassifier must be .* Got 1.5"),
        ({"confidence": 0.9, "confidense": 0.9}, "Invalid parameter 'confidense'"),
    ],
)
def test_parameters_that_are_refused_stay_as_they_were(values, message):
    model, twin = fitted(CWClassifier), fitted(CWClassifier)
    with pytest.raises(ValueError, match=message):
        model.set_params(**values)
    assert model.get_params() == twin.get_params()
    for one in (model, twin):
        one.partial_fit(X[40:], Y[40:])
    assert (model.coef_ == twin.coef_).all()


def test_a_bad_parameter_is_found_each_time():
    model = fitted()
    model.partial_fit_predict(X[:5], Y[:5])
    model.C = -1.0
    for method in (model.partial_fit, model.partial_fit_predict, model.fit) * 2:
        with pytest.raises(ValueError, match="'C' parameter of PAClassifier"):
            method(X, Y)
    model.C = 1.0
    model.partial_fit_predict(X, Y)
    # It does not concern the step: partial_fit goes on, as in scikit-learn.
    model.average = "no such"
    for _ in range(2):
        model.partial_fit(X, Y)
        with pytest.raises(ValueError, match="'average' parameter"):
            model.partial_fit_predict(X, Y)


def test_parameters_of_a_race_are_checked():
    model = fitted(StreamClassifier, time_budget=12.0)
    model.partial_fit_predict(X[:5], Y[:5])
    model.time_budget = -1.0
    with pytest.raises(ValueError, match="time_budget"):
        model.partial_fit_predict(X[:5], Y[:5])


def test_values_that_are_equal_are_not_the_same():
    model = fitted(average=1)
    known = parameters_of(model)
    assert are_same(known, parameters_of(model))
    model.average = True
    assert not are_same(known, parameters_of(model))
    assert not are_same(None, known)


def test_checks_are_left_out_where_scikit_learn_is_told_so():
    model = fitted()
    model.average = "no such"
    with config_context(skip_parameter_validation=True):
        model.partial_fit_predict(X, Y)
    with pytest.raises(ValueError, match="'average' parameter"):
        model.partial_fit_predict(X, Y)


def test_what_is_remembered_is_not_copied():
    model = fitted(OGDClassifier)
    model.partial_fit_predict(X[:5], Y[:5])
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other._model.checked is None
        assert other._model.renewed is None
        other.partial_fit(X, Y)
    assert model._model.renewed is not None


def test_a_rule_of_the_users_is_asked_each_time():
    class Decaying(KernelOGDClassifier):
        """A step that depends on what no parameter says."""

        step = 0.5

        def _rule(self):
            one = copy.copy(self)
            one.eta = self.step
            return KernelOGDClassifier._rule(one)

    model = fitted(Decaying, gamma=0.5)
    before = model._model.rule
    Decaying.step = 0.25
    model.partial_fit(X, Y)
    assert model._model.rule != before


@pytest.mark.parametrize("name", sorted(CLASSES))
@pytest.mark.parametrize("value", ["no such", [1], -7.5, float("nan")], ids=repr)
def test_what_fit_would_refuse_is_refused_in_a_stream(name, value):
    model = CLASSES[name](random_state=0).fit(X, Y)
    before = model.get_params()
    for parameter in before:
        try:
            CLASSES[name](random_state=0).set_params(**{parameter: value})._validate_params()
        except ValueError:
            with pytest.raises(ValueError, match=f"'{parameter}' parameter of {name}"):
                model.set_params(**{parameter: value})
    assert all(value is before[name] for name, value in model.get_params().items())


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (OnlineStandardScaler, {"clip": -1}),
        (TableEncoder, {"kinds": [1]}),
        (FourierFeatures, {"n_components": 0}),
        (ConformalClassifier, {"coverage": 5}),
        (SPAOneClass, {"contamination": 3}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_so_do_others_than_learners(make, wrong):
    model = make().fit(X, Y)
    before = model.get_params()
    with pytest.raises(ValueError, match=next(iter(wrong))):
        model.set_params(**wrong)
    assert model.get_params() == before
    model.partial_fit(X, Y)


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("name", sorted(CLASSES))
def test_truth_is_no_number(name, value):
    whole = ("n_components", "budget", "n_epochs", "n_trees", "window", "gamma", "C", "eta")
    for parameter in set(whole) & set(CLASSES[name]().get_params()):
        with pytest.raises(ValueError, match=f"'{parameter}' parameter of {name}"):
            CLASSES[name](**{parameter: value}).fit(X, Y)


def test_numbers_of_other_types_are_numbers():
    model = FOGDClassifier(gamma=Fraction(1, 4), eta=Fraction(1, 8), random_state=0).fit(X, Y)
    same = FOGDClassifier(gamma=0.25, eta=0.125, random_state=0).fit(X, Y)
    assert (model.decision_function(X) == same.decision_function(X)).all()
    with pytest.raises(ValueError, match="'eta' parameter of FOGDClassifier"):
        FOGDClassifier(eta=Fraction(-1, 2)).fit(X, Y)


def test_a_distance_whose_square_overflows_keeps_one_sample():
    model = QKLMSRegressor(gamma=1.0, epsilon=1e300).fit(X, X[:, 0])
    assert model.n_support_ == 1
