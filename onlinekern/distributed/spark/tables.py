"""Rows of a Spark data frame on a worker: Arrow tables, a partition each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinekern.distributed.engines import require
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
