"""Streams of Spark: a model for each key, kept by Spark, whatever ends on the way."""

import os
from functools import partial

import numpy as np
import pytest
import sparks
from engines import alone, labels_alone, sensors, without_some_labels
from spread import killing

from onlinekern import KernelRLSRegressor, PAClassifier
from onlinekern.distributed import spark
from onlinekern.distributed.spark import streaming

pd = pytest.importorskip("pandas", reason="pandas is not installed")
SCHEMA = "sensor string, at long, a double, b double, load double, label string"
N, PIECES = 600, 4


@pytest.fixture(scope="module")
def table():
    return sensors(N)


def write(table, folder, numbers):
    """Write pieces of the table, which appear as whole files; the rows of each are shuffled."""
    folder.mkdir(exist_ok=True)
    for number in numbers:
        piece = table[number * N // PIECES : (number + 1) * N // PIECES]
        hidden = folder / f".{number}"
        piece.sample(frac=1, random_state=number).to_parquet(hidden, index=False)
        os.replace(hidden, folder / f"{number}.parquet")


def stream(session, folder):
    rows = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return rows.parquet(str(folder))


def run(session, answers, place):
    """Learn all that is there, and stop; the answers are files, of which none is written twice."""
    options = {"checkpointLocation": str(place / "checkpoint"), "path": str(place / "answers")}
    query = answers.writeStream.format("parquet").options(**options)
    query = query.trigger(availableNow=True).start()
    query.awaitTermination()
    found = session.read.parquet(str(place / "answers")).toPandas()
    return found.sort_values("at", ignore_index=True)


def least_squares():
    return KernelRLSRegressor(n_components=20, random_state=0)


def test_a_query_that_is_stopped_and_goes_on(session, table, tmp_path):
    source = tmp_path / "rows"
    for pieces in ([0], [1, 2], [3]):
        write(table, source, pieces)
        # A new query each time: the models come from the checkpoint.
        answers = spark.learn_stream(
            least_squares(), stream(session, source), "sensor", "load", order="at",
            features=["a", "b"],
        )  # fmt: skip
        assert answers.isStreaming
        found = run(session, answers, tmp_path)
    assert found["at"].tolist() == list(range(N))
    np.testing.assert_array_equal(found["prediction"], alone(table, least_squares)[0])
    np.testing.assert_array_equal(found["load"], table["load"])


def test_a_worker_that_is_killed(session, table, tmp_path, monkeypatch):
    write(table, tmp_path / "rows", range(PIECES))
    mortal = partial(sparks.MortalLearner, row=400, marks=tmp_path)
    monkeypatch.setattr(streaming, "KeyLearner", mortal)
    answers = spark.learn_stream(
        least_squares(), stream(session, tmp_path / "rows"), "sensor", "load", order="at",
        features=["a", "b"],
    )  # fmt: skip
    with killing(tmp_path):
        found = run(session, answers, tmp_path)
    np.testing.assert_array_equal(found["prediction"], alone(table, least_squares)[0])


def test_labels_that_are_missing(session, table, tmp_path):
    gaps = without_some_labels(table)
    write(gaps, tmp_path / "rows", range(PIECES))
    answers = spark.learn_stream(
        PAClassifier(random_state=0), stream(session, tmp_path / "rows"), "sensor", "label",
        order="at",
        features=["a", "b"], classes=["up", "down"],
    )  # fmt: skip
    found = run(session, answers, tmp_path)
    answered = [None if pd.isna(one) else one for one in found["prediction"]]
    assert answered == labels_alone(gaps)


def test_a_model_that_has_learnt(session, table, tmp_path):
    before = least_squares().fit(table[["a", "b"]], table["load"])
    write(table, tmp_path / "rows", range(PIECES))
    rows = stream(session, tmp_path / "rows").drop("label")
    answers = spark.learn_stream(before, rows, "sensor", "load", order="at")
    found = run(session, answers, tmp_path)
    wanted, _ = alone(table, lambda: least_squares().fit(table[["a", "b"]], table["load"]))
    np.testing.assert_array_equal(found["prediction"], wanted)
    assert before.n_seen_ == N


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"X": np.zeros((9, 2))}, TypeError, "X must be a data frame of Spark, got ndarray"),
        ({"key": "k"}, ValueError, "key is 'k', which is no column of X"),
        ({"y": "k"}, ValueError, "y is 'k', which is no column of X"),
        ({"order": "k"}, ValueError, "order is 'k', which is no column of X"),
        ({"features": ["a", "k"]}, ValueError, "features is 'k', which is no column of X"),
        ({"estimator": PAClassifier(), "y": "label"}, ValueError, "classes must be given"),
        ({"estimator": PAClassifier}, TypeError, "estimator must be a learner of streams"),
        ({"classes": [0, 1]}, ValueError, "classes must be None"),
    ],
)
def test_bad_arguments(session, table, tmp_path, change, error, message):
    (tmp_path / "rows").mkdir()
    options = {
        "estimator": least_squares(), "X": stream(session, tmp_path / "rows"), "key": "sensor",
        "y": "load", "order": "at", "features": ["a", "b"],
    }  # fmt: skip
    with pytest.raises(error, match=message):
        spark.learn_stream(**{**options, **change})
