"""Dask data frames and arrays that are read from files: X, y and weights are cut alike."""

import re

import numpy as np
import pytest

from onlinekern import (
    KernelForestClassifier,
    KernelRLSClassifier,
    TableEncoder,
    distributed,
    make_stream_pipeline,
)

pytest.importorskip("distributed", reason="distributed is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
da = pytest.importorskip("dask.array", reason="dask.array is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")
import dask  # noqa: E402

from onlinekern.distributed.cluster import Tasks  # noqa: E402
from onlinekern.distributed.dask_parts import frame_parts  # noqa: E402

FILES, ROWS, GROUP = 6, 300, 100
N = FILES * ROWS
NAMES = ["a", "b", "c", "d", "e", "f"]


@pytest.fixture(scope="module")
def frame():
    """Six numbers, a label, and weights, half of which are 0."""
    X = np.random.default_rng(0).normal(size=(N, len(NAMES))).round(6)
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")
    weight = (np.arange(N) % 2).astype(float)
    return pd.DataFrame(X, columns=NAMES).assign(sold=y, weight=weight)


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    """The frame in six files of three row groups, as Parquet and as CSV."""
    folder = tmp_path_factory.mktemp("files")
    for number in range(FILES):
        part = frame.iloc[number * ROWS : (number + 1) * ROWS]
        part.to_parquet(folder / f"{number}.parquet", index=False, row_group_size=GROUP)
        part.to_csv(folder / f"{number}.csv", index=False)
    return folder


def spread_of(kind, frame, folder):
    """The frame as a dask data frame, and the rows of its partitions."""
    parquet, csv = str(folder / "*.parquet"), str(folder / "*.csv")
    if kind == "csv":
        return dd.read_csv(csv), ROWS
    if kind == "delayed":
        read = dask.delayed(pd.read_parquet)
        return dd.from_delayed([read(folder / f"{k}.parquet") for k in range(FILES)]), ROWS
    if kind == "pandas":
        return dd.from_pandas(frame, chunksize=ROWS, sort=False), ROWS
    options = {"files": {}, "groups": {"split_row_groups": True},
               "two groups": {"split_row_groups": 2}}[kind]  # fmt: skip
    return dd.read_parquet(parquet, **options), {"files": ROWS, "groups": GROUP}.get(kind)


def learnt(client, X, y, weight):
    """A small model of a stream, of two rounds."""
    learner = KernelRLSClassifier(n_components=20, random_state=0)
    options = {"rounds": 2, "n_learners": 2, "client": client, "progress": False}
    return distributed.fit(learner, X, y, sample_weight=weight, **options)


def scores_of(client, frame, rows):
    """The scores of what is learnt of arrays with chunks of so many rows."""
    X, chunks = frame[NAMES].to_numpy(), rows
    if rows is None:  # two row groups of three, then the third
        chunks = (2 * GROUP, GROUP) * FILES
    y, weight = frame["sold"].to_numpy().astype(str), frame["weight"].to_numpy()
    arrays = [da.from_array(X, (chunks, -1)), *(da.from_array(one, (chunks,))
                                               for one in (y, weight))]  # fmt: skip
    return learnt(client, *arrays).model.decision_function(X)


@pytest.mark.parametrize("kind", ["files", "groups", "two groups", "csv", "delayed", "pandas"])
def test_each_partition_is_a_part(kind, frame, folder, client):
    spread, rows = spread_of(kind, frame, folder)
    wanted = scores_of(client, frame, rows)
    ways = [(spread, "sold", "weight"), (spread[NAMES], spread["sold"], spread["weight"])]
    if kind == "files":
        ways += [
            (spread[[*NAMES, "weight"]], spread["sold"], "weight"),
            (spread[[*NAMES, "sold"]], "sold", spread["weight"]),
        ]
    for X, y, weight in ways:
        fitted = learnt(client, X, y, weight)
        assert fitted.model.n_seen_ == N // 2
        assert list(fitted.model.feature_names_in_) == NAMES
        np.testing.assert_array_equal(fitted.model.decision_function(frame[NAMES]), wanted)


@pytest.mark.filterwarnings("ignore:Dask currently has limited support")
@pytest.mark.parametrize("known", [False, True])
def test_arrays_of_tables(known, frame, folder, client):
    spread = dd.read_parquet(folder / "*.parquet")
    X, y, weight = (spread[names].to_dask_array() for names in (NAMES, "sold", "weight"))
    assert X.numblocks[0] != y.numblocks[0]  # dask joins as many files as it likes
    if known:
        for one in (X, y, weight):
            one.compute_chunk_sizes()
    fitted = learnt(client, X, y, weight)
    wanted = scores_of(client, frame, N // X.numblocks[0])
    np.testing.assert_array_equal(fitted.model.decision_function(frame[NAMES].to_numpy()), wanted)


@pytest.mark.filterwarnings("ignore:Dask currently has limited support")
def test_a_frame_beside_an_array(frame, folder, client):
    spread = dd.read_parquet(folder / "*.parquet")
    other = dd.read_parquet(folder / "*.parquet", split_row_groups=True)
    weight = other["weight"].to_dask_array()
    fitted = learnt(client, spread[NAMES], other["sold"], weight)
    wanted = scores_of(client, frame, ROWS)
    np.testing.assert_array_equal(fitted.model.decision_function(frame[NAMES]), wanted)
    with pytest.raises(ValueError, match="y has 1500 values, X has 1800 rows"):
        learnt(client, spread[NAMES], other["sold"].partitions[:15], None)


def test_only_columns_that_are_learnt_are_read(folder, client):
    spread = dd.read_parquet(folder / "*.parquet")
    stream = frame_parts(spread[["a"]], spread["sold"], None, Tasks(client))
    frame, y = client.compute(stream.parts[0].data[0]).result()
    assert (list(frame.columns), y.name, len(frame)) == (["a"], "sold", ROWS)
    assert "weight" not in str(dict(stream.parts[0].data[0].__dask_graph__()))


# Rows that cannot be learnt, by their number in the stream, and what is wrong with them.
BAD = {2: ("b", np.nan), 450: ("sold", None), 777: ("c", np.inf), 1799: ("weight", np.nan)}


@pytest.fixture(scope="module")
def bad(frame, tmp_path_factory):
    """The frame with bad rows, and a folder of it in six files of three row groups."""
    folder, faulty = tmp_path_factory.mktemp("bad"), frame.assign(weight=1.0)
    faulty["sold"] = faulty["sold"].astype(object)
    for row, (column, value) in BAD.items():
        faulty.loc[row, column] = value
    for number in range(FILES):
        part = faulty.iloc[number * ROWS : (number + 1) * ROWS]
        part.to_parquet(folder / f"{number}.parquet", index=False, row_group_size=GROUP)
    return faulty, folder


def forms_of(bad):
    """Forms of X, y and weights; then the parts with bad rows, and the row in the first of them."""
    faulty, folder = bad
    X, y = faulty[NAMES].to_numpy(), faulty["sold"].to_numpy()
    weight = faulty["weight"].to_numpy()
    arrays = [da.from_array(X, (ROWS, -1)), da.from_array(y, ROWS), da.from_array(weight, ROWS)]
    numbers = (0, 1, 2, 5)
    yield arrays, [f"chunk {k} of X" for k in numbers], "row 2: column 1 is missing or NaN"
    frames = [dd.from_pandas(faulty, chunksize=ROWS, sort=False), "sold", "weight"]
    named = [f"partition {k} of X" for k in numbers]
    yield frames, named, "row 2: column 'b' is missing or NaN"
    groups = [f"{folder}/{file}.parquet, row group {group}"
              for file, group in ((0, 0), (1, 1), (2, 1), (5, 2))]  # fmt: skip
    yield [str(folder), "sold", "weight"], groups, "data row 3: column 'b' is missing or NaN"


def test_bad_rows_are_named(bad, client):
    for form, parts, place in forms_of(bad):
        learner = KernelRLSClassifier(n_components=20, random_state=0)
        options = {"classes": ["no", "yes"], "client": client, "progress": False}
        with pytest.raises(ValueError, match=re.escape(f"{parts[0]}, {place}")):
            distributed.fit(learner, form[0], form[1], sample_weight=form[2], **options)
        with pytest.raises(ValueError, match=re.escape(f"{parts[1]}, ")) as caught:
            distributed.fit(learner, form[0], form[1], client=client, progress=False)
        found = str(caught.value)
        assert re.search(r"row 15[01]: y is missing", found), found


def test_bad_rows_are_left_out_and_counted(bad, frame, client):
    good = np.delete(np.arange(N), list(BAD))
    lengths = tuple(ROWS - sum(row // ROWS == k for row in BAD) for k in range(FILES))
    X, y = frame[NAMES].to_numpy()[good], frame["sold"].to_numpy().astype(str)[good]
    options = {"rounds": 2, "n_learners": 2, "client": client, "progress": False}
    learner = KernelRLSClassifier(n_components=20, random_state=0)
    arrays = da.from_array(X, (lengths, -1)), da.from_array(y, (lengths,))
    wanted = distributed.fit(learner, *arrays, **options)
    for form, parts, _ in forms_of(bad):
        fitted = distributed.fit(
            learner, form[0], form[1], sample_weight=form[2], on_error="skip", **options
        )
        assert fitted.skipped == dict.fromkeys(parts, 1)
        assert fitted.samples == fitted.model.n_seen_ == N - len(BAD)
        if not isinstance(form[0], str):  # whose parts are row groups
            names = hasattr(fitted.model, "feature_names_in_")
            scores = fitted.model.decision_function(frame[NAMES].iloc[good] if names else X)
            np.testing.assert_array_equal(scores, wanted.model.decision_function(X))
    with pytest.raises(ValueError, match="on_error must be 'raise' or 'skip', got 'drop'"):
        distributed.fit(learner, *arrays, on_error="drop", client=client)


def test_bad_rows_of_tables(bad, client):
    folder = bad[1]
    model = make_stream_pipeline(TableEncoder(), KernelRLSClassifier(n_components=20))
    options = {"client": client, "progress": False, "n_learners": 2}
    file = f"{folder}/2.parquet, row group 1"
    fitted = distributed.fit(model, str(folder), "sold", on_error="skip", **options)
    assert fitted.skipped == {file: 1, f"{folder}/1.parquet, row group 1": 1}
    assert fitted.samples == N - 2  # what is missing is no fault


def test_missing_values_of_a_forest_are_no_faults(bad, client):
    """In any form it learns the row with NaN; the infinite value stays a fault."""
    learner = KernelForestClassifier(n_trees=10, random_state=0)
    options = {"client": client, "progress": False, "n_learners": 2}
    for form, parts, _ in forms_of(bad):
        fitted = distributed.fit(
            learner, form[0], form[1], sample_weight=form[2], on_error="skip", **options
        )
        assert fitted.skipped == dict.fromkeys(parts[1:], 1)
        assert fitted.samples == N - 3
        X, y = bad[0][NAMES], bad[0]["sold"]
        whole = np.isin(np.arange(N), (450, 777), invert=True)
        rows = X[whole] if hasattr(fitted.model, "feature_names_in_") else X[whole].to_numpy()
        assert fitted.model.score(rows, y[whole].to_numpy().astype(str)) > 0.8
