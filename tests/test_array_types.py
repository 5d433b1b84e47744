"""Samples and targets in types that others misread: masked, nullable, dates, text of NumPy."""

import datetime

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

from onlinekern import (
    ConformalClassifier,
    ConformalRegressor,
    KernelForestClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    SPAClassifier,
    StreamClassifier,
    TableEncoder,
)

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 2))
HIGH = X[:, 0] > 0
NUMBERS = HIGH.astype(int)
# 2**60 and 2**60 + 1 are one number in float64.
LARGE = np.array([2**60, 2**60 + 1])[NUMBERS]
CLASSIFIERS = {
    "linear": PAClassifier(random_state=0),
    "race": StreamClassifier(random_state=0),
    "conformal": ConformalClassifier(PAClassifier(random_state=0)),
}
REGRESSORS = {"linear": PARegressor(), "conformal": ConformalRegressor(PARegressor())}


@pytest.fixture(params=CLASSIFIERS)
def classifier(request):
    return CLASSIFIERS[request.param]


@pytest.mark.parametrize(
    ("y", "kind"), [(LARGE, "Int64"), (LARGE, "int64[pyarrow]"), (HIGH, "boolean")]
)
@pytest.mark.parametrize("shape", ["column", "frame", "array"])
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_nullable_labels_keep_their_type(classifier, y, kind, shape):
    pandas = pytest.importorskip("pandas")
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    column = pandas.Series(y, dtype=kind)
    given = {"column": column, "frame": column.to_frame(), "array": column.array}[shape]
    model = classifier.fit(X, given)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    assert model.classes_.dtype == y.dtype
    assert (model.predict(X) == y).mean() > 0.8


def test_nullable_classes_keep_their_type():
    pandas = pytest.importorskip("pandas")
    labels = pandas.array([2**60, 2**60 + 1], dtype="Int64")
    model = PAClassifier().partial_fit(X, pandas.Series(LARGE, dtype="Int64"), classes=labels)
    assert model.classes_.tolist() == [2**60, 2**60 + 1]


@pytest.mark.parametrize("kind", ["Int64", "boolean", "string", "Float64", "category"])
def test_missing_labels_of_pandas_are_named(classifier, kind):
    pandas = pytest.importorskip("pandas")
    values = NUMBERS.astype(str) if kind == "string" else NUMBERS
    y = pandas.Series(values).astype(kind)
    y[3] = None
    with pytest.raises(ValueError, match=r"y\[3\] is missing or NaN"):
        classifier.fit(X, y)


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 2 has it")
def test_labels_of_numpys_own_text(classifier):
    kind = np.dtypes.StringDType(na_object=None)
    labels = np.array(["no", "yes"])[NUMBERS].tolist()
    model = classifier.fit(X, np.array(labels, dtype=kind))
    assert model.classes_.tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match=r"y\[0\] is missing"):
        classifier.fit(X, np.array([None, *labels[1:]], dtype=kind))


def test_masked_targets_are_named(classifier):
    y = np.ma.array(NUMBERS, mask=np.arange(60) == 7)
    with pytest.raises(ValueError, match=r"y\[7\] is masked"):
        classifier.fit(X, y)
    model = classifier.fit(X, np.ma.array(NUMBERS))
    assert (model.predict(X) == NUMBERS).mean() > 0.8


@pytest.mark.parametrize("name", REGRESSORS)
def test_masked_targets_of_a_regression_are_named(name):
    with pytest.raises(ValueError, match=r"y\[7\] is masked"):
        REGRESSORS[name].fit(X, np.ma.array(X[:, 0], mask=np.arange(60) == 7))


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.datetime64("2026-03-01") + np.arange(60).astype("m8[D]"), "y must hold numbers"),
        (np.arange(60).astype("m8[h]"), "y must hold numbers"),
        ([str(number) for number in range(60)], "y must hold numbers"),
        (np.where(np.arange(60) == 7, np.nan, X[:, 0]), r"y\[7\] is missing"),
        (np.where(np.arange(60) == 7, np.inf, X[:, 0]), "infinity|finite"),
        (np.array([*X[1:, 0], None]), r"y\[59\] is missing"),
    ],
)
def test_targets_that_are_no_finite_numbers_are_refused_alike(name, y, words):
    with pytest.raises(ValueError, match=words):
        REGRESSORS[name].fit(X, y)


