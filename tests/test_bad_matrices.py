"""Matrices that lie about themselves: every way in refuses them, or reads what is really there."""

import itertools

import numpy as np
import pytest
from grids import thinned
from learners import TRANSFORMERS
from scipy import sparse
from sklearn.base import is_classifier

import onlinekern
from onlinekern import all_estimators
from onlinekern.core.samples.rows import checked_csr

D = 6
ESTIMATORS = dict(all_estimators())
ONE_CLASS = dict(all_estimators("outlier_detector"))
ONLINE = sorted(name for name, cls in ESTIMATORS.items() if hasattr(cls, "partial_fit"))


def samples(n=30, d=D, seed=0):
    """Return sparse rows with ascending columns, and labels."""
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, density=0.5, random_state=seed, format="csr")
    return X, np.where(rng.random(n) < 0.5, 1, 0)


def with_index(value, dtype=np.int32):
    X, _ = samples(4)
    indices = X.indices.astype(dtype)
    indices[-1] = value
    return raw(X.data, indices, X.indptr.astype(dtype), X.shape)


def with_starts(change, dtype=np.int32):
    X, _ = samples(4)
    starts = X.indptr.astype(dtype)
    change(starts)
    return raw(X.data, X.indices.astype(dtype), starts, X.shape)


def raw(data, indices, indptr, shape):
    """Return a CSR matrix of these very arrays, whatever SciPy would say of them."""
    X = sparse.csr_matrix(shape, dtype=data.dtype)
    X.data, X.indices, X.indptr = data, indices, indptr
    X.has_canonical_format = X.has_sorted_indices = True
    return X


def beyond(starts):
    starts[-1] = 1 << 20


def descending(starts):
    starts[2] = starts[3] + 1


def late(starts):
    starts[0] = 2


def negative(starts):
    starts[1] = -3


def short(starts):
    starts.resize(len(starts) - 1, refcheck=False)


def bad_coo():
    X, _ = samples(4)
    X = X.tocoo()
    X.coords = (X.coords[0], np.where(np.arange(X.nnz) == 1, D, X.coords[1]).astype(np.int32))
    return X


def bad_csc():
    X, _ = samples(4)
    X = X.tocsc()
    X.indices = np.where(np.arange(X.nnz) == 1, 4, X.indices).astype(np.int32)
    return X


BAD = {
    "one-based": lambda: with_index(D),
    "far": lambda: with_index(1 << 30),
    "negative": lambda: with_index(-1),
    "wraps": lambda: with_index((1 << 32) + 1, np.int64),
    "starts beyond": lambda: with_starts(beyond),
    "starts descend": lambda: with_starts(descending),
    "starts late": lambda: with_starts(late),
    "starts negative": lambda: with_starts(negative),
    "starts wide": lambda: with_starts(beyond, np.int64),
    "starts short": lambda: with_starts(short),
    "coo": bad_coo,
    "csc": bad_csc,
}


def learnt(name):
    """Return an estimator that has learnt a few rows."""
    model = ESTIMATORS[name]()
    X, y = samples()
    if is_classifier(model) and hasattr(model, "partial_fit"):
        return model.partial_fit(X, y, classes=[0, 1])
    target = [] if name in ONE_CLASS else [y.astype(float)]
    return model.partial_fit(X, *target) if hasattr(model, "partial_fit") else model.fit(X, y)


@pytest.mark.parametrize(("name", "bad"), thinned(sorted(ESTIMATORS), BAD, 3))
def test_every_way_in_refuses_it(name, bad):
    model = learnt(name)
    X, _ = samples()
    before = model.predict(X)
    matrix, y = BAD[bad](), np.array([0, 1, 0, 1])
    target = [] if name in ONE_CLASS else [y]
    ways = [(type(model)().fit, target), (model.predict, [])]
    if hasattr(model, "partial_fit"):
        ways.append((model.partial_fit, target))
    for call, arguments in ways:
        with pytest.raises(ValueError, match=r"valid|index|indptr|indices"):
            call(matrix, *arguments)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("bad", ["one-based", "far", "negative", "wraps"])
@pytest.mark.parametrize("name", ONLINE)
def test_single_rows_are_refused(name, bad):
    model = learnt(name)
    row = BAD[bad]()
    starts = row.indptr[[-2, -1]] - row.indptr[-2]
    part = slice(row.indptr[-2], row.indptr[-1])
    row = raw(row.data[part], row.indices[part], starts, (1, D))
    target = [] if name in ONE_CLASS else [1]
    with pytest.raises(ValueError, match="valid"):
        model.learn_one(row, *target)
    with pytest.raises(ValueError, match="valid"):
        model.score_one(row)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("transformer", TRANSFORMERS.values(), ids=TRANSFORMERS)
def test_transformers_refuse_it(transformer, bad):
    X, y = samples()
    fitted = transformer().fit(X, y)

    def fit(rows):
        transformer().fit(rows, np.resize(y, rows.shape[0]))

    for call in (fit, fitted.transform):
        with pytest.raises(ValueError, match=r"valid|index|indptr|indices"):
            call(BAD[bad]())


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("name", ONLINE)
def test_what_a_matrix_says_of_its_order_is_not_relied_on(name, index):
    honest, y = samples()
    rows = np.repeat(np.arange(honest.shape[0]), np.diff(honest.indptr))
    order = np.lexsort((-honest.indices, rows))
    lying = raw(honest.data[order], honest.indices[order].astype(index),
                honest.indptr.astype(index), honest.shape)  # fmt: skip
    target = [] if name in ONE_CLASS else [y]
    labels = {"classes": [0, 1]} if is_classifier(ESTIMATORS[name]()) else {}
    first = ESTIMATORS[name](random_state=0).partial_fit(honest, *target, **labels)
    second = ESTIMATORS[name](random_state=0).partial_fit(lying, *target, **labels)
    np.testing.assert_array_equal(first.predict(honest), second.predict(lying))
    np.testing.assert_array_equal(np.ravel(first.score_one(honest[0])),
                                  np.ravel(second.score_one(lying[0])))  # fmt: skip


