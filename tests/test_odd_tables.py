"""What people do with data frames in their first hour: odd columns, rows and labels."""

import warnings

import numpy as np
import pytest
from commands import run

from onlinekern import (
    ConformalClassifier,
    ConformalRegressor,
    KernelForestClassifier,
    KernelMeanDetector,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    StreamClassifier,
    StreamRegressor,
    TableEncoder,
    make_stream_pipeline,
)
from onlinekern.drift import RenewedLearner

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

N = 60
LEARNERS = [StreamClassifier, PAClassifier, KernelForestClassifier, KernelRLSRegressor]
rng = np.random.default_rng(0)
NUMBERS = pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N)})
MIXED = NUMBERS.assign(
    town=rng.choice(["Ulm", "Bonn"], N),
    at=pd.date_range("2026-01-01", periods=N, freq="5h"),
    k=rng.integers(0, 9, N),
)
LABELS = np.where(NUMBERS["a"] > 0, "yes", "no")


def targets(learner):
    return LABELS if hasattr(learner, "predict_proba") else NUMBERS["a"].to_numpy()


def known(learner):
    """Return what the first call of `partial_fit` or `learn_one` needs."""
    needs = hasattr(learner, "predict_proba") and learner is not StreamClassifier
    return {"classes": ["no", "yes"]} if needs else {}


def fitted(learner, table):
    return learner(random_state=0).fit(table, targets(learner))


def rows_of(table):
    """Return ways to give the first row of a frame that has names."""
    polars = pytest.importorskip("polars")
    first, back = table.iloc[:1], table.columns[::-1].tolist()
    return [
        first, first[back], table.iloc[0], table.iloc[0][back], first.to_dict("records")[0],
        polars.from_pandas(first[back]), pa.Table.from_pandas(first[back], preserve_index=False),
    ]  # fmt: skip


@pytest.mark.parametrize("learner", [*LEARNERS, KernelMeanDetector])
def test_a_row_of_a_table_is_taken_by_the_names_of_its_columns(learner):
    model = fitted(learner, MIXED)
    expected = model.score_one(MIXED.iloc[0].to_dict())
    for row in rows_of(MIXED):
        assert np.all(model.score_one(row) == expected)
    y = targets(learner)[0]
    learnt = [fitted(learner, MIXED).learn_one(row, y) for row in rows_of(MIXED)]
    scores = [one.score_one(MIXED.iloc[1].to_dict()) for one in learnt]
    assert all(np.all(score == scores[0]) for score in scores)


@pytest.mark.parametrize("learner", [*LEARNERS, KernelMeanDetector])
def test_rows_of_numbers_have_names_too(learner):
    model = fitted(learner, NUMBERS)
    expected = model.score_one(NUMBERS.to_numpy()[0])
    assert np.all(model.score_one(NUMBERS.iloc[0]) == expected)
    assert np.all(model.score_one(NUMBERS.iloc[:1]) == expected)
    assert np.all(model.score_one(pd.Series(NUMBERS.to_numpy()[0])) == expected)
    for row in (NUMBERS.iloc[0][["b", "a"]], NUMBERS.iloc[:1][["b", "a"]]):
        with pytest.raises(ValueError, match="feature names should match"):
            model.score_one(row)
        with pytest.raises(ValueError, match="feature names should match"):
            model.learn_one(row, targets(learner)[0])
    before = model.n_seen_
    model.learn_one(NUMBERS.iloc[0], targets(learner)[0])
    assert model.n_seen_ == before + 1


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_stream_begins_with_rows_of_a_table(learner):
    one, other = learner(random_state=0), learner(random_state=0)
    given = known(learner)
    for (_, row), y in zip(MIXED.iterrows(), targets(learner), strict=True):
        one.learn_one(row, y, **given)
        other.learn_one(row.to_dict(), y, **given)
        given = {}
    assert one.encoder_.kinds_["at"] == "date"
    assert (one.predict(MIXED) == other.predict(MIXED)).all()


def test_models_of_arrays_take_rows_with_names():
    model = StreamClassifier(random_state=0).fit(NUMBERS.to_numpy(), LABELS)
    assert model.score_one(NUMBERS.iloc[0]) == model.score_one(NUMBERS.to_numpy()[0])
    model.learn_one(NUMBERS.iloc[0], "yes")
    young = PAClassifier(random_state=0).partial_fit(
        NUMBERS.to_numpy()[:3], LABELS[:3], classes=["no", "yes"]
    )
    young.learn_one(NUMBERS.iloc[0], "yes", classes=["no", "perhaps", "yes"])
    assert young.n_seen_ == 4


