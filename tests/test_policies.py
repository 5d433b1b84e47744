"""Budget policies as objects: what they remember survives copies, pickles and failed calls."""

import copy
import pickle

import numpy as np
import pytest

from onlinekern import BOLSSVMClassifier, BSGDClassifier

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


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
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
