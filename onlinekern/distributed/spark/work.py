"""What runs in the Python workers of Spark: functions of batches of Arrow, for `mapInArrow`.

Rows of a data frame come to them as a table of each partition. Each function gives one row: its
place, and its outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinekern.distributed import tasks
from onlinekern.distributed.engines import dumps, outcome_of, require, value_of
from onlinekern.distributed.parts import Reader, to_array

# The columns of the tables: those of X are called by their places, since `mapInArrow` cannot take
# names with points. ROW numbers the rows: the partition in the upper bits, the row in the lower.
TARGET, WEIGHT, ROW = "y", "weight", "row"
ROW_BITS = 33


@dataclass(frozen=True)
class Tables(Reader):
    """Partitions of a data frame, as Arrow tables.

    Parameters
    ----------
    features : list of str or str
        The columns of X; a str is one column of arrays.
    has_y, has_weight : bool
    """

    features: Any
    has_y: bool
    has_weight: bool

    @property
    def names(self) -> Any:
        """The columns of X; None where X is one column of arrays."""
        return None if isinstance(self.features, str) else self.features

    def blocks(self, table: Any) -> Iterator[Any]:
        """Yield the partition."""
        y = to_array(table[TARGET]) if self.has_y else None
        weight = to_array(table[WEIGHT]) if self.has_weight else None
        if isinstance(self.features, str):
            yield array_of(table[column_of(0)], self.features), y, weight
            return
        X = table.select([column_of(place) for place in range(len(self.features))]).to_pandas()
        X.columns = list(self.features)
        yield X, y, weight

    def labels(self, table: Any) -> Iterator[Any]:
        """Yield the labels of the partition."""
        yield to_array(table[TARGET])


def column_of(place: int) -> str:
    """Return what a column of X is called in the tables."""
    return f"x{place}"


def array_of(column: Any, name: str) -> Any:
    """Return the array whose rows are the values of a column of arrays."""
    arrow = require("pyarrow", "spark")
    values = arrow.concat_arrays(column.chunks) if column.num_chunks else column.combine_chunks()
    widths = np.unique(np.diff(values.offsets.to_numpy()))
    if values.null_count or len(widths) > 1:
        raise ValueError(f"{name} must hold arrays of one length in each row, got lengths "
                         f"{widths.tolist()} and {values.null_count} missing ones")  # fmt: skip
    numbers = values.flatten().to_numpy(zero_copy_only=False)
    return numbers.reshape(len(values), int(widths[0]) if len(widths) else 0)


def tables_of(batches: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Yield (partition, its table) of batches whose rows are in their order."""
    table, part, pieces = require("pyarrow", "spark").Table, -1, list[Any]()
    for batch in batches:
        numbers = batch.column(ROW).to_numpy() >> ROW_BITS
        begins = np.flatnonzero(np.diff(numbers, prepend=-1))
        for first, last in zip(begins, [*begins[1:], len(numbers)], strict=True):
            if numbers[first] != part and pieces:
                yield part, table.from_batches(pieces)
                pieces = []
            part = int(numbers[first])
            pieces.append(batch.slice(first, last - first))
    if pieces:
        yield part, table.from_batches(pieces)


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
