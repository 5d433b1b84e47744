"""Models of the C interface beside the estimators that must give the same bits."""

import numpy as np
from learners import CLASSES, data, width
from sklearn.base import is_classifier, is_regressor

from consumers.samples import LABELS, LAYOUTS, address
from onlinekern import all_estimators

ESTIMATORS = dict(all_estimators())


def pair(verbs, name):
    """Make a model and its Python twin."""
    parameters = {**(width(name) if name in CLASSES else {"gamma": 0.4}), "random_state": 7}
    text = " ".join(f"{key}={value!r}" for key, value in parameters.items())
    model, twin = verbs.Model.new(name.encode(), text.encode()), ESTIMATORS[name](**parameters)
    return model, twin


def stream_of(name, stream, layout):
    X, y = data(name, stream) if name in CLASSES else stream("regression")
    return LAYOUTS[layout](X), np.asarray(y, dtype=np.float64)


def announce(model, twin):
    if is_classifier(twin):
        model.set_classes(address(LABELS), 3)
        return {"classes": LABELS}
    return {}


def assert_same_answers(model, twin, X, as_matrix, equal, n_classes=3):
    decide = twin.predict if is_regressor(twin) else twin.decision_function
    expected, n = decide(X), X.shape[0]
    scores, predictions = np.full(expected.size, np.nan), np.full(n, np.nan)
    model.scores(as_matrix(X), address(scores), len(scores))
    equal(scores, expected.ravel())
    model.predict(as_matrix(X), address(predictions))
    equal(predictions, twin.predict(X).astype(float))
    first = np.full(expected[0].size, np.nan)
    model.scores(as_matrix(X[:1]), address(first), len(first))
    equal(first, np.ravel(decide(X[:1])))
    for i in range(0, n, 9):
        model.predict(as_matrix(X[i : i + 1]), address(predictions))
        equal(predictions[:1], twin.predict(X[i : i + 1]).astype(float))
    mistakes = twin.n_mistakes_ if is_classifier(twin) else -1
    numbers = twin.n_seen_, mistakes, getattr(twin, "n_support_", 0), X.shape[1], len(first)
    assert model.counts() == (*numbers, n_classes if is_classifier(twin) else 0)
