"""`TableEncoder`: columns as they are become features, the same whatever the batches."""

import datetime
import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

pytest.importorskip("pyarrow")

import pyarrow as pa

import onlinekern
from onlinekern import (
    OnlineStandardScaler,
    PAClassifier,
    StreamClassifier,
    TableEncoder,
    make_stream_pipeline,
)
from onlinekern.fitted.save import from_bytes, to_bytes

# Columns of users have more values than the first rows show.
pytestmark = pytest.mark.filterwarnings("ignore:column .* has room for no more than")

TOWNS = ["Ulm", "Bonn", "Köln", "Mainz"]
WORDS = ["good", "bad", "ugly", "fine", "great", "poor"]


def table(n=400, seed=0, text=False):
    """Columns of all kinds, with missing values; returned as an Arrow table."""
    rng = np.random.default_rng(seed)
    start = datetime.datetime(2026, 1, 1)
    columns = {
        "size": np.where(rng.random(n) < 0.2, None, rng.normal(size=n) * 1e6).tolist(),
        "town": np.where(rng.random(n) < 0.1, None, rng.choice(TOWNS, n)).tolist(),
        "at": [start + datetime.timedelta(hours=int(h)) for h in rng.integers(0, 9000, n)],
        "new": [bool(b) for b in rng.random(n) < 0.5],
        "user": [f"u{i}" for i in rng.integers(0, 1000, n)],
        "count": rng.integers(0, 9, n).tolist(),
    }
    if text:
        columns["note"] = [" ".join(rng.choice(WORDS, 6)) for _ in range(n)]
    return pa.table(columns)


def dense(rows):
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


@parametrize_with_checks([TableEncoder()])
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


def test_fit_forgets_the_names_of_columns_that_it_learnt_before():
    encoder = TableEncoder().fit(table(50).select(["size", "count"]))
    assert encoder.fit(np.ones((5, 2))).get_feature_names_out().tolist() == ["x0", "x1"]
    assert pickle.dumps(encoder) == pickle.dumps(TableEncoder().fit(np.ones((5, 2))))


