"""Parameters that are NumPy's numbers are Python's to all that reckons with them."""

import re
from numbers import Integral, Real

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.utils._param_validation import Interval
from states import difference, flattened

import onlinekern
from onlinekern import KernelForestClassifier, OGDClassifier, SPAClassifier
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.memory import Form

X = np.random.default_rng(0).standard_normal((60, 3))
# Squares and multiples of these do not fit into their types.
LARGE = {np.int8: 127, np.uint8: 255, np.int16: 300, np.int64: 300}
# These decide how long a fit takes, or would be large where it matters not.
SHORT = {"n_epochs": 2, "n_jobs": 1, "max_iter": 5, "verbose": 0, "random_state": 3}
FORM = Form(n_features=3, n_outputs=1, itemsize=8, is_sparse=False)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def intervals(cls, kind):
    """Return the parameters of a class that are numbers of a kind, each with its interval."""
    return [
        (name, one)
        for name, constraints in getattr(cls, "_parameter_constraints", {}).items()
        for one in constraints
        if isinstance(one, Interval) and one.type is kind
    ]


PUBLIC = {name: getattr(onlinekern, name) for name in onlinekern.__all__}
ESTIMATORS = {
    name: cls for name, cls in PUBLIC.items() if intervals(cls, Integral) or intervals(cls, Real)
}


def whole_numbers(cls, large):
    """Return all whole numbers that a class takes as parameters, as large as that if they may."""
    found = {
        name: min(large, one.right or large) for name, one in intervals(cls, Integral)
        if large >= one.left
    }  # fmt: skip
    return found | {name: value for name, value in SHORT.items() if name in cls().get_params()}


def numbers(cls):
    """Return the real numbers that a class has as parameters, rounded to eleven bits."""
    own = cls().get_params(deep=False)
    return {
        name: float(np.float16(own[name])) for name, one in intervals(cls, Real)
        if isinstance(own[name], float) and np.float16(own[name]) in one
    }  # fmt: skip


def learnt(model):
    """Return all but the parameters of a model that has learnt, gone on and had one set."""
    y = X[:, 0] if is_regressor(model) else (X[:, 0] > 0).astype(int)
    model.fit(X, y)
    if hasattr(model, "partial_fit"):
        model.partial_fit(X, y)
        model.set_params(**model.get_params(deep=False))
        model.partial_fit(X[:1], y[:1])
    own = model.get_params(deep=False)
    return dict(flattened({k: v for k, v in vars(model).items() if k not in own}, ""))


def made(cls, values):
    """Return an estimator with these parameters, which draws the numbers of one seed."""
    learner = {"estimator": cls()._default()} if hasattr(cls, "_default") else {}
    model = cls(**learner, **values)
    seeds = {key: 3 for key in model.get_params() if key.endswith("random_state")}
    return model.set_params(**{**seeds, **values})


def check(name, kind, values):
    given = {key: kind(value) for key, value in values.items()}
    model, same = made(ESTIMATORS[name], given), made(ESTIMATORS[name], values)
    if isinstance(model, Learner):
        assert model._check_form(FORM) == same._check_form(FORM)
    assert difference(learnt(model), learnt(same)) is None
    for key, value in given.items():
        assert model.get_params()[key] is value
    clone(model)


@pytest.mark.parametrize("kind", LARGE, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_whole_numbers(name, kind):
    with np.errstate(all="raise"):
        check(name, kind, whole_numbers(ESTIMATORS[name], LARGE[kind]))


def with_truth(cls):
    """Return the parameters of a class that may be true or false."""
    known = cls._parameter_constraints
    return [name for name in cls._get_param_names() if "boolean" in known.get(name, ())]


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("name", [name for name, cls in ESTIMATORS.items() if with_truth(cls)])
def test_truth(name, value):
    cls = ESTIMATORS[name]
    given = {key: SHORT[key] for key in SHORT if key in cls._get_param_names()}
    given |= dict.fromkeys(with_truth(cls), value)
    same = made(cls, given)
    truth = {key: np.bool_(value) for key in with_truth(cls)}
    model = made(cls, given | truth)
    try:
        expected = learnt(same)
    except ValueError as error:  # One has no effect beside the others.
        with pytest.raises(ValueError, match=re.escape(str(error))):
            learnt(model)
    else:
        assert difference(learnt(model), expected) is None
    assert all(model.get_params()[key] is truth[key] for key in truth)


@pytest.mark.parametrize("kind", [np.float16, np.float32], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_numbers(name, kind):
    check(name, kind, numbers(ESTIMATORS[name]))


def test_numbers_are_found():
    assert whole_numbers(SPAClassifier, 127).keys() >= {"max_support", "degree", "window"}
    assert whole_numbers(KernelForestClassifier, 32)["n_trees"] == 32
    assert "memory" not in whole_numbers(KernelForestClassifier, 32)
    assert {"eta", "alpha", "coef0"} <= numbers(SPAClassifier).keys()
    assert {"encode", "average"} <= set(with_truth(SPAClassifier))
    assert {"TableEncoder", "NystroemFeatures", "ConformalRegressor"} <= ESTIMATORS.keys()


def test_a_message_names_the_number():
    with pytest.raises(ValueError, match=r"'n_epochs' parameter .* Got -1 instead"):
        OGDClassifier(n_epochs=np.int8(-1)).fit(X, X[:, 0] > 0)


def test_what_is_known_of_numbers_stays_known():
    model = OGDClassifier(eta=np.float32(0.1), window=np.int16(300), random_state=0)
    model.partial_fit_predict(X, X[:, 0] > 0, classes=[False, True])
    known = model._model.renewed
    assert known is not None
    model.partial_fit_predict(X, X[:, 0] > 0)
    assert model._model.renewed is known
