"""The contract of a stream: any split is one stream, predicting is pure, copies continue."""

import copy
import mmap
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from grids import grid
from hypothesis import given, settings
from hypothesis import strategies as st
from learners import NAMES, build, data, learn, learn_each, passes
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from onlinekern import (
    KernelOGDRegressor,
    KernelPAClassifier,
    KernelPerceptronClassifier,
    SPAClassifier,
    all_estimators,
)

LAYOUTS = ["dense", "csr", "wide"]
every_estimator = pytest.mark.parametrize("name", NAMES)
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


@pytest.fixture(scope="module")
def uncut(stream, as_layout):
    """Return the samples of a learner in a layout, the model of one call, and its predictions."""

    @lru_cache(maxsize=1)
    def make(name, layout):
        X, y = data(name, stream, n=60)
        X, whole = as_layout(X, layout), build(name)
        return X, y, whole, learn(whole, X, y)[0]

    return make


@every_layout
@every_estimator
@settings(max_examples=5)
@given(cuts=st.lists(st.integers(1, 59), max_size=6).map(sorted), window=st.sampled_from([None, 9]))
def test_any_split(name, layout, cuts, window, uncut, same_state, equal):
    X, y, whole, predictions = uncut(name, layout)
    parts = build(name, window=window)
    equal(np.concatenate(learn(parts, X, y, cuts)), predictions)
    parts.window = None
    same_state(parts, whole)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@every_estimator
def test_one_by_one(name, dtype, stream, same_state):
    X, y = data(name, stream)
    X = X.astype(dtype)
    whole = build(name)
    learn(whole, X, y)
    same_state(learn_each(build(name), X, y), whole)
    # A model that began with a batch goes on one by one.
    mixed = build(name)
    learn(mixed, X[:40], y[:40])
    same_state(learn_each(mixed, X[40:], y[40:]), whole)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_an_order_repeats_are_counted_each_time(weighted, stream):
    X, y = data("PAClassifier", stream, n=40)
    order = np.repeat(np.arange(40), 3)
    weight = np.tile([1.0, 0.0, 2.0, 0.5], 10) if weighted else None
    whole, single = (build("PAClassifier", C=10.0) for _ in range(2))
    for model in (whole, single):
        learn(model, X[:2], y[:2])
    numbers = np.searchsorted(whole.classes_, y).astype(float)
    whole._fitted_model.learn(X, numbers, weight, order)
    for row in order:
        part = slice(row, row + 1)
        single._fitted_model.learn(X[part], numbers[part], None if weight is None else weight[part])
    assert whole.n_mistakes_ == single.n_mistakes_ > 0
    np.testing.assert_array_equal(whole.coef_, single.coef_)


@pytest.mark.parametrize("layout", ["csr", "wide"])
@every_estimator
def test_one_by_one_after_sparse_batches(name, layout, stream, as_layout, close):
    X, y = data(name, stream)
    X = as_layout(X, layout)
    whole, mixed = build(name), build(name)
    learn(whole, X, y)
    learn(mixed, X[:40], y[:40])
    learn_each(mixed, X[40:65].toarray(), y[40:65])
    learn(mixed, X[65:80], y[65:80])
    learn_each(mixed, [X[i] for i in range(80, 90)], y[80:])  # sparse rows
    if hasattr(whole, "dual_coef_"):
        close(mixed.dual_coef_, whole.dual_coef_, np.float64)
        close(mixed.support_vectors_.toarray(), whole.support_vectors_.toarray(), np.float64)
    scores = np.array([mixed.score_one(row) for row in X.toarray()])
    score = whole.decision_function if is_classifier(whole) else whole.predict
    close(scores, score(X), np.float64)


