"""The inverse of a Gram matrix whose rows come and go, and the terms that wait to be folded in."""

import copy

import numpy as np
import pytest
from oracles.kernels import kernel_matrix

from onlinekern import BOLSSVMClassifier, FixedBudgetKRLSRegressor
from onlinekern.core.linalg.inverse_gram import InverseGram

RIDGE = 0.1


def walk(inverses, size, steps, seed=0):
    """Add and remove the same random rows in all inverses; yield the Gram matrix of the slots."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((3 * size, 3))
    K = kernel_matrix("gaussian", rows, rows, 0.4)
    places = np.full(size, -1)
    for _ in range(steps):
        slot = int(rng.integers(size))
        row = int(rng.integers(len(rows)))
        # What is at empty slots does not count: a former support vector has a kernel value.
        k = K[row, places]
        for inverse in inverses:
            if places[slot] >= 0:
                inverse.remove_row(slot)
            else:
                inverse.add_row(slot, k, K[row, row], RIDGE)
        places[slot] = -1 if places[slot] >= 0 else row
        there = places >= 0
        gram = np.where(there[:, None] & there, K[np.ix_(places, places)], 0)
        yield gram + np.diag(np.where(there, RIDGE, 0))


@pytest.mark.parametrize("size", [1, 3, 64, 130, 300])
def test_it_is_the_inverse(size):
    inverse = InverseGram(size)
    folds = 0
    for i, gram in enumerate(walk([inverse], size, 60 if size < 4 else 3 * size)):
        folds += inverse.n_terms == 0
        if i % max(1, size // 5) == 0:
            expected, there = np.zeros((size, size)), np.flatnonzero(gram.diagonal())
            expected[np.ix_(there, there)] = np.linalg.inv(gram[np.ix_(there, there)])
            np.testing.assert_allclose(inverse.matrix(), expected, atol=1e-9)
    assert folds > 1


@pytest.mark.parametrize("size", [3, 70, 200])
def test_a_copy_goes_on_with_the_same_bits(size):
    both = [InverseGram(size), InverseGram(size)]
    for i, _ in enumerate(walk(both, size, 6 * size)):
        if i % 5 == 0:
            state = both[1].get_state()
            both[1] = InverseGram(size)
            both[1].set_state(copy.deepcopy(state))
    inverse, other = both
    assert inverse.n_terms == other.n_terms
    one, two = inverse.get_state(), other.get_state()
    for name in ("inverse", "diagonal"):
        np.testing.assert_array_equal(one[name], two[name])
    np.testing.assert_array_equal(inverse.matrix(), other.matrix())


def pending(size=200):
    inverse = InverseGram(size)
    for _ in walk([inverse], size, size):
        pass
    while inverse.n_terms < 2:
        for _ in walk([inverse], size, 1):
            pass
    return inverse


def test_damaged_terms_are_refused():
    inverse = pending()
    state = inverse.get_state()
    terms, factors = state["pending"]
    for wrong, reason in (
        ((terms[:, :-1], factors), "pending terms must have shape"),
        ((terms, factors[:-1]), "factors of the pending terms must have shape"),
        ((terms * np.nan, factors), "must be finite"),
        ((terms, factors, factors), "must have 2 items"),
        ((np.zeros((inverse.room, inverse.ld)), factors), r"pending terms must be in \[1, 5\]"),
        ((terms[:0], factors[:0]), r"pending terms must be in \[1, 5\]"),
    ):
        with pytest.raises(ValueError, match=reason):
            InverseGram(200).set_state({**state, "pending": wrong})
    with pytest.raises(TypeError, match="the pending terms must be a tuple"):
        InverseGram(200).set_state({**state, "pending": 3})


def learnt_by(model):
    return model._model.space.budget.get_learnt()


@pytest.mark.parametrize("cls", [BOLSSVMClassifier, FixedBudgetKRLSRegressor])
def test_a_state_without_what_came_later_is_taken(cls, stream):
    X, y = stream("binary", n=200)
    y = (y == "yes").astype(float)
    first = {"classes": [0, 1]} if cls is BOLSSVMClassifier else {}
    model = cls(budget=40, gamma=0.5)
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], **first)
        if i > 100 and learnt_by(model)["pending"] is None:
            break
    function, (kind, arguments, state) = model._model.space.budget.__reduce__()
    older = dict(state["learnt"])
    for name in ("pending", "products"):
        older.pop(name, None)
    space = model._model.space
    restored = function(kind, arguments, {**state, "learnt": older})
    fresh = type(space)(copy.deepcopy(space).support, restored).budget.get_learnt()
    for name, value in state["learnt"].items():
        if value is None:
            assert fresh[name] is None
        else:
            np.testing.assert_allclose(fresh[name], value, rtol=1e-9, atol=1e-12)


def test_terms_of_empty_slots_are_refused(stream):
    X, y = stream("binary", n=300)
    model = BOLSSVMClassifier(budget=80, gamma=0.5)
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=["no", "yes"])
        if model.n_support_ > 20 and learnt_by(model)["pending"] is not None:
            break
    space = model._model.space
    function, (kind, arguments, state) = space.budget.__reduce__()
    terms, factors = state["learnt"]["pending"]
    empty = np.flatnonzero(state["learnt"]["diagonal"][0] == 0)
    terms[:, empty[0]] = 1
    learnt = {**state["learnt"], "pending": (terms, factors)}
    restored = function(kind, arguments, {**state, "learnt": learnt})
    with pytest.raises(ValueError, match="zeros elsewhere"):
        type(space)(copy.deepcopy(space).support, restored)