def test_of_several_targets_the_row_of_a_missing_one_is_named():
    with pytest.raises(ValueError, match=r"y\[7\] is missing"):
        KernelRLSRegressor().fit(X, np.where(np.arange(120).reshape(60, 2) == 15, np.nan, X))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_masked_samples_are_missing(kind):
    mask = rng.random(X.shape) < 0.2
    masked = np.ma.array(np.round(4 * X).astype(kind), mask=mask)
    holes = masked.astype(np.result_type(kind, np.float32)).filled(np.nan)
    for model in (
        KernelForestClassifier(random_state=0),
        PAClassifier(encode=True, random_state=0),
    ):
        filled = model.fit(holes, NUMBERS).decision_function(holes)
        np.testing.assert_array_equal(model.fit(masked, NUMBERS).decision_function(masked), filled)
    encoded = TableEncoder().fit(holes).transform(holes)
    np.testing.assert_array_equal(TableEncoder().fit(masked).transform(masked), encoded)
    for model in (PAClassifier(), StreamClassifier(), OnlineStandardScaler()):
        with pytest.raises(ValueError, match="missing values"):
            model.fit(masked, NUMBERS)
        model.fit(np.ma.array(X), NUMBERS)


@pytest.mark.parametrize("learner", [PAClassifier(), KernelForestClassifier(), StreamClassifier()])
def test_arrays_of_dates_are_no_counts(learner, state_of, same_state):
    dates = (np.datetime64("2026-03-01", "s") + 1000 * np.arange(120).astype("m8[s]")).reshape(
        60, 2
    )
    spans = dates - dates[0]
    for rows in (dates, spans):
        with pytest.raises(ValueError, match="dates or times in column 0, column 1"):
            learner.fit(rows, NUMBERS)
    model = learner.fit(X, NUMBERS)
    before = state_of(model)
    for call in (model.predict, lambda rows: model.partial_fit(rows, NUMBERS)):
        with pytest.raises(ValueError, match="dates or times"):
            call(dates)
    for call in (model.score_one, lambda row: model.learn_one(row, 0)):
        with pytest.raises(ValueError, match="dates or times"):
            call(dates[0])
    same_state(model, before)
    kinds = PAClassifier(encode=True).fit(dates, NUMBERS).encoder_.kinds_
    assert set(kinds.values()) == {"date"}


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"])
def test_sparse_matrices_of_any_format_bring_new_classes(form):
    rows = sp.random(60, 5, 0.4, format="csr", random_state=0)
    expected = StreamClassifier(random_state=0).partial_fit(rows, NUMBERS).decision_function(rows)
    for given in (rows.asformat(form), getattr(sp, f"{form}_array")(rows)):
        model = StreamClassifier(random_state=0).partial_fit(given, NUMBERS)
        np.testing.assert_array_equal(model.decision_function(given), expected)


@pytest.mark.parametrize("learner", [StreamClassifier(), ConformalClassifier(SGDClassifier())])
def test_damaged_matrices_are_refused_before_they_are_converted(learner):
    rows = sp.random(60, 5, 0.4, format="coo", random_state=0)
    rows.row[0] = 10**6
    with pytest.raises(ValueError, match="no valid COO matrix"):
        learner.partial_fit(rows, NUMBERS, classes=[0, 1])


def test_frames_of_sparse_columns_that_leave_out_missing_values():
    pandas = pytest.importorskip("pandas")
    holes = np.where(X > -0.5, X, np.nan)
    dense = pandas.DataFrame(holes, columns=["a", "b"])
    sparse = dense.astype(pandas.SparseDtype(float, np.nan))
    for learner in (KernelForestClassifier(random_state=0), PAClassifier(random_state=0)):
        expected = learner.fit(dense, NUMBERS).decision_function(dense)
        model = learner.fit(sparse, NUMBERS)
        np.testing.assert_array_equal(model.decision_function(sparse), expected)
        assert model.score_one(sparse.iloc[0]) == expected[0]