def test_sparse_rows_of_any_kind(stream, same_state):
    X, y = stream("regression", n=20)
    whole, other = build("SPARegressor"), build("SPARegressor")
    learn(whole, sparse.csr_matrix(X), y)
    other.partial_fit(sparse.csr_matrix(X[:1]), y[:1])
    for i in range(1, 20):
        row = sparse.csr_matrix(X[i])
        kinds = [row, row.tocoo(), row.astype(np.float32), sparse.csc_array(row), row.tolil()]
        other.learn_one(kinds[i % len(kinds)], y[i])
    same_state(other, whole)
    for bad in (sparse.csr_matrix(X[:2]), sparse.csr_matrix(X[:1, 1:]), row * np.nan):
        with pytest.raises(ValueError, match=r"one sample|features|NaN"):
            other.learn_one(bad, 1.0)
    same_state(other, whole)


def test_one_row_of_any_kind(stream, same_state):
    X, y = stream("regression", n=20)
    whole, other = build("SPARegressor"), build("SPARegressor")
    learn(whole, X, y)
    fortran = np.asfortranarray(X)
    for i, (row, target) in enumerate(zip(X, y, strict=True)):
        kinds = [row, row.tolist(), fortran[i], row.astype(">f8"), np.repeat(row, 2)[::2]]
        other.learn_one(kinds[i % len(kinds)], target)
    same_state(other, whole)


@every_layout
@every_estimator
def test_predicting_is_pure(name, layout, stream, as_layout, state_of, same_state, equal):
    X, y = data(name, stream)
    rows = as_layout(X, layout)
    model = build(name)
    learn(model, rows[:50], y[:50])
    before = state_of(model)
    first = model.predict(rows)
    model.score(rows, y)
    if is_classifier(model):
        model.decision_function(rows)
    if layout == "dense":
        model.score_one(X[60])
    equal(model.predict(rows), first)
    same_state(model, before)
    other = build(name)
    learn(other, rows[:50], y[:50])
    equal(learn(model, rows[50:], y[50:])[0], learn(other, rows[50:], y[50:])[0])


@every_estimator
def test_threads_and_single_rows_score_alike(name, stream, as_layout, equal):
    X, y = data(name, stream, n=200)
    for layout in LAYOUTS:
        rows = as_layout(X, layout)
        model = build(name).fit(rows[:150], y[:150])
        score = "decision_function" if is_classifier(model) else "predict"
        scores = getattr(model, score)(rows)
        equal(getattr(model.set_params(n_jobs=2), score)(rows), scores)
        if layout == "dense":
            equal(np.array([model.score_one(row) for row in X]), scores)
        for part in (slice(0, 1), slice(3, 70)):
            equal(getattr(model, score)(rows[part]), scores[part])


@pytest.mark.parametrize(
    ("name", "layout", "dtype"), grid(NAMES, LAYOUTS, [np.float32, np.float64])
)
def test_copies_continue_alike(name, layout, dtype, stream, as_layout, same_state, equal):
    X, y = data(name, stream)
    X = as_layout(X / 3, layout, dtype)  # thirds have no exact digits in either dtype
    original = build(name)
    learn(original, X[:50], y[:50])
    copies = [pickle.loads(pickle.dumps(original)), copy.deepcopy(original)]
    for other in copies:
        same_state(other, original)
    predictions = learn(original, X[50:], y[50:], [10])
    for other in copies:
        for mine, theirs in zip(learn(other, X[50:], y[50:], [10]), predictions, strict=True):
            equal(mine, theirs)
        same_state(other, original)
        equal(other.predict(X), original.predict(X))


@every_estimator
def test_clone_and_equal_seeds(name, stream, same_state):
    X, y = data(name, stream)
    model = build(name, **passes(name, 2)).fit(X, y)
    fresh = clone(model)
    with pytest.raises(NotFittedError, match="not fitted"):
        fresh.predict(X)
    with pytest.raises(NotFittedError):
        fresh.score_one(X[0])
    same_state(fresh.fit(X, y), model)
    same_state(model.fit(X, y), fresh)  # a second fit starts from scratch
    scores = [
        np.array([estimator.score_one(row) for row in X])
        for estimator in (model, build(name, random_state=8, **passes(name, 2)).fit(X, y))
    ]
    assert not np.array_equal(*scores)


