"""The C interface with one row a call, which goes to the model itself or to the estimator."""

import numpy as np
import pytest
from consumers.samples import LABELS, LAYOUTS, TWO, address, samples
from consumers.twins import ESTIMATORS, announce, assert_same_answers, pair, stream_of
from scipy import sparse

from onlinekern import KernelPAClassifier, PAClassifier, SPAClassifier
from onlinekern.compat import c_interface


def stored(rows, i):
    """The arguments of the calls that take the stored elements of a row of a CSR matrix."""
    part = slice(rows.indptr[i], rows.indptr[i + 1])
    values, columns = rows.data[part].copy(), rows.indices[part].copy()
    return address(values), address(columns), len(values), rows.shape[1], values.itemsize


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name", ["SPAClassifier", "PARegressor", "SPAOneClass", "StreamClassifier"]
)
def test_stored_elements_are_a_row(verbs, name, dtype, stream, as_matrix, equal):
    """The model learns float64 rows first: float32 ones are converted."""
    X, y = stream_of(name, stream, "csr")
    rows = X.astype(dtype)
    model, other = (pair(verbs, name)[0] for _ in range(2))
    for each in (model, other):
        announce(each, ESTIMATORS[name]())
        each.learn(as_matrix(X[:30]), address(y))
    scores = np.full((2, 3), np.nan)
    for i in range(30, 60):
        model.score_one_sparse(*stored(rows, i), address(scores), 3)
        other.scores(as_matrix(rows[i : i + 1]), address(scores[1]), 3)
        equal(scores[0], scores[1])
        model.learn_one_sparse(*stored(rows, i), y[i])
        other.learn_one(as_matrix(rows[i : i + 1]), y[i])
    assert np.isfinite(scores[0, 0])
    assert model.counts() == other.counts()


def test_single_rows_need_no_python(verbs, stream, as_matrix, monkeypatch):
    """Those of the model's dtype, dense or sparse, after the first ones."""
    X, y = stream("ovr")
    cases = [("SPAClassifier", "csr"), ("AROWClassifier", "dense"), ("FOGDClassifier", "float32")]
    models = []
    for name, layout in cases:
        model, twin = pair(verbs, name)
        announce(model, twin)
        rows = LAYOUTS[layout](X)
        model.learn(as_matrix(rows), address(y.astype(float)))
        models.append((model, as_matrix(rows[5:6])))

    def fail(*arguments):
        raise AssertionError("Python was called")

    for name in ("learn", "learn_one", "scores", "score_one", "predict"):
        monkeypatch.setattr(c_interface, name, fail)
    out = np.empty(3)
    for model, row in models:
        model.learn_one(row, y[5])
        model.scores(row, address(out), 3)
        model.predict(row, address(out))
        assert out[0] in LABELS
    with pytest.raises(verbs.Failure, match="Python was called"):
        model.scores(as_matrix(X[5:6]), address(out), 3)  # of another dtype


def test_empty_rows_need_no_arrays(verbs, as_matrix):
    model = verbs.Model.new(b"KernelPARegressor")
    X = sparse.csr_matrix((4, 3))
    model.learn(as_matrix(X, values=0, indices=0), address(np.ones(4)))
    for dtype in (4, 8):
        empty = as_matrix(X[:1], values=0, indices=0, dtype=dtype)
        model.learn_one(empty, 1.0)
        score = np.zeros(1)
        model.scores(empty, address(score), 1)
        assert score[0] > 0.8
    assert model.counts()[0] == 6


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("dtypes", [(np.float32, np.float64), (np.float64, np.float32)])
def test_rows_of_another_dtype(verbs, stream, as_matrix, equal, layout, dtypes):
    X, y = stream("ovr")
    first, later = (LAYOUTS[layout](X).astype(dtype) for dtype in dtypes)
    model, twin = pair(verbs, "SPAClassifier")
    arguments = announce(model, twin)
    model.learn(as_matrix(first[:50]), address(y[:50].astype(float)))
    twin.partial_fit(first[:50], y[:50], **arguments)
    for i in range(50, 90):
        model.learn_one(as_matrix(later[i : i + 1]), y[i])
        twin.learn_one(later[i : i + 1] if layout == "csr" else later[i], y[i])
    assert_same_answers(model, twin, later, as_matrix, equal)


def test_columns_in_any_order_and_twice(verbs, as_matrix, equal):
    """Duplicate columns of a CSR row are summed."""
    X, y = samples(50)
    halves = np.tile(X[:, ::-1] / 2, 2).ravel(), np.tile([2, 1, 0, 2, 1, 0], 50)
    rows = sparse.csr_matrix((*halves, np.arange(0, 301, 6)), shape=(50, 3))
    model = verbs.Model.new(b"SPAClassifier", b"gamma=0.4 random_state=7")
    model.set_classes(address(TWO), 2)
    model.learn(as_matrix(rows[:20]), address(y))
    for i in range(20, 50):
        row = rows[i : i + 1]
        model.learn_one(as_matrix(row), y[i])
    twin = SPAClassifier(gamma=0.4, random_state=7).partial_fit(X, y, classes=TWO)
    score = np.empty(1)
    for i in range(50):
        model.scores(as_matrix(rows[i : i + 1]), address(score), 1)
        equal(score, twin.decision_function(X[i : i + 1]))


def test_a_row_too_large_to_add_up_is_predicted(verbs, as_matrix):
    """As by `predict`, which looks at each number where their sum overflows."""
    X, y = samples(50)
    model = verbs.Model.new(b"PAClassifier", b"random_state=7")
    model.fit(as_matrix(X), address(y))
    large, label = np.full((1, 3), 0.8e308), np.zeros(1)
    model.predict(as_matrix(large), address(label))
    expected = PAClassifier(random_state=7).fit(X, y).predict(large)
    assert label.tolist() == expected.tolist()
    with pytest.raises(verbs.Failure, match="too large to add up"):
        model.learn_one(as_matrix(large), 1)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_one_by_one_while_the_width_is_measured(layout, verbs, as_matrix, equal):
    """The first 200 samples go another way than those that follow."""
    X, y = samples(230)
    rows = sparse.csr_matrix(X) if layout == "csr" else X
    model = verbs.Model.new(b"KernelPAClassifier", b"random_state=7")
    model.set_classes(address(TWO), 2)
    for i in range(230):
        model.learn_one(as_matrix(rows[i : i + 1]), y[i])
    twin = KernelPAClassifier(random_state=7).partial_fit(rows, y, classes=TWO)
    assert_same_answers(model, twin, X, as_matrix, equal, n_classes=2)
