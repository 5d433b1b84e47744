"""Learning on a Ray cluster: the bits are those of Dask, whatever dies on the way."""

import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from spread import kill_who_comes, part_of, part_of_death, part_to_die_for

from onlinekern import (
    KernelRLSClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    distributed,
    make_stream_pipeline,
)
from onlinekern.distributed import ray as on_ray

ray = pytest.importorskip("ray", reason="ray is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")
from distributed import Client  # noqa: E402

N, CHUNK = 1800, 300
LABELS = ["no", "yes"]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Two CPUs; the workers can import what reads the parts."""
    folder = str(Path(__file__).parent)
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": folder}},
    )  # fmt: skip
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def client():
    """Two workers of Dask, in this process."""
    with Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as client:
        yield client


@pytest.fixture(scope="module")
def samples():
    X = np.random.default_rng(0).normal(size=(N, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")


def parts_of(X, y, read=part_of, **options):
    return [partial(read, X, y, first, CHUNK, **options) for first in range(0, N, CHUNK)]


def least_squares():
    return KernelRLSClassifier(n_components=20, random_state=0)


def same(fitted, expected, X):
    """Assert that two runs have made the same model, bit for bit, and the same record."""
    method = "decision_function" if hasattr(expected.model, "classes_") else "predict"
    found, wanted = (getattr(one.model, method)(X) for one in (fitted, expected))
    np.testing.assert_array_equal(found, wanted)
    for one, other in zip(fitted.rounds, expected.rounds, strict=True):
        assert one.by_learner == other.by_learner
        assert (one.number, one.mistakes) == (other.number, other.mistakes)
        assert one.squared_error == other.squared_error
        assert one.bytes_moved > 0
    assert fitted.skipped == expected.skipped


@pytest.mark.parametrize(("n_learners", "classes"), [(1, None), (2, LABELS), (5, None)])
def test_the_bits_are_those_of_dask(samples, client, n_learners, classes):
    X, y = samples
    options = {"rounds": 2, "passes": 2, "n_learners": n_learners, "classes": classes}
    expected = distributed.fit(
        least_squares(), parts_of(X, y), client=client, progress=False, **options
    )
    same(on_ray.fit(least_squares(), parts_of(X, y), progress=False, **options), expected, X)


def test_targets_and_transformers(samples, client):
    X, _ = samples
    y = np.sin(X[:, 0]) + X[:, 1]
    model = make_stream_pipeline(
        OnlineStandardScaler(), KernelRLSRegressor(n_components=20, random_state=0)
    )
    options = {"rounds": 2, "n_learners": 2, "warm_up": 250, "progress": False}
    expected = distributed.fit(model, parts_of(X, y), client=client, **options)
    same(on_ray.fit(model, parts_of(X, y), **options), expected, X)


def test_objects_of_ray(samples):
    X, y = samples
    expected = on_ray.fit(least_squares(), parts_of(X, y), progress=False)
    assert max(one.learners for one in expected.rounds) == 2  # the CPUs
    objects = [ray.put(part()) for part in parts_of(X, y)]
    same(on_ray.fit(least_squares(), objects, progress=False), expected, X)


def test_files(samples, client, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    X, y = samples
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "sold": y})
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=CHUNK)
    options = {"rounds": 2, "n_learners": 2, "progress": False}
    expected = distributed.fit(least_squares(), tmp_path, "sold", client=client, **options)
    same(on_ray.fit(least_squares(), tmp_path, "sold", **options), expected, X[:, :2])


@pytest.mark.parametrize("victim", [0, 4])
def test_an_actor_that_is_killed(samples, tmp_path, victim):
    X, y = samples
    options = {"rounds": 2, "n_learners": 2, "classes": LABELS, "progress": False}
    expected = on_ray.fit(least_squares(), parts_of(X, y), **options)
    killer = threading.Thread(target=kill_who_comes, args=[tmp_path], daemon=True)
    killer.start()
    parts = parts_of(X, y, part_to_die_for, victim=victim * CHUNK, marks=tmp_path)
    fitted = on_ray.fit(least_squares(), parts, **options)
    killer.join(timeout=10)
    assert not killer.is_alive()
    same(fitted, expected, X)


def test_a_part_that_ends_every_actor(samples, tmp_path):
    X, y = samples
    parts, file = parts_of(X, y), tmp_path / "model.okn"
    parts[4] = partial(part_of_death, X, y, 0, CHUNK)
    options = {"rounds": 2, "n_learners": 2, "classes": LABELS, "progress": False}
    with pytest.raises(distributed.ClusterLost, match=r"learn-2\.1\.0 ended each of 4") as lost:
        on_ray.fit(least_squares(), parts, checkpoint=file, **options)
    assert [one.number for one in lost.value.rounds] == [0, 1]
    assert lost.value.model.n_seen_ == 900
    parts[4] = partial(part_of, X, y, 4 * CHUNK, CHUNK)
    resumed = on_ray.fit(least_squares(), parts, checkpoint=file, resume=True, **options)
    same(resumed, on_ray.fit(least_squares(), parts, **options), X)


def test_bad_rows(samples):
    X, y = samples
    bad = X.copy()
    bad[1501, 1] = np.nan
    with pytest.raises(ValueError, match=r"^reader 5 of X, row 1: column 1 is missing or NaN"):
        on_ray.fit(least_squares(), parts_of(bad, y), classes=LABELS, progress=False)
    fitted = on_ray.fit(least_squares(), parts_of(bad, y), on_error="skip", progress=False)
    assert fitted.skipped == {"reader 5 of X": 1}
    assert fitted.samples == N - 1


def test_nothing_is_left_running(samples):
    on_ray.fit(least_squares(), parts_of(*samples), progress=False)
    for _ in range(100):
        if ray.available_resources().get("CPU") == 2:
            break
        time.sleep(0.1)
    assert ray.available_resources().get("CPU") == 2


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"X": np.zeros((9, 2)), "y": "c"},
            TypeError,
            "X must be a list of functions or of Ray's object",
        ),
        ({"X": [3]}, TypeError, "X holds int, which is neither an object of Ray nor a function"),
        ({"y": "sold"}, ValueError, "y and sample_weight must be None where X is a list"),
        ({"rounds": 0}, ValueError, "rounds must be an integer of at least 1, got 0"),
        ({"rounds": 99}, ValueError, "rounds is 99, but X has 6 parts"),
        ({"n_learners": 1.5}, ValueError, "n_learners must be an integer"),
        ({"on_error": "stop"}, ValueError, "on_error must be 'raise' or 'skip', got 'stop'"),
        ({"estimator": PAClassifier}, TypeError, "estimator must be a learner of streams"),
        ({"resume": True}, ValueError, "checkpoint must be given where resume is True"),
    ],
)
def test_bad_arguments(change, error, message, samples):
    options = {"estimator": PAClassifier(), "X": parts_of(*samples), "progress": False}
    with pytest.raises(error, match=message):
        on_ray.fit(**{**options, **change})


def test_another_version_is_named(samples, monkeypatch):
    monkeypatch.setattr(on_ray, "version_here", lambda: "0.0.1")
    with pytest.raises(distributed.WorkerUnfit, match=r"has onlinekern .*, the client 0\.0\.1"):
        on_ray.fit(PAClassifier(), parts_of(*samples), progress=False)