def test_pipelines_take_rows_of_tables():
    model = make_stream_pipeline(TableEncoder(), OnlineStandardScaler(), PAClassifier())
    model.partial_fit(MIXED, LABELS, classes=["no", "yes"])
    expected = model.score_one(MIXED.iloc[0].to_dict())
    assert all(model.score_one(row) == expected for row in rows_of(MIXED))


@pytest.mark.parametrize("method", ["predict", "score_samples", "partial_fit"])
def test_a_series_in_place_of_a_table_is_an_error_that_says_so(method):
    model = fitted(KernelMeanDetector, MIXED)
    with pytest.raises(ValueError, match="is a Series"):
        getattr(model, method)(MIXED.iloc[0])
    with pytest.raises(ValueError, match="is a Series"):
        KernelMeanDetector().fit(MIXED.iloc[0])


@pytest.mark.parametrize("learner", [*LEARNERS, OnlineStandardScaler, TableEncoder])
def test_arrays_with_named_fields_are_told_what_to_do(learner):
    fields = np.array([(1, 0.5), (2, 0.25)] * 9, dtype=[("a", int), ("b", float)])
    y = [0, 1] * 9
    for X in (fields, fields.view(np.recarray)):
        with pytest.raises(TypeError, match=r"named fields: pandas.DataFrame\(X\) is a table"):
            learner().fit(X, y)
    learner().fit(pd.DataFrame(fields), y)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("method", ["partial_fit", "partial_fit_predict", "score", "predict"])
def test_dictionaries_of_numbers_have_the_names_that_were_learnt(learner, method):
    model = fitted(learner, NUMBERS)
    given = () if method == "predict" else (targets(learner),)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(model, method)(NUMBERS[["b", "a"]].to_dict("records"), *given)


def test_wrappers_say_the_same_of_what_is_no_table():
    polars = pytest.importorskip("polars")
    for model in (ConformalRegressor(), ConformalClassifier(), RenewedLearner(PAClassifier())):
        for X, y, words in (
            (NUMBERS[:0], LABELS[:0], "0 sample"),
            (NUMBERS[:0], [], "0 sample"),
            (polars.from_pandas(NUMBERS).lazy(), NUMBERS["a"] > 0, "X is a LazyFrame"),
            (None, NUMBERS["a"] > 0, "X is None"),
            (NUMBERS["a"], NUMBERS["a"] > 0, "X is a Series"),
        ):
            with pytest.raises((TypeError, ValueError), match=words):
                model.fit(X, np.asarray(y, dtype=float))


