"""Learning data frames of Spark: the bits are those of Dask, whatever dies on the way."""

import numpy as np
import pytest
import sparks
from engines import N, least_squares, same
from spread import Mortal, killing

from onlinekern import (
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    TableEncoder,
    distributed,
    make_stream_pipeline,
)
from onlinekern.distributed import spark

pd = pytest.importorskip("pandas", reason="pandas is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")

NAMES = ["a", "b.c", "d"]
OPTIONS = {"rounds": 2, "n_learners": 2, "progress": False}


@pytest.fixture(scope="module")
def table():
    X = np.random.default_rng(0).normal(size=(N, 3))
    frame = pd.DataFrame(X, columns=NAMES)
    frame["town"] = np.where(X[:, 2] > 0, "Ulm", "Bonn")
    frame["sold"] = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")
    frame["price"] = np.sin(X[:, 0]) + X[:, 1]
    frame["weight"] = np.abs(X[:, 2])
    return frame


@pytest.fixture(scope="module")
def expected(session, table):
    """What Spark makes of the rows, in six partitions."""
    return spark.fit(least_squares(), spread(session, table), "sold", **OPTIONS)


def spread(session, table, names=(*NAMES, "sold"), n_parts=6):
    return sparks.frame_of(session, table[list(names)], n_parts)


def on_dask(client, model, table, y, n_parts=6, **options):
    frame = dd.from_pandas(table, npartitions=n_parts, sort=False)
    return distributed.fit(model, frame, y, client=client, **{**OPTIONS, **options})


def test_the_bits_are_those_of_dask(session, client, table, expected):
    names = [*NAMES, "sold"]
    same(expected, on_dask(client, least_squares(), table[names], "sold"), table[NAMES])


def test_more_learners_than_are_merged_at_once(session, client, table):
    options = {"n_learners": 9, "passes": 2, "rounds": 1, "classes": ["no", "yes"]}
    names = [*NAMES, "sold", "weight"]
    wanted = on_dask(
        client, least_squares(), table[names], "sold", 12, sample_weight="weight", **options
    )
    frame = spread(session, table, names, 12)
    found = spark.fit(
        least_squares(), frame, "sold", sample_weight="weight", **{**OPTIONS, **options}
    )
    same(found, wanted, table[NAMES])


def test_tables(session, client, table):
    names = ["a", "town", "price"]
    model = make_stream_pipeline(
        TableEncoder(), OnlineStandardScaler(), KernelRLSRegressor(n_components=20, random_state=0)
    )
    wanted = on_dask(client, model, table[names], "price")
    found = spark.fit(model, spread(session, table, names), "price", **OPTIONS)
    same(found, wanted, table[["a", "town"]])


def test_some_features_and_empty_partitions(session, client, table):
    # The ranges of dates, say, that a query leaves: the second and the last partition are empty.
    rows = spread(session, table.assign(row=np.arange(N, dtype=float)), [*NAMES, "sold", "row"])
    rows = rows.where("row < 300 or (row >= 600 and row < 1500)")
    found = spark.fit(least_squares(), rows, "sold", features=["d", "a"], **OPTIONS)
    parts = [
        (lambda k=k: (table[["d", "a"]][300 * k : 300 * k + (0 if k in (1, 5) else 300)],
                      table["sold"][300 * k : 300 * k + (0 if k in (1, 5) else 300)]))
        for k in range(6)
    ]  # fmt: skip
    wanted = distributed.fit(
        least_squares(), parts, client=client, classes=["no", "yes"], **OPTIONS
    )
    same(found, wanted, table[["d", "a"]])
    assert found.samples == 1200


@pytest.mark.parametrize("kind", ["arrays", "vectors"])
def test_one_column_of_all_features(session, table, expected, kind):
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import functions as F

    frame = spread(session, table).withColumnRenamed("b.c", "b")
    names = ["a", "b", "d"]
    if kind == "vectors":
        frame = VectorAssembler(inputCols=names, outputCol="x").transform(frame)
    else:
        frame = frame.withColumn("x", F.array(*names))
    found = spark.fit(least_squares(), frame, "sold", features="x", **OPTIONS)
    assert not hasattr(found.model, "feature_names_in_")
    np.testing.assert_array_equal(
        found.model.decision_function(table[NAMES].to_numpy()),
        expected.model.decision_function(table[NAMES]),
    )


def test_warm_start(session, table, expected):
    frame = spread(session, table)
    more = spark.fit(expected.model, frame, "sold", warm_start=True, **OPTIONS)
    assert more.model.n_seen_ == 2 * N
    assert [one.number for one in more.rounds] == [1, 2]


def with_mortal(table, row, marks=None):
    return make_stream_pipeline(Mortal(table["a"][row], marks), least_squares())


