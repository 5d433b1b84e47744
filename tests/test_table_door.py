"""Tables straight into learners: an encoder inside of the model makes numbers of other columns."""

import copy
import datetime
import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from commands import run
from learners import public_names
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import cross_val_score

import onlinekern
from onlinekern import (
    KernelForestClassifier,
    KernelForestRegressor,
    KernelMeanDetector,
    KernelRLSClassifier,
    KernelRLSRegressor,
    PAClassifier,
    SPAClassifier,
    StreamClassifier,
    StreamRegressor,
    TableEncoder,
    make_stream_pipeline,
    merge,
)
from onlinekern.fitted.save import to_bytes
from onlinekern.plotting import ImportanceDisplay

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

# Columns of users have more values than the first rows show.
pytestmark = pytest.mark.filterwarnings("ignore:column .* has room for no more than")

N = 240
TOWNS = ["Ulm", "Bonn", "?", "Mainz"]
LEARNERS = [
    StreamClassifier,
    StreamRegressor,
    PAClassifier,
    SPAClassifier,
    KernelRLSClassifier,
    KernelRLSRegressor,
    KernelForestClassifier,
    KernelForestRegressor,
    KernelMeanDetector,
]
NAMES = ["size", "town", "user", "at", "new", "count"]


def frame(n=N, seed=0):
    """Return columns of all kinds, with holes, as a data frame of pandas."""
    rng = np.random.default_rng(seed)
    start = datetime.datetime(2026, 1, 1)
    return pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "town": [TOWNS[0], *TOWNS, *rng.choice(TOWNS, n - 5)],
            "user": [f"u{k}" for k in rng.integers(0, 1000, n)],
            "at": [start + datetime.timedelta(hours=int(h)) for h in rng.integers(0, 9000, n)],
            "new": rng.random(n) < 0.5,
            "count": pd.array([None, *rng.integers(0, 9, n - 1).tolist()], dtype="Int64"),
        }
    )


X = frame()
SIGNAL = X["size"].fillna(0).to_numpy() + 2.0 * (X["town"] == "Ulm").to_numpy()


def targets(model):
    if is_regressor(model):
        return SIGNAL
    return np.where(SIGNAL > 0.5, "yes", "no") if is_classifier(model) else None


def first(model):
    """Return what the first call of `partial_fit` needs."""
    alone = not is_classifier(model) or isinstance(model, StreamClassifier)
    return {} if alone else {"classes": ["no", "yes"]}


def answers(model, rows=X):
    return getattr(model, "decision_function", model.predict)(rows)


def streamed(model, cuts, rows=X):
    """Let a model learn rows in calls that are cut there."""
    y, given = targets(model), first(model)
    for start, stop in pairwise(cuts):
        model.partial_fit(rows[start:stop], None if y is None else y[start:stop], **given)
        given = {}
    return model


def dictionaries(rows):
    """Return the rows of a frame as dictionaries, with None where a value is missing."""
    return [
        {name: None if pd.isna(value) else value for name, value in row.items()}
        for row in rows.to_dict("records")
    ]


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_table_goes_straight_in(learner):
    model = learner(random_state=0)
    model.fit(X, targets(model))
    assert model.n_features_in_ == 6
    assert model.feature_names_in_.tolist() == NAMES
    assert model.encoder_.kinds_ == {
        "size": "number", "town": "category", "at": "date", "new": "boolean", "count": "number",
        "user": "category" if model._takes_categories else "hashed",
    }  # fmt: skip
    assert len(model.encoder_.get_feature_names_out()) == model._model.d
    if is_classifier(model) or is_regressor(model):
        least = 0.6 if isinstance(model, PAClassifier) else 0.8
        assert model.score(X, targets(model)) > least


@pytest.mark.parametrize("learner", LEARNERS)
def test_calls_are_cut_anywhere_and_are_what_a_pipeline_does(learner):
    whole = streamed(learner(random_state=0), (0, N))
    cut = streamed(learner(random_state=0), (0, 130, 131, 150, 177, N))
    if learner._takes_categories:
        encoder = TableEncoder(categories="codes", missing="keep")
        codes = list(encoder.fit(X).coded_)
        pipeline = make_stream_pipeline(
            encoder, learner(random_state=0, categorical_features=codes)
        )
    else:
        encoder = TableEncoder(**({"categories": "auto"} if learner._takes_wide else {}))
        pipeline = make_stream_pipeline(encoder, learner(random_state=0))
    # The first call decides how wide the table is: both see the same towns there.
    assert (answers(whole) == answers(cut)).all()
    assert (answers(whole) == answers(streamed(pipeline, (0, N)))).all()


