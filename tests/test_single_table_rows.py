"""One dictionary at a time: the features of a table of one row, bit for bit, and what is learnt."""

import copy
import datetime
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from onlinekern import (
    KernelForestClassifier,
    OnlineStandardScaler,
    PAClassifier,
    StreamClassifier,
    StreamRegressor,
    TableEncoder,
    make_stream_pipeline,
)
from onlinekern.fitted.save import from_bytes, to_bytes
from onlinekern.preprocessing.tables.known import Known

pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings(
    "ignore:column .* has room for no more than", "ignore:column 'code' is text that looks"
)
WIDE = {"sparse": True}
FORMS = [
    {}, WIDE, {"missing": "keep"}, {"missing": "keep", **WIDE},
    {"categories": "codes", "kinds": {"words": "ignore"}},
    {"missing": "refuse"}, {"categories": "hash"}, {"max_categories": 2},
    {"time_zone": "Europe/Berlin"}, {"when": "at"}, {"kinds": {"town": "hashed"}},
    {"dates": ("hour", "day of the year", "day of the month", "time", "half day", "half year")},
]  # fmt: skip
WORDS = ["a b c d", "e f g h i", "a c e g i k", "l m n o", "", "p q r s t u"]


def drawn(n, seed, missing=True):
    """Return rows of all kinds, dictionaries."""
    rng = np.random.default_rng(seed)
    start = datetime.datetime(2026, 1, 1)
    rows = []
    for k in range(n):
        at = start + datetime.timedelta(minutes=int(rng.integers(0, 10**6)))
        row = {
            "size": float(rng.normal()),
            "count": int(rng.integers(-5, 2**40)),
            "new": bool(rng.random() < 0.5),
            "town": str(rng.choice(["Ulm", "Bonn", "Köln", f"t{k}"])),
            "code": str(rng.integers(0, 9)),
            "user": f"u{k}",
            "at": at if seed % 2 else str(at)[: int(rng.choice([10, 16, 19]))],
            "words": str(rng.choice(WORDS)) + f" w{k} x{k} y{k} z{k}",
            "none": None,
        }
        rows.append({
            name: None if missing and rng.random() < 0.1 else value for name, value in row.items()
        })  # fmt: skip
    return rows


ODD = [
    {"size": np.float64(2.5)}, {"size": np.float32(0.1)}, {"size": np.nan}, {"size": 10**17},
    {"size": True}, {"count": 2.5}, {"new": 1}, {"new": np.nan}, {"town": 7}, {"town": 2.5},
    {"town": False}, {"town": np.nan}, {"town": "a\nb"}, {"town": np.str_("Ulm")}, {"town": ""},
    {"at": ""}, {"at": "2026-03-02T08:00:30.25"}, {"at": "2026-03-02T08:00Z"},
    {"at": datetime.datetime(1960, 2, 29, 1, 2, 3, 4)}, {"at": datetime.date(2026, 5, 6)},
    {"at": datetime.datetime(2026, 5, 6, tzinfo=datetime.UTC)}, {"at": pd.Timestamp("2026-05-06")},
    {"at": np.datetime64("2026-05-06")}, {"size": -0.0}, {"none": [1]}, {"user": 5},
]  # fmt: skip


def first_rows(form):
    rows = drawn(120, 0, missing=form.get("missing") != "refuse")
    return [{**row, "none": 1.0} for row in rows] if form.get("missing") == "refuse" else rows


def error_of(method, rows):
    """Return the type and the message of the error that a call raises; None if it raises none."""
    try:
        method(rows)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    return None


def same(one, other):
    """Return whether two rows of features have the same bits."""
    if sp.issparse(one) != sp.issparse(other) or one.dtype != other.dtype:
        return False
    if not sp.issparse(one):
        return one.tobytes() == other.tobytes()
    alike = one.shape == other.shape and (one.indices == other.indices).all()
    return alike and one.data.tobytes() == other.data.tobytes()


@pytest.mark.filterwarnings("ignore:column 'none' (is ignored|has values)")
@pytest.mark.parametrize("form", FORMS)
def test_a_row_has_the_features_of_a_table_of_one_row(form):
    encoder = TableEncoder(**form).fit(first_rows(form))
    whole, single = encoder, copy.deepcopy(encoder)
    base = drawn(40, 1, missing=False)
    base += [{**base[0], **odd} for odd in ODD] + drawn(40, 2, form.get("missing") != "refuse")
    for row in base:
        error = error_of(whole.transform, [row])
        if error is not None:
            # A column that is ignored is not looked at.
            found = {error_of(single.transform_one, row), error_of(single.learn_transform_one, row)}
            assert found == {error} or (found == {None} and "when" in form)
            single = copy.deepcopy(whole)
            continue
        rows = [whole.transform([row]), single.transform_one(row)]
        learnt = [whole.learn_transform([row]), single.learn_transform_one(row)]
        for table, one in (rows, learnt):
            assert same(table if sp.issparse(table) else table[0], one), row
        assert whole._columns == single._columns
        assert repr(whole._columns) == repr(single._columns)
    assert to_bytes(whole) == to_bytes(single)


def test_what_does_not_fit_is_told_and_changes_nothing():
    encoder = TableEncoder(when="none").fit(drawn(120, 0))
    before, row = to_bytes(encoder), drawn(1, 1)[0]
    del row["none"]
    for wrong in (row, {**row, "more": 1, "none": None}, {**row, "none": 1, "size": np.inf},
                  {**row, "none": 1, "at": "soon"}):  # fmt: skip
        for method in (encoder.transform_one, encoder.learn_transform_one):
            with pytest.raises(ValueError, match="column"):
                method(wrong)
    assert to_bytes(encoder) == before


