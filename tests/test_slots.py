"""Categories and words of a table that share slots: `TableEncoder(categories="hash")`."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.utils import murmurhash3_32

pytest.importorskip("pyarrow")

import pyarrow as pa

import onlinekern
from onlinekern import (
    AROWClassifier,
    KernelForestClassifier,
    KernelRLSClassifier,
    OnlineStandardScaler,
    PAClassifier,
    StreamClassifier,
    StreamRegressor,
    TableEncoder,
    make_stream_pipeline,
    merge,
)
from onlinekern.fitted.save import to_bytes

SLOTS = 512
N = 1200
WORDS = [f"word{k}" for k in range(40)]


def clicks(n=N, seed=0, note=False):
    """Two columns of many values, one of few, and a number with holes; sites decide."""
    rng = np.random.default_rng(seed)
    site, ad = (np.exp(rng.uniform(0, np.log(50_000), (2, n)))).astype(int)
    columns = {
        "site": [f"s{k}" if k % 17 else None for k in site],
        "ad": [f"a{k}" for k in ad],
        "day": rng.choice(["Mo", "Di"], n).tolist(),
        "price": [None if k % 5 == 0 else float(k) for k in rng.integers(0, 100, n)],
    }
    if note:
        columns["note"] = [" ".join(rng.choice(WORDS, 6)) for _ in range(n)]
    effects = np.random.default_rng(1).normal(size=50_000)
    return pa.table(columns), np.where(effects[site] + 0.3 * rng.normal(size=n) > 0, "yes", "no")


def slots_of(table, n_slots):
    """The slots of a table, written down from what they are: a readable twin."""
    found = np.zeros((table.num_rows, n_slots))
    for name in table.column_names:
        shift = murmurhash3_32(name, positive=True)
        values = table.column(name).to_pylist()
        if name == "note":
            hashing = HashingVectorizer(n_features=n_slots, ngram_range=(1, 2))
            counts = hashing.transform(values).toarray()
            found += np.roll(counts, shift % n_slots, axis=1)
        elif name != "price":
            for row, value in enumerate(values):
                number = murmurhash3_32(value or "", positive=True) + shift
                found[row, number % n_slots] += 1
    return found


@pytest.mark.parametrize("note", [False, True])
def test_slots_are_hashes_of_column_and_value(note):
    table, _ = clicks(note=note)
    encoder = TableEncoder(categories="hash", slots=SLOTS)
    Z = encoder.fit(table).transform(table)
    assert sp.issparse(Z)
    assert Z.has_canonical_format
    assert Z.shape == (N, SLOTS + 2)
    names = encoder.get_feature_names_out().tolist()
    # The first of the columns that share stands before the number.
    assert names == [*(f"(slot {k})" for k in range(SLOTS)), "price", "price (missing)"]
    np.testing.assert_allclose(Z[:, :SLOTS].toarray(), slots_of(table, SLOTS))
    assert encoder.n_slots_ == SLOTS
    assert encoder.layout_ == ()
    # Numbers beside slots are standardised.
    assert abs(Z[:, SLOTS].toarray().mean()) < 0.02
    plain = TableEncoder(categories="hash", slots=SLOTS, sparse=False).fit_transform(table)
    np.testing.assert_allclose(plain[:, :SLOTS], slots_of(table, SLOTS))


@pytest.mark.parametrize("slots", [SLOTS, 2**31 - 1])
@pytest.mark.parametrize("name", [f"column {k}" for k in range(6)])
def test_hashes_of_names_may_be_large(name, slots):
    rows = pa.table({name: ["one two three four", "five six seven eight", "nine"]})
    shift = murmurhash3_32(name, positive=True)
    encoder = TableEncoder(categories="hash", slots=slots, kinds={name: "text"})
    Z = encoder.fit_transform(rows).tocoo()
    plain = HashingVectorizer(n_features=slots, ngram_range=(1, 2)).transform(
        rows[name].to_pylist()
    )
    places = (plain.indices.astype(np.int64) + shift) % slots
    assert sorted(zip(Z.row, Z.col, strict=True)) == sorted(
        zip(plain.tocoo().row, places, strict=True)
    )


def test_batches_and_the_order_of_columns_do_not_matter():
    table, _ = clicks(note=True)
    whole = TableEncoder(categories="hash", slots=SLOTS)
    rows = whole.learn_transform(table)
    cut = TableEncoder(categories="hash", slots=SLOTS)
    parts = [cut.learn_transform(table[a:b]) for a, b in pairwise((0, 500, 501, 700, N))]
    assert (sp.vstack(parts) != rows).nnz == 0
    assert to_bytes(cut) == to_bytes(whole)
    other = table.select(table.column_names[::-1])
    assert (whole.transform(other) != whole.transform(table)).nnz == 0


def test_nothing_grows_and_no_value_is_left_out():
    table, _ = clicks()
    encoder = TableEncoder(categories="hash", slots=SLOTS).fit(table)
    before = len(to_bytes(encoder))
    new = pa.table(
        {
            "site": [f"new{k}" for k in range(5000)],
            "ad": [f"new{k}" for k in range(5000)],
            "day": ["So"] * 5000,
            "price": [1.0] * 5000,
        }
    )
    Z = encoder.learn_transform(new)
    assert (Z[:, :SLOTS].sum(axis=1) == 3).all()
    # Counts and sums have more digits.
    assert len(to_bytes(encoder)) < before + 20


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        (["site", "ad", "day"], SLOTS),
        (["site", "day", "price"], SLOTS),
        (["site", "day", "price", "x"], 0),
        (["day", "price"], 0),
        (["number"], 0),
    ],
)
def test_auto_looks_for_columns_without_a_bound(columns, wanted):
    table, _ = clicks()
    table = table.append_column("x", [np.arange(float(N))])
    # Of the numbers of orders none comes again.
    table = table.append_column("number", [[f"n{k}" for k in range(N)]])
    encoder = TableEncoder(categories="auto", slots=SLOTS).fit(table.select(columns))
    assert encoder.n_slots_ == wanted


def test_a_column_that_has_no_more_room_says_so():
    encoder = TableEncoder().fit([{"a": "x"}, {"a": "y"}])
    with pytest.warns(UserWarning, match="column 'a' has room for no more than 12 categories"):
        encoder.partial_fit([{"a": f"v{k}"} for k in range(20)])
    # Once is enough, and who says how many there are knows it.
    encoder.partial_fit([{"a": f"v{k}"} for k in range(40)])
    TableEncoder(max_categories=2).fit([{"a": f"v{k}"} for k in range(20)])


def test_columns_that_are_full_at_once_are_named_at_once():
    encoder = TableEncoder().fit([{"a": "x", "b": "x", "c": "z"}, {"a": "y", "b": "x", "c": "z"}])
    with pytest.warns(UserWarning, match="no more than 12 categories") as told:
        encoder.partial_fit([{"a": f"v{k}", "b": f"v{k}", "c": "z"} for k in range(20)])
    assert len(told) == 1
    assert "share one feature, and so do those of 'b' (10). max_categories" in str(told[0].message)


@pytest.mark.parametrize("learner", [StreamClassifier, PAClassifier, AROWClassifier])
def test_learners_that_take_wide_rows_choose_slots(learner, tmp_path):
    table, y = clicks(4 * N)
    first = {} if learner is StreamClassifier else {"classes": ["no", "yes"]}
    model = learner(random_state=0)
    model.partial_fit(table[:N], y[:N], **first)
    assert model.encoder_.n_slots_ == 2**20
    model.save(tmp_path / "model.okn")
    others = [onlinekern.load(tmp_path / "model.okn"), pickle.loads(pickle.dumps(model))]
    wrong = 0
    for a, b in pairwise(range(N, 4 * N + 1, N)):
        wrong += np.count_nonzero(model.partial_fit_predict(table[a:b], y[a:b]) != y[a:b])
        for other in others:
            other.partial_fit(table[a:b], y[a:b])
    assert wrong < 0.36 * 3 * N
    scores = model.decision_function(table[:50])
    for other in others:
        assert (other.decision_function(table[:50]) == scores).all()


@pytest.mark.filterwarnings("ignore:the scales of the features differ")
@pytest.mark.parametrize("learner", [KernelRLSClassifier, KernelForestClassifier])
def test_other_learners_do_not(learner):
    table, y = clicks(300)
    model = learner(random_state=0).fit(table, y)
    assert model.encoder_.n_slots_ == 0


def test_a_full_covariance_has_no_room_for_slots():
    table, _ = clicks(300)
    assert AROWClassifier()._encoding(table, None) == {"categories": "auto"}
    assert AROWClassifier(covariance="full")._encoding(table, None) == {}


@pytest.mark.parametrize("race", [StreamClassifier, StreamRegressor])
def test_races_of_wide_rows_are_linear(race):
    table, y = clicks(3000)
    targets = y if race is StreamClassifier else (y == "yes") * 10.0
    model = race(random_state=0, shuffle=False).fit(table, targets)
    names = [expert.name for expert in model.report().experts]
    assert names[0] == "linear AROW, noisy"
    assert all(name.startswith("linear") for name in names)
    # Where there is no room for all, the first stays.
    small = race(memory_budget=20.0).fit(table[:500], targets[:500])
    assert [expert.name for expert in small.report().experts] == names[:1]
    answer = getattr(model, "decision_function", model.predict)(table[:1])[0]
    assert model.score_one(table[:1].to_pylist()[0]) == pytest.approx(answer)


def test_models_with_slots_are_merged():
    table, y = clicks()
    base = AROWClassifier().partial_fit(table[:400], y[:400], classes=["no", "yes"])
    parts = [pickle.loads(pickle.dumps(base)) for _ in range(2)]
    parts[0].partial_fit(table[400:800], y[400:800])
    parts[1].partial_fit(table[800:], y[800:])
    whole = merge(parts, base=base)
    assert whole.encoder_.n_slots_ == 2**20
    assert whole.n_seen_ == N
    assert np.isfinite(whole.decision_function(table)).all()


def test_slots_are_not_exported(tmp_path):
    table, y = clicks(400)
    model = make_stream_pipeline(TableEncoder(categories="hash", slots=64), PAClassifier())
    model.partial_fit(table, y, classes=["no", "yes"])
    with pytest.raises(TypeError, match=r"share 64 slots. TableEncoder\(categories='one-hot'\)"):
        model.export_c(tmp_path / "model.c")


@pytest.mark.parametrize("slots", [1, 2**31, "many"])
def test_the_number_of_slots_is_checked(slots):
    with pytest.raises(ValueError, match="slots"):
        TableEncoder(categories="hash", slots=slots).fit([{"a": "x"}])


@pytest.mark.parametrize("method", ["stream", "linear-pa1", "kernel-rls"])
def test_train_chooses_slots(tmp_path, capsys, method):
    pytest.importorskip("typer")
    from commands import run
    from pyarrow import parquet

    table, y = clicks(2500)
    parquet.write_table(table.append_column("click", [y]), tmp_path / "clicks.parquet")
    begin = ["train", tmp_path / "clicks.parquet", "--target", "click", "--method", method]
    status, out, _ = run(capsys, *begin, "-o", tmp_path / "a.okn", "--slots", "4096")
    assert status == 0
    assert "4 features, 2 classes" in out
    model = onlinekern.load(tmp_path / "a.okn")
    encoder = model[0]
    assert encoder.n_slots_ == (0 if method == "kernel-rls" else 4096)
    # Scaled by their deviations, rare slots would be noise.
    scaled = any(isinstance(step, OnlineStandardScaler) for _, step in model.steps)
    assert scaled == (method == "kernel-rls")
    assert run(capsys, *begin, "-o", tmp_path / "b.okn", "--categories", "one-hot")[0] == 0
    assert onlinekern.load(tmp_path / "b.okn")[0].n_slots_ == 0
