"""Learning on a Dask cluster: the sources, the merged model, and what dies on the way."""

import doctest
import re
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier
from spread import killing, part_of, part_to_die_for

from onlinekern import (
    KernelRLSClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    TableEncoder,
    distributed,
    evaluate,
    load,
    make_stream_pipeline,
)
from onlinekern.streams import Source

pytest.importorskip("distributed", reason="distributed is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")
import dask  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

N, D, CHUNK = 1800, 3, 300


@pytest.fixture(scope="module")
def samples():
    """A stream of two classes, as arrays."""
    X = np.random.default_rng(0).normal(size=(N, D))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")


@pytest.fixture(scope="module")
def expected(samples, client):
    """What is learnt of the arrays, chunk by chunk."""
    return learnt(client, *chunked(*samples))


def chunked(X, y):
    return da.from_array(X, (CHUNK, D)), da.from_array(y, CHUNK)


def least_squares(**parameters):
    return KernelRLSClassifier(n_components=20, random_state=0, **parameters)


def learnt(client, X, y=None, **options):
    """A small model of a stream, of two rounds."""
    return distributed.fit(
        least_squares(), X, y, rounds=2, n_learners=2, client=client, progress=False, **options
    )


def same(fitted, expected, X, frame=None):
    """Assert that two runs have made the same model, bit for bit, and the same mistakes.

    The first one may be of a data frame, whose names it knows."""
    wanted = expected.model.decision_function(X)
    scores = fitted.model.decision_function(X if frame is None else frame)
    np.testing.assert_array_equal(scores, wanted)
    assert fitted.samples == expected.samples == N
    assert fitted.mistakes == expected.mistakes


def test_examples():
    assert doctest.testmod(distributed)[0] == 0


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    page = (Path(__file__).parents[1] / "docs" / "distributed.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names = {}
    for example in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S):
        exec(compile(example, "docs/distributed.md", "exec"), names)


