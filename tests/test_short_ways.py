"""Whatever is given, the short ways past scikit-learn's validation give what the long ones give."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse

import onlinekern.estimators.classification
import onlinekern.estimators.validation
from onlinekern import OnlineStandardScaler, PAClassifier, PARegressor, SPAClassifier
from onlinekern.core.learning.labels import class_numbers
from onlinekern.core.samples.plain import all_finite, plain_rows

RNG = np.random.default_rng(0)
X = np.where(RNG.random((40, 5)) < 0.6, RNG.standard_normal((40, 5)), 0.0)
Y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
N = 8
PART = np.ascontiguousarray(X[:N])


def with_value(value, dtype=np.float64, kind=np.asarray):
    """Return rows one of whose numbers is this one."""
    rows = PART.astype(dtype)
    rows[3, 2] = value
    return kind(rows)


def csr(rows=PART, kind=sparse.csr_matrix, **attributes):
    """Return a CSR matrix some of whose arrays are replaced."""
    matrix = kind(rows)
    for name, change in attributes.items():
        setattr(matrix, name, change(getattr(matrix, name)))
    return matrix


def read_only(rows):
    """Return rows that cannot be written."""
    for array in (rows.data, rows.indices, rows.indptr) if sparse.issparse(rows) else (rows,):
        array.flags.writeable = False
    return rows


def unsorted():
    """Return a CSR matrix whose columns descend."""
    matrix = csr()
    for i in range(N):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        matrix.indices[part], matrix.data[part] = (
            matrix.indices[part][::-1].copy(),
            matrix.data[part][::-1].copy(),
        )
    matrix.has_sorted_indices = matrix.has_canonical_format = False
    return matrix


def doubled(lie=False):
    """Return a CSR matrix that has an element twice, which it may deny."""
    matrix = csr()
    place = next(i for i in range(N) if matrix.indptr[i + 1] - matrix.indptr[i] > 1)
    first = matrix.indptr[place]
    matrix.indices[first + 1] = matrix.indices[first]
    matrix.has_canonical_format = lie
    return matrix


def frame(names):
    """Return rows as a data frame."""
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(PART, columns=names)


def replaced(place, value):
    """Return a function that replaces an element of an array."""

    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


ROWS = {
    "dense": lambda: PART,
    "float32": lambda: PART.astype(np.float32),
    "csr": csr,
    "csr_array": lambda: csr(kind=sparse.csr_array),
    "csr float32": lambda: csr(PART.astype(np.float32)),
    "csr of integers": lambda: csr(PART.astype(np.int64)),
    "csr int64": lambda: csr(indices=lambda a: a.astype(np.int64)),
    "csr of two widths": lambda: csr(indptr=lambda a: a.astype(np.int64)),
    "csr strided": lambda: csr(data=lambda a: np.repeat(a, 2)[::2]),
    "csr swapped": lambda: csr(data=lambda a: a.astype(a.dtype.newbyteorder())),
    "csr unsorted": unsorted,
    "csr twice": doubled,
    "csr lies": lambda: doubled(lie=True),
    "csr beyond": lambda: csr(indices=replaced(2, 5)),
    "csr below": lambda: csr(indices=replaced(2, -1)),
    "csr descends": lambda: csr(indptr=replaced(2, 0)),
    "csr too long": lambda: csr(indptr=replaced(-1, 10_000)),
    "csr nan": lambda: with_value(np.nan, kind=sparse.csr_matrix),
    "csr infinite": lambda: with_value(np.inf, np.float32, kind=sparse.csr_array),
    "csr nan behind": lambda: csr(
        data=lambda a: np.append(a, np.nan), indices=lambda a: np.append(a, 0).astype(np.int32)
    ),
    "csr wide": lambda: csr(np.hstack([PART, PART])),
    "csr empty": lambda: csr(PART[:0]),
    "csr of no features": lambda: csr(PART[:, :0]),
    "csr zeros": lambda: csr(np.zeros_like(PART)),
    "csr read-only": lambda: read_only(csr()),
    "csc": lambda: sparse.csc_matrix(PART),
    "coo": lambda: sparse.coo_matrix(PART),
    "lil": lambda: sparse.lil_matrix(PART),
    "bsr": lambda: sparse.bsr_matrix(PART),
    "sparse of one dimension": lambda: sparse.coo_array(PART[0]),
    "read-only": lambda: read_only(PART.copy()),
    "fortran": lambda: np.asfortranarray(PART),
    "strided": lambda: np.repeat(PART, 2, axis=0)[::2],
    "swapped": lambda: PART.astype(PART.dtype.newbyteorder()),
    "misaligned": lambda: (
        np.frombuffer(b"1" + PART.tobytes(), np.uint8)[1:].view(np.float64).reshape(PART.shape)
    ),
    "float16": lambda: PART.astype(np.float16),
    "longdouble": lambda: PART.astype(np.longdouble),
    "integers": lambda: PART.astype(np.int32),
    "bool": lambda: PART > 0,
    "complex": lambda: PART + 0j,
    "object": lambda: PART.astype(object),
    "text": lambda: PART.astype(str),
    "list": PART.tolist,
    "nan": lambda: with_value(np.nan),
    "infinite": lambda: with_value(-np.inf),
    "float32 nan": lambda: with_value(np.nan, np.float32),
    "too large to add": lambda: np.full((N, 5), 1e308),
    "narrow": lambda: np.ascontiguousarray(PART[:, :3]),
    "flat": lambda: PART[0],
    "cube": lambda: PART[None],
    "empty": lambda: PART[:0],
    "of no features": lambda: PART[:, :0],
    "masked": lambda: np.ma.masked_array(PART),
    "matrix": lambda: np.matrix(PART),
    "frame": lambda: frame(list("abcde")),
    "frame without names": lambda: frame(range(5)),
    "frame, other names": lambda: frame(list("vwxyz")),
    "nothing": lambda: None,
}
LABELS = {
    "integers": Y[:N],
    "list": Y[:N].tolist(),
    "float": Y[:N].astype(float),
    "float32": Y[:N].astype(np.float32),
    "float16": Y[:N].astype(np.float16),
    "int8": Y[:N].astype(np.int8),
    "int16": Y[:N].astype(np.int16),
    "uint8": (Y[:N] > 0).astype(np.uint8),
    "uint64": (Y[:N] > 0).astype(np.uint64),
    "bool": Y[:N] > 0,
    "swapped": Y[:N].astype(Y.dtype.newbyteorder()),
    "strided": np.repeat(Y[:N], 2)[::2],
    "column": Y[:N, None],
    "unknown": replaced(3, 7)(Y[:N]),
    "between": replaced(3, 0)(Y[:N]),
    "fraction": replaced(3, 0.5)(Y[:N].astype(float)),
    "nan": replaced(3, np.nan)(Y[:N].astype(float)),
    "infinite": replaced(3, np.inf)(Y[:N].astype(float)),
    "one only": np.ones(N, dtype=int),
    "large": Y[:N] * 2**62,
    "text": Y[:N].astype(str),
    "object": Y[:N].astype(object),
    "none": [None, *Y[1:N].tolist()],
    "complex": Y[:N] + 0j,
    "dates": Y[:N].astype("datetime64[s]"),
    "too few": Y[:3],
    "nothing": None,
}
CLASSES = [[-1, 1], [-1.0, 1.0], [0, 1], [False, True], [-1, 0, 1], [0.5, 1.5], [0.0, 0.5, 2.0]]
CLASSES += [["-1", "1"], [-(2**62), 2**62], [np.nan, 1.0], [1], None]


def long_ways(monkeypatch):
    """Leave the long ways only."""
    monkeypatch.setattr(onlinekern.estimators.validation, "plain_rows", lambda *_: None)
    monkeypatch.setattr(onlinekern.estimators.classification, "class_numbers", lambda *_: None)


def outcome(model, call):
    """Return what a call gives, warns of and leaves behind."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(model)
        except Exception as error:
            result = type(error), str(error)
    known = {name: value for name, value in vars(model).items() if not name.startswith("_")}
    learnt = [getattr(model, name, None) for name in ("coef_", "n_support_", "n_seen_", "mean_")]
    kept = result if isinstance(result, np.ndarray | tuple) else None
    return pickle.dumps(
        [kept, learnt, sorted(known), known.get("classes_"), [str(one.message) for one in caught]]
    )