def test_kinds_and_features_of_each():
    encoder = TableEncoder()
    Z = encoder.fit_transform(table())
    assert encoder.kinds_ == {
        "size": "number", "town": "category", "at": "date", "new": "boolean", "user": "hashed",
        "count": "number",
    }  # fmt: skip
    names = encoder.get_feature_names_out().tolist()
    assert Z.shape == (400, len(names))
    assert len(set(names)) == len(names)
    for column in encoder._columns:
        assert column.n_features == len(column.feature_names())
    rows = table().to_pylist()
    columns = {name: Z[:, j] for j, name in enumerate(names)}
    missing = [row["size"] is None for row in rows]
    np.testing.assert_array_equal(columns["size (missing)"], missing)
    mean = np.mean([row["size"] for row in rows if row["size"] is not None])
    np.testing.assert_allclose(columns["size"][missing], mean)
    for town in TOWNS:
        np.testing.assert_array_equal(
            columns[f"town={town}"], [row["town"] == town for row in rows]
        )
    np.testing.assert_array_equal(columns["town=(missing)"], [row["town"] is None for row in rows])
    assert not columns["town (others)"].any()
    hours = np.array([row["at"].hour for row in rows])
    np.testing.assert_allclose(columns["at (sin of the day)"], np.sin(2 * np.pi * hours / 24),
                               atol=1e-9)  # fmt: skip
    weekdays = np.array([row["at"].weekday() for row in rows])
    angle = np.arctan2(columns["at (sin of the week)"], columns["at (cos of the week)"])
    days = (angle + 1e-6) % (2 * np.pi) * 7 / (2 * np.pi)  # midnight is of the new day
    np.testing.assert_array_equal(days // 1, weekdays)
    hashed = Z[:, [j for j, name in enumerate(names) if name.startswith("user (hash")]]
    assert hashed.shape == (400, 64)
    wide = TableEncoder(categories="auto").fit(table())
    assert sum("user (hash" in name for name in wide.get_feature_names_out()) == 1024
    assert (hashed.sum(axis=1) == 1).all()


@pytest.mark.parametrize("text", [False, True], ids=["dense", "sparse"])
def test_batches_do_not_matter(text):
    """A row sees what is known of it and those before: the loop over rows is the oracle."""
    first, rest = table(100, text=text), table(150, seed=1, text=text)
    whole, split = TableEncoder().fit(first), TableEncoder().fit(first)
    once = dense(whole.learn_transform(rest))
    edges = [0, 1, 2, 40, 41, 150]
    parts = [dense(split.learn_transform(rest.slice(a, b - a))) for a, b in pairwise(edges)]
    np.testing.assert_array_equal(once, np.vstack(parts))
    np.testing.assert_array_equal(dense(whole.transform(rest)), dense(split.transform(rest)))
    assert whole.sparse_ is text
    sizes = first.column("size").to_pylist()
    place = whole.get_feature_names_out().tolist().index("size")
    if not text:  # the mean of those before, row by row
        for row, size in enumerate(rest.column("size").to_pylist()):
            known = [value for value in sizes if value is not None]
            np.testing.assert_allclose(once[row, place], np.mean(known) if size is None else size)
            sizes.append(size)


def test_sparse_numbers_are_standardised():
    rows = table(300, text=True)
    encoder = TableEncoder()
    encoder.fit(rows.slice(0, 100))
    Z = dense(encoder.learn_transform(rows.slice(100)))
    scaler, plain = OnlineStandardScaler(with_mean=True), TableEncoder(sparse=False)
    names = encoder.get_feature_names_out().tolist()
    narrow = [j for j, name in enumerate(names) if name.partition(" ")[0] in ("size", "count")]
    plain.fit(rows.slice(0, 100))
    scaler.fit(plain.transform(rows.slice(0, 100))[:, narrow])
    expected = scaler.learn_transform(plain.learn_transform(rows.slice(100))[:, narrow])
    # In the first call the missing are the running mean, in `transform` the last one.
    np.testing.assert_allclose(Z[:, narrow], expected, rtol=0.2, atol=0.2)
    note = [j for j, name in enumerate(names) if name.startswith("note")]
    np.testing.assert_allclose(np.linalg.norm(Z[:, note], axis=1), 1.0)


def test_categories_take_free_features_then_share_one():
    encoder = TableEncoder(max_categories=3)
    rows = [[{"c": value}] for value in ["a", "b", "c", "d", "e"]]
    encoder.fit(rows[0] + rows[1])
    assert not encoder.transform(rows[2]).any()  # one is free: nothing is known of c
    np.testing.assert_array_equal(encoder.learn_transform(rows[2]), [[0, 0, 1, 0]])
    np.testing.assert_array_equal(
        encoder.transform(rows[3] + rows[0]), [[0, 0, 0, 1], [1, 0, 0, 0]]
    )
    np.testing.assert_array_equal(encoder.learn_transform(rows[4]), [[0, 0, 0, 1]])
    assert encoder.get_feature_names_out().tolist() == ["c=a", "c=b", "c=c", "c (others)"]


def test_all_forms_of_a_table_are_one():
    rows = table(50)
    expected = TableEncoder().fit_transform(rows)
    forms = [rows.to_pylist(), rows.to_batches()[0], rows.select(rows.column_names[::-1])]
    pandas = pytest.importorskip("pandas")
    forms.append(rows.to_pandas())
    forms.append(rows.to_pandas().set_index(pandas.Index(range(7, 57))))
    for form in forms:
        encoder = TableEncoder().fit(rows)
        np.testing.assert_array_equal(encoder.transform(form), expected)
    for form in forms[:2] + forms[3:]:
        np.testing.assert_array_equal(TableEncoder().fit_transform(form), expected)


def test_polars_is_a_table():
    polars = pytest.importorskip("polars")
    rows = table(50)
    frame = polars.from_arrow(rows).with_columns(polars.col("town").cast(polars.Categorical))
    encoder = TableEncoder().fit(frame)
    np.testing.assert_array_equal(encoder.transform(frame), encoder.transform(rows))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2026-11-22", None], "2026-11-22 00:00"),
        (["2026-11-22 10:30", "2026-11-22T10:30Z"], "2026-11-22 10:30"),
        (["2026-11-22T12:30+02:00", "2026-11-22T10:30:00Z"], "2026-11-22 10:30"),
    ],
)
def test_dates_as_text(texts, expected):
    rows = [{"at": text} for text in texts]
    encoder = TableEncoder(kinds={"at": "date"})
    Z = encoder.fit_transform(rows)
    assert encoder.kinds_ == TableEncoder().fit(rows).kinds_
    moment = datetime.datetime.fromisoformat(expected)
    again = TableEncoder().fit_transform(pa.table({"at": pa.array([moment, moment])}))
    for row, text in zip(Z, texts, strict=True):
        np.testing.assert_allclose(row, 0 * again[0] if text is None else again[0], atol=1e-12)