def arrays(session, table):
    from pyspark.sql import functions as F

    frame = spread(session, table, ["a", "d", "sold"])
    return frame.select(F.array("a", "d").alias("x"), "sold")


@pytest.mark.parametrize("row", [0, 1300])
def test_a_worker_that_is_killed(session, table, tmp_path, row):
    frame = arrays(session, table)
    X = table[["a", "d"]].to_numpy()
    options = {**OPTIONS, "warm_up": 200, "features": "x"}
    alive = make_stream_pipeline(Mortal(9.0), least_squares())
    wanted = spark.fit(alive, frame, "sold", **options)
    with killing(tmp_path):
        found = spark.fit(with_mortal(table, row, tmp_path), frame, "sold", **options)
    same(found, wanted, X)


def test_a_row_that_ends_every_worker(session, table):
    options = {**OPTIONS, "warm_up": 200, "features": "x"}
    with pytest.raises(distributed.ClusterLost, match="the model after round 1, of 900") as lost:
        spark.fit(with_mortal(table, 1300), arrays(session, table), "sold", **options)
    assert [one.number for one in lost.value.rounds] == [0, 1]
    assert lost.value.model.steps[-1][1].n_seen_ == 900


def test_resume(session, table, expected, tmp_path):
    file, frame = tmp_path / "model.okn", spread(session, table)

    def stop(done, total, text):
        if text == "round 2":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spark.fit(least_squares(), frame, "sold", checkpoint=file, **{**OPTIONS, "progress": stop})
    resumed = spark.fit(least_squares(), frame, "sold", checkpoint=file, resume=True, **OPTIONS)
    same(resumed, expected, table[NAMES])


def test_bad_rows(session, table):
    bad = table.copy()
    bad.loc[1501, "d"] = np.nan
    frame = spread(session, bad)
    with pytest.raises(ValueError, match=r"^partition 5 of X, row 1: column 'd' is missing"):
        spark.fit(least_squares(), frame, "sold", **OPTIONS)
    fitted = spark.fit(least_squares(), frame, "sold", on_error="skip", **OPTIONS)
    assert fitted.skipped == {"partition 5 of X": 1}
    assert fitted.samples == N - 1


def test_a_frame_that_changes(session, table, tmp_path):
    def longer(frames):
        with open(tmp_path / "times", "a") as file:
            file.write("x")
        yield from frames
        if (tmp_path / "times").stat().st_size > 2:
            yield pd.DataFrame({"a": [0.0], "sold": ["no"]})

    frame = spread(session, table, ["a", "sold"], 1).mapInPandas(longer, "a double, sold string")
    with pytest.raises(ValueError, match="X is another one each time it is read: partition 0"):
        spark.fit(least_squares(), frame, "sold", **{**OPTIONS, "rounds": 1})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"X": np.zeros((9, 2))}, TypeError, "X must be a data frame of Spark, got ndarray"),
        ({"y": None}, ValueError, "y must be given"),
        ({"y": 3}, TypeError, "y must be the name of a column, got int"),
        ({"y": "cost"}, ValueError, "y is 'cost', which is no column of X"),
        ({"sample_weight": "w"}, ValueError, "sample_weight is 'w', which is no column of X"),
        ({"features": ["a", "e"]}, ValueError, "features is 'e', which is no column of X"),
        ({"features": []}, ValueError, "features must name at least one column, got none"),
        ({"features": "a"}, TypeError, "features is 'a', a column of double; a single one must"),
        ({"rounds": 0}, ValueError, "rounds must be an integer of at least 1, got 0"),
        ({"rounds": 99}, ValueError, "rounds is 99, but X has 6 parts"),
        ({"on_error": "stop"}, ValueError, "on_error must be 'raise' or 'skip', got 'stop'"),
        ({"estimator": PAClassifier}, TypeError, "estimator must be a learner of streams"),
    ],
)
def test_bad_arguments(session, table, change, error, message):
    frame = spread(session, table)
    options = {"estimator": PAClassifier(), "X": frame, "y": "sold", **OPTIONS}
    with pytest.raises(error, match=message):
        spark.fit(**{**options, **change})


def test_arrays_of_other_lengths(session):
    frame = session.createDataFrame([([1.0], 0), ([1.0, 2.0], 1)], "x array<double>, y long")
    with pytest.raises(ValueError, match="x must hold arrays of one length in each row"):
        spark.fit(
            PAClassifier(), frame.coalesce(1), "y", features="x", classes=[0, 1], progress=False
        )


def test_without_spark(monkeypatch, table):
    import sys

    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ImportError, match=r"distributed\.spark needs spark: pip install 'online"):
        spark.fit(PAClassifier(), table, "sold")
