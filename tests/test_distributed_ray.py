"""Learning on a Ray cluster: the bits are those of Dask, whatever dies on the way."""

import time
from functools import partial
from pathlib import Path

import pytest
from engines import CHUNK, LABELS, Readers, least_squares, parts_of, same
from engines import samples as samples_of
from spread import killing, part_of, part_of_death, part_to_die_for

from onlinekern import PAClassifier, distributed
from onlinekern.distributed import ray as on_ray

ray = pytest.importorskip("ray", reason="ray is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")


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
def samples():
    return samples_of()


@pytest.mark.parametrize(("n_learners", "classes"), [(1, None), (2, LABELS), (5, None)])
def test_the_bits_are_those_of_dask(samples, client, n_learners, classes):
    X, y = samples
    options = {"rounds": 2, "passes": 2, "n_learners": n_learners, "classes": classes}
    expected = distributed.fit(
        least_squares(), parts_of(X, y), client=client, progress=False, **options
    )
    same(on_ray.fit(least_squares(), parts_of(X, y), progress=False, **options), expected, X)


def test_staleness(samples, client):
    X, y = samples
    options = {"rounds": 6, "n_learners": 2, "staleness": 2, "classes": LABELS, "progress": False}
    learner = PAClassifier(C=0.1)
    expected = distributed.fit(learner, parts_of(X, y), client=client, **options)
    same(on_ray.fit(learner, parts_of(X, y), **options), expected, X)
    with pytest.raises(ValueError, match="staleness must be an integer of at least 0, got -1"):
        on_ray.fit(learner, parts_of(X, y), **{**options, "staleness": -1})


def test_objects_of_ray(samples):
    X, y = samples
    expected = on_ray.fit(least_squares(), parts_of(X, y), progress=False)
    assert max(one.learners for one in expected.rounds) == 2  # the CPUs
    objects = [ray.put(part()) for part in parts_of(X, y)]
    same(on_ray.fit(least_squares(), objects, progress=False), expected, X)


@pytest.mark.parametrize("victim", [0, 4])
def test_an_actor_that_is_killed(samples, tmp_path, victim):
    X, y = samples
    options = {"rounds": 2, "n_learners": 2, "classes": LABELS, "progress": False}
    expected = on_ray.fit(least_squares(), parts_of(X, y), **options)
    parts = parts_of(X, y, part_to_die_for, victim=victim * CHUNK, marks=tmp_path)
    with killing(tmp_path):
        fitted = on_ray.fit(least_squares(), parts, **options)
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


def test_nothing_is_left_running(samples):
    on_ray.fit(least_squares(), parts_of(*samples), progress=False)
    for _ in range(100):
        if ray.available_resources().get("CPU") == 2:
            break
        time.sleep(0.1)
    assert ray.available_resources().get("CPU") == 2


class TestReaders(Readers):
    @pytest.fixture
    def fit(self):
        return on_ray.fit


def test_another_version_is_named(samples, monkeypatch):
    monkeypatch.setattr(on_ray, "version_here", lambda: "0.0.1")
    with pytest.raises(distributed.WorkerUnfit, match=r"has onlinekern .*, the client 0\.0\.1"):
        on_ray.fit(PAClassifier(), parts_of(*samples), progress=False)