def test_kinds_can_be_told():
    rows = [{"zip": 89073, "note": "abc", "id": 7}, {"zip": 53111, "note": "d", "id": 8}]
    encoder = TableEncoder(kinds={"zip": "category", "note": "text", "id": "ignore"}).fit(rows)
    assert encoder.kinds_ == {"zip": "category", "note": "text", "id": "ignore"}
    assert encoder.get_feature_names_out()[0] == "zip=89073"
    # Whole numbers are one category, however they come.
    as_text = [{"zip": "89073", "note": "abc", "id": "x"}]
    as_float = [{"zip": 89073.0, "note": "abc", "id": None}]
    np.testing.assert_array_equal(
        dense(encoder.transform(as_text)), dense(encoder.transform(as_float))
    )


@pytest.mark.parametrize(
    ("parameters", "rows", "error", "message"),
    [
        ({"kinds": {"b": "number"}}, [{"a": 1}], ValueError, "no column 'b'"),
        ({"kinds": {"a": "word"}}, [{"a": 1}], ValueError, "'a' must be one of number"),
        ({"kinds": {"a": "date"}}, [{"a": "soon"}], ValueError, "'a' is 'soon', which is no date"),
        ({"missing": "refuse"}, [{"a": 1.0}, {"a": None}], ValueError, "row 1: column 'a' is miss"),
        ({"missing": "guess"}, [{"a": 1.0}], ValueError, "missing"),
        ({"text_features": 2**31}, [{"a": 1.0}], ValueError, "text_features"),
        ({}, [{"a": 1.0}, {"a": float("inf")}], ValueError, "data row 1: column 'a' is infinite"),
        ({}, [{"a": 1.0}, {"a": "x"}], TypeError, "column 'a' holds float, str"),
        ({}, [{"a": {"b": 1}}], TypeError, "column 'a' holds struct"),
        ({}, [], ValueError, "X must be a table"),
        ({}, [{}], ValueError, "0 feature"),
        ({}, sp.eye(3), TypeError, "sparse"),
        ({}, [1.0, 2.0], ValueError, "Reshape your data"),
        ({}, [{"a": 1e308}, {"a": 1e308}], ValueError, "'a' has a sum that overflows"),
    ],
)
def test_bad_input_is_named(parameters, rows, error, message):
    encoder = TableEncoder(**parameters)
    before = dict(vars(encoder))
    with pytest.raises(error, match=message):
        encoder.fit(rows)
    assert vars(encoder) == before


def test_a_table_that_does_not_match_changes_nothing():
    encoder = TableEncoder().fit(table())
    before, known = pickle.dumps(encoder), encoder.transform(table(9, seed=3))
    rows = table(9, seed=3)
    bad = [
        (rows.drop_columns("town"), "lacks 'town'"),
        (rows.append_column("more", [[1] * 9]), "has also 'more'"),
        (rows.set_column(0, "size", [["x"] * 9]), "column 'size' holds string, but"),
        (rows.set_column(2, "at", [["never"] * 9]), "row 0: column 'at' is 'never'"),
        (np.zeros((2, 3)), "X has 3 features, but TableEncoder is expecting 6"),
    ]
    for X, message in bad:
        for method in (encoder.partial_fit, encoder.learn_transform, encoder.transform):
            with pytest.raises(ValueError, match=message):
                method(X)
    assert pickle.dumps(encoder) == before
    np.testing.assert_array_equal(encoder.transform(rows), known)


