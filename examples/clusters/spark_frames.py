"""
Learn a table, and a stream, with Spark
=======================================

A data frame is learnt in rounds, a partition a part. Then a stream of the same rows goes on from
that model, with a model for each town, which Spark keeps in its checkpoint.

    pip install 'onlinekern[spark]'
    python examples/clusters/spark_frames.py
"""

from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from onlinekern import KernelRLSClassifier
from onlinekern.distributed import spark

ROWS, PARTITIONS = 80_000, 4


def table_of(session):
    """Return rows of three features, a town and a label."""
    rows = session.range(ROWS, numPartitions=PARTITIONS).withColumnRenamed("id", "at")
    for seed, name in enumerate("abc"):
        rows = rows.withColumn(name, F.randn(seed))
    rows = rows.withColumn("town", F.when(F.col("c") > 0, "Ulm").otherwise("Bonn"))
    return rows.withColumn("sold", F.col("a") * F.col("b") > 0.1)


def learn_stream(session, model, folder):
    """Return the share of mistakes of the models of all towns, of rows that they had not seen."""
    rows = session.readStream.schema(table_of(session).schema).parquet(f"{folder}/rows")
    answers = spark.learn_stream(model, rows, "town", "sold", order="at", features=["a", "b", "c"])
    query = answers.writeStream.format("parquet").option("path", f"{folder}/answers")
    query = query.option("checkpointLocation", f"{folder}/checkpoint")
    query.trigger(availableNow=True).start().awaitTermination()
    wrong = F.avg((F.col("prediction") != F.col("sold")).cast("int")).alias("wrong")
    return session.read.parquet(f"{folder}/answers").agg(wrong).first().wrong


def main():
    session = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    table = table_of(session).persist()
    learner = KernelRLSClassifier(n_components=100, gate="always", random_state=0)
    fitted = spark.fit(learner, table, "sold", features=["a", "b", "c"], rounds=2, n_learners=2)
    for one in fitted.rounds:
        share = one.mistakes / one.samples
        print(f"round {one.number}: {one.samples:,} samples, {share:.2%} mistakes")
    with TemporaryDirectory() as folder:
        table.limit(5000).write.parquet(f"{folder}/rows")
        wrong = learn_stream(session, fitted.model, folder)
    print(f"stream: {wrong:.2%} mistakes")
    session.stop()


if __name__ == "__main__":
    main()