@pytest.mark.filterwarnings(
    "ignore:column 'none' (is ignored|has values)", "ignore:the scales of the features"
)
@pytest.mark.parametrize(
    "learner", [PAClassifier, StreamClassifier, StreamRegressor, KernelForestClassifier]
)
def test_learners_learn_single_rows_as_rows_of_a_table(learner):
    rows, later = drawn(150, 0), drawn(60, 1)
    y = np.array([(row["size"] or 0) > 0 for row in rows + later])
    y = y * 2.0 if learner is StreamRegressor else np.where(y, "yes", "no")
    one, other = learner(random_state=0).fit(rows, y[:150]), learner(random_state=0)
    other.fit(rows, y[:150])
    for row, target in zip(later, y[150:], strict=True):
        one.partial_fit([{**row}, {**row}][:1], [target])
        other.learn_one(row, target)
    whole = learner(random_state=0).fit(rows, y[:150]).partial_fit(later, y[150:])
    assert (one.predict(later) == other.predict(later)).all()
    assert to_bytes(one.encoder_) == to_bytes(other.encoder_) == to_bytes(whole.encoder_)
    table = getattr(other, "decision_function", other.predict)(later)
    assert one.n_seen_ == other.n_seen_ == whole.n_seen_
    assert np.array_equal(getattr(one, "decision_function", one.predict)(later), table)
    singles = [other.score_one(row) for row in later]
    assert np.array_equal(np.reshape(singles, np.shape(table)), table)


@pytest.mark.filterwarnings(
    "ignore:column 'none' (is ignored|has values)", "ignore:the scales of the features"
)
@pytest.mark.parametrize("learner", [PAClassifier, KernelForestClassifier])
def test_a_row_that_fails_is_learnt_by_nobody(learner):
    rows = drawn(150, 0)
    y = ["yes" if (row["size"] or 0) > 0 else "no" for row in rows]
    model = learner(random_state=0).fit(rows, y)
    before, row = to_bytes(model), drawn(1, 1)[0]
    for wrong, label, weight in ((row, "perhaps", 1), (row, "yes", -1), ({"size": 1.0}, "yes", 1)):
        with pytest.raises(ValueError, match=r"perhaps|weight|lacks"):
            model.learn_one(wrong, label, sample_weight=weight)
        assert to_bytes(model) == before


@pytest.mark.filterwarnings("ignore:column 'none' (is ignored|has values)")
def test_a_pipeline_takes_single_rows():
    def new():
        return make_stream_pipeline(TableEncoder(), OnlineStandardScaler(), PAClassifier())

    rows, later = [[{k: v for k, v in row.items() if k != "words"} for row in drawn(n, seed)]
                   for n, seed in ((150, 0), (60, 1))]  # fmt: skip
    y = ["yes" if (row["size"] or 0) > 0 else "no" for row in rows + later]
    one, other = (new().partial_fit(rows, y[:150], classes=["no", "yes"]) for _ in range(2))
    one.partial_fit(later, y[150:])
    for row, target in zip(later, y[150:], strict=True):
        other.learn_one(row, target)
    assert to_bytes(one[:-1]) == to_bytes(other[:-1])
    assert [other.score_one(row) for row in later] == one.decision_function(later).tolist()


def test_known_texts_are_shared_until_two_differ():
    """No list is copied for a new text, unless another one came in its place."""
    first = Known(["a", "b"])
    second = first.after(["c"])
    third = second.after(["d", "e"])
    assert third._texts is first._texts
    other = second.after(["x"])  # "d" came in a call that failed, say
    assert (first[:], second[:], third[:]) == (("a", "b"), ("a", "b", "c"), tuple("abcde"))
    assert other == ("a", "b", "c", "x")
    assert other != third
    assert [one.place("d") for one in (first, second, third, other)] == [None, None, 3, None]
    assert [one.place("x") for one in (second, third, other)] == [None, None, 3]
    assert ("c" in first, "c" in second, 3 in third, other[-1], list(third)) == (
        False, True, False, "x", list("abcde"),
    )  # fmt: skip
    with pytest.raises(IndexError):
        first[2]
    assert type(copy.deepcopy(third)) is type(pickle.loads(pickle.dumps(third))) is tuple
    assert hash(third) == hash(Known("abcde"))


def test_threads_of_two_models_may_share_texts():
    def learn(known, names):
        for name in names:
            known = known.after([name])
        return known

    first, names = Known(["a"]), [[f"{letter}{k}" for k in range(2000)] for letter in "bc"]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(learn, [first, first], names))
    for known, own in zip(found, names, strict=True):
        assert list(known) == ["a", *own]
        assert [known.place(name) for name in own] == list(range(1, 2001))


def test_a_column_of_many_categories_after_a_failure_and_a_copy():
    """A failed call leaves the categories as they were, and a copy goes its own way."""
    rows = [{"a": f"v{k}", "b": k % 7.0} for k in range(300)]
    y = [k % 2 for k in range(300)]
    model = KernelForestClassifier(n_trees=5, random_state=0)
    model.partial_fit(rows[:100], y[:100], classes=[0, 1])
    before = to_bytes(model)
    with pytest.raises(ValueError, match="column 'b' is infinite"):
        model.partial_fit([*rows[200:], {"a": "w", "b": np.inf}], [*y[200:], 0])
    assert to_bytes(model) == before
    twin, loaded = copy.deepcopy(model), from_bytes(before, "model")
    twin.partial_fit(rows[250:], y[250:])
    assert to_bytes(model) == before
    for k in range(100, 200):
        model.learn_one(rows[k], y[k])
    loaded.partial_fit(rows[100:200], y[100:200])
    assert to_bytes(model) == to_bytes(loaded)
    assert model.score_one(rows[150]) == loaded.decision_function(rows[150:151])[0]
