"""One sample of many features, dense or sparse, for a model with sparse support vectors."""

import copy

import numpy as np
import pytest
from scipy import sparse
from versions import needs

from onlinekern import (
    KernelPAClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    SPAClassifier,
    SPAOneClass,
    StreamClassifier,
    TableEncoder,
)
from onlinekern.drift import LossDetector, MMDDetector

D = 2_100  # stored sparse, and no multiple of the vector length


@pytest.fixture(params=["float32", "float64"])
def rows(request):
    """Return sparse rows, some empty, some with the first and the last feature."""
    X = sparse.random(60, D, density=0.01, random_state=0, format="csr")
    X.data += 0.1  # of one scale
    X = X.tolil()
    X[3] = 0
    X[5, 0], X[5, D - 1], X[6, 63], X[6, 64] = 1.0, -2.0, 3.0, -4.0
    return sparse.csr_matrix(X, dtype=request.param)


@pytest.fixture
def model(rows):
    """Return a learner that has seen the first rows."""
    return KernelPAClassifier(gamma=0.4).partial_fit(
        rows[:20], np.arange(20) % 2, classes=[0, 1]
    )  # fmt: skip


def test_every_form_of_a_row_is_the_same(model, rows):
    expected = model.decision_function(rows)
    for form in (lambda x: x.toarray()[0], lambda x: x, lambda x: x.tocoo(), lambda x: x.tocsc()):
        scores = [model.score_one(form(rows[i])) for i in range(rows.shape[0])]
        np.testing.assert_array_equal(scores, expected)


def test_learning_single_rows_is_learning_them_together(model, rows):
    other = KernelPAClassifier(gamma=0.4).partial_fit(
        rows, np.arange(rows.shape[0]) % 2, classes=[0, 1]
    )
    for i in range(20, rows.shape[0]):
        model.learn_one(rows[i] if i % 3 else rows[i].toarray()[0], i % 2)
    np.testing.assert_array_equal(model.dual_coef_, other.dual_coef_)
    np.testing.assert_array_equal(
        model.support_vectors_.toarray(), other.support_vectors_.toarray()
    )


def backwards(x):
    """Return a row whose columns descend."""
    x = x.copy()
    x.indices, x.data = x.indices[::-1].copy(), x.data[::-1].copy()
    x.has_sorted_indices = x.has_canonical_format = False
    return x


def halved(x):
    """Return a row that has each element in two halves, which it denies."""
    twice = (np.repeat(x.data / 2, 2), np.repeat(x.indices, 2), 2 * x.indptr)
    x = sparse.csr_matrix(twice, shape=x.shape)
    x.has_canonical_format = True
    return x


def changed(name, change):
    """Return a function that changes an array of a row."""

    def form(x):
        x = x.copy()
        setattr(x, name, change(getattr(x, name)))
        return x

    return form


ODD = {
    "array": sparse.csr_array,
    "one dimension": lambda x: sparse.coo_array(x.toarray()[0]),
    "one dimension, csr": lambda x: sparse.csr_array(x.toarray()[0]),
    "backwards": backwards,
    "in halves": halved,
    "other dtype": lambda x: x.astype("float32" if x.dtype == np.float64 else "float64"),
    "int64": changed("indices", lambda indices: indices.astype(np.int64)),
    "int64 starts": changed("indptr", lambda starts: starts.astype(np.int64)),
    "strided": changed("data", lambda data: np.repeat(data, 2)[::2]),
    "swapped": changed("data", lambda data: data.astype(data.dtype.newbyteorder())),
    "with room": lambda x: changed("data", lambda data: np.append(data, data.dtype.type(7)))(x),
}

