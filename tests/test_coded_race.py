"""Races of tables, whose forests get the numbers of categories in place of one-hot features."""

import copy
import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from oracles.race import coded_rows as twin
from twins_of_targets import without_twins

import onlinekern
from onlinekern import StreamClassifier, StreamRegressor, TableEncoder, make_stream_pipeline, merge
from onlinekern.core.race import restore
from onlinekern.core.samples.coded import coded_rows, layout_of
from onlinekern.fitted.save import to_bytes

pd = pytest.importorskip("pandas")
LAYOUT = ((0, 1), (1, 4), (5, 0), (7, 2), (9, 1))


def table(n=400, seed=0):
    """Return rows with two columns of categories, holes, a date, and targets of both."""
    rng = np.random.default_rng(seed)
    town, kind = rng.integers(0, 12, n), rng.integers(0, 3, n)
    size = rng.normal(size=n)
    y = np.sin(town * 7.0) + (kind == 1) * size + 0.1 * rng.normal(size=n)
    X = pd.DataFrame(
        {"town": [f"t{k}" for k in town], "size": np.where(rng.random(n) < 0.2, np.nan, size),
         "at": pd.date_range("2026-01-01", periods=n, freq="h"), "kind": [f"k{k}" for k in kind]}
    )  # fmt: skip
    return X, y


def learnt(X, y, cuts=(0, 130, 131, 400), model=None):
    model = StreamRegressor(random_state=0) if model is None else model
    for a, b in itertools.pairwise(cuts):
        model.partial_fit(X.iloc[a:b], y[a:b])
    return model


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_rows_are_those_of_the_twin(dtype, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 10)).astype(dtype)
    X[:, 1:5] = np.eye(5)[rng.integers(0, 5, 50)][:, :4]  # Some are of no category.
    X[:, 6] = rng.random(50) < 0.3
    X[:, 7:9] = np.eye(2)[rng.integers(0, 2, 50)]
    found = coded_rows(form(X), layout_of(LAYOUT, 10))
    assert found.dtype == dtype
    assert np.array_equal(found, twin(X, LAYOUT), equal_nan=True)


@pytest.mark.parametrize(
    "wrong", [((10, 1),), ((9, 0),), ((3, 8),), ((-1, 1),), ((0, -1),), ((0,),), (0, 1), "text",
              ((0.5, 1),)]
)  # fmt: skip
def test_a_wrong_layout_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="layout"):
        layout_of(wrong, 10)


def test_forests_get_categories_and_missing_values():
    X, y = table()
    model = learnt(X, y)
    race, encoder = model._model, model.encoder_
    assert race.layout == encoder.layout_
    forests = [one for one, raw in zip(race.experts, race.raw, strict=True) if raw]
    assert {one.d for one in forests} == {len(race.layout)} == {11}
    _, rows = race.seen(encoder.transform(X.iloc[:50]))
    names = encoder._names_in_layout().tolist()
    town = rows[:, names.index("town")]
    assert len(set(town)) == X["town"].iloc[:50].nunique()
    assert np.array_equal(np.isnan(rows[:, names.index("size")]), X["size"].iloc[:50].isna())
    assert model.importance_names_.tolist() == names
    assert len(model.feature_importances_) == len(names)
    assert names[np.argmax(model.feature_importances_)] in ("town", "size", "kind")


def test_cuts_of_the_stream_and_single_rows_change_no_bits():
    X, y = table()
    whole = learnt(X, y, (0, 100, 400))
    parts = learnt(X, y, (0, 100, 101, 250, 400))
    assert to_bytes(parts) == to_bytes(whole)
    single = learnt(X.iloc[:300], y[:300], (0, 100, 300))
    for row, target in zip(X.iloc[300:].to_dict("records"), y[300:], strict=True):
        single.learn_one(row, target)
    assert np.array_equal(single.predict(X), whole.predict(X))
    row = X.iloc[5].to_dict()
    assert single.score_one(row) == whole.predict(X.iloc[5:6])[0]


