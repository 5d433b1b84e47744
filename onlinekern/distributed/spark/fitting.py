"""Rounds on a Spark data frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Unpack

from onlinekern.distributed import mixing, tasks
from onlinekern.distributed.cluster import showing_progress
from onlinekern.distributed.engines import loss_of_job, require, value_of
from onlinekern.distributed.mixing import MERGED, Shares
from onlinekern.distributed.parts import Part, Stream, check_column
from onlinekern.distributed.record import DistributedFit
from onlinekern.distributed.spark.work import (
    ROW,
    ROW_BITS,
    SCHEMA,
    TARGET,
    WEIGHT,
    Partitions,
    Tables,
    call,
    column_of,
    count,
    merge,
)
from onlinekern.distributed.starting import Asked, Options, takes_options


@takes_options
def fit(
    estimator: Any,
    X: Any,
    y: str | None = None,
    *,
    features: Sequence[str] | str | None = None,
    sample_weight: str | None = None,
    progress: Callable[[int, int | None, str], None] | bool | None = None,
    **options: Unpack[Options],
) -> DistributedFit:
    """Learn a data frame of Spark.

    The classes, the warm-up, the rounds and the merges are those of `onlinekern.distributed.fit`;
    a part is a partition. The same parts and the same number of learners give the same model, bit
    for bit. A round is one job. In it, partitions are moved to their learners (`mapInArrow`), and
    the workers merge the models in a tree, eight at a time. Only the merged model is sent to the
    driver.

    Parameters
    ----------
    estimator, classes, rounds, passes, warm_up, warm_start, checkpoint, resume, on_error, progress
        As for `onlinekern.distributed.fit`.
    X : pyspark.sql.DataFrame
        Data frame with the same rows in the same order each time it is read. After a shuffle (a
        join, `groupBy`, `repartition`), persist it or write it first.
    y, sample_weight : str or None, default=None
        Columns.
    features : list of str, str or None, default=None
        The columns of X that are learnt, in this order. A str is one column of arrays, or of
        vectors of `pyspark.ml`. None: all columns but y and sample_weight.
    n_learners : int or None, default=None
        Number of learners that run in parallel. None: Spark's default parallelism, which is the
        number of its cores.
    storage_options : mapping or None, default=None
        Options for the store of the checkpoint.

    Returns
    -------
    DistributedFit

    Raises
    ------
    ClusterLost
        If Spark gives up a job, because the cluster is gone or because a task has ended its worker
        ``spark.task.maxFailures`` times. The error has the merged `model` of the last round.
    ValueError
        If an argument is invalid, a partition cannot be learnt, or X differs each time it is read.
    TypeError
        If X is no data frame of Spark, or the learner cannot be merged.
    ImportError
        If pyspark or pyarrow is missing.

    Notes
    -----
    The rows are counted first. Each round reads X again and moves its part of it, so persist X if
    reading it is expensive. A learner holds one partition in memory at a time. If a worker dies,
    Spark repeats its task from the model of the round before.

    Examples
    --------
    >>> from onlinekern import KernelRLSClassifier
    >>> from onlinekern.distributed import spark
    >>> table = session.range(20_000).selectExpr(
    ...     "rand(0) a", "rand(1) b", "rand(0) > rand(1) label"
    ... )  # doctest: +SKIP
    >>> learner = KernelRLSClassifier(n_components=50, random_state=0)
    >>> fitted = spark.fit(learner, table, "label", rounds=2)  # doctest: +SKIP
    """
    asked = Asked.of(estimator, X, y, options)
    frame, reader = frame_of(X, y, sample_weight, features)
    with showing_progress(progress) as show:
        parts = [Part(reader, f"partition {k} of X", (k,)) for k in range(len(frame.lengths))]
        return asked.start(Stream(parts, parts), frame.n_cores, partial(Run, frame, show))


@dataclass
class Frame:
    """A data frame with numbered rows.

    Attributes
    ----------
    rows : pyspark.sql.DataFrame
        With the columns of `tables`.
    """

    rows: Any

    @property
    def n_cores(self) -> int:
        """The default parallelism of Spark."""
        return int(self.rows.sparkSession.sparkContext.defaultParallelism)

    @cached_property
    def lengths(self) -> list[int]:
        """The number of rows of each partition."""
        found = outcomes(self.rows.select(ROW).mapInArrow(count, SCHEMA))
        return [found[place] for place in sorted(found)]

    def loss(self, error: Exception) -> str | None:
        """Return the message for an error after which Spark has given up, else None."""
        return loss_of_job("Spark", error)

    def one(self, function: Callable[[], Any]) -> Any:
        """Return the result of a function on a worker."""
        nothing = self.rows.sparkSession.range(1, numPartitions=1)
        return outcomes(nothing.mapInArrow(partial(call, function), SCHEMA))[0]

    def shared(self, shares: Shares) -> Any:
        """Return the rows of a round, with each learner's rows in one partition, in order.

        Parts are assigned to learners in turn (`Asked.shares`), beginning with the first part of
        the round.
        """
        F = require("pyspark.sql.functions", "spark")
        first, number = shares[0][0], sum(map(len, shares))
        part = F.shiftright(ROW, ROW_BITS)
        rows = self.rows.where((part >= first) & (part < first + number))
        learner = ((part - first) % len(shares)).cast("int")
        return rows.repartitionById(len(shares), learner).sortWithinPartitions(ROW)


def outcomes(results: Any) -> dict[int, Any]:
    """Return the values of a frame of outcomes by place; raise the first error."""
    rows = sorted(results.collect(), key=lambda row: row.place)
    return {row.place: value_of(bytes(row.outcome)) for row in rows}


def frame_of(X: Any, y: Any, weight: Any, features: Any) -> tuple[Frame, Tables]:
    """Return a data frame with numbered rows, and the reader of its partitions."""
    sql = require("pyspark.sql", "spark")
    F = require("pyspark.sql.functions", "spark")
    require("pyarrow", "spark")
    if not isinstance(X, sql.DataFrame):
        raise TypeError(f"X must be a data frame of Spark, got {type(X).__name__}")
    columns = list(X.columns)
    for name, value in (("y", y), ("sample_weight", weight)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be the name of a column, got {type(value).__name__}")
    chosen = [name for name in columns if name not in (y, weight)] if features is None else features
    named = [chosen] if isinstance(chosen, str) else list(chosen)
    given = [("features", name) for name in named] + [("y", y), ("sample_weight", weight)]
    for name, value in given:
        if value is not None:
            check_column(name, value, columns)
    if not named:
        raise ValueError("features must name at least one column, got none")
    taken = [as_arrays(X, chosen)] if isinstance(chosen, str) else [X[quoted(one)] for one in named]
    columns = [one.alias(column_of(place)) for place, one in enumerate(taken)]
    more = [(TARGET, y), (WEIGHT, weight)]
    columns += [X[quoted(value)].alias(name) for name, value in more if value is not None]
    rows = X.select(*columns).withColumn(ROW, F.monotonically_increasing_id())
    reader = Tables(chosen if isinstance(chosen, str) else named, y is not None, weight is not None)
    return Frame(rows), reader


def quoted(name: str) -> str:
    """Return the name of a column in quotes, so that a dot in it is not a path."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