def test_dictionaries_have_the_names_of_their_columns():
    model = fitted(StreamClassifier, NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.predict(NUMBERS[["b", "a"]].to_dict("records"))
    assert (found == model.predict(NUMBERS)).all()


def test_categories_of_a_polars_enum():
    pl = pytest.importorskip("polars")
    towns = pl.Series(["Ulm", "Bonn"] * (N // 2), dtype=pl.Enum(["Bonn", "Mainz", "Ulm"]))
    table = pl.DataFrame({"a": NUMBERS["a"].to_numpy(), "town": towns})
    y = np.array(["yes", "no"] * (N // 2))
    model = KernelForestClassifier(random_state=0).fit(table, y)
    assert model.score(table, y) == 1.0


@pytest.mark.parametrize("learner", [StreamClassifier, KernelRLSRegressor])
def test_categories_that_are_dates_are_dates(learner):
    table = MIXED.assign(at=pd.Categorical(MIXED["at"]))
    model = fitted(learner, table)
    assert model.encoder_.kinds_["at"] == "date"
    assert (model.predict(table) == fitted(learner, MIXED).predict(MIXED)).all()


@pytest.mark.parametrize("learner", [StreamClassifier, StreamRegressor, PAClassifier])
@pytest.mark.parametrize(("n_rows", "n_targets"), [(N, 20), (20, N)])
def test_as_many_targets_as_rows(learner, n_rows, n_targets):
    for table in (NUMBERS, MIXED, NUMBERS.to_numpy()):
        model = learner(random_state=0)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            model.partial_fit(table[:n_rows], targets(learner)[:n_targets], **known(learner))
        assert not hasattr(model, "classes_")


@pytest.mark.parametrize("text", ["1.5", "2", "1,5", "1,200", "$1,005.50", "2.50 \u20ac", "3%"])
def test_text_that_looks_like_numbers_is_warned_of(text):
    table = NUMBERS.assign(size=[text, "3"] * (N // 2))
    expected = None
    for rows in (table, table.assign(size=table["size"].astype(object)), table.to_dict("records")):
        with pytest.warns(UserWarning, match=r"column 'size' is text that looks like numbers"):
            model = StreamClassifier(random_state=0).fit(rows, LABELS)
        assert model.encoder_.kinds_["size"] == "category"
        expected = model.predict(table) if expected is None else expected
        assert (model.predict(table) == expected).all()
    encoder = TableEncoder(kinds={"size": "category"}).fit(table)  # it is said: no warning
    assert encoder.kinds_["size"] == "category"
    codes = NUMBERS.assign(postcode=["01067", "89073"] * (N // 2))  # nobody counts with them
    assert StreamClassifier().fit(codes, LABELS).encoder_.kinds_["postcode"] == "category"
    category = table.assign(size=table["size"].astype("category"))
    assert TableEncoder().fit(category).kinds_["size"] == "category"


@pytest.mark.parametrize(
    ("texts", "told", "is_comma"),
    [
        (["1,5", "200"], True, True), (["1,5", "1,200"], True, False),
        (["1,200", "3,400,000"], True, False), (["1.234,50", "12"], True, False),
        (["3,5 %", "1 %"], True, False), (["$2.50", "-$1.50"], True, False),
        (["1,2,3", "4"], False, False), (["1.2.3", "1.2"], False, False),
        (["$", "2"], False, False), (["1,20,300", "2"], False, False),
        (["5 kg", "2"], False, False), (["0,125", "0,5"], True, True),
        (["01067", "9110"], False, False), (["030123456", "03012345678"], False, False),
        (["+4930123456", "+49301234567"], False, False), (["+1.5", "-2"], True, False),
    ],
)  # fmt: skip
def test_decimal_commas_are_told_from_thousands(texts, told, is_comma):
    """Who reads 1,200 with decimal commas has 1.2."""
    table = NUMBERS.assign(size=texts * (N // 2))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        TableEncoder().fit(table)
    said = [str(one.message) for one in found]
    assert len(said) == told
    assert any("--decimal" in one for one in said) == is_comma


@pytest.mark.parametrize(
    ("text", "told"),
    [("{0} %", r"numbers, '0 %' for one\. Make numbers"), ("{0},5", r"\(on .* --decimal ,\); or"),
     ("{1}.{2}.2020", r"dates, '1\.1\.2020' for one, for .* \(pandas\.to_datetime\); or")],
)  # fmt: skip
def test_a_column_is_warned_of_once(text, told):
    """It is either ignored or becomes categories, not both."""
    texts = [text.format(k, 1 + k % 28, 1 + k // 28) for k in range(300)]
    table = pd.DataFrame({"x": np.arange(len(texts)) * 1.0, "size": texts})
    with pytest.warns(UserWarning, match=f"'size' is ignored, .*{told}") as found:
        TableEncoder().fit(table)
    assert len(found) == 1


MANY = 240
ORDERS = pd.DataFrame({
    "x": rng.normal(size=MANY), "z": rng.normal(size=MANY),
    "order": [f"n{k}" for k in range(MANY)], "user": [f"u{k % 150}" for k in range(MANY)],
})  # fmt: skip
RIGHT = np.where(ORDERS["x"] > 0, "yes", "no")


@pytest.mark.parametrize("holes", [0, 30])
@pytest.mark.parametrize("kind", ["text", "category", "dictionaries"])
@pytest.mark.parametrize("learner", [StreamClassifier, KernelForestClassifier, PAClassifier])
def test_a_column_of_which_no_value_comes_again_is_left_out(learner, kind, holes):
    table = ORDERS.assign(order=[None] * holes + list(ORDERS["order"][holes:]))
    rows = table.astype({"order": "category"}) if kind == "category" else table
    rows = table.to_dict("records") if kind == "dictionaries" else rows
    told = (
        rf"column 'order' is ignored, .* the {MANY - holes} values in its first 240 rows are diff"
    )
    with pytest.warns(UserWarning, match=told):
        model = learner(random_state=0).fit(rows, RIGHT)
    assert model.encoder_.kinds_["order"] == "ignore"
    assert model.encoder_.kinds_["user"] != "ignore"  # some came twice
    without = learner(random_state=0).fit(table.drop(columns="order"), RIGHT)
    assert (model.predict(rows) == without.predict(table.drop(columns="order"))).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(rows[:40], RIGHT[:40])  # it is said once
        learner(random_state=0).fit(table[:190], RIGHT[:190])  # too few to tell


def test_a_column_of_which_no_value_comes_again_is_kept_if_someone_says_so():
    columns = ["x", "order"]
    for given in ({"kinds": {"order": "hashed"}}, {"categories": "hash"}, {"hashed_features": 64}):
        encoder = TableEncoder(**given).fit(ORDERS[columns])
        assert encoder.kinds_["order"] == "hashed"
    assert TableEncoder().fit(ORDERS[["order"]]).kinds_ == {"order": "hashed"}  # there is no other


@pytest.mark.parametrize(
    "dates",
    [
        ["30.12.2025", "2.1.2026"], ["12/30/2025 07:00", "1/2/2026 19:30"], ["2025/12/30", None],
        ["30-12-2025, 7:00", "02-01-2026, 8:00"],
    ],
)  # fmt: skip
def test_dates_of_other_forms_are_warned_of(dates):
    table = NUMBERS.assign(at=dates * (N // 2))
    with pytest.warns(UserWarning, match=rf"'at' is text that looks like dates, '{dates[0]}'.*ISO"):
        assert TableEncoder().fit(table).kinds_["at"] == "category"
    TableEncoder(kinds={"at": "category"}).fit(table)
    read = table.assign(at=pd.to_datetime(table["at"], format="mixed", dayfirst=True))
    assert TableEncoder().fit(read).kinds_["at"] == "date"


@pytest.mark.parametrize(
    "others",
    [
        ["10.2.1", "10.2.12"], ["192.168.10.1", "10.0.0.7"], ["1.1.2026", "never"],
        ["12-34-5678", "11-10-2012"], ["10.0.1904", "10.1.2024"], ["1.0.2024", "2.0.2024"],
        ["13/14/2024", "14/13/2024"], ["1234/5/6", "1235/5/6"], ["2024/13/1", "2024.14.2"],
    ],
)  # fmt: skip
def test_text_that_is_no_date_is_not_warned_of(others):
    """Versions, addresses, numbers of telephones and of parts."""
    assert TableEncoder().fit(NUMBERS.assign(at=others * (N // 2))).kinds_["at"] == "category"


def test_the_command_tells_of_decimal_commas(capsys, tmp_path):
    file = tmp_path / "x.csv"
    NUMBERS.assign(y=LABELS).to_csv(file, sep=";", decimal=",", index=False)
    _, _, err = run(capsys, "train", file, "--target", "y", "-o", tmp_path / "m.okn")
    assert "--decimal" in err
    assert "targets" not in err
    NUMBERS.assign(y=NUMBERS.iloc[:, 0] + 0.5).to_csv(file, sep=";", decimal=",", index=False)
    _, _, err = run(capsys, "compare", file, "--target", "y", "--methods", "linear-pa1")
    assert err.count("the targets in column 'y' are text that looks like numbers, '") == 1
    _, out, err = run(capsys, "compare", file, "--target", "y", "--methods", "linear-pa1",
                      "--decimal", ",")  # fmt: skip
    assert (err, "regression" in out) == ("", True)


def test_the_command_tells_of_targets_with_thousands(capsys, tmp_path):
    file = tmp_path / "x.csv"
    NUMBERS.assign(y=[f"{k},200" for k in range(N)]).to_csv(file, index=False)
    _, _, err = run(capsys, "compare", file, "--target", "y", "--methods", "linear-pa1")
    assert err.count("that looks like numbers, '") == 1
    assert "Make numbers of it before" in err
    assert "--decimal" not in err


def test_a_model_that_learnt_numbers_tells_of_decimal_commas(capsys, tmp_path):
    file, model = tmp_path / "x.csv", tmp_path / "m.okn"
    NUMBERS.assign(y=LABELS).to_csv(file, sep=";", decimal=",", index=False)
    given = ("train", file, "--target", "y", "-o", model, "--method", "linear-pa1")
    assert run(capsys, *given, "--decimal", ",")[0] == 0
    code, _, err = run(capsys, "predict", model, file)
    assert code == 2
    assert "decimal=',' reads decimal commas (on the command line: --decimal ,)" in err
    NUMBERS.assign(a="high", y=LABELS).to_csv(file, index=False)
    code, _, err = run(capsys, "predict", model, file)
    assert code == 2
    assert err.strip().endswith("is no number")


MISSING_LABELS = [
    [None, *LABELS[1:]],
    pd.Series([np.nan, *LABELS[1:]]),
    pd.Series([None, *LABELS[1:]], dtype="string"),
    pd.Series([pd.NA, *LABELS[1:]], dtype=object),
    [*LABELS[:3], None, *LABELS[4:]],
    pa.array([*LABELS[:3], None, *LABELS[4:]]),
]


@pytest.mark.parametrize("learner", [StreamClassifier, PAClassifier])
@pytest.mark.parametrize("y", MISSING_LABELS)
def test_missing_labels_are_named(learner, y):
    message = rf"y\[{pd.isna(np.array(y, dtype=object)).argmax()}\] is missing"
    for table in (NUMBERS, MIXED):
        with pytest.raises(ValueError, match=message):
            learner().fit(table, y)
        with pytest.raises(ValueError, match=message):
            learner().partial_fit(table, y, **known(learner))
        model = learner().partial_fit(table, LABELS, **known(learner))
        with pytest.raises(ValueError, match=message):
            model.partial_fit(table, y)
        assert model.n_seen_ == N


ODD = {
    "two kinds": (MIXED.assign(k=[1, "a"] * (N // 2)), "column 'k' holds int, str.*astype"),
    "lists": (MIXED.assign(k=[[1]] * N), r"TableEncoder\(kinds=\{'k': 'ignore'\}\)"),
    "columns": (MIXED.to_dict("list"), r"'a' is a list.*pandas\.DataFrame"),
    "rows of two kinds": ([{"a": 1}, [1]], "dictionaries and other things"),
    "records": (NUMBERS.to_records(index=False), r"pandas\.DataFrame"),
    "no columns": (NUMBERS[[]], "no columns"),
}


@pytest.mark.parametrize("odd", ODD)
def test_errors_of_odd_tables_say_what_to_do(odd):
    table, message = ODD[odd]
    for model in (StreamClassifier(), PAClassifier(), KernelForestClassifier()):
        with pytest.raises((TypeError, ValueError), match=message):
            model.fit(table, LABELS[: len(table)])


def test_the_command_names_a_column_of_lists(capsys, tmp_path):
    file = tmp_path / "x.parquet"
    MIXED.assign(k=[[1]] * N, y=LABELS).to_parquet(file)
    code, _, err = run(capsys, "train", file, "--target", "y", "-o", tmp_path / "m.okn")
    assert code
    assert "Traceback" not in err
    assert "column 'k' holds list" in err


def test_a_column_without_a_name_is_quoted(capsys, tmp_path):
    one, other = tmp_path / "x.csv", tmp_path / "z.csv"
    NUMBERS.assign(y=LABELS).to_csv(one, index=False)
    NUMBERS.assign(y=LABELS).to_csv(other)
    assert run(capsys, "train", one, "--target", "y", "-o", tmp_path / "m.okn")[0] == 0
    _, _, err = run(capsys, "predict", tmp_path / "m.okn", other, "--target", "y")
    assert "this one has also ''" in err


def test_json_that_is_no_json_lines_is_told(capsys, tmp_path):
    file = tmp_path / "x.json"
    NUMBERS.assign(y=LABELS).to_json(file, orient="records")
    _, _, err = run(capsys, "train", file, "--target", "y", "-o", tmp_path / "m.okn")
    assert ".jsonl" in err


def test_a_forest_of_a_frame_of_categories_takes_rows_of_other_tables():
    table = NUMBERS[["a"]].assign(c=pd.Categorical(MIXED["town"]), b=NUMBERS["b"])
    y = np.where((table["a"] > 0) ^ (MIXED["town"] == "Ulm"), "yes", "no")
    model = KernelForestClassifier(random_state=0).fit(table, y)
    assert not hasattr(model, "encoder_")
    expected = model.decision_function(table)
    for rows in (table.to_dict("records"), pa.Table.from_pandas(table), table.to_numpy().tolist()):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            assert (model.decision_function(rows) == expected).all()
    assert model.score_one(table.iloc[0][["c", "b", "a"]].to_dict()) == expected[0]
    other = KernelForestClassifier(random_state=0).fit(table, y).partial_fit(table[:1], ["yes"])
    model.learn_one(table.iloc[0].to_dict(), "yes")
    assert (model.decision_function(table) == other.decision_function(table)).all()
    unknown = model.decision_function([{"a": 0.1, "b": 0.2, "c": "Mainz"}])
    assert unknown == model.decision_function(table[:1].assign(a=0.1, b=0.2, c="Mainz"))


@pytest.mark.parametrize("learner", [StreamClassifier, PAClassifier, KernelForestClassifier])
@pytest.mark.parametrize("method", ["fit", "partial_fit", "partial_fit_predict"])
def test_lists_of_text_and_numbers_are_no_labels(learner, method):
    model = learner(random_state=0)
    for y in ([1, "a"] * 30, ("a", True) * 30):
        known = {} if method == "fit" or learner is StreamClassifier else {"classes": ["1", "a"]}
        with pytest.raises(ValueError, match=r"y holds objects .*: labels are of one kind"):
            getattr(model, method)(NUMBERS, y, **known)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize("learner", [StreamRegressor, KernelRLSRegressor, ConformalRegressor])
def test_targets_that_are_no_numbers_are_named(learner):
    for y in (MIXED["at"].dt.tz_localize("UTC"), MIXED["town"], MIXED["town"].tolist()):
        with pytest.raises((TypeError, ValueError), match=r"^y must hold numbers"):
            learner().fit(NUMBERS, y)


@pytest.mark.parametrize("learner", [StreamClassifier, PAClassifier])
def test_weights_of_first_calls_are_named(learner):
    for weight in (np.ones(3), "a", {0: 1.0}):
        with pytest.raises((TypeError, ValueError), match="sample_weight"):
            learner().partial_fit(NUMBERS, LABELS, sample_weight=weight, **known(learner))
    model = learner().partial_fit(NUMBERS, LABELS, sample_weight=2.0, **known(learner))
    assert model.n_seen_ == N


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_a_forest_of_categories_come_in_any_order(library):
    table = NUMBERS.assign(town=pd.Categorical(MIXED["town"]))
    back = table[table.columns[::-1]]
    if library == "polars":
        table, back = map(pytest.importorskip("polars").from_pandas, (table, back))
    model = KernelForestClassifier(n_trees=5, random_state=0).fit(table, LABELS)
    assert "encoder_" not in vars(model)
    expected = model.decision_function(table)
    np.testing.assert_array_equal(model.decision_function(back), expected)
    other = KernelForestClassifier(n_trees=5, random_state=0).fit(table, LABELS)
    model.partial_fit(table, LABELS)
    other.partial_fit(back, LABELS)
    np.testing.assert_array_equal(model.decision_function(back), other.decision_function(table))
    assert model.score_one(MIXED.iloc[0][["town", "b", "a"]]) == model.decision_function(table)[0]
    for X, words in (
        (table[["b", "town"]], "it lacks 'a'"),
        (table[["a", "b"]], "it lacks 'town'"),
    ):
        with pytest.raises(ValueError, match=f"X has other columns than those learnt: {words}"):
            model.predict(X)


def test_as_many_weights_as_rows():
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(2,\), expected \(60,\)"):
        StreamClassifier().partial_fit(MIXED, LABELS, sample_weight=[1.0, 2.0])


@pytest.mark.parametrize("kind", ["intervals", "categories of intervals", "periods"])
def test_rows_of_intervals_and_periods_are_those_of_the_frame(kind):
    column = {
        "intervals": lambda: pd.arrays.IntervalArray.from_breaks(np.arange(31.0)),
        "categories of intervals": lambda: pd.cut(rng.normal(size=30), 4),
        "periods": lambda: pd.period_range("2024", periods=30, freq="D"),
    }[kind]()
    X = pd.DataFrame({"a": column, "b": rng.normal(size=30)})
    X["a"] = X["a"].where(np.arange(30) != 7)
    model = PAClassifier(random_state=0).fit(X, np.arange(30) % 2)
    expected = model.decision_function(X)
    rows = X.to_dict("records")
    np.testing.assert_array_equal(model.decision_function(rows), expected)
    np.testing.assert_array_equal(model.decision_function(X.astype(object)), expected)
    for single in (rows, [X.iloc[place] for place in range(30)]):
        np.testing.assert_array_equal([model.score_one(row) for row in single], expected)
