"""The error of a table that a learner does not take: it names the columns, and its lines work."""

import datetime
import textwrap
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from learners import public_names
from sklearn.base import is_classifier, is_regressor
from versions import needs

from onlinekern import (
    FOGDClassifier,
    FourierFeatures,
    KernelForestClassifier,
    KernelForestRegressor,
    KernelMeanDetector,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    SPAClassifier,
    StreamClassifier,
    StreamRegressor,
    TableEncoder,
)
from onlinekern.drift import ClassifierDetector, MMDDetector
from onlinekern.fitted.save import to_bytes

pa = pytest.importorskip("pyarrow")

N = 40
NUMBERS = np.random.default_rng(0).normal(size=N).tolist()
LABELS = ["a", "b"] * (N // 2)
TEXTS = ["Private", "State"] * (N // 2)
TIMES = [datetime.datetime(2026, 1, 1) + datetime.timedelta(hours=h) for h in range(N)]
ZONED = [time.replace(tzinfo=datetime.UTC) for time in TIMES]
COLUMNS = {
    "text": (TEXTS, "text"),
    "text with None": ([TEXTS[0], None, *TEXTS[2:]], "text"),
    "text after None": ([None, *TEXTS[1:]], "text"),
    "times": (TIMES, "dates or times"),
    "times with NaT": ([None, *TIMES[1:]], "dates or times"),
    "time zone": (ZONED, "dates or times"),
    "days": ([time.date() for time in TIMES], "dates or times"),
    "spans": ([time - TIMES[0] for time in TIMES], "dates or times"),
    "nan": ([float("nan"), *NUMBERS[1:]], "missing values (NaN)"),
    "None": ([None, *NUMBERS[1:]], "missing values (NaN)"),
    "boolean": ([None, *[True, False, True] * (N // 3)], "missing values (NaN)"),
    "empty": ([None] * N, "missing values (NaN)"),
}


def pandas(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


MAKERS = {"pandas": pandas, "polars": polars, "Arrow": pa.table}
# A race sees the rows of its first class alone, here the first row.
OF_TYPE = needs("pandas", "3", "before, columns of text have no type that tells of others")
TABLES = [
    pytest.param(name, library, marks=OF_TYPE)
    if (name, library) == ("text after None", "pandas")
    else (name, library)
    for name in COLUMNS
    for library in MAKERS
]
LEARNERS = [
    StreamClassifier,
    StreamRegressor,
    SPAClassifier,
    KernelRLSRegressor,
    FOGDClassifier,
    PAClassifier,
    KernelForestClassifier,
    KernelMeanDetector,
]


def targets(model):
    return NUMBERS if is_regressor(model) else LABELS


def classes_of(model, method):
    """Return the labels, if a method of a model needs them."""
    return {"classes": ["a", "b"]} if is_classifier(model) and method == "partial_fit" else {}


def message_of(call, *arguments, **named):
    """Return the message of the ValueError that a call raises."""
    with pytest.raises(ValueError, match="X has") as caught:
        call(*arguments, **named)
    assert "HistGradientBoosting" not in str(caught.value)
    return str(caught.value)


def run_printed(message, X, y):
    """Fit the model of a message's last lines to a table, by `fit` and in a stream."""
    lines = message.partition("    from onlinekern import")
    code = "from onlinekern import" + lines[2].replace("\n    ", "\n")
    assert "TableEncoder" in code
    for method in ("fit", "partial_fit"):
        names = public_names()
        exec(code, names)
        model = names["model"]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*is ignored")
            for _ in range(2):
                getattr(model, method)(X, y, **classes_of(model, method))
        assert len(model.predict(X)) == N


@pytest.mark.parametrize(("name", "library"), TABLES)
def test_columns_are_named_and_the_lines_work(name, library):
    values, what = COLUMNS[name]
    X = MAKERS[library]({"x": NUMBERS, name: values})
    for method in ("fit", "partial_fit"):
        message = message_of(getattr(StreamClassifier(encode=False), method), X, LABELS)
        assert f"X has {what} in {name!r}. StreamClassifier takes finite numbers." in message
        assert "make_stream_pipeline(TableEncoder(), StreamClassifier())" in message
        run_printed(message, X, LABELS)


def categories(library):
    if library == "Arrow":
        return pa.array(TEXTS).dictionary_encode()
    if library == "pandas":
        return pytest.importorskip("pandas").Categorical(TEXTS)
    pl = pytest.importorskip("polars")
    return pl.Series(TEXTS, dtype=pl.Categorical)


@pytest.mark.parametrize("library", MAKERS)
def test_categories_are_told(library):
    X = MAKERS[library]({"x": NUMBERS, "work": categories(library)})
    message = message_of(PAClassifier(encode=False).fit, X, LABELS)
    assert "X has categories in 'work'. PAClassifier takes" in message
    run_printed(message, X, LABELS)


@pytest.mark.parametrize("kind", ["Int64", "boolean", "object"])
def test_missing_values_of_pandas(kind):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"x": NUMBERS, "count": pd.array([pd.NA, *[1, 0, 1] * 13], dtype=kind)})
    message = message_of(SPAClassifier(encode=False).fit, X, LABELS)
    assert "X has missing values (NaN) in 'count'. SPAClassifier" in message
    run_printed(message, X, LABELS)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_method_says_the_same_and_changes_nothing(learner):
    model = learner(encode=False)
    numbers = pandas({"x": NUMBERS, "z": NUMBERS[::-1]})
    X = pandas({"x": NUMBERS, "z": TEXTS})
    first = message_of(model.fit, X, targets(model))
    assert vars(model) == vars(learner(encode=False))
    classes = classes_of(model, "partial_fit")
    assert message_of(model.partial_fit, X, targets(model), **classes) == first
    assert vars(model) == vars(learner(encode=False))
    run_printed(first, X, targets(model))
    model.fit(numbers, targets(model))
    before = to_bytes(model)
    for call in (model.fit, model.partial_fit):
        assert message_of(call, X, targets(model)) == first
    assert message_of(model.predict, X) == first
    assert to_bytes(model) == before


def test_kinds_are_told_apart_and_many_names_are_not_listed():
    columns = {f"t{k}": TEXTS for k in range(7)}
    X = pandas({**columns, "at": TIMES, "x": [None, *NUMBERS[1:]]})
    message = message_of(SPAClassifier(encode=False).fit, X, LABELS)
    assert (
        "X has text in 't0', 't1', 't2', 't3' and 3 more; dates or times in 'at'; "
        "missing values (NaN) in 'x'. SPAClassifier takes finite numbers." in message
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_forest_takes_text_of_the_type_of_categories(library):
    X = MAKERS[library]({"x": [None, *NUMBERS[1:]], "work": TEXTS, "home": categories(library)})
    message = message_of(KernelForestClassifier(encode=False).fit, X, LABELS)
    assert "X has text in 'work'. KernelForestClassifier takes finite numbers, categories and " in (
        message
    )
    run_printed(message, X, LABELS)
    X = MAKERS[library]({"x": [None, *NUMBERS[1:]], "home": categories(library)})
    model = KernelForestClassifier(encode=False).fit(X, LABELS)
    assert model.is_categorical_.tolist() == [False, True]


@pytest.mark.parametrize("library", MAKERS)
def test_a_forest_says_what_becomes_of_dates(library):
    X = MAKERS[library]({"x": [None, *NUMBERS[1:]], "at": [None, *TIMES[1:]]})
    message = message_of(KernelForestRegressor(encode=False).fit, X, NUMBERS)
    assert "X has dates or times in 'at'. " in message
    assert "categorical_features" not in message
    run_printed(message, X, NUMBERS)


@pytest.mark.parametrize(
    ("X", "what"),
    [
        ([{"x": x, "work": "Ulm"} for x in NUMBERS], "text in 'work'"),
        ([[x, "Ulm"] for x in NUMBERS], "text in column 1"),
        (np.array([[x, "Ulm"] for x in NUMBERS], dtype=object), "text in column 1"),
        (np.column_stack([NUMBERS, [np.nan] * N]), "missing values (NaN) in column 1"),
        ([[x, None] for x in NUMBERS], "missing values (NaN) in column 1"),
    ],
    ids=["dictionaries", "lists", "objects", "array", "None"],
)
def test_rows_without_a_frame(X, what):
    message = message_of(SPAClassifier(encode=False).fit, X, LABELS)
    assert f"X has {what}. SPAClassifier takes" in message
    run_printed(message, X, LABELS)
    asked = f"encode={'auto' if isinstance(X[0], dict) else True!r}"
    assert f"{asked} takes such columns as they are" in message
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is ignored")
        exec(f"SPAClassifier({asked}).fit(X, LABELS).predict(X)", globals(), {"X": X})


def test_a_model_that_began_with_numbers_says_so():
    model = SPAClassifier().fit(pandas({"x": NUMBERS, "z": NUMBERS}), LABELS)
    message = message_of(model.partial_fit, pandas({"x": NUMBERS, "z": TEXTS}), LABELS)
    assert "Its first samples were numbers alone" in message
    assert "encode=True" in message


@pytest.mark.parametrize("transformer", [OnlineStandardScaler, FourierFeatures])
def test_a_transformer_comes_behind_the_encoder(transformer):
    message = message_of(transformer().fit, pandas({"work": TEXTS}))
    name = transformer.__name__
    assert f"make_stream_pipeline(TableEncoder(), {name}(), ...)" in message


@pytest.mark.parametrize("detector", [MMDDetector, ClassifierDetector])
def test_the_lines_for_a_detector_work(detector):
    X = [{"town": ("Ulm", "Bonn")[k % 2], "size": None if k % 3 else 1.0} for k in range(90)]
    with pytest.raises(ValueError, match="text in 'town'") as refused:
        detector().update_many(X)
    lines = textwrap.dedent(str(refused.value).partition("\n\n")[2])
    known = {detector.__name__: detector, "X": X}
    exec(lines, known)
    assert known["detector"].n_seen_ == 90


def test_infinite_values_want_more_than_an_encoder():
    X = pandas({"x": [np.inf, *NUMBERS[1:]], "work": TEXTS})
    message = message_of(SPAClassifier(encode=False).fit, X, LABELS)
    assert "X has infinity in 'x'; text in 'work'. " in message
    assert "SPAClassifier())\nInfinite values have no encoding: make them missing" in message
    message = message_of(SPAClassifier().fit, X[["x"]], LABELS)
    assert "X has infinity in 'x'. " in message
    assert "TableEncoder" not in message


def test_sparse_rows_are_told_of_no_encoder():
    X = sp.csr_matrix(np.column_stack([NUMBERS, [np.nan] * N]))
    message = message_of(SPAClassifier().fit, X, LABELS)
    assert "NaN" in message
    assert "TableEncoder" not in message


def test_other_errors_stay_as_they_are():
    X = pandas({"x": NUMBERS, "n": ["1", "2"] * (N // 2)})  # text that is numbers is taken
    SPAClassifier(encode=False).fit(X, LABELS)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SPAClassifier(encode=False).fit(X, LABELS[:-1])
    with pytest.raises(ValueError, match=r"y\[0\] is missing or NaN"):
        KernelRLSRegressor(encode=False).fit(X, [np.nan, *NUMBERS[1:]])
    with pytest.raises(ValueError, match="feature names should match"):
        SPAClassifier(encode=False).fit(X, LABELS).predict(pandas({"x": NUMBERS, "work": TEXTS}))
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        SPAClassifier().fit(np.array([[{}, 1.0]] * N, dtype=object), LABELS)


@pytest.mark.parametrize(
    "make",
    [PAClassifier, KernelForestClassifier, FourierFeatures, OnlineStandardScaler, TableEncoder],
)
def test_rows_that_are_no_table_are_told_of_at_any_time(make):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    table = pl.DataFrame({"a": [1.0, 2.0, 3.0] * 20, "b": [2.0, 3.0, 1.0] * 20})
    y = [0, 1, 0] * 20
    model = make().fit(table, y)
    twice = pd.DataFrame(np.ones((3, 2)), columns=["a", "a"])
    for rows, error, words in (
        (table.lazy(), TypeError, "LazyFrame, which has no rows yet"),
        (table["a"], ValueError, "X is a Series, no table"),
        (twice, ValueError, "X has two columns named 'a'"),
        (twice.iloc[:, :0], ValueError, "X has no columns"),
    ):
        for method in (
            getattr(model, "predict", None) or model.transform,
            lambda X: make().fit(X, y),
        ):
            with pytest.raises(error, match=words):
                method(rows)


def test_a_column_of_structures_is_named():
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="column 'a' holds struct"):
        PAClassifier().fit(pl.DataFrame({"a": [{"q": 1}, {"q": 2}]}), [0, 1])


@pytest.mark.parametrize(
    "kind", [list, tuple, np.array, lambda texts: np.array(texts, dtype=object)]
)
@pytest.mark.parametrize("make", [StreamClassifier, PAClassifier, KernelForestClassifier])
def test_a_list_of_texts_is_no_table(make, kind):
    """What its message writes can be learnt."""
    texts = ["the first kind of text", "another one of the other kind"] * (N // 2)
    message = r"X is a list of texts, .* \[\{'text': text\} for text in X\] are rows"
    with pytest.raises(ValueError, match=message):
        make().fit(kind(texts), LABELS)
    rows = [{"text": text} for text in texts]
    model = make(random_state=0).fit(rows, LABELS)
    assert model.score(rows, LABELS) == 1
    with pytest.raises(ValueError, match=message):
        model.predict(kind(texts))


@pytest.mark.parametrize("make", [StreamClassifier, PAClassifier, StreamRegressor])
def test_what_has_no_rows_or_no_order_is_named(make):
    rows, y = np.random.default_rng(0).standard_normal((N, 2)), N // 2 * [0, 1]
    for wrong in ((row for row in rows), iter(rows), set(NUMBERS)):
        with pytest.raises(TypeError, match=r"X is a \w+, no table: give a list of its rows"):
            make().fit(wrong, y)
    for wrong in ((label for label in y), set(y)):
        with pytest.raises(ValueError, match=r"y is a \w+: give a list or an array of targets"):
            make().fit(rows, wrong)
    ragged = rows.tolist()
    ragged[3] = [1.0]
    with pytest.raises(ValueError, match=r"X\[3\] has 1 values, and X\[0\] has 2"):
        make().fit(ragged, y)