def as_arrays(X: Any, column: str) -> Any:
    """Return a column of arrays, made from arrays or from vectors of pyspark.ml."""
    kind, found = X.schema[column].dataType, X[quoted(column)]
    if type(kind).__name__ == "VectorUDT":
        return require("pyspark.ml.functions", "spark").vector_to_array(found)
    if type(kind).__name__ != "ArrayType":
        raise TypeError(
            f"features is {column!r}, a column of {kind.simpleString()}; a single one must hold "
            "arrays or vectors"
        )
    return found


class Run(mixing.Run):
    """A model that learns a data frame of Spark.

    Parameters
    ----------
    engine : Frame
    show, stream, asked, place
        See `mixing.Run`.
    """

    def once(self, name: str, function: Callable[..., Any], part: Part | None = None) -> Any:
        """Return the result of a function on a partition, computed by a worker."""
        if part is None:
            return self.engine.one(function)
        number = part.data[0]
        if not self.engine.lengths[number]:
            return self.engine.one(partial(function, self.engine.rows.limit(0).toArrow()))
        work = Partitions({number: function}, self.engine.lengths).each
        # Later partitions are not computed.
        return outcomes(self.engine.rows.mapInArrow(work, SCHEMA).limit(1))[number]

    def labels(self) -> Any:
        """Return all labels, which the workers read."""
        functions: dict[int, Callable[..., Any]] = {
            part.data[0]: partial(tasks.labels, self.asked.rows(part)) for part in self.labelled
        }
        rows = self.engine.rows.select(TARGET, ROW)
        work = Partitions(functions, self.engine.lengths).each
        return tasks.union(*outcomes(rows.mapInArrow(work, SCHEMA)).values())

    def send(self, number: int, learner: tasks.State, shares: Shares) -> Any:
        """Return the frame of trained models, without computing it."""
        self._show(f"round {number}", 0)
        functions = {index: self.task(number, shares, index) for share in shares for index in share}
        work = partial(Partitions(functions, self.engine.lengths).learn, learner)
        return learner, self.engine.shared(shares).mapInArrow(work, SCHEMA), shares

    def merge(self, number: int, sent: Any, known: tasks.State | None) -> tasks.State:
        """Learn the shares and merge the models in a tree, in one job."""
        base, models, shares = sent
        F, left = require("pyspark.sql.functions", "spark"), len(shares)
        while True:
            left = -(-left // MERGED)
            group = F.floor(F.col("place") / MERGED).cast("int")
            near = models.repartitionById(left, group).sortWithinPartitions("place")
            models = near.mapInArrow(partial(merge, base), SCHEMA)
            if left == 1:
                break
        state: tasks.State = outcomes(models)[0]
        self._show(f"round {number}", sum(map(len, shares)))
        return state