def assert_same(monkeypatch, make, call):
    """Check that a call of a new model has one outcome, short way or long way."""
    short = outcome(make(), call)
    model = make()
    with monkeypatch.context() as context:
        long_ways(context)
        assert outcome(model, call) == short, (
            pickle.loads(short),
            pickle.loads(outcome(model, call)),
        )


def fitted(rows=X):
    """Return a classifier in mid-stream."""
    return PAClassifier(random_state=0).partial_fit(rows, Y, classes=[-1, 1])


def new_spa():
    """Return a kernel learner that has learnt nothing."""
    return SPAClassifier(random_state=0)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.filterwarnings("ignore:the matrix subclass is not")  # NumPy's own, which some use
def test_rows(name, monkeypatch):
    rows = ROWS[name]()
    narrow = getattr(rows, "dtype", None) == np.float32

    def known():
        return fitted(X.astype(np.float32) if narrow else X)

    assert_same(monkeypatch, known, lambda model: model.partial_fit(rows, Y[:N]))
    assert_same(monkeypatch, known, lambda model: model.predict(rows))
    assert_same(monkeypatch, known, lambda model: model.fit(rows, Y[:N]))
    first = {"classes": [-1, 1]}
    assert_same(monkeypatch, PAClassifier, lambda model: model.partial_fit(rows, Y[:N], **first))
    assert_same(monkeypatch, new_spa, lambda model: model.partial_fit(rows, Y[:N], **first))
    assert_same(monkeypatch, PARegressor, lambda model: model.partial_fit(rows, PART[:, 0]))
    assert_same(monkeypatch, OnlineStandardScaler, lambda model: model.learn_transform(rows))


