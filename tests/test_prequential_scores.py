"""`Model.learn` hands out the scores that a sample had before it was learnt."""

import copy
import pickle

import numpy as np
import pytest
from learners import NAMES, build, data, learn
from sklearn.base import is_classifier

UNTOUCHED = 12345.0
every_estimator = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def begun(stream):
    """Return a function that makes a model with 30 samples learnt, and its 60 next samples."""

    def make(name):
        X, y = data(name, stream)
        model = build(name)
        learn(model, X[:30], y[:30])
        rows = model._layout(X[30:])
        return model, rows, model._encode(y[30:], getattr(model, "classes_", None))

    return make


def room(model, n):
    """Return an array for the scores of n rows."""
    return np.full((n, model._model.head.n_outputs), UNTOUCHED)


# A race scales a sample that it learns by moments that include it.
SCALED = ("StreamClassifier", "StreamRegressor")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SCALED])
def test_each_row_has_the_score_from_before_it_was_learnt(name, begun, same_state, equal, close):
    model, X, y = begun(name)
    other, alone = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    scores, expected = room(model, len(y)), room(model, len(y))
    predictions = model._model.learn(X, y, scores=scores)
    equal(other._model.learn(X, y), predictions)
    same_state(other, model)
    for i, row in enumerate(X):
        expected[i] = alone.score_one(row)
        alone._model.learn_one(row, y[i])
    close(scores, expected, np.float64)
    if is_classifier(model):
        equal(model._winners(scores).astype(float), predictions)
    else:
        equal(scores[:, 0], predictions)


@pytest.mark.parametrize("name", ["KernelPAClassifier", "PAClassifier", "SPARegressor"])
def test_rows_that_are_not_in_the_order_stay_as_they_are(name, begun, equal):
    model, X, y = begun(name)
    other = copy.deepcopy(model)
    order = np.arange(20, dtype=np.intp)[::-1].copy()
    weight = np.where(np.arange(len(y)) == 5, 0.0, 1.0)
    scores, expected = room(model, len(y)), room(model, 20)
    model._model.learn(X, y, weight, order, scores=scores)
    assert np.all(scores[20:] == UNTOUCHED)
    other._model.learn(X[order], y[order], weight[order], scores=expected)
    equal(scores[order], expected)
    assert np.all(expected != UNTOUCHED)  # the row of weight 0 too


def test_the_room_must_be_that_of_the_scores(begun, same_state):
    model, X, y = begun("KernelPAClassifier")
    before = copy.deepcopy(model)
    n, k = len(y), model._model.head.n_outputs
    for shape in ((n - 1, k), (n, k + 1), (0, 0)):
        with pytest.raises(ValueError, match=rf"scores must have shape \({n}, {k}\), got"):
            model._model.learn(X, y, scores=np.zeros(shape))
    with pytest.raises(ValueError, match="contiguous"):
        model._model.learn(X, y, scores=np.zeros((k, n)).T)
    with pytest.raises((ValueError, TypeError)):
        model._model.learn(X, y, scores=np.zeros((n, k), dtype=np.float32))
    same_state(model, before)
