"""Workers that lack the library, or have another version: they are named, not waited for."""

import pickle
import subprocess
import sys
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from spread import slow_part_of

from onlinekern import PAClassifier, distributed, show_config

pytest.importorskip("distributed", reason="distributed is not installed")
da = pytest.importorskip("dask.array", reason="dask.array is not installed")
from distributed import Client, LocalCluster  # noqa: E402

from onlinekern.distributed import cluster as module  # noqa: E402
from onlinekern.distributed import preflight  # noqa: E402

# What another process runs: a worker in whose Python `onlinekern` is not there, or another one. No
# path says so: the loader of an editable install comes before all of them.
PATHS = f"import sys; sys.path[:0] = {sys.path!r}; "
WORKER = "from distributed.cli.dask_worker import main; main()"
LACKING = f"{PATHS}sys.modules['onlinekern'] = None; {WORKER}"
SHOWN = {"version": "0.0.1", "instruction_set": "avx2", "available": []}
OTHER = (
    f"{PATHS}import types; other = types.ModuleType('onlinekern'); "
    f"other.show_config = lambda mode: {SHOWN}; sys.modules['onlinekern'] = other; {WORKER}"
)


@pytest.fixture
def client():
    """A cluster without workers."""
    options = {"processes": True, "dashboard_address": ":0"}
    with LocalCluster(n_workers=0, **options) as cluster, Client(cluster) as client:
        yield client


@contextmanager
def worker(client, code):
    """A worker in a process of its own."""
    arguments = [client.scheduler.address, "--no-nanny", "--no-dashboard", "--nthreads", "1"]
    already = len(client.nthreads())
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        client.wait_for_workers(already + 1, timeout=60)
        yield
    finally:
        process.kill()
        process.wait()


def learnt(client, parts=None, **options):
    X = np.random.default_rng(0).normal(size=(800, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    if parts is None:
        parts = [partial(slow_part_of, X, y, first, 100) for first in range(0, 800, 100)]
    options = {"classes": ["no", "yes"], "client": client, "progress": False, **options}
    return distributed.fit(PAClassifier(), parts, **options)


def test_a_worker_without_the_library(client):
    with worker(client, LACKING):
        (address,) = client.nthreads()
        with pytest.raises(distributed.WorkerUnfit) as caught:
            learnt(client)
    message = str(caught.value)
    assert message.startswith(f"worker {address} cannot import onlinekern in {sys.executable} (")
    assert "ModuleNotFoundError" in message
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), list(again.workers)) == (message, [address])


def test_a_worker_with_another_version(client):
    own = show_config(mode="dicts")["version"]
    with (
        worker(client, OTHER),
        pytest.raises(distributed.WorkerUnfit, match=f"has onlinekern 0.0.1, the client {own}"),
    ):
        learnt(client)


def test_one_that_comes_late(client, monkeypatch):
    monkeypatch.setattr(module, "LOOK", 0.1)
    late = []

    def come(done, total, text):
        if text == "round 1" and not late:
            late.append(worker(client, LACKING))
            late[0].__enter__()

    with worker(client, PATHS + WORKER):
        try:
            with pytest.raises(distributed.WorkerUnfit, match="cannot import onlinekern"):
                learnt(client, progress=come)
        finally:
            late[0].__exit__(None, None, None)


def test_the_last_worker_goes(client, monkeypatch):
    monkeypatch.setattr(module, "LOOK", 0.1)
    monkeypatch.setattr(module, "FIRST_WORKER", 0.5)
    with pytest.raises(TimeoutError, match="no worker came to the cluster"):
        learnt(client)
    monkeypatch.setattr(module, "FIRST_WORKER", 5)
    only = worker(client, PATHS + WORKER)

    def go(done, total, text):
        if text == "round 1" and done == 2:
            only.__exit__(None, None, None)

    only.__enter__()
    with pytest.raises(distributed.ClusterLost, match="no worker for 5 s"):
        learnt(client, progress=go)


def test_warnings_of_those_that_differ():
    asked = preflight.Preflight(None)
    same = {**show_config(mode="dicts"), "free": 1 << 40}
    asked._warn({"a": same, "b": OSError()})
    with pytest.warns(RuntimeWarning, match="worker a runs on scalar, the client on"):
        asked._warn({"a": {**same, "instruction_set": "scalar"}})
    with pytest.warns(RuntimeWarning, match="worker a has 1 MiB of memory free, 256 MiB"):
        asked._warn({"a": {**same, "free": 1 << 20}})
    assert asked._fault(TimeoutError()) == "did not answer in 60 s"
    assert asked._fault(OSError()) is None