def test_a_pipeline_with_an_encoder_learns_the_same():
    X, y = table()
    alone = learnt(X, y)
    pipeline = make_stream_pipeline(TableEncoder(), StreamRegressor(random_state=0))
    learnt(X, y, model=pipeline)
    assert pipeline[-1]._model.layout == alone._model.layout != ()
    assert np.array_equal(pipeline.predict(X), alone.predict(X))
    assert "_encoder_in_front" not in vars(pipeline[-1])
    fitted = make_stream_pipeline(TableEncoder(), StreamRegressor(random_state=0)).fit(X, y)
    assert fitted[-1]._model.layout == fitted[0].layout_


def test_it_is_saved_pickled_and_goes_on(tmp_path):
    X, y = table()
    model = learnt(X.iloc[:200], y[:200], (0, 200))
    model.save(tmp_path / "model.okn")
    for other in (onlinekern.load(tmp_path / "model.okn"), pickle.loads(pickle.dumps(model)),
                  copy.deepcopy(model)):  # fmt: skip
        assert other._model.layout == model._model.layout
        other.partial_fit(X.iloc[200:], y[200:])
        assert np.array_equal(other.predict(X), learnt(X, y, (0, 200, 400)).predict(X))


def test_a_race_of_an_older_file_goes_on_without_a_layout(monkeypatch):
    without_twins(monkeypatch)
    X, y = table()
    model = StreamRegressor(random_state=0).fit(TableEncoder().fit_transform(X), y)
    race = model._model
    parts = (race.experts, race.costs, race.vote, race.moments, race.head, race.dtype,
             race.budget, race.limit, race.forgetting)  # fmt: skip
    progress = race.n_seen, race.noted, race.alarm, race.stride, race.voting, race.learnt, []
    older = restore(parts, progress)
    assert older.layout == ()
    assert older.twins == race.twins == (None,) * len(race.experts)
    assert older.patience == (0,) * len(race.experts) != race.patience
    with pytest.raises((TypeError, ValueError), match="layout"):
        restore((*parts, ((999, 1),)), progress)


def test_merged_races_keep_the_layout():
    X, y = table()
    base = learnt(X.iloc[:200], y[:200], (0, 200))
    parts = [copy.deepcopy(base).partial_fit(X.iloc[k : k + 100], y[k : k + 100])
             for k in (200, 300)]  # fmt: skip
    merged = merge(parts, base=base)
    assert merged._model.layout == base._model.layout
    assert np.isfinite(merged.predict(X)).all()
    with pytest.raises(ValueError, match=r"forms of samples|encoder"):
        merge([base, StreamRegressor(random_state=0).fit(base.encoder_.transform(X), y)])


def test_a_failed_call_leaves_the_race_as_it_was():
    X, y = table()
    model = learnt(X, y)
    before = to_bytes(model)
    with pytest.raises(ValueError):
        model.partial_fit(X.assign(size=np.inf), y)
    with pytest.raises(ValueError):
        model.partial_fit(X, np.full(len(y), np.nan))
    assert to_bytes(model) == before


def test_classes_that_come_later_find_the_same_experts():
    X, y = table()
    labels = np.digitize(y, [-0.5, 0.5]).astype(str)
    early, late = np.flatnonzero(labels != "2"), np.flatnonzero(labels == "2")
    model = StreamClassifier(random_state=0)
    model.partial_fit(X.iloc[early], labels[early]).partial_fit(X.iloc[late], labels[late])
    assert model._model.layout == model.encoder_.layout_
    assert model.predict_proba(X).shape == (400, 3)
    assert len(model.report().experts) == len(model._model.experts)


def test_widths_do_not_count_features_that_wait():
    X, y = table()
    model = learnt(X, y)
    n_active = model._model.d - 33  # Of 12 and 3 categories, as many again and 9 of each wait.
    assert model._empty_at_first == 33
    squares = next(e for e in model.report().experts if "gamma 1/d" in e.name)
    assert squares.estimator.gamma == 1 / n_active


def test_text_is_learnt_as_it_was():
    X, y = table()
    words = [f"row number {k} of the table {k * k}" for k in range(len(y))]
    model = learnt(X.assign(note=words), y)
    assert model.encoder_.kinds_["note"] == "text"
    assert model._model.layout == ()
