"""
Learn a table with Spark
========================

Each partition of a data frame goes on from one model, which travels as bytes in a column, and the
driver merges what they have learnt. `mapInPandas` gives a partition's rows in pieces, so memory
does not grow with it.

    pip install onlinekern pyspark pandas pyarrow
    python examples/clusters/spark_job.py
"""

import pickle
from functools import partial

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from onlinekern import KernelRLSClassifier, merge

FEATURES = ["a", "b", "c"]
CLASSES, PARTITIONS = [False, True], 4


def learn(base, frames):
    """Yield one row for a partition: the model that has learnt it, and its mistakes before."""
    model, mistakes = pickle.loads(base), 0
    for frame in frames:
        X, y = frame[FEATURES].to_numpy(), frame["sold"].to_numpy()
        mistakes += int(np.sum(model.partial_fit_predict(X, y) != y))
    yield pd.DataFrame({"model": [pickle.dumps(model)], "mistakes": [mistakes]})


def main():
    spark = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    rows = spark.range(80_000, numPartitions=PARTITIONS)
    for seed, name in enumerate(FEATURES):
        rows = rows.withColumn(name, F.randn(seed))
    table = rows.withColumn("sold", F.col("a") * F.col("b") > 0.1)
    # The width of the kernel and the landmarks are settled by the first rows: all share them.
    head, rest = table.where("id < 1000").toPandas(), table.where("id >= 1000")
    first = KernelRLSClassifier(n_components=100, gate="always", random_state=0)
    first.partial_fit(head[FEATURES].to_numpy(), head["sold"].to_numpy(), classes=CLASSES)
    learnt = rest.mapInPandas(
        partial(learn, pickle.dumps(first)), schema="model binary, mistakes long"
    ).collect()
    merged = merge([pickle.loads(row.model) for row in learnt], base=first)
    print(f"{merged.n_seen_:,} samples, {sum(row.mistakes for row in learnt):,} mistakes")
    everything = rest.toPandas()
    X, y = everything[FEATURES].to_numpy(), everything["sold"].to_numpy()
    alone = first.partial_fit(X, y)
    difference = np.abs(merged.decision_function(X) - alone.decision_function(X)).max()
    print(f"accuracy {merged.score(X, y):.4f}, one learner {alone.score(X, y):.4f}; "
          f"scores differ by {difference:.0e}")  # fmt: skip
    spark.stop()


if __name__ == "__main__":
    main()
