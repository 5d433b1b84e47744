"""Stages of pipelines of pyspark.ml."""

import numpy as np
import pytest
import sparks

from onlinekern import KernelRLSClassifier, KernelRLSRegressor, PAClassifier
from onlinekern.distributed import spark

pd = pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("pyspark", reason="pyspark is not installed")
from onlinekern.distributed.spark.pipelines import StreamEstimator  # noqa: E402

N = 900


@pytest.fixture(scope="module")
def table(session):
    """Rows of two features, kept in three partitions."""
    a, b = np.random.default_rng(0).normal(size=(2, N))
    rows = pd.DataFrame({"a": a, "b": b, "label": (a + b**2 > 0.5).astype(float)})
    rows["word"] = np.where(a > b, "up", "down")
    rows["load"], rows["weight"] = np.sin(a) + b, np.abs(b)
    return sparks.frame_of(session, rows, 3).persist()


def assembled(table):
    from pyspark.ml.feature import VectorAssembler

    return VectorAssembler(inputCols=["a", "b"], outputCol="features").transform(table)


def learner():
    return KernelRLSClassifier(n_components=20, random_state=0)


def test_a_stage_learns_as_fit_does(table):
    frame = assembled(table)
    stage = StreamEstimator(learner=learner(), rounds=2, nLearners=2, weightCol="weight")
    model = stage.fit(frame)
    wanted = spark.fit(
        learner(), frame, "label", features="features", sample_weight="weight", rounds=2,
        n_learners=2, progress=False,
    ).model  # fmt: skip
    found = model.transform(frame).select("a", "b", "prediction").toPandas()
    X = found[["a", "b"]].to_numpy()
    np.testing.assert_array_equal(model.model.decision_function(X), wanted.decision_function(X))
    np.testing.assert_array_equal(found["prediction"], wanted.predict(X))
    assert set(found["prediction"]) == {0.0, 1.0}


def test_pipelines_are_saved_and_loaded(table, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator
    from pyspark.ml.feature import VectorAssembler

    stage = StreamEstimator(learner=learner(), featuresCol="x", predictionCol="answer")
    pipeline = Pipeline(stages=[VectorAssembler(inputCols=["a", "b"], outputCol="x"), stage])
    pipeline.write().save(str(tmp_path / "pipeline"))
    model = Pipeline.load(str(tmp_path / "pipeline")).fit(table)
    model.write().save(str(tmp_path / "model"))
    loaded = PipelineModel.load(str(tmp_path / "model"))
    assert loaded.stages[1].uid == model.stages[1].uid == stage.uid
    judge = MulticlassClassificationEvaluator(predictionCol="answer", metricName="accuracy")
    accuracy = judge.evaluate(loaded.transform(table))
    assert accuracy == judge.evaluate(model.transform(table))
    assert accuracy > 0.9


@pytest.mark.parametrize(
    ("model", "label", "kind"),
    [(PAClassifier(), "word", "string"), (KernelRLSRegressor(random_state=0), "load", "double")],
)
def test_types_of_answers(table, model, label, kind):
    frame = assembled(table)
    fitted = StreamEstimator(learner=model, labelCol=label).fit(frame)
    answers = fitted.transform(frame)
    assert dict(answers.dtypes)["prediction"] == kind
    rows = answers.select("a", "b", "prediction").toPandas()
    expected = fitted.model.predict(rows[["a", "b"]].to_numpy())
    np.testing.assert_array_equal(rows["prediction"].to_numpy(), expected)


def test_a_copy_with_other_parameters(table):
    stage = StreamEstimator(learner=PAClassifier())
    other = stage.copy({stage.rounds: 3, stage.learner: learner()})
    assert (stage.getOrDefault("rounds"), other.getOrDefault("rounds")) == (1, 3)
    frame = assembled(table)
    assert isinstance(other.fit(frame).model, KernelRLSClassifier)
    assert isinstance(stage.fit(frame, {stage.passes: 2}).model, PAClassifier)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"learner": 3}, TypeError, "estimator must be a learner of streams"),
        ({"labelCol": "no"}, ValueError, "y is 'no', which is no column of X"),
        ({"featuresCol": "a"}, TypeError, "features is 'a', a column of double"),
        ({"rounds": 0}, ValueError, "rounds must be an integer of at least 1, got 0"),
    ],
)
def test_bad_parameters(table, change, error, message):
    with pytest.raises(error, match=message):
        StreamEstimator(**{"learner": learner(), **change}).fit(assembled(table))