IN_CSR = needs("scipy", "1.15", "CSR arrays of one dimension")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=IN_CSR) if name == "one dimension, csr" else name for name in ODD],
)
def test_odd_matrices_are_the_same_row(name, model, rows):
    other = copy.deepcopy(model)
    for i in range(20, 40):
        odd = ODD[name](rows[i])
        dense = (rows[i].astype("float32") if name == "other dtype" else rows[i]).toarray()[0]
        assert model.score_one(odd) == other.score_one(dense)
        model.learn_one(odd, i % 2)
        other.learn_one(dense, i % 2)
    np.testing.assert_array_equal(model.dual_coef_, other.dual_coef_)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indices", lambda indices: indices + D),
        ("indices", lambda indices: indices - D),
        ("indptr", lambda starts: starts + 1),
        ("indptr", lambda starts: np.array([0, 10_000], dtype=np.int32)),
        ("indptr", lambda starts: starts[:1]),
    ],
)
def test_indices_beyond_a_row_are_found(name, change, model, rows):
    scores, seen = model.decision_function(rows), model.n_seen_
    bad = rows[7].copy()
    setattr(bad, name, change(getattr(bad, name)))
    for call in (lambda: model.learn_one(bad, 1), lambda: model.score_one(bad)):
        with pytest.raises(ValueError, match="valid CSR matrix"):
            call()
    assert model.n_seen_ == seen
    np.testing.assert_array_equal(model.decision_function(rows), scores)


def test_predicting_a_row_is_predicting_it_among_others(model, rows):
    for X in (rows, rows.toarray()):
        for method in (model.predict, model.decision_function, model.predict_proba):
            one_by_one = np.concatenate([method(X[i : i + 1]) for i in range(rows.shape[0])])
            np.testing.assert_array_equal(one_by_one, method(X))


def test_bad_rows_are_found(model, rows):
    seen = model.n_seen_
    infinite, other = rows[7].copy(), np.zeros((1, D - 1), rows.dtype)
    infinite.data[-1] = np.inf
    for bad in (infinite, infinite.toarray()[0], other[0], sparse.csr_matrix(other), rows[:2]):
        with pytest.raises(ValueError, match=r"x (contains|has|must)"):
            model.learn_one(bad, 1)
    assert model.n_seen_ == seen


NO_ROWS = [np.ones((2, 2)), np.ones((1, 4)), np.ones((4, 1)), np.ones((2, 2, 1)), [[1, 2], [3, 4]]]
SPARSE = [sparse.csr_matrix(np.ones((2, 4))), sparse.csr_matrix((0, 4))]
LEARNERS = {
    "linear": (PAClassifier, (1, [0, 1])),
    "race": (StreamClassifier, (1, [0, 1])),
    "holds rows back": (SPAClassifier, (1, [0, 1])),
    "targets": (KernelRLSRegressor, (1.0,)),
    "one class": (SPAOneClass, ()),
}


@pytest.mark.parametrize("begun", [False, True], ids=["first", "later"])
@pytest.mark.parametrize(("learner", "told"), LEARNERS.values(), ids=LEARNERS)
def test_matrices_are_no_samples_in_any_call(learner, told, begun):
    model = learner()
    if begun:
        model.learn_one(np.arange(4.0), *told)
    seen = copy.deepcopy(vars(model)).keys()
    for x in [*NO_ROWS, *SPARSE]:
        with pytest.raises(ValueError, match="one sample"):
            model.learn_one(x, *told)
    assert vars(model).keys() == seen
    assert getattr(model, "n_seen_", 0) == begun


@pytest.mark.parametrize("part", [OnlineStandardScaler, TableEncoder, MMDDetector])
def test_matrices_are_no_samples_of_what_stands_beside_learners(part):
    for x in NO_ROWS:
        with pytest.raises(ValueError, match="one sample"):
            getattr(part(), "update" if part is MMDDetector else "learn_transform_one")(x)


def test_a_loss_is_one_number():
    detector = LossDetector().update(0.5).update(np.array([0.5]))
    for losses in ([0.1, 0.2], np.empty(0), np.ones((2, 2))):
        with pytest.raises(ValueError, match="loss must be one number, got"):
            detector.update(losses)
    with pytest.raises(ValueError, match="loss must be finite and >= 0, got nan"):
        detector.update(np.nan)
    assert detector.n_seen_ == 2
