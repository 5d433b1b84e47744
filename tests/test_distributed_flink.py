"""Rounds on Flink: the bits are those of Dask, whatever dies on the way."""

import sys
from functools import partial

import flinks
import pytest
from engines import CHUNK, LABELS, Readers, least_squares, parts_of, same
from engines import samples as samples_of
from spread import killing, part_of_death, part_to_die_for

from onlinekern import PAClassifier, distributed
from onlinekern.distributed import flink

pytest.importorskip("distributed", reason="distributed is not installed")

OPTIONS = {"rounds": 2, "n_learners": 2, "progress": False}
pytestmark = pytest.mark.filterwarnings(flinks.BROKEN_STREAMS)


@pytest.fixture(scope="module")
def runtime():
    flinks.needed()


@pytest.fixture(scope="module")
def client(runtime, client):
    return client


@pytest.fixture(scope="module")
def samples():
    return samples_of()


def on_flink(*given, **options):
    environment = partial(flinks.environment_of, flinks.configuration())
    return flink.fit(*given, environment=environment, **options)


@pytest.mark.parametrize(("n_learners", "passes", "classes"), [(2, 1, None), (6, 2, LABELS)])
def test_the_bits_are_those_of_dask(samples, client, n_learners, passes, classes):
    X, y = samples
    options = {**OPTIONS, "n_learners": n_learners, "passes": passes, "classes": classes}
    expected = distributed.fit(least_squares(), parts_of(X, y), client=client, **options)
    same(flink.fit(least_squares(), parts_of(X, y), **options), expected, X)


def test_a_worker_that_is_killed(samples, client, tmp_path, monkeypatch):
    X, y = samples
    options = {**OPTIONS, "classes": LABELS}
    expected = distributed.fit(least_squares(), parts_of(X, y), client=client, **options)
    # On one machine Flink makes threads of this process of its workers, unless it is told so.
    monkeypatch.setenv("_python_worker_execution_mode", "process")
    parts = parts_of(X, y, part_to_die_for, victim=4 * CHUNK, marks=tmp_path)
    with killing(tmp_path):
        fitted = on_flink(least_squares(), parts, **options)
    same(fitted, expected, X)


def test_a_part_that_ends_every_worker(samples, client, tmp_path, monkeypatch):
    X, y = samples
    parts, file = parts_of(X, y), tmp_path / "model.okn"
    options = {**OPTIONS, "classes": LABELS, "checkpoint": file}
    expected = distributed.fit(
        least_squares(), parts, client=client, **{**options, "checkpoint": None}
    )
    parts[4] = partial(part_of_death, X, y, 0, CHUNK)
    monkeypatch.setenv("_python_worker_execution_mode", "process")
    with pytest.raises(distributed.ClusterLost, match="the model after round 1, of 900") as lost:
        on_flink(least_squares(), parts, **options)
    assert [one.number for one in lost.value.rounds] == [0, 1]
    assert lost.value.model.n_seen_ == 900
    monkeypatch.undo()
    resumed = on_flink(least_squares(), parts_of(X, y), resume=True, **options)
    same(resumed, expected, X)


class TestReaders(Readers):
    @pytest.fixture
    def fit(self, runtime):
        return on_flink


def test_bad_environment(runtime, samples):
    with pytest.raises(TypeError, match="environment must be a function without arguments that"):
        flink.fit(PAClassifier(), parts_of(*samples), environment=3)


def test_without_flink(monkeypatch, samples):
    monkeypatch.setitem(sys.modules, "pyflink.datastream", None)
    message = r"distributed\.flink needs flink: pip install 'onlinekern\[flink\]'"
    with pytest.raises(ImportError, match=message):
        flink.fit(PAClassifier(), parts_of(*samples))
