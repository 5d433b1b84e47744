"""Parameters of a pickle are checked as those of a file are."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor

from onlinekern import all_estimators

ESTIMATORS = dict(all_estimators())


def fitted(name):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = ESTIMATORS[name]()
    y = X[:, 0] if is_regressor(model) else (X[:, 0] > 0) if is_classifier(model) else None
    return model.fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_each_parameter_of_what_has_learnt_is_checked(name):
    model = fitted(name)
    state = model.__getstate__()
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params() == model.get_params()
    for parameter in model.get_params(deep=False):
        with pytest.raises(ValueError, match=parameter):
            type(model)().__setstate__({**state, parameter: NONE_SUCH})


class NoneSuch:
    """A value that no parameter takes."""


NONE_SUCH = NoneSuch()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_has_learnt_nothing_may_hold_any(name):
    """It says so when it learns, as in scikit-learn."""
    model = ESTIMATORS[name]()
    parameter = next(iter(model.get_params(deep=False)))
    model.set_params(**{parameter: "none such"})
    for copy in (pickle.loads(pickle.dumps(model)), clone(model)):
        assert getattr(copy, parameter) == "none such"
        with pytest.raises(ValueError, match=parameter):
            copy.fit(np.eye(3), [0, 1, 1])