def test_a_billion_features_of_text_cost_what_is_stored():
    encoder = TableEncoder(kinds={"note": "text"}, text_features=2**30)
    Z = encoder.fit_transform([{"note": "one two"}, {"note": "three"}])
    assert Z.shape == (2, 2**30)
    assert Z.nnz == 4


def test_columns_without_values_are_ignored():
    rows = [{"a": 1, "b": None}, {"a": 2, "b": None}]
    with pytest.warns(UserWarning, match="'b' is ignored"):
        encoder = TableEncoder().fit(rows)
    assert encoder.kinds_ == {"a": "number", "b": "ignore"}
    assert encoder.transform([{"a": 1, "b": "now"}]).shape == (1, 1)
    with pytest.raises(ValueError, match="all are ignored"):
        TableEncoder(kinds={"b": "ignore"}).fit([{"b": None}])


@pytest.mark.parametrize("value", ["now", 3, 0.0, False, datetime.date(2026, 1, 2), [1]])
def test_the_first_value_of_a_column_that_is_ignored_is_warned_of(value, tmp_path):
    first, later = {"a": 1, "b": None}, {"a": 2, "b": value}
    with pytest.warns(UserWarning, match="'b' is ignored"):
        made = TableEncoder().partial_fit([first])
    made.partial_fit([first, {"a": 3, "b": math.nan}]).learn_transform_one({"a": 3, "b": ""})
    made.transform([later])
    made.save(tmp_path / "e.okn")
    told = []
    for teach in (
        lambda encoder: encoder.partial_fit([first, later]),
        lambda encoder: encoder.learn_transform_one(later),
    ):
        encoder = onlinekern.load(tmp_path / "e.okn")
        with pytest.warns(UserWarning, match="'b' has values now"):
            teach(encoder)
        encoder.partial_fit([later]).learn_transform_one(later)  # It warns once.
        told.append(encoder._columns[1])
    assert told[0] == told[1]
    TableEncoder(kinds={"b": "ignore"}).partial_fit([first]).partial_fit([later])


def test_a_call_that_fails_is_not_told_twice_of_a_first_value():
    first, later = {"a": 1.0, "b": None}, {"a": 2.0, "b": 3.0}
    with pytest.warns(UserWarning, match="'b' is ignored"):
        models = [StreamClassifier(random_state=0).fit(20 * [first], 10 * [0, 1]) for _ in "ab"]
    for model in models:  # Equal columns of two models warn each.
        with pytest.warns(UserWarning, match="'b' has values now"), pytest.raises(ValueError):
            model.partial_fit([later], [None])
        with pytest.raises(ValueError, match="among the classes"):
            model.partial_fit([later], ["seven"])
        with pytest.raises(ValueError, match="sample_weight must be"):
            model.learn_one(later, 1, sample_weight=-1.0)
        model.partial_fit([later], [1])


def test_a_column_without_a_first_value_is_what_its_type_or_kind_says():
    empty = pa.table({"a": [1.0, 2.0], "b": pa.array([None, None], type=pa.float64())})
    encoder = TableEncoder()
    np.testing.assert_array_equal(encoder.learn_transform(empty), [[1, 0, 1], [2, 0, 1]])
    assert encoder.kinds_ == {"a": "number", "b": "number"}
    later = [{"a": 3.0, "b": 4.0}, {"a": 3.0, "b": None}]
    np.testing.assert_array_equal(encoder.learn_transform(later), [[3, 4, 0], [3, 4, 1]])
    first = {"a": 1.0, "b": None}
    advice = r"'b' is ignored, in later rows too: the first row .*kinds=\{'b': 'number'\}.*b=number"
    with pytest.warns(UserWarning, match=advice):
        TableEncoder().partial_fit([first])
    given = TableEncoder(kinds={"b": "number"})
    rows = [given.learn_transform_one(row) for row in (first, *later)]
    np.testing.assert_array_equal(rows, [[1, 0, 1], [3, 4, 0], [3, 4, 1]])


