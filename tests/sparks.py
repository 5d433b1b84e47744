"""A Spark session of two cores, which begins a task that has failed four times in all."""

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from spread import wait_for_death

from onlinekern.distributed.spark.streaming import KeyLearner


def session():
    """Return the session; the test is skipped where it cannot be had."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    folder = str(Path(__file__).parent)
    options = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2", "spark.executorEnv.PYTHONPATH": folder,
    }  # fmt: skip
    begun = SparkSession.builder.master("local[2,4]").config(map=options).getOrCreate()
    begun.sparkContext.setLogLevel("OFF")
    return begun


def frame_of(session, table, n_parts):
    """Return a data frame of Spark with the rows of a table of pandas, in so many partitions."""
    rows = [tuple(row) for row in table.astype(object).itertuples(index=False)]
    cut = [rows[k * len(rows) // n_parts : (k + 1) * len(rows) // n_parts] for k in range(n_parts)]
    # A partition each: `parallelize` would cut rows by batches.
    spread = session.sparkContext.parallelize(cut, n_parts).flatMap(lambda some: some)
    schema = session.createDataFrame(table.head(1)).schema
    return session.createDataFrame(spread, schema)


@dataclass(frozen=True)
class MortalLearner(KeyLearner):
    """Waits to be killed when it first sees a row, unless somebody was killed already."""

    row: int = 0
    marks: Path = Path()

    def learn(self, model, rows):
        """Learn rows, or wait."""
        if (rows["at"] == self.row).any():
            wait_for_death(self.marks)
        return super().learn(model, rows)
