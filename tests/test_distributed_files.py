"""Files as the parts of a stream on a cluster: folders, patterns, lists and URLs."""

import pytest

pytest.importorskip("distributed", reason="distributed is not installed")
pytest.importorskip("dask.array", reason="dask is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

import numpy as np  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402
from stores import s3_server  # noqa: E402

from onlinekern import (  # noqa: E402
    KernelRLSClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    TableEncoder,
    distributed,
    load,
    make_stream_pipeline,
)
from onlinekern.streams import StreamError  # noqa: E402
from onlinekern.streams.locations import located  # noqa: E402

FILES, ROWS = 12, 150
KINDS = ("parquet", "csv", "csv.gz", "jsonl", "arrow")
NAMES = ["a", "b", "day"]
LEARNER = KernelRLSClassifier(n_components=20, random_state=0)


def frame_of(number):
    rng = np.random.default_rng(number)
    frame = pd.DataFrame({"a": rng.normal(size=ROWS), "b": rng.normal(size=ROWS)})
    frame["weight"] = rng.integers(1, 3, ROWS)
    frame["sold"] = np.where(frame["a"] + frame["b"] ** 2 > 0.5, "yes", "no")
    return frame


def write(folder, kind, files=FILES):
    """Write the stream in files of a kind, in folders that tell a column."""
    for number in range(files):
        place = folder / f"day={number}" / f"part.{kind}"
        place.parent.mkdir(parents=True)
        frame = frame_of(number)
        if kind == "parquet":
            frame.to_parquet(place, index=False, row_group_size=50)
        elif kind == "arrow":
            frame.to_feather(place)
        elif kind == "jsonl":
            frame.to_json(place, orient="records", lines=True, double_precision=15)
        else:
            frame.to_csv(place, index=False)
    (folder / "_SUCCESS").touch()
    return folder


def learnt(client, X, target="sold", learner=LEARNER, **options):
    options = {"sample_weight": "weight", **options}
    return distributed.fit(
        learner, X, target, n_learners=2, rounds=2, client=client, progress=False, **options
    )


def expected(client, rows=ROWS, files=FILES):
    """What is learnt of arrays with the same rows, in parts of so many."""
    import dask.array as da

    frames = [frame_of(number).assign(day=float(number)) for number in range(files)]
    whole = pd.concat(frames)
    X, y = whole[NAMES].to_numpy(), whole["sold"].to_numpy().astype(str)
    weight = da.from_array(whole["weight"].to_numpy(dtype=float), rows)
    return learnt(client, da.from_array(X, (rows, -1)), da.from_array(y, rows),
                  sample_weight=weight), X  # fmt: skip


def check(fitted, wanted, exact=True):
    """Compare two runs; of text the last digits may differ."""
    model, X = wanted
    scores = fitted.model.decision_function(X)
    np.testing.assert_allclose(scores, model.model.decision_function(X), atol=0 if exact else 1e-6)
    assert fitted.samples == model.samples == len(X)
    assert fitted.mistakes == model.mistakes


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_parts(client, tmp_path, kind, monkeypatch):
    folder = write(tmp_path / "x[1]", kind)
    rows = 50 if kind == "parquet" else ROWS
    wanted = expected(client, rows)
    monkeypatch.chdir(folder)
    one_by_one = [folder / f"day={number}" / f"part.{kind}" for number in range(FILES)]
    forms = [folder, f"day=*/*.{kind}", one_by_one, located(str(folder))]
    for form in forms if kind == "csv" else forms[:2]:
        fitted = learnt(client, form)
        check(fitted, wanted, exact=kind != "jsonl")


def test_urls_of_this_process(client, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.put(str(write(tmp_path, "parquet")), "/sold", recursive=True)
    try:
        checkpoint = "memory://models/model.okn"
        fitted = learnt(client, "memory://sold", checkpoint=checkpoint, resume=True)
        check(fitted, expected(client, 50))
        again = learnt(client, "memory://sold", checkpoint=checkpoint, resume=True)
        assert again.rounds == fitted.rounds
        assert load(checkpoint).n_seen_ == FILES * ROWS
        with pytest.raises(ValueError, match="with on_error 'raise', this one has 'skip'"):
            learnt(client, "memory://sold", checkpoint=checkpoint, resume=True, on_error="skip")
    finally:
        store.store.clear()


def test_tables_of_text(client, tmp_path):
    """The kinds of columns are those of the first file, on every worker."""
    for number in range(6):
        frame = frame_of(number)
        frame["town"] = np.where(frame["a"] > 0, "7", "Ulm" if number < 3 else "8")
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    model = make_stream_pipeline(TableEncoder(), OnlineStandardScaler(), LEARNER)
    fitted = learnt(client, str(tmp_path / "*.csv"), learner=model, sample_weight=None)
    kinds = {"a": "number", "b": "number", "weight": "number", "town": "category"}
    assert fitted.model[0].kinds_ == kinds
    assert fitted.samples == 6 * ROWS


def test_bad_rows_of_text(client, tmp_path):
    """A target that is missing does not make text of numbers."""
    frame = frame_of(0)
    frame["sold"] = frame["a"].where(frame.index != 3)
    frame.loc[5, "b"] = np.nan
    frame.to_csv(tmp_path / "0.csv", index=False)
    frame_of(1).assign(sold=frame_of(1)["a"]).to_csv(tmp_path / "1.csv", index=False)
    learner = KernelRLSRegressor(n_components=10, random_state=0)
    options = {"sample_weight": None, "learner": learner}
    with pytest.raises(ValueError, match=r"0.csv, data row 4: y is missing or NaN"):
        learnt(client, tmp_path, **options)
    fitted = learnt(client, tmp_path, on_error="skip", **options)
    assert fitted.skipped == {str(tmp_path / "0.csv"): 2}
    assert fitted.samples == 2 * ROWS - 2


def test_faults_are_named(client, tmp_path):
    write(tmp_path / "good", "csv")
    with pytest.raises(FileNotFoundError, match="No file matches"):
        learnt(client, str(tmp_path / "*.csv"))
    (tmp_path / "rows.txt").write_text("1 1:2\n")
    with pytest.raises(StreamError, match=r"rows.txt: parts are read of files named .parquet"):
        learnt(client, [tmp_path / "rows.txt"])
    (tmp_path / "other.csv").write_text("a,b,weight,sold,day\n1,2,1,yes,1\n")
    (tmp_path / "odd.csv").write_text("a,c,weight,sold,day\n1,2,1,yes,1\n")
    with pytest.raises(StreamError, match=r"odd.csv: 3 feature columns.*lacks b"):
        learnt(client, [tmp_path / "other.csv", tmp_path / "odd.csv"])
    with pytest.raises(StreamError, match="no column named 'price' for sample_weight"):
        learnt(client, tmp_path / "good", sample_weight="price")
    with pytest.raises(ValueError, match="y must be given"):
        learnt(client, [tmp_path / "other.csv"], target=None)
    with pytest.raises(TypeError, match="X holds str"):
        learnt(client, [frame_of, "other.csv"], target=None, sample_weight=None)
    with pytest.raises(ValueError, match="storage_options must be None"):
        learnt(client, [frame_of], target=None, storage_options={"key": "x"})


def test_s3(client, monkeypatch, tmp_path):
    """Two processes read what lies in a store; only the call tells them where it is."""
    rows_of_groups, rows_of_files = expected(client, 50, 4), expected(client, ROWS, 4)
    with s3_server(monkeypatch) as (endpoint, store):
        store.mkdir("shop")
        for kind in ("parquet", "csv"):
            store.put(str(write(tmp_path / kind, kind, 4)), f"shop/{kind}", recursive=True)
        options = {"storage_options": {"endpoint_url": endpoint}}
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as there,
        ):
            checkpoint = "s3://shop/model.okn"
            fitted = learnt(there, "s3://shop/parquet", checkpoint=checkpoint, **options)
            check(fitted, rows_of_groups)
            assert load(checkpoint, **options).n_seen_ == 4 * ROWS
            urls = [f"s3://shop/csv/day={number}/*.csv" for number in range(4)]
            check(learnt(there, urls, **options), rows_of_files)
            with pytest.raises(OSError, match="s3://missing"):
                learnt(there, "s3://missing/rows.csv", **options)