def test_without_dask(samples, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.array", None)
    monkeypatch.setitem(sys.modules, "distributed", None)
    for call in (
        lambda: distributed.fit(PAClassifier(), *samples),
        lambda: distributed.predict(PAClassifier().fit(*samples), samples[0]),
        lambda: distributed.compare("pa1", None),
    ):
        with pytest.raises(ImportError, match=r"pip install 'onlinekern\[dask\]'"):
            call()


def test_record(expected, samples):
    assert [one.number for one in expected.rounds] == [0, 1, 2]
    assert [one.learners for one in expected.rounds] == [1, 2, 2]
    assert [one.samples for one in expected.rounds] == [200, 700, 900]
    assert expected.model.n_seen_ == N
    assert 0 < expected.error < 0.25
    assert expected.mistakes == sum(one.mistakes for one in expected.rounds)
    for one in expected.rounds:
        assert one.samples == sum(samples for samples, _ in one.by_learner)
        assert one.mistakes == sum(loss for _, loss in one.by_learner)
        assert one.bytes_moved > 0
        assert one.seconds > 0


def test_one_learner_is_partial_fit(samples, client):
    X, y = samples
    fitted = distributed.fit(
        least_squares(), *chunked(X, y), n_learners=1, rounds=3, client=client, progress=False
    )
    plain, mistakes = least_squares(), 0
    for first in range(0, N, CHUNK):
        rows = slice(first, first + CHUNK)
        mistakes += np.sum(plain.partial_fit_predict(X[rows], y[rows], ["no", "yes"]) != y[rows])
    np.testing.assert_array_equal(fitted.model.decision_function(X), plain.decision_function(X))
    assert fitted.mistakes == mistakes


@pytest.mark.parametrize("kind", ["persisted", "derived", "csr", "other chunks of y"])
def test_arrays(kind, samples, expected, client):
    X, y = chunked(*samples)
    if kind == "persisted":
        X, y = X.persist(), y.persist()
    elif kind == "derived":
        X = X.persist() * 1.0
    elif kind == "csr":
        X = X.map_blocks(sp.csr_matrix)
    else:
        y = y.rechunk(N // 2)
    if kind == "csr":
        fitted = learnt(client, X, y)
        assert fitted.samples == N
        assert sp.issparse(fitted.model.landmarks_)
        assert abs(fitted.error - expected.error) < 0.02
    else:
        same(learnt(client, X, y), expected, samples[0])


@pytest.mark.parametrize("kind", ["delayed", "functions"])
def test_readers(kind, samples, expected, client):
    X, y = samples
    functions = [partial(part_of, X, y, first, CHUNK) for first in range(0, N, CHUNK)]
    parts = functions if kind == "functions" else [dask.delayed(read)() for read in functions]
    same(learnt(client, parts), expected, X)


def test_weights_count(samples, expected, client):
    X, y = samples
    weight = np.ones(N)
    same(learnt(client, *chunked(X, y), sample_weight=da.from_array(weight, CHUNK)), expected, X)
    weight[::2] = 0
    half = learnt(client, *chunked(X, y), sample_weight=da.from_array(weight, CHUNK))
    assert half.model.n_seen_ == N // 2


def frame_of(samples):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y = samples
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(sold=y, weight=1.0)


def test_data_frames(samples, expected, client):
    frame = frame_of(samples)
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    spread = dd.from_pandas(frame, chunksize=CHUNK, sort=False)
    fitted = learnt(client, spread, "sold", sample_weight="weight")
    assert list(fitted.model.feature_names_in_) == ["a", "b", "c"]
    same(fitted, expected, samples[0], frame[["a", "b", "c"]])
    apart = learnt(client, spread[["a", "b", "c"]], spread["sold"])
    same(apart, expected, samples[0], frame[["a", "b", "c"]])


def test_parquet(samples, expected, client, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    frame = frame_of(samples)
    for number, first in enumerate(range(0, N, 2 * CHUNK)):
        part = pa.Table.from_pandas(frame.iloc[first : first + 2 * CHUNK])
        folder = tmp_path / f"day{number}"
        folder.mkdir()
        parquet.write_table(part, folder / "part.parquet", row_group_size=CHUNK)
    (tmp_path / "_metadata.parquet").write_text("no table")
    same(learnt(client, tmp_path, "sold", sample_weight="weight"), expected, samples[0])
    with pytest.raises(ValueError, match="no column named 'price'"):
        learnt(client, tmp_path, "price")


def test_tables(client):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    rng = np.random.default_rng(0)
    towns = rng.choice(["Ulm", "Bonn", "Kiel"], size=N)
    frame = pd.DataFrame({"town": towns, "size": rng.normal(1e6, 1e3, N)})
    frame["sold"] = np.where((frame["town"] == "Ulm") ^ (frame["size"] > 1e6), 1, 0)
    model = make_stream_pipeline(TableEncoder(), OnlineStandardScaler(), least_squares())
    spread = dd.from_pandas(frame, chunksize=CHUNK)
    fitted = distributed.fit(model, spread, "sold", n_learners=2, client=client, progress=False)
    assert fitted.rounds[0].samples == 1200  # what an encoder and a scaler should have seen
    assert fitted.error < 0.15
    assert fitted.model[0].kinds_ == {"town": "category", "size": "number"}
    answers = distributed.predict(fitted.model, spread[["town", "size"]])
    wanted = fitted.model.predict(frame[["town", "size"]])
    np.testing.assert_array_equal(answers.compute(), wanted)
    assert not hasattr(model[0], "kinds_")


def test_tables_without_a_pipeline(client):
    """The encoder inside of a learner learns in the warm-up; its features are those everywhere."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    rng = np.random.default_rng(0)
    towns = np.where(np.arange(N) < N // 2, "Ulm", rng.choice(["Ulm", "Bonn", "Kiel"], size=N))
    frame = pd.DataFrame({"town": towns, "size": rng.normal(size=N), "sold": towns == "Ulm"})
    frame["sold"] = np.where(frame["sold"] ^ (frame["size"] > 0), 1, 0)
    spread = dd.from_pandas(frame, chunksize=CHUNK)
    model = least_squares().set_params(encode=True)
    fitted = distributed.fit(model, spread, "sold", n_learners=2, client=client, progress=False)
    encoder = fitted.model.encoder_
    assert encoder.kinds_ == {"town": "category", "size": "number"}
    assert encoder._columns[1].count < N  # it learns no more after the warm-up
    X = frame[["town", "size"]]
    assert fitted.model.score(X[: N // 2], frame["sold"][: N // 2]) > 0.85
    answers = distributed.predict(fitted.model, spread[["town", "size"]])
    np.testing.assert_array_equal(answers.compute(), fitted.model.predict(X))


def test_a_class_that_comes_late(client):
    X = np.random.default_rng(0).normal(size=(N, D))
    y = (X[:, 0] > 0).astype(int)
    y[-5:] = 7
    fitted = distributed.fit(PAClassifier(), *chunked(X, y), client=client, progress=False)
    assert fitted.model.classes_.tolist() == [0, 1, 7]


def test_regression(samples, client):
    X, _ = samples
    y = X[:, 0] ** 2
    model = KernelRLSRegressor(n_components=20, random_state=0)
    fitted = distributed.fit(model, *chunked(X, y), passes=2, client=client, progress=False)
    assert fitted.samples == 2 * N
    assert fitted.mistakes is None
    assert fitted.error == pytest.approx(np.sqrt(fitted.squared_error / (2 * N)))
    assert fitted.error < 0.6 * y.std()


def test_warm_start(samples, client):
    X, y = samples
    first = least_squares().partial_fit(X, y, ["no", "yes"])
    before = first.decision_function(X)
    fitted = distributed.fit(first, *chunked(X, y), warm_start=True, client=client, progress=False)
    assert fitted.rounds[0].number == 1
    assert fitted.model.n_seen_ == 2 * N
    np.testing.assert_array_equal(first.decision_function(X), before)


def test_transformers_are_merged_too(samples, client):
    X, y = samples
    spread = chunked(X * [1, 1e3, 1e6], y)[0]
    fitted = distributed.fit(OnlineStandardScaler(), spread, client=client, progress=False)
    np.testing.assert_allclose(fitted.model.mean_, X.mean(axis=0) * [1, 1e3, 1e6])
    assert fitted.samples == N
    assert np.isnan(fitted.error)


def test_progress(samples, client):
    seen = []
    distributed.fit(
        PAClassifier(), *chunked(*samples), client=client, progress=lambda *said: seen.append(said)
    )
    assert seen[0] == (0, None, "looking for the classes")
    assert seen[-1] == (N // CHUNK, N // CHUNK, "round 1")


def test_predict(samples, expected, client):
    X, y = samples
    spread = chunked(X, y)[0]
    for method in ("predict", "decision_function", "predict_proba"):
        answers = distributed.predict(expected.model, spread, method)
        wanted = getattr(expected.model, method)(X)
        assert answers.shape == wanted.shape
        assert answers.dtype == wanted.dtype
        np.testing.assert_array_equal(answers.compute(), wanted)
    some = distributed.predict(expected.model, spread[spread[:, 0] > 0])
    assert len(some.compute()) == np.sum(X[:, 0] > 0)
    none = distributed.predict(expected.model, spread[spread[:, 0] > 99])
    assert none.compute().dtype == wanted_type(expected.model)
    with pytest.raises(ValueError, match="method must be one of predict, decision_function"):
        distributed.predict(expected.model, spread, "fit")
    with pytest.raises(ValueError, match="X has 2 features, the model has 3"):
        distributed.predict(expected.model, spread[:, :2])


def wanted_type(model):
    return model.predict(np.zeros((1, D))).dtype


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"X": np.zeros((9, 2))}, TypeError, "X must be a dask array"),
        ({"y": None}, ValueError, "y must be given"),
        ({"y": np.zeros(9)}, TypeError, "y must be a dask array where X is one"),
        ({"y": da.zeros(9)}, ValueError, "y has 9 values, X has 1800 rows"),
        ({"y": da.zeros(N, chunks=CHUNK)}, ValueError, "one class only"),
        ({"rounds": 0}, ValueError, "rounds must be an integer of at least 1, got 0"),
        ({"rounds": 99}, ValueError, "rounds is 99, but X has 6 parts"),
        ({"n_learners": 1.5}, ValueError, "n_learners must be an integer"),
        ({"client": "tcp://here"}, TypeError, "client must be a distributed.Client, got str"),
        ({"checkpoint": "/no/such/folder/file"}, FileNotFoundError, "/no/such/folder/file"),
        ({"estimator": PAClassifier}, TypeError, "estimator must be a learner of streams"),
        ({"estimator": SGDClassifier()}, TypeError, "estimator must be a learner of streams"),
        ({"classes": ["yes"]}, ValueError, "classes must hold at least two labels"),
    ],
)
def test_bad_arguments(change, error, message, samples, client):
    X, y = chunked(*samples)
    options = {"estimator": PAClassifier(), "X": X, "y": y, "client": client, "progress": False}
    with pytest.raises(error, match=message):
        distributed.fit(**{**options, **change})


def test_columns_in_one_chunk(samples, client):
    X, y = chunked(*samples)
    with pytest.raises(ValueError, match=r"X\.rechunk\(\{1: -1\}\)"):
        learnt(client, X.rechunk({1: 1}), y)


def test_a_fault_in_the_data_is_the_learners_error(samples, client):
    X, y = samples
    bad = X.copy()
    bad[1500, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        learnt(client, *chunked(bad, y))


def function_of_no_other_process(monkeypatch):
    """A function whose module is in no file, wherever a worker looks."""
    module = types.ModuleType("only_here")
    exec("def read(): pass", module.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", module)
    return module.read


def test_a_worker_that_is_killed_in_mid_round(samples, expected, tmp_path, monkeypatch):
    X, y = samples
    foreign = function_of_no_other_process(monkeypatch)
    form = {"length": CHUNK, "victim": 4 * CHUNK, "marks": tmp_path}
    parts = [partial(part_to_die_for, X, y, first, **form) for first in range(0, N, CHUNK)]
    options = {"processes": True, "dashboard_address": ":0"}
    with (
        killing(tmp_path),
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        fitted = learnt(client, parts, classes=["no", "yes"])
        with pytest.raises(ModuleNotFoundError, match="only_here"):
            learnt(client, [foreign] * 2, classes=["no", "yes"])
    same(fitted, expected, X)


def test_a_scheduler_that_is_gone(samples, tmp_path):
    X, y = samples
    file = tmp_path / "model.okn"
    cluster = LocalCluster(n_workers=1, processes=False, dashboard_address=":0")
    client = Client(cluster)

    def after(done, total, text):
        if text == "round 2":
            cluster.close()

    with pytest.raises(distributed.ClusterLost, match="round 1, of 900 samples") as caught:
        distributed.fit(
            least_squares(), *chunked(X, y), rounds=2, client=client, checkpoint=file,
            progress=after,
        )  # fmt: skip
    client.close()
    assert [one.number for one in caught.value.rounds] == [0, 1]
    saved = load(file)
    assert saved.n_seen_ == caught.value.model.n_seen_ == 900
    np.testing.assert_array_equal(
        saved.decision_function(X), caught.value.model.decision_function(X)
    )


def results_of(comparison):
    """What a comparison found, without the times."""
    return [
        (one.name, one.estimator, one.parameters, one.test_scores,
         [(run.mistakes, run.n_support, run.figures, run.error_curve.tolist())
          for run in one.runs])
        for one in comparison.methods
    ]  # fmt: skip


def test_threads_may_read_one_source(samples):
    X, y = samples
    small = ((X[k : k + 10], y[k : k + 10]) for k in range(0, N, 10))
    with Source(small, budget=1) as source, ThreadPoolExecutor(4) as threads:
        read = threads.map(lambda _: [block[0] for block in source.blocks()], range(8))
        for blocks in read:
            np.testing.assert_array_equal(np.concatenate(blocks), X.astype(np.float32))


def test_compare(samples, client):
    X, y = samples
    options = {"repeats": 2, "settings": {"pa1.C": 0.5, "eta": 0.2}}
    with (
        Source.from_arrays(X[:600], y[:600]) as source,
        Source.from_arrays(X[600:800], y[600:800], like=source, budget=1) as test,
    ):
        local = evaluate.compare("pa1,spa", source, test=test, **options)
        seen = []
        spread = distributed.compare(
            "pa1,spa", source, test=test, client=client,
            progress=lambda *said: seen.append(said), **options,
        )  # fmt: skip
        assert seen[-1] == (8, 8, "comparing")
        assert results_of(spread) == results_of(local)
        assert {**vars(spread), "methods": 0} == {**vars(local), "methods": 0}
        own = {"mine": PAClassifier()}
        spread = distributed.compare(own, source, repeats=1, client=client, progress=False)
        assert results_of(spread) == results_of(evaluate.compare(own, source, repeats=1))
        with pytest.raises(ValueError, match="repeats must be an integer"):
            distributed.compare(own, source, repeats=0, client=client)
