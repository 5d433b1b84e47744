"""Dask data frames and arrays that are read from files: X, y and weights are cut alike."""

import numpy as np
import pytest

from onlinekern import KernelRLSClassifier, distributed

pytest.importorskip("distributed", reason="distributed is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
da = pytest.importorskip("dask.array", reason="dask.array is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")
import dask  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

from onlinekern.distributed.cluster import Tasks  # noqa: E402
from onlinekern.distributed.parts import parts_of  # noqa: E402

FILES, ROWS, GROUP = 6, 300, 100
N = FILES * ROWS
NAMES = ["a", "b", "c", "d", "e", "f"]


@pytest.fixture(scope="module")
def client():
    """Two workers of one thread each, in this process."""
    options = {"processes": False, "dashboard_address": ":0"}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


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
    stream = parts_of(spread[["a"]], spread["sold"], None, False, Tasks(client))
    frame, y = client.compute(stream.parts[0].data[0]).result()
    assert (list(frame.columns), y.name, len(frame)) == (["a"], "sold", ROWS)
    assert "weight" not in str(dict(stream.parts[0].data[0].__dask_graph__()))
