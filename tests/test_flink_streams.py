"""Streams of Flink: a model for each key, learnt exactly once, whatever ends on the way."""

import sys
import time
from functools import partial

import flinks
import numpy as np
import pytest
from engines import alone, labels_alone, sensors, without_some_labels
from spread import killing

from onlinekern import KernelRLSRegressor, PAClassifier
from onlinekern.distributed import flink
from onlinekern.distributed.flink import streaming
from onlinekern.fitted.save import to_bytes

N = 600
NAMES = ["a", "b"]
pytestmark = pytest.mark.filterwarnings(flinks.BROKEN_STREAMS)


@pytest.fixture(scope="module")
def table():
    return sensors(N)


@pytest.fixture
def processes(monkeypatch):
    """The workers are processes, as on a cluster; on one machine Flink makes threads of them."""
    flinks.needed()
    monkeypatch.setenv("_python_worker_execution_mode", "process")


def mortal(place):
    return partial(flinks.MortalLearner, place=place, row=N // 2)


def least_squares():
    return KernelRLSRegressor(n_components=20, random_state=0)


def streams_of(environment, table, place, **options):
    """Send the answers, and the models, to files."""
    rows = flinks.rows_of(environment, table, place)
    given = {"key": "sensor", "y": "load", "features": NAMES, **options}
    flinks.write(flink.learn_stream(least_squares(), rows, **given), place)


def check(table, place):
    """Assert that each row was learnt once, and that the models are those of one call a key."""
    answers = sorted(flinks.lines_in(place / "answers"), key=lambda row: row[1])
    assert [row[1] for row in answers] == list(range(N))
    predictions, models = alone(table, least_squares)
    assert [row[-1] for row in answers] == predictions
    wanted = {key: to_bytes(model) for key, model in models.items()}
    assert flinks.models_in(place / "models") == wanted


def test_a_worker_that_is_killed(table, tmp_path, monkeypatch, processes):
    monkeypatch.setattr(streaming, "KeyLearner", mortal(tmp_path))
    environment = flinks.environment_of(flinks.checkpointed(tmp_path))
    streams_of(environment, table, tmp_path)
    with killing(tmp_path):
        environment.execute()
    check(table, tmp_path)


def test_a_task_manager_that_is_killed(table, tmp_path, monkeypatch):
    flinks.needed()
    monkeypatch.setattr(streaming, "KeyLearner", mortal(tmp_path))
    with flinks.cluster(tmp_path / "cluster") as cluster:
        environment = cluster.environment(flinks.checkpointed(tmp_path))
        streams_of(environment, table, tmp_path)
        with killing(tmp_path, cluster.kill_who_comes):
            environment.execute()
    check(table, tmp_path)


def test_a_savepoint(table, tmp_path):
    flinks.needed()
    environment = flinks.environment_of(flinks.checkpointed(tmp_path))
    streams_of(environment, table, tmp_path)
    job = environment.execute_async()
    while not flinks.has_checkpoint(tmp_path):
        time.sleep(0.05)
    savepoint = flinks.stopped(job, tmp_path / "savepoints")
    # The stream has not ended.
    assert not flinks.lines_in(tmp_path / "models")
    (tmp_path / "came").touch()
    options = {"execution.state-recovery.path": savepoint, "parallelism": 1}
    environment = flinks.environment_of(flinks.checkpointed(tmp_path, **options))
    streams_of(environment, table, tmp_path)
    environment.execute()
    check(table, tmp_path)


def collected(stream):
    with stream.execute_and_collect() as rows:
        return [list(row) for row in rows]


def listed(environment, table):
    """Return the rows of a table, which are sent with the job."""
    from pyflink.common import Row

    rows = [Row(*row) for row in table.astype(object).where(table.notna(), None).to_numpy()]
    return environment.from_collection(rows, flinks.kind_of(table))


def test_labels_of_a_table_that_are_missing(table):
    flinks.needed()
    from pyflink.table import StreamTableEnvironment

    gaps = without_some_labels(table)
    environment = flinks.environment_of(flinks.configuration(1))
    tables = StreamTableEnvironment.create(environment)
    rows = tables.to_data_stream(tables.from_data_stream(listed(environment, gaps)))
    answers, _ = flink.learn_stream(
        PAClassifier(random_state=0), rows, "sensor", "label", features=NAMES,
        classes=["up", "down"],
    )  # fmt: skip
    found = sorted(collected(answers), key=lambda row: row[1])
    assert [row[-1] for row in found] == labels_alone(gaps)


def test_rows_that_come_in_another_order(table):
    flinks.needed()
    from pyflink.common import Duration, WatermarkStrategy

    environment = flinks.environment_of(flinks.configuration(1))
    # No row comes more than 60 places too late.
    late = table.iloc[np.argsort(np.arange(N) + np.random.default_rng(0).uniform(0, 60, N))]
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(60))
    rows = listed(environment, late).assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(flinks.times())
    )
    before = least_squares().fit(table[NAMES], table["load"])
    answers, _ = flink.learn_stream(before, rows, "sensor", "load", order="at", features=NAMES)
    found = sorted(collected(answers), key=lambda row: row[1])
    wanted, _ = alone(table, lambda: least_squares().fit(table[NAMES], table["load"]))
    assert [row[-1] for row in found] == wanted
    assert before.n_seen_ == N


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"X": np.zeros((9, 2))}, TypeError, "X must be a DataStream of Flink, got ndarray"),
        ({"key": "k"}, ValueError, "key is 'k', which is no column of X"),
        ({"y": "k"}, ValueError, "y is 'k', which is no column of X"),
        ({"order": "k"}, ValueError, "order is 'k', which is no column of X"),
        ({"features": ["a", "k"]}, ValueError, "features is 'k', which is no column of X"),
        ({"estimator": PAClassifier()}, ValueError, "classes must be given"),
        ({"estimator": PAClassifier}, TypeError, "estimator must be a learner of streams"),
        ({"classes": [0, 1]}, ValueError, "classes must be None"),
    ],
)
def test_bad_arguments(table, change, error, message):
    flinks.needed()
    rows = listed(flinks.environment_of(flinks.configuration(1)), table[:2])
    options = {"estimator": least_squares(), "X": rows, "key": "sensor", "y": "load"}
    with pytest.raises(error, match=message):
        flink.learn_stream(**{**options, **change})


def test_rows_without_names():
    flinks.needed()
    rows = flinks.environment_of(flinks.configuration(1)).from_collection([1, 2])
    with pytest.raises(TypeError, match="X must be a stream of rows with names"):
        flink.learn_stream(least_squares(), rows, "sensor", "load")


@pytest.mark.parametrize("name", ["pyflink.common", "pyflink.datastream"])
def test_without_flink(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    message = r"distributed\.flink needs flink: pip install 'onlinekern\[flink\]'"
    with pytest.raises(ImportError, match=message):
        flink.learn_stream(least_squares(), None, "sensor", "load")
