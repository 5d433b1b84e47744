"""Rows of a part that cannot be learnt: they are named, or left out and counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from onlinekern.distributed.parts import Part, to_array
from onlinekern.estimators.row_blocks import rows_of
from onlinekern.estimators.types import Function


@dataclass
class Rows:
    """The rows of a part.

    Parameters
    ----------
    part : Part
    skips : bool
        Whether bad rows are left out; else the first one is an error.
    as_tables : bool
        Whether X goes to an encoder, which takes missing values.
    takes_missing : bool
        Whether NaN in X stands for a missing value, which the learner takes.

    Attributes
    ----------
    skipped : int
        Rows that were left out.
    """

    part: Part
    skips: bool = False
    as_tables: bool = False
    takes_missing: bool = False
    skipped: int = field(default=0, init=False)

    def blocks(self, *data: Any) -> Iterator[Any]:
        """Yield (X, y, weight, rows) of the good rows, with their numbers in the part, from 0."""
        yield from self._good(self.part.reader.blocks(*data))

    def labels(self, *data: Any) -> Iterator[Any]:
        """Yield the labels of the good rows."""
        labels = ((y, y, None) for y in self.part.reader.labels(*data))
        for _, y, _, _ in self._good(labels, with_X=False):
            yield y

    def reject(self, row: int, what: str) -> None:
        """Count a bad row, or raise ValueError."""
        if not self.skips:
            raise ValueError(f"{self.part.name}, {self.part.reader.row(row)}: {what}")
        self.skipped += 1

    def _good(self, blocks: Iterable[Any], with_X: bool = True) -> Iterator[Any]:
        first = 0
        for X, y, weight in blocks:
            n_rows = X.shape[0]
            for name, values in (("y", y), ("sample_weight", weight)):
                if values is not None and len(values) != n_rows:
                    raise ValueError(f"{self.part.name}: {name} has {len(values)} values where X "
                                     f"has {n_rows} rows")  # fmt: skip
            table = X if with_X and not self.as_tables else None
            good = np.ones(n_rows, bool)
            names, takes_missing = self.part.reader.names, self.takes_missing
            for row, what in faults_of(table, y, weight, names, takes_missing):
                if good[row]:
                    self.reject(first + row, what)
                good[row] = False
            block = X, y, weight, np.arange(first, first + n_rows)
            first += n_rows
            yield block if good.all() else rows_at(block, np.flatnonzero(good))


def rows_at(block: tuple[Any, ...], kept: Any) -> tuple[Any, ...]:
    """Return the rows of a block at some places."""
    X, y, *more = (None if one is None else rows_of(one, kept) for one in block)
    # Without those that are missing, objects may all be text.
    return (X, None if y is None else to_array(y), *more)


def faults_of(
    X: Any, y: Any, weight: Any, names: Any, takes_missing: bool
) -> Iterator[tuple[int, str]]:
    """Yield (row, what is wrong with it)."""
    for name, values in (("y", y), ("sample_weight", weight)):
        if values is None:
            continue
        for row in np.flatnonzero(missing(values)):
            yield int(row), f"{name} is {word_of(values[row])}"
    if weight is not None:
        for row in np.flatnonzero(np.asarray(weight) < 0):
            yield int(row), f"sample_weight is {weight[row]}"
    if X is None:
        return
    names = getattr(X, "columns", names)
    for place, column, value in unfit(X, takes_missing):
        called = column if names is None else repr(names[column])
        yield place, f"column {called} is {word_of(value)}"


def unfit(X: Any, takes_missing: bool) -> Iterator[tuple[int, int, Any]]:
    """Yield (row, column, value) of the values that are infinite, or missing where none may be."""
    faulty = infinite if takes_missing else missing
    if sparse.issparse(X):
        X = X.tocsr()
        for k in np.flatnonzero(faulty(X.data)):
            # The places of all values would cost more than to learn them.
            row = np.searchsorted(X.indptr, k, side="right") - 1
            yield int(row), int(X.indices[k]), X.data[k]
        return
    values = np.asarray(X)
    for row, column in np.argwhere(faulty(values)):
        yield int(row), int(column), values[row, column]


def missing(values: Any) -> Any:
    """Return which values are missing, NaN or infinite."""
    return marked(values, lambda numbers: ~np.isfinite(numbers), is_missing)


def infinite(values: Any) -> Any:
    """Return which values are infinite."""
    return marked(values, np.isinf, is_infinite)


def marked(values: Any, of_numbers: Function, of_one: Function) -> Any:
    """Return which values are so: by a function of an array of numbers, or of an object."""
    values = np.asarray(values)
    if values.dtype.kind in "fc":
        return of_numbers(values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, bool)
    return np.array([of_one(value) for value in values.ravel()], bool).reshape(values.shape)


def is_missing(value: Any) -> bool:
    """Return whether an object stands for no value, or is no finite number."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and not np.isfinite(value)


def is_infinite(value: Any) -> bool:
    """Return whether an object is an infinite number."""
    return isinstance(value, float | np.floating) and bool(np.isinf(value))


def word_of(value: Any) -> str:
    """Return what a value that cannot be learnt is called."""
    return "infinite" if is_infinite(value) else "missing or NaN"