def test_predictions_count_as_mistakes(stream):
    for task in ("binary", "ovr"):
        X, y = stream(task)
        classifiers = dict(all_estimators("classifier"))
        for name in classifiers.keys() & set(NAMES):
            model = build(name)
            predictions = np.concatenate(learn(model, X, y, [20, 50]))
            assert model.n_mistakes_ == (predictions != y).sum()
            assert model.n_seen_ == len(y)
            assert predictions.dtype == y.dtype


@pytest.mark.parametrize("one", [False, True])
def test_parameters_of_the_step_change_in_mid_stream(one, stream):
    X, y = stream("binary")
    for cls, before, after in [
        (KernelPAClassifier, {"C": 1e-3}, {"C": 0.5}),
        (SPAClassifier, {"beta": 1e9}, {"beta": 1.0}),
        (SPAClassifier, {"eta": 1e-3, "beta": 1.0}, {"eta": 0.5}),
        (KernelPAClassifier, {"variant": "pa2", "C": 1e-3}, {"variant": "pa"}),
    ]:
        model = cls(gamma=0.4, random_state=0, **before)
        learn(model, X[:30], y[:30])
        small = np.abs(model.dual_coef_).max(initial=0)
        model.set_params(**after)
        if one:
            for row, label in zip(X[30:], y[30:], strict=True):
                model.learn_one(row, label)
        else:
            learn(model, X[30:], y[30:])
        assert np.abs(model.dual_coef_).max() > 10 * small, (cls.__name__, after)


def test_a_parameter_out_of_range_changes_nothing(stream, state_of, same_state):
    X, y = stream("binary")
    model = build("KernelPAClassifier")
    learn(model, X, y)
    model.C = -1
    before = state_of(model)
    with pytest.raises(ValueError, match="'C' parameter"):
        learn(model, X, y)
    same_state(model, before)


def test_a_window_without_samples_is_refused(stream, same_state):
    """scikit-learn does not check the parameters in later calls of `partial_fit`."""
    X, y = stream("binary")
    model, other = build("KernelPAClassifier"), build("KernelPAClassifier")
    for one in (model, other):
        learn(one, X[:60], y[:60])
    model.window = -1
    with pytest.raises(ValueError, match="window must be an integer >= 1, or None, got -1"):
        model.partial_fit(X[60:], y[60:])
    model.window = None
    same_state(model, other)


def test_max_support_warns_once_and_bounds_memory(stream):
    X, y = stream("binary", n=2000)
    model = SPAClassifier(gamma=0.4, max_support=50, when_full="stop", random_state=0, beta=1.0)
    with pytest.warns(ConvergenceWarning, match="max_support=50"):
        learn(model, X, y)
    size = model._model.space.support.nbytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(10):
            learn(model, X, y)
        learn_each(model, X[:100], y[:100])
    assert model.n_support_ == 50
    assert model.n_seen_ == 22100
    assert model._model.space.support.nbytes() == size


def resident():
    """Return the bytes of memory in use by this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_is_flat(layout, stream, as_layout):
    if not Path("/proc/self/statm").exists():
        pytest.skip("no /proc/self/statm")
    X, y = stream("regression", n=500)
    X = as_layout(X, layout)
    model = KernelOGDRegressor(max_support=100, gamma=0.4, average=True, reg=0.5, eta=0.4)

    def work(rounds):
        nonlocal model
        for _ in range(rounds):
            learn(model, X, y, [100, 101])
            model.predict(X)
            model = pickle.loads(pickle.dumps(model))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        work(20)
        before = resident()
        work(150)
    assert resident() - before < 2**20


def test_two_models_in_two_threads(stream, same_state):
    X, y = stream("binary", n=600)

    def run(_):
        model = KernelPerceptronClassifier(gamma=0.4, random_state=0)
        learn(model, X, y, [100, 200, 201])
        return model

    with ThreadPoolExecutor(2) as pool:
        models = list(pool.map(run, range(8)))
    for model in models[1:]:
        same_state(model, models[0])