def test_duplicates_are_added_up():
    lying = raw(np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0], np.int32),
                np.array([0, 3], np.int32), (1, 3))  # fmt: skip
    np.testing.assert_array_equal(checked_csr(lying).toarray(), [[3.0, 3.0, 0.0]])
    assert lying.nnz == 3


def test_a_good_matrix_is_taken_as_it_is():
    for X in (
        sparse.csr_matrix((5, 4)),
        sparse.csr_matrix(np.array([[0, 0], [1, 2], [0, 0], [0, 3], [4, 0], [0, 0.0]])),
    ):
        checked = checked_csr(X)
        assert checked.data is X.data
        assert checked.indices is X.indices
        assert checked.indptr is X.indptr


def random_indices(rng):
    """Return columns, starts and the number of columns of rows, many of them empty."""
    n, d = int(rng.integers(1, 1500)), int(rng.integers(1, 9))
    lengths = rng.integers(0, d + 1, n) * (rng.random(n) < rng.random())
    columns = [np.sort(rng.permutation(d)[:length]) for length in lengths]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return np.concatenate([*columns, []]).astype(np.int32), starts.astype(np.int32), d


def spoil(columns, starts, d, rng):
    """Change a column, or the end of a row, to any number nearby."""
    if rng.random() < 0.5 and columns.size > 0:
        columns[rng.integers(columns.size)] = rng.integers(-2, d + 2)
    elif rng.random() < 0.5:
        starts[rng.integers(starts.size)] += rng.integers(-2, 3)


@pytest.mark.parametrize("seed", range(300))
def test_the_check_finds_what_a_loop_over_rows_finds(seed):
    rng = np.random.default_rng(seed)
    columns, starts, d = random_indices(rng)
    if seed % 3:
        spoil(columns, starts, d, rng)
    X = raw(np.arange(1.0, columns.size + 1), columns, starts, (starts.size - 1, d))
    if starts[0] != 0 or np.any(np.diff(starts) < 0) or starts[-1] > columns.size:
        with pytest.raises(ValueError, match="indptr"):
            checked_csr(X)
        return
    rows = [columns[i:j] for i, j in itertools.pairwise(starts)]
    if any(row.size and not 0 <= row.min() <= row.max() < d for row in rows):
        with pytest.raises(ValueError, match="indices"):
            checked_csr(X)
        return
    expected = np.zeros(X.shape)
    for i, row in enumerate(rows):
        np.add.at(expected[i], row, X.data[starts[i] : starts[i + 1]])
    checked = checked_csr(X)
    np.testing.assert_array_equal(checked.toarray(), expected)
    in_order = all(np.all(np.diff(row) > 0) for row in rows)
    assert (checked.indices is columns) == in_order


def test_a_matrix_that_was_changed_is_checked_again():
    X, y = samples()
    checked = checked_csr(X)
    model = onlinekern.PAClassifier().partial_fit(X, y, classes=[0, 1])
    model._model.learn(checked, y.astype(float))
    checked.indices = np.where(checked.indices == 1, D, checked.indices)
    with pytest.raises(ValueError, match="indices"):
        model._model.learn(checked, y.astype(float))


def packed(x, dtype):
    """Return a row that lies at an odd address, as a field of packed records does."""
    records = np.zeros(len(x), np.dtype([("flag", "u1"), ("value", dtype)]))
    whole = np.zeros(x.size * np.dtype(dtype).itemsize + 1, np.uint8)
    row = whole[1:].view(dtype)
    row[:] = x
    assert not row.flags.aligned
    assert records.dtype.itemsize == 1 + np.dtype(dtype).itemsize
    return row


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ONLINE)
def test_unaligned_rows_are_read_as_they_are(name, dtype):
    X, y = samples()
    X = X.toarray().astype(dtype)
    target = [] if name in ONE_CLASS else [y]
    labels = {"classes": [0, 1]} if is_classifier(ESTIMATORS[name]()) else {}
    models = [ESTIMATORS[name](random_state=0).partial_fit(X, *target, **labels) for _ in range(2)]
    one = [] if name in ONE_CLASS else [1]
    models[0].learn_one(X[1], *one)
    models[1].learn_one(packed(X[1], dtype), *one)
    scores = [
        np.ravel(models[0].score_one(X[2])),
        np.ravel(models[1].score_one(packed(X[2], dtype))),
    ]
    np.testing.assert_array_equal(*scores)
    rows = np.stack([packed(row, dtype) for row in X])
    flat = packed(X.ravel(), dtype).reshape(X.shape)
    assert not flat.flags.aligned
    np.testing.assert_array_equal(models[0].predict(rows), models[1].predict(flat))


@pytest.mark.parametrize("name", ONLINE)
def test_complex_rows_are_refused(name):
    model = learnt(name)
    x = np.ones(D, complex)
    target = [] if name in ONE_CLASS else [1]
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        model.learn_one(x, *target)
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        model.score_one(x)


def test_there_is_a_way_for_every_estimator():
    assert set(ESTIMATORS) <= set(onlinekern.__all__)