@pytest.mark.parametrize("learner", [StreamClassifier, KernelRLSRegressor, KernelForestClassifier])
def test_fit_in_order_is_a_stream(learner):
    fitted = learner(random_state=0, shuffle=False)
    fitted.fit(X, targets(fitted))
    assert (answers(fitted) == answers(streamed(learner(random_state=0), (0, 130, N)))).all()


@pytest.mark.parametrize("learner", LEARNERS)
def test_files_pickles_and_copies_go_on_alike(learner, tmp_path):
    model = streamed(learner(random_state=0), (0, 100))
    model.save(tmp_path / "model.okn")
    copies = [
        onlinekern.load(tmp_path / "model.okn"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ]
    y = targets(model)
    for one in (model, *copies):
        one.partial_fit(X[100:], None if y is None else y[100:])
    for one in copies:
        assert (answers(one) == answers(model)).all()
        assert one.encoder_ is not model.encoder_
        assert to_bytes(one) == to_bytes(model)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_failed_call_changes_nothing(learner):
    model = streamed(learner(random_state=0), (0, 100))
    y = targets(model)
    before, encoder = to_bytes(model), model.encoder_
    new = X[100:].assign(town="Rom")
    infinite, other, text = new.copy(), new.rename(columns={"size": "width"}), new.copy()
    infinite.loc[130, "size"] = np.inf
    text["size"] = "large"
    for bad, what in ((infinite, "infinite"), (other, "width"), (text, "size")):
        with pytest.raises(ValueError, match=what):
            model.partial_fit(bad, None if y is None else y[100:])
        with pytest.raises(ValueError, match=what):
            model.predict(bad)
    if y is not None:
        # The encoder has learnt the rows by the time the targets are looked at.
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            model.partial_fit(new, y[101:])
    assert to_bytes(model) == before
    assert model.encoder_ is encoder
    fresh = learner()
    with pytest.raises(ValueError, match="infinite"):
        fresh.fit(infinite, None if y is None else y[100:])
    assert vars(fresh) == vars(learner())


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_dictionary_at_a_time(learner):
    whole = streamed(learner(random_state=0), (0, N))
    model = streamed(learner(random_state=0), (0, 130))
    y = targets(model)
    for place, row in enumerate(dictionaries(X[130:]), start=130):
        model.learn_one(row, *([] if y is None else [y[place]]))
    assert (answers(model) == answers(whole)).all()
    scores = answers(model) if is_classifier(model) else model.predict(X)
    if not is_classifier(model) and not is_regressor(model):
        scores = model.decision_function(X)
    rows = dictionaries(X[:5])
    assert [model.score_one(row) for row in rows] == scores[:5].tolist()
    assert [model.score_one(dict(reversed(row.items()))) for row in rows] == scores[:5].tolist()
    assert (model.predict(rows) == model.predict(X[:5])).all()
    with pytest.raises(ValueError, match="lacks 'town'"):
        model.score_one({name: value for name, value in rows[0].items() if name != "town"})


def polars(rows):
    return pytest.importorskip("polars").from_pandas(rows)


@pytest.mark.parametrize("learner", [StreamClassifier, KernelForestRegressor, PAClassifier])
@pytest.mark.parametrize("other", [polars, pa.Table.from_pandas, dictionaries])
def test_all_libraries_give_one_model(learner, other):
    model = streamed(learner(random_state=0), (0, 130, N))
    same = streamed(learner(random_state=0), (0, 130, N), other(X))
    assert (answers(same) == answers(model)).all()
    assert (answers(same, other(X)) == answers(model)).all()


def test_numbers_and_arrays_have_no_encoder():
    numbers = X[["new"]].assign(size=SIGNAL)
    y = targets(SPAClassifier())
    plain = SPAClassifier(random_state=0).fit(numbers.to_numpy(dtype=float), y)
    for rows in (numbers, polars(numbers), pa.Table.from_pandas(numbers)):
        model = SPAClassifier(random_state=0).fit(rows, y)
        assert not hasattr(model, "encoder_")
        assert (answers(model, rows) == plain.decision_function(numbers.to_numpy(float))).all()
    again = SPAClassifier(random_state=0).fit(X, y)
    assert hasattr(again, "encoder_")
    again.fit(numbers.to_numpy(dtype=float), y)
    assert not hasattr(again, "encoder_")
    assert not hasattr(again, "feature_names_in_")
    assert to_bytes(again) == to_bytes(plain)


def test_a_forest_takes_what_it_can_as_it_is():
    rows = X[["size"]].assign(town=X["town"].astype("category"))
    model = KernelForestClassifier(random_state=0).fit(rows, targets(SPAClassifier()))
    assert not hasattr(model, "encoder_")
    model.fit(rows.assign(user=X["user"]), targets(SPAClassifier()))
    assert model.is_categorical_.tolist() == [False, True, True]
    assert model.encoder_.get_feature_names_out().tolist() == ["size", "town", "user"]
    chosen = KernelForestClassifier(categorical_features=["count"]).fit(X, targets(SPAClassifier()))
    assert chosen.encoder_.kinds_["count"] == "category"
    # A category that has not come, and a hole, have answers too.
    row = X.iloc[0].to_dict() | {"town": "Rom", "user": None}
    assert np.isfinite(model.score_one({name: row[name] for name in ("size", "town", "user")}))


def test_encode_says_what_is_encoded():
    y = targets(SPAClassifier())
    with pytest.raises(ValueError, match="encode='auto'"):
        SPAClassifier(encode=False).fit(X, y)
    holes = X[["size"]].to_numpy()
    with pytest.raises(ValueError, match="encode=True"):
        SPAClassifier().fit(holes, y)
    model = SPAClassifier(encode=True, random_state=0).fit(holes, y)
    assert not hasattr(model, "feature_names_in_")
    assert model.encoder_.get_feature_names_out().tolist() == ["x0", "x0 (missing)"]
    assert model.predict([[None], [0.5]]).shape == (2,)
    words = [[x, "Ulm"] for x in SIGNAL]
    model.fit(words, y)
    assert model.encoder_.kinds_ == {"x0": "number", "x1": "category"}
    assert model.score_one([0.5, "Ulm"]) == model.decision_function([[0.5, "Ulm"]])[0]
    with pytest.raises(TypeError, match="sparse"):
        model.fit(sp.csr_matrix(np.eye(len(y))), y)
    with pytest.raises(ValueError, match="'encode' parameter"):
        SPAClassifier(encode="yes").fit(X, y)


def test_a_warm_start_keeps_the_encoder():
    y = targets(PAClassifier())
    model = PAClassifier(warm_start=True, random_state=0).fit(X, y)
    names, weights = model.encoder_.get_feature_names_out(), model.coef_
    model.fit(X[:60].assign(town="Rom"), y[:60])
    now = model.encoder_.get_feature_names_out().tolist()
    assert "town=Rom" in now
    assert len(now) == len(names) == weights.shape[1] == model.coef_.shape[1]
    model.set_params(warm_start=False).fit(X[:60], y[:60])
    assert len(model.encoder_.get_feature_names_out()) != len(names)


def test_two_columns_of_one_name_are_told():
    twice = X[["town", "size", "town"]]
    for learner in (SPAClassifier, StreamClassifier, KernelForestClassifier):
        with pytest.raises(ValueError, match="two columns named 'town'"):
            learner().fit(twice, targets(SPAClassifier()))


def test_types_of_pandas():
    rows = pd.DataFrame(
        {
            "month": pd.period_range("2020-01", periods=N, freq="M"),
            "span": pd.to_timedelta(np.arange(N), unit="s"),
            "zone": pd.date_range("2026-01-01", periods=N, freq="h", tz="Europe/Berlin"),
            "flag": pd.array([None, *[True, False, True] * 100], dtype="boolean")[:N],
            "real": pd.array([None, *SIGNAL[1:]], dtype="Float64"),
            "words": pd.array([None, *X["town"][1:]], dtype="string"),
            "band": pd.cut(SIGNAL, 3),
            "few": pd.arrays.SparseArray(SIGNAL),
            "mixed": pd.Series([pd.NA, *SIGNAL[1:]], dtype=object),
        }
    )
    for learner in (StreamClassifier, KernelForestClassifier):
        model = learner(random_state=0).fit(rows, targets(SPAClassifier()))
        kinds = model.encoder_.kinds_
        assert [kinds[name] for name in rows] == [
            "date", "number", "date", "boolean", "number", "category", "category", "number",
            "number",
        ]  # fmt: skip
        assert model.score(rows, targets(SPAClassifier())) > 0.8


@pytest.mark.parametrize("learner", [StreamClassifier, PAClassifier, KernelForestClassifier])
def test_text_makes_sparse_rows(learner):
    said = [f"the {town} of {name} is {k} miles from here" for k, (town, name) in
            enumerate(zip(X["town"], X["user"], strict=True))]  # fmt: skip
    rows, model = X.assign(said=said), learner(random_state=0)
    whole = streamed(model, (0, 130, N), rows)
    assert whole.encoder_.kinds_["said"] == "text"
    assert whole.encoder_.sparse_
    cut = streamed(learner(random_state=0), (0, 130, 131, 150), rows)
    for place, row in enumerate(dictionaries(rows[150:]), start=150):
        cut.learn_one(row, targets(cut)[place])
    assert (answers(cut, rows) == answers(whole, rows)).all()
    assert cut.score_one(rows.iloc[0].to_dict()) == answers(cut, rows)[0]


def test_what_is_no_table_is_told():
    y = targets(SPAClassifier())
    for values, what in (([["a"]] * N, "'odd' holds list"), (["a", 1] * (N // 2), "'odd' holds")):
        with pytest.raises(TypeError, match=what):
            SPAClassifier().fit(X.assign(odd=values), y)
    with pytest.raises(TypeError, match=r"X\.collect"):
        SPAClassifier().fit(polars(X).lazy(), y)


def test_columns_in_another_order_are_put_right():
    model = streamed(StreamClassifier(random_state=0), (0, N))
    assert (answers(model, X[NAMES[::-1]]) == answers(model)).all()
    numbers = X[["new"]].assign(size=SIGNAL)
    plain = SPAClassifier().fit(numbers, targets(SPAClassifier()))
    with pytest.raises(ValueError, match="feature names should match"):
        plain.predict(numbers[["size", "new"]])
    row = {"size": 0.5, "new": True}
    assert plain.score_one(row) == plain.score_one([1.0, 0.5])
    assert plain.learn_one(row, "yes").n_seen_ == N + 1
    with pytest.raises(ValueError, match="lacks 'new'"):
        plain.learn_one({"size": 0.5}, "yes")


@pytest.mark.parametrize("x", [["a", 1.0], [None, 1.0], np.array(["a", 1.0], dtype=object)])
def test_learn_one_says_what_partial_fit_says(x):
    y = targets(SPAClassifier())
    model = SPAClassifier().fit(np.column_stack([SIGNAL, SIGNAL]), y)
    with pytest.raises(ValueError, match="X has") as told:
        model.partial_fit([list(x)], ["yes"])
    for call in (lambda: model.learn_one(x, "yes"), lambda: model.score_one(x)):
        with pytest.raises(ValueError, match="X has") as caught:
            call()
        assert str(caught.value) == str(told.value)


def test_new_classes_and_categories_come_later():
    y = targets(SPAClassifier()).copy()
    y[:140] = "no"
    y[200:] = "perhaps"
    cut, whole = (StreamClassifier(memory_budget=80, random_state=0) for _ in range(2))
    whole.partial_fit(X, y)
    for start, stop in ((0, 130), (130, 131), (131, 150), (150, N)):
        cut.partial_fit(X[start:stop], y[start:stop])
    assert (answers(whole) == answers(cut)).all()
    assert cut.feature_names_in_.tolist() == NAMES
    assert cut.n_features_in_ == 6
    waiting = StreamClassifier().partial_fit(X[:50], y[:50])
    assert waiting.predict(X[:3]).tolist() == ["no"] * 3
    assert "Rom" not in str(cut.encoder_.get_feature_names_out())
    cut.partial_fit(X[:2].assign(town="Rom"), ["yes", "no"])
    assert "town=Rom" in cut.encoder_.get_feature_names_out()


def test_models_with_encoders_are_merged():
    y = targets(KernelRLSRegressor())
    given = {"gamma": 0.05, "n_components": 30, "random_state": 0}
    base = KernelRLSRegressor(**given).partial_fit(X[:130], y[:130])
    parts = [copy.deepcopy(base).partial_fit(X[k : k + 55], y[k : k + 55]) for k in (130, 185)]
    found = merge(parts, base=base)
    whole = KernelRLSRegressor(**given).partial_fit(X, y)
    assert found.n_seen_ == N
    sizes = {
        column.name: column.count for column in found.encoder_._columns if column.kind == "number"
    }
    assert sizes == {c.name: c.count for c in whole.encoder_._columns if c.kind == "number"}
    assert found.score(X, y) > 0.8
    plain = KernelRLSRegressor(**given).fit(np.column_stack([y] * 6), y)
    with pytest.raises(ValueError, match="encoder"):
        merge([base, plain])


@pytest.mark.parametrize("learner", [StreamClassifier, KernelForestClassifier, PAClassifier])
def test_models_of_other_categories_say_so_when_they_are_merged(learner):
    y = targets(learner())
    towns = X[["new"]].assign(size=SIGNAL)
    parts = [
        learner(random_state=0).fit(towns.assign(town=np.resize(names, N)), y)
        for names in (["Ulm", "Bonn"], ["Jena", "Ulm"])
    ]
    with pytest.raises(ValueError, match="column 'town' has its categories in different features"):
        merge(parts)


@pytest.mark.parametrize("learner", [StreamClassifier, KernelForestClassifier, PAClassifier])
def test_tables_are_exported(learner, tmp_path):
    model = streamed(learner(random_state=0), (0, N))
    model.export_c(tmp_path / "model.c")
    assert "model_score_row" in (tmp_path / "model.h").read_text()
    numbers = X[["new"]].assign(size=SIGNAL)
    model = learner(encode=True).fit(numbers, targets(SPAClassifier()))
    assert model.export_c(tmp_path / "model.c", learn=False).code.exists()


def test_scikit_learn_goes_on():
    for model in (StreamClassifier(), KernelForestClassifier(n_trees=20)):
        found = cross_val_score(model, X, targets(model), cv=3, error_score="raise")
        assert found.mean() > 0.7
        assert clone(model).get_params() == model.get_params()
        assert model.get_params()["encode"] == "auto"


def test_features_that_wait_for_categories_do_not_count_in_gamma():
    rows = pd.DataFrame({"size": SIGNAL, "town": X["town"]})
    model = SPAClassifier(gamma="auto").fit(rows, targets(SPAClassifier()))
    assert model._model.d == 1 + 17  # 4 towns, room for as many and 8, and one for the others
    assert model.encoder_.n_empty_ == 13
    assert model.gamma_ == 1 / 5


def test_the_report_of_a_race_begins_with_an_encoder():
    model = streamed(StreamClassifier(random_state=0), (0, N))
    report = model.report()
    before = (
        "" if report.leader.is_raw else "TableEncoder(categories='auto'), "
    )  # Forests take tables.
    assert f"make_stream_pipeline({before}" in str(report)
    plain = report.estimator().fit(X, targets(model))
    assert plain.score(X, targets(model)) > 0.8


def test_importances_have_the_names_of_features():
    model = streamed(KernelForestRegressor(random_state=0), (0, N))
    names = model.encoder_.get_feature_names_out()
    assert len(model.feature_importances_) == len(names) > 6
    assert names[np.argmax(model.feature_importances_)] in ("size", "town")
    display = ImportanceDisplay.from_estimator(model)
    assert {"size", "town", "at (sin of the day)"} <= set(display.names.tolist())


def test_scales_are_told_with_the_line_for_tables():
    # Of many categories rows are sparse, and scaled by the encoder.
    rows = X.drop(columns="user").assign(size=X["size"] * 1e6)
    with pytest.warns(UserWarning, match="feature 'size' reaches") as caught:
        PAClassifier().fit(rows, targets(SPAClassifier()))
    line = "make_stream_pipeline(TableEncoder(), OnlineStandardScaler(), PAClassifier())"
    assert line in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eval(line, public_names()).fit(rows, targets(SPAClassifier()))


def test_the_command_line_reads_rows_as_the_encoder_does(capsys, tmp_path):
    pytest.importorskip("typer")
    rows = X.assign(town=X["town"].replace("?", "Bonn"))  # a text file has ? for what is missing
    model = KernelForestClassifier(n_trees=20, random_state=0).fit(rows, targets(PAClassifier()))
    model.save(tmp_path / "m.okn")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    code, out, error = run(capsys, "predict", tmp_path / "m.okn", tmp_path / "rows.csv")
    assert code == 0, error
    assert out.split() == model.predict(rows).tolist()
    _, out, _ = run(capsys, "info", tmp_path / "m.okn")
    assert "town: category" in out
    assert f"features: {model._model.d}" in out


NUMBERS = pd.DataFrame({"a": SIGNAL, "b": SIGNAL**2})


@pytest.mark.parametrize("table", [X, NUMBERS], ids=["mixed", "numbers"])
def test_one_forest_learns_several_targets_of_tables_and_dictionaries(table):
    Y = np.stack([SIGNAL, -SIGNAL], axis=1)
    whole = KernelForestRegressor(n_trees=3, random_state=0).partial_fit(table, Y)
    parts = KernelForestRegressor(n_trees=3, random_state=0).partial_fit(table[:200], Y[:200])
    for k in range(200, N):
        parts.learn_one(table.iloc[k].to_dict(), Y[k])
    np.testing.assert_array_equal(whole.predict(table), parts.predict(table))
    assert whole.predict(table).shape == (N, 2)
