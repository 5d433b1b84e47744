"""What runs in the Python workers of Spark: functions of batches of Arrow, for `mapInArrow`.

Each gives one row: its place, and its outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from onlinekern.distributed import tasks
from onlinekern.distributed.engines import dumps, outcome_of, require, value_of
from onlinekern.distributed.spark.tables import tables_of

SCHEMA = "place int, outcome binary"
Batches = Iterable[Any]
Table = Any


def row_of(place: int, outcome: bytes) -> Any:
    """Return a batch of one row."""
    arrow = require("pyarrow", "spark")
    columns = [arrow.array([place], arrow.int32()), arrow.array([outcome], arrow.binary())]
    return arrow.RecordBatch.from_arrays(columns, ["place", "outcome"])


def here() -> int:
    """Return the number of the partition on which this task works."""
    return int(require("pyspark", "spark").TaskContext.get().partitionId())


def count(batches: Batches) -> Iterator[Any]:
    """Yield the number of the rows of a partition."""
    yield row_of(here(), dumps((None, sum(batch.num_rows for batch in batches))))


def call(function: Callable[[], Any], batches: Batches) -> Iterator[Any]:
    """Yield the outcome of a function that needs no rows."""
    # Spark ends a worker that has not read all rows, and the next one would import everything.
    list(batches)
    yield row_of(here(), outcome_of(function))


@dataclass(frozen=True)
class Partitions:
    """Functions of partitions.

    Parameters
    ----------
    functions : dict of int to callable
        What each partition goes to.
    lengths : list of int
        Rows of each.
    """

    functions: dict[int, Callable[..., Any]]
    lengths: list[int]

    def __call__(self, part: int, table: Table, *before: Any) -> Any:
        """Return what the function of a partition makes of what was before, and of its rows."""
        if table.num_rows != self.lengths[part]:
            raise ValueError(
                f"X is another one each time it is read: partition {part} had "
                f"{self.lengths[part]} rows, and then {table.num_rows}; persist it"
            )
        return self.functions[part](*before, table)

    def each(self, batches: Batches) -> Iterator[Any]:
        """Yield the outcome of each partition here, if it has a function."""
        place = here()
        # The rows of others are not read.
        for part, table in tables_of(batches) if place in self.functions else ():
            yield row_of(place, outcome_of(self, part, table))

    def learn(self, base: tasks.State, batches: Batches) -> Iterator[Any]:
        """Yield the outcome of a learner, which goes on from `base` through its partitions."""

        def learnt() -> tasks.State:
            state = base
            for part, table in tables_of(batches):
                state = self(part, table, state)
            return state

        yield row_of(here(), outcome_of(learnt))


def merge(base: tasks.State, batches: Batches) -> Iterator[Any]:
    """Yield the outcome of a merge of models, which come in the order of their places."""
    outcomes = [one.as_py() for batch in batches for one in batch.column("outcome")]
    yield row_of(here(), outcome_of(lambda: tasks.merge(base, *map(value_of, outcomes))))