@pytest.mark.parametrize("text", [False, True], ids=["dense", "sparse"])
def test_in_a_pipeline_and_in_a_file(tmp_path, text):
    rows, y = table(300, text=text), np.random.default_rng(0).choice(["no", "yes"], 300)
    model = make_stream_pipeline(TableEncoder(), OnlineStandardScaler(), PAClassifier())
    model.partial_fit(rows.slice(0, 200), y[:200], classes=["no", "yes"])
    model.save(tmp_path / "m.okn")
    again = onlinekern.load(tmp_path / "m.okn")
    assert again[0].kinds_ == model[0].kinds_
    for one in (model, again):
        one.partial_fit(rows.slice(200), y[200:])
    np.testing.assert_array_equal(again.decision_function(rows), model.decision_function(rows))
    np.testing.assert_array_equal(again.feature_names_in_, rows.column_names)
    one = rows.slice(7, 1).to_pylist()[0]
    np.testing.assert_allclose(model.score_one(one), model.decision_function(rows.slice(7, 1))[0])
    before = model.decision_function(rows)
    with pytest.raises(ValueError, match="lacks"):
        model.learn_one({"size": 1.0}, "yes")
    np.testing.assert_array_equal(model.decision_function(rows), before)
    model.learn_one(one, "no")
    assert model[-1].n_seen_ == 301
    assert clone(model[0]).get_params() == model[0].get_params()


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        (0, "total", "1"),
        (0, "count", -1),
        (1, "room", 10**12),
        (1, "room", 2),
        (1, "known", [1]),
        (2, "circles", ("month",)),
        (4, "width", 0),
        (5, "name", None),
    ],
)
def test_a_damaged_column_is_refused(place, name, value):
    encoder = TableEncoder().fit(table(20))
    object.__setattr__(encoder._columns[place], name, value)
    with pytest.raises(ValueError, match="one of its columns is none"):
        from_bytes(to_bytes(encoder), "m.okn")


def test_numbers_of_categories_are_not_scaled_beside_text():
    rng = np.random.default_rng(0)
    words = rng.choice(["red", "green", "blue", "big", "small"], size=(300, 5))
    rows = {
        "size": rng.normal(7, 3, size=300),
        "town": rng.choice(["Ulm", "Bonn", None], 300).tolist(),
        "text": [" ".join(each) + f" {i}" for i, each in enumerate(words)],
    }
    encoder = TableEncoder(categories="codes")
    found = encoder.fit_transform(pa.table(rows))
    places = [{"Ulm": 0, "Bonn": 1}.get(town, np.nan) for town in rows["town"]]
    first = rows["town"].index("Ulm") > rows["town"].index("Bonn")
    expected = [1 - place if first else place for place in places]
    assert encoder.coded_ == (1,)
    np.testing.assert_array_equal(found[:, [1]].toarray().ravel(), expected)
    np.testing.assert_array_equal(found[:, [0]].toarray().ravel(), rows["size"])
    forest = onlinekern.KernelForestClassifier(categorical_features=[1], random_state=0)
    y = [town == "Ulm" for town in rows["town"]]
    model = make_stream_pipeline(encoder, forest).fit(pa.table(rows), y)
    assert model.score(pa.table(rows), y) > 0.9


@pytest.mark.parametrize(
    ("name", "change", "remedy"),
    [
        ("size", lambda column: column.astype(str), "to_numeric"),
        ("at", lambda column: column.astype("int64"), "to_datetime"),
    ],
)
def test_what_the_error_of_a_type_advises_can_be_predicted(name, change, remedy):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"size": np.arange(60.0), "town": ["Ulm", "Bonn"] * 30})
    frame["at"] = pd.date_range("2026-01-01", periods=60, freq="h")
    model = StreamClassifier(random_state=0).fit(frame, [0, 1] * 30)
    other = frame.assign(**{name: change(frame[name])})
    with pytest.raises(
        ValueError, match=rf"column '{name}' holds .* of the kind .*pandas.{remedy}"
    ):
        model.predict(other)
    mended = other.assign(**{name: getattr(pd, remedy)(other[name])})
    np.testing.assert_array_equal(model.predict(mended), model.predict(frame))