def test_rows_of_a_model_that_knows_names(monkeypatch):
    names = frame(list("abcde"))
    for name in ("dense", "csr", "frame", "frame without names", "frame, other names"):
        rows = ROWS[name]()
        for method in ("partial_fit", "fit"):
            assert_same(
                monkeypatch,
                lambda: PAClassifier(random_state=0).partial_fit(names, Y[:N], classes=[-1, 1]),
                lambda model, rows=rows, method=method: getattr(model, method)(rows, Y[:N]),
            )


@pytest.mark.parametrize("name", LABELS)
def test_labels(name, monkeypatch):
    y = LABELS[name]
    assert_same(monkeypatch, fitted, lambda model: model.partial_fit(PART, y))
    assert_same(monkeypatch, fitted, lambda model: model.fit(PART, y))
    assert_same(monkeypatch, PARegressor, lambda model: model.partial_fit(PART, y))
    for classes in CLASSES:
        assert_same(
            monkeypatch,
            PAClassifier,
            lambda model, classes=classes: model.partial_fit(PART, y, classes=classes),
        )


@pytest.mark.parametrize("labels", [[-1, 1], [0, 1, 2, 3], [2.0, 3.0, 4.0], [0.25, 7.5]])
@pytest.mark.parametrize("dtype", ["b", "i1", "u1", "i2", "i4", "i8", "f4", "f8"])
def test_class_numbers_are_those_of_a_search(labels, dtype):
    labels = np.array(labels)
    y = labels[RNG.integers(len(labels), size=1000)]
    if (y.astype(dtype) != y).any():
        assert class_numbers(y.astype(dtype), labels) is None
    else:
        numbers = class_numbers(y.astype(dtype), labels)
        np.testing.assert_array_equal(numbers, np.searchsorted(labels, y))
        assert numbers.dtype == np.float64
    for other in (100, labels[0] - 1, labels[-1] + 1):
        assert class_numbers(replaced(7, other)(y), labels) is None


def test_class_numbers_are_searched_for_where_labels_are_not_in_a_row():
    for labels in ([0, 1, 3], [0.0, 0.5, 2.0], ["a", "b"], [np.nan, 1.0], [1], [-(2**60), 2**60]):
        labels = np.array(labels)
        assert class_numbers(labels, labels) is None
    assert class_numbers(np.zeros(3, dtype=np.uint16), np.array([0, 1])) is None
    assert class_numbers(np.zeros((3, 1)), np.array([0, 1])) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 7, 16, 1000, 5000])
def test_what_is_not_finite_is_found_wherever_it_is(size, dtype):
    rows = np.full((1, size), np.finfo(dtype).max, dtype)
    rows[0, ::2] *= -1
    rows[0, ::3] = np.finfo(dtype).smallest_subnormal
    assert all_finite(rows)
    assert plain_rows(rows, True, True) is rows
    for value in (np.nan, -np.nan, np.inf, -np.inf):
        for place in {0, size // 2, size - 1}:
            bad = replaced((0, place), value)(rows)
            assert not all_finite(bad)
            assert plain_rows(bad, True, True) is None
            assert not all_finite(bad[:, ::-1])
            assert not all_finite(bad.astype(np.longdouble))


def test_rows_are_wanted_of_some_dtypes():
    for dtype, narrow in ((np.float32, True), (np.float64, False)):
        for kind in (np.asarray, sparse.csr_matrix, sparse.csr_array):
            rows = kind(PART.astype(dtype))
            assert plain_rows(rows, narrow, not narrow) is not None
            assert plain_rows(rows, not narrow, narrow) is None


def test_the_caller_keeps_the_matrix_as_it_was():
    matrix = csr()
    before = dict(vars(matrix))
    checked = plain_rows(matrix, True, True)
    assert vars(matrix) == before
    assert checked is not matrix
    assert checked.data is matrix.data
    assert plain_rows(checked, True, True) is checked
    checked.data = checked.data.copy()
    assert plain_rows(checked, True, True) is not checked