def test_whole_numbers_larger_than_any_type_are_floats():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"town": ["Ulm", "Bonn"] * 30, "big": [10**30 + i for i in range(60)]})
    kinds = PAClassifier().fit(frame, NUMBERS).encoder_.kinds_
    assert kinds == {"town": "category", "big": "number"}


@pytest.mark.parametrize(
    ("labels", "advice"),
    [
        (HIGH.astype(object), "bool"),
        (np.where(HIGH, 1, 0.0).astype(object), "float"),
        (np.where(HIGH, datetime.date(2026, 3, 1), datetime.datetime(2026, 3, 2)), "str"),
        (
            np.where(HIGH, *(datetime.datetime(2026, 3, d, tzinfo=datetime.UTC) for d in (1, 2))),
            "str",
        ),
    ],
)
def test_labels_that_are_objects_are_told_what_to_do(labels, advice):
    with pytest.raises(ValueError, match=rf"y.astype\({advice}\)"):
        PAClassifier().fit(X, labels)


@pytest.mark.parametrize(
    ("no", "yes", "kind"),
    [
        (datetime.date(2026, 3, 1), datetime.date(2026, 3, 2), "M"),
        (datetime.datetime(2026, 3, 1, 4), datetime.datetime(2026, 3, 2), "M"),
        (datetime.timedelta(hours=1), datetime.timedelta(days=2), "m"),
        (np.datetime64("2026"), np.datetime64("2026-05"), "M"),
    ],
)
@pytest.mark.parametrize("learner", [SPAClassifier, PAClassifier, StreamClassifier])
def test_labels_that_are_dates_are_learnt_alike_in_any_call(learner, no, yes, kind):
    labels = [yes if high else no for high in HIGH]
    whole = learner(random_state=0)
    whole.partial_fit(X, np.array(labels, dtype=f"{kind}8"), classes=[no, yes])
    parts = learner(random_state=0)
    parts.learn_one(X[0], labels[0], classes=[no, yes])  # SPA holds its first rows back
    parts.learn_one(X[1], labels[1])
    half = len(X) // 2
    parts.partial_fit(X[2:half], labels[2:half])
    parts.partial_fit(X[half:], np.array(labels[half:], dtype=object))
    assert parts.classes_.dtype.kind == kind
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))


def test_no_samples_at_all_are_told_of():
    for model in (PAClassifier(), StreamClassifier()):
        with pytest.raises(ValueError, match="X is None"):
            model.fit(None, NUMBERS)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_type_of_more_categories_than_have_numbers(library):
    frames = pytest.importorskip(library)
    names = [f"id {k}" for k in range(70_000)]
    column = (
        frames.Categorical(["id 3", "id 5"] * 30, categories=names)
        if library == "pandas"
        else frames.Series(["id 3", "id 5"] * 30, dtype=frames.Enum(names))
    )
    rows = frames.DataFrame({"x": X[:, 0], "id": column})
    model = KernelForestClassifier(random_state=0).fit(rows, np.tile([0, 1], 30))
    assert model.encoder_.kinds_["id"] == "category"
    assert model.score(rows, np.tile([0, 1], 30)) == 1.0
    few = frames.DataFrame({"x": X[:, 0], "id": ["a", "b"] * 30})
    few = (
        few.astype({"id": "category"})
        if library == "pandas"
        else few.cast({"id": frames.Enum(["a", "b"])})
    )
    model = KernelForestClassifier(random_state=0).fit(few, NUMBERS)
    with pytest.raises(ValueError, match="encode=True, from the first samples on"):
        model.partial_fit(rows, NUMBERS)


def test_a_frame_of_dask_has_no_rows_yet():
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    rows = frames.from_pandas(pandas.DataFrame(X, columns=["a", "b"]), npartitions=2)
    for model in (PAClassifier(), StreamClassifier(), TableEncoder()):
        with pytest.raises(TypeError, match=r"X.compute\(\)"):
            model.fit(rows, NUMBERS)
