"""Every form of KernelMeanDetector: chunks, single rows, layouts, copies, undo."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import onlinekern
from onlinekern import KernelMeanDetector

FORMS = [
    {"features": "nystroem", "n_components": 70},
    {"features": "nystroem", "n_components": 9, "forgetting": 0.9},
    {"statistic": "leverage", "n_components": 20},
    {"statistic": "leverage", "n_components": 20, "forgetting": 0.97, "reg": 0.001},
    {"statistic": "leverage", "features": "nystroem", "n_components": 70, "forgetting": 0.6},
]
form = pytest.mark.parametrize("form", FORMS, ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
layouts = pytest.mark.parametrize("layout", ["dense", "csr", "wide"])


def build(form, **others):
    return KernelMeanDetector(**form, gamma=0.4, random_state=3, **others)


@pytest.fixture
def X(stream):
    return stream("regression", n=120)[0] / 3


@dtypes
@layouts
@form
def test_chunks_of_any_size_give_the_same_bits(X, form, layout, dtype, as_layout, same_state):
    rows = as_layout(X, layout, dtype)
    whole = build(form).partial_fit(rows)
    for size, window in ((1, None), (7, 3), (80, 1)):
        parts = build(form, window=window)
        for first in range(0, len(X), size):
            parts.partial_fit(rows[first : first + size])
        parts.set_params(window=None)
        same_state(parts, whole)
        assert_array_equal(parts.score_samples(rows), whole.score_samples(rows))


@dtypes
@form
def test_single_rows(X, form, dtype, same_state):
    rows = X.astype(dtype)
    whole, single = build(form).partial_fit(rows), build(form)
    for row in rows:
        single.learn_one(row)
    same_state(single, whole)
    scores = [single.score_one(row) for row in rows]
    assert_array_equal(scores, whole.decision_function(rows))


@dtypes
@layouts
@form
def test_a_copy_goes_on_alike(X, form, layout, dtype, as_layout, same_state, tmp_path):
    rows = as_layout(X, layout, dtype)
    original = build(form).partial_fit(rows[:90])
    original.save(tmp_path / "model.okn")
    copies = [onlinekern.load(tmp_path / "model.okn"), pickle.loads(pickle.dumps(original))]
    for model in copies:
        same_state(model, original)
    original.partial_fit(rows[90:])
    for model in copies:
        model.partial_fit(rows[90:])
        same_state(model, original)
        assert_array_equal(model.score_samples(rows), original.score_samples(rows))


@form
@pytest.mark.parametrize("learnt", [5, 31, 90])
def test_undo(X, form, learnt, same_state):
    model = build(form).partial_fit(X[:learnt])
    before, scores = pickle.dumps(model), model.score_samples(X)
    bad = X[learnt:].copy()
    model._model.learn(bad, np.ones(len(bad)))
    model._model.undo()
    same_state(model, pickle.loads(before))
    assert_array_equal(model.score_samples(X), scores)
    model.partial_fit(X[learnt:])
    same_state(model, build(form).partial_fit(X[:learnt]).partial_fit(X[learnt:]))


@form
def test_sparse_rows_have_the_scores_of_dense_ones(X, form, as_layout):
    dense = build(form).partial_fit(X)
    sparse = build(form).partial_fit(as_layout(X, "csr"))
    # The squared lengths that kernel values need are sums in an order that the processor chooses.
    tolerance = 1e-10 if form.get("features") == "nystroem" else 0
    expected, actual = dense.score_samples(X), sparse.score_samples(as_layout(X, "csr"))
    assert_allclose(actual, expected, rtol=tolerance)
