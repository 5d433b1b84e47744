"""The parts of a stream: what a task reads of it on its worker."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from onlinekern.distributed.dask import require
from onlinekern.streams.locations import Location, absolute


@dataclass(frozen=True)
class Part:
    """A part of a stream.

    Parameters
    ----------
    reader : object
        Has `blocks(*data)`, which gives (X, y, weight), and `labels(*data)`, which gives y.
    name : str
        What it is called in messages.
    data : tuple
        The delayed values that it reads.
    """

    reader: Any
    name: str
    data: tuple[Any, ...] = ()


class Stream(NamedTuple):
    """A stream in parts.

    Attributes
    ----------
    parts : list of Part
    labelled : list of Part
        Parts from which labels are read: all labels, of less than the parts hold if there is less.
    """

    parts: list[Part]
    labelled: list[Part]


class Reader:
    """Reads a part.

    Attributes
    ----------
    names : list of str or None
        The columns of X, where X itself does not tell them.
    """

    names: Any = None

    def row(self, number: int) -> str:
        """Return what a row of the part is called in messages; its number counts from 0."""
        return f"row {number}"


class Arrays(Reader):
    """Chunks of dask arrays: X, y if there is any, weights if there are any."""

    def __init__(self, has_y: bool, has_weight: bool) -> None:
        self.has_y, self.has_weight = has_y, has_weight

    def blocks(self, X: Any, *more: Any) -> Iterator[Any]:
        """Yield the chunk."""
        values = [to_array(one) for one in more]
        y = values.pop(0) if self.has_y else None
        yield X, y, values.pop(0) if self.has_weight else None

    def labels(self, y: Any) -> Iterator[Any]:
        """Yield the labels of the chunk."""
        yield to_array(y)


class Frames(Reader):
    """Partitions of dask data frames.

    Parameters
    ----------
    names : list of str
        The columns that are features.
    target, weight : str or None
        Columns; None: they are given apart, or there are none.
    arrays : Arrays
        The reader of what is given apart.
    """

    def __init__(self, names: Any, target: Any, weight: Any, arrays: Arrays) -> None:
        self.names, self.target, self.weight, self.arrays = names, target, weight, arrays

    def blocks(self, together: Any) -> Iterator[Any]:
        """Yield the chunk, of a frame and the series beside it."""
        frame, *more = together
        for X, y, weight in self.arrays.blocks(frame[self.names], *more):
            if self.target is not None:
                y = to_array(frame[self.target])
            if self.weight is not None:
                weight = to_array(frame[self.weight])
            yield X, y, weight

    def labels(self, y: Any) -> Iterator[Any]:
        """Yield the labels of the partition."""
        yield to_array(y)


@dataclass(frozen=True)
class Chunks(Reader):
    """The chunks of delayed readers, or of functions that are called on the worker.

    Parameters
    ----------
    function : callable or None
    """

    function: Callable[[], Any] | None = None

    def blocks(self, *chunk: Any) -> Iterator[Any]:
        """Yield the chunk."""
        found = chunk[0] if self.function is None else self.function()
        if not isinstance(found, tuple | list) or len(found) not in (2, 3):
            raise TypeError(
                f"a reader of X must give (X, y) or (X, y, sample_weight), got {type(found)}"
            )
        X, y, *weight = found
        y = None if y is None else to_array(y)
        yield X, y, to_array(weight[0]) if weight and weight[0] is not None else None

    def labels(self, *chunk: Any) -> Iterator[Any]:
        """Yield the labels of the chunk."""
        for _, y, _ in self.blocks(*chunk):
            yield y


@dataclass(frozen=True)
class FileRows(Reader):
    """Rows of a file, which the worker reads.

    Parameters
    ----------
    file : Location
    target, weight : str
    like : object
        Has the `feature_names`, `text_labels` and `types` of the first file.
    groups : list of int or None
        Row groups of Parquet; None: the whole file.
    as_tables : bool
        Whether X is a record batch; else it is an array of numbers.
    first : int
        Rows of the file before them.
    """

    file: Location
    target: str | None
    weight: str | None
    like: Any
    groups: list[int] | None = None
    as_tables: bool = False
    first: int = 0

    @property
    def names(self) -> Any:
        """The columns of X."""
        return self.like.feature_names

    def row(self, number: int) -> str:
        """Return what a row is called: its number in the file, which counts from 1."""
        return f"data row {self.first + number + 1}"

    def blocks(self) -> Iterator[Any]:
        """Yield blocks of some thousand rows."""
        yield from self._reader().weighted(self.as_tables)

    def labels(self) -> Iterator[Any]:
        """Return the targets; no other column is read."""
        return self._reader().targets(self.as_tables)

    def _reader(self) -> Any:
        from onlinekern.distributed.files import reader_of

        return reader_of(self.file, self.target, self.weight, self.like, self.groups)


def are_files(X: Any) -> bool:
    """Return whether X names files: a path, a folder, a pattern, a URL, or a list of them."""
    kinds = (str, os.PathLike, Location)
    return isinstance(X, kinds) or (
        isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(one, kinds) for one in X)
    )


def parts_of(
    X: Any, y: Any, weight: Any, as_tables: bool, tasks: Any, storage_options: Any = None
) -> Stream:
    """Return a stream in parts, in their order.

    Parameters
    ----------
    X, y, weight
        As `onlinekern.distributed.fit` takes them.
    as_tables : bool
        Whether the learner begins with an encoder of tables.
    tasks : Tasks
        Files are listed, and rows of chunks of unknown length are counted, on the workers.
    storage_options : mapping or None
        What the stores of URLs are told.
    """
    if are_files(X):
        return file_parts(X, y, weight, as_tables, tasks, storage_options)
    if isinstance(X, list | tuple):
        return chunk_parts(X, y, weight, require("dask.delayed").Delayed, "delayed")
    if is_frame(X):
        return _frame_parts(X, y, weight, tasks)
    if is_array(X):
        return _array_parts(X, y, weight, tasks)
    raise TypeError(
        "X must be a dask array, a dask data frame, a list of delayed readers, or paths or URLs of "
        f"files, got {type(X).__name__}"
    )


def is_array(X: Any) -> bool:
    """Return whether X is a dask array."""
    return isinstance(X, require("dask.array").Array)


def is_frame(X: Any, n_axes: int = 2) -> bool:
    """Return whether X is a dask data frame, or a series; pandas may be missing."""
    known = type(X).__module__.startswith(("dask.dataframe", "dask_expr"))
    return known and getattr(X, "ndim", 0) == n_axes


def _array_parts(X: Any, y: Any, weight: Any, tasks: Any) -> Stream:
    if X.ndim != 2:
        raise ValueError(f"X must have two axes, got shape {X.shape}")
    if X.numblocks[1] > 1:
        raise ValueError(
            f"X has {X.numblocks[1]} chunks along its columns; a row must be in one: "
            "X.rechunk({1: -1})"
        )
    more = _aligned(X, tasks, y=y, sample_weight=weight)
    reader = Arrays(y is not None, weight is not None)
    parts = [
        Part(reader, f"chunk {number} of X", data)
        for number, data in enumerate(zip(*delayed_chunks(X, *more), strict=True))
    ]
    return Stream(parts, [Part(reader, part.name, part.data[1:2]) for part in parts])


def _frame_parts(X: Any, y: Any, weight: Any, tasks: Any) -> Stream:
    columns, apart = list(X.columns), {"y": y, "sample_weight": weight}
    for name, value in apart.items():
        if isinstance(value, str):
            check_column(name, value, columns)
    named = {name: value for name, value in apart.items() if isinstance(value, str)}
    apart = {name: value for name, value in apart.items() if name not in named}
    names = [name for name in columns if name not in named.values()]
    target, weight_column = named.get("y"), named.get("sample_weight")
    arrays = Arrays(apart.get("y") is not None, apart.get("sample_weight") is not None)
    reader = Frames(names, target, weight_column, arrays)
    series = [as_series(one) for one in _aligned(X, tasks, **apart)]
    # One collection: what is optimised apart may be cut apart, and read twice.
    together = X.map_partitions(
        side_by_side, *series, align_dataframes=False, enforce_metadata=False, meta=X._meta
    )
    (chunks,) = delayed_chunks(together)
    # Less is read of a column alone.
    labels = delayed_chunks(X[target] if target is not None else series[0] if series else X)[0]
    parts, labelled = (
        [Part(reader, f"partition {number} of X", (one,)) for number, one in enumerate(found)]
        for found in (chunks, labels)
    )
    return Stream(parts, labelled)


def check_column(name: str, value: str, columns: list[str]) -> None:
    """Raise ValueError if an argument names no column of X."""
    if value not in columns:
        raise ValueError(f"{name} is {value!r}, which is no column of X; there are {columns}")


def side_by_side(*one: Any) -> tuple[Any, ...]:
    """Return partitions of several collections, as they are."""
    return one


def as_series(values: Any) -> Any:
    """Return a dask array of one axis, or a series, as a series."""
    return require("dask.dataframe").from_dask_array(values) if is_array(values) else values


def listed_parts(
    X: Any,
    y: Any,
    weight: Any,
    as_tables: bool,
    tasks: Any,
    storage_options: Any,
    kind: Any = (),
    names: tuple[str, str] = ("functions", "a path"),
) -> Stream:
    """Return the parts of files, or of a list, where an engine has no tables of its own.

    Parameters
    ----------
    X, y, weight, as_tables, tasks, storage_options
        See `parts_of`.
    kind : type or ()
        What stands for a chunk on the cluster.
    names : (str, str)
        What messages call the members of a list, and one that is no function.
    """
    if are_files(X):
        return file_parts(X, y, weight, as_tables, tasks, storage_options)
    if isinstance(X, list | tuple):
        return chunk_parts(X, y, weight, kind, names[1])
    raise TypeError(
        f"X must be a list of {names[0]}, or paths or URLs of files, got {type(X).__name__}"
    )


def chunk_parts(X: Any, y: Any, weight: Any, kind: Any, what: str) -> Stream:
    """Return the parts of a list of functions, or of what stands for a chunk on the cluster.

    Parameters
    ----------
    X : list
    y, weight : None
        The chunks have them.
    kind : type or ()
        What stands for a chunk.
    what : str
        What it is called in messages.
    """
    if y is not None or weight is not None:
        raise ValueError("y and sample_weight must be None where X is a list of readers: each "
                         "gives (X, y) or (X, y, sample_weight)")  # fmt: skip
    parts = []
    for number, chunk in enumerate(X):
        name = f"reader {number} of X"
        if isinstance(chunk, kind):
            parts.append(Part(Chunks(), name, (chunk,)))
        elif callable(chunk):
            parts.append(Part(Chunks(chunk), name))
        else:
            raise TypeError(f"X holds {type(chunk).__name__}, which is neither {what} nor a "
                            "function, while others are no paths")  # fmt: skip
    return Stream(parts, parts)


def file_parts(
    X: Any, y: Any, weight: Any, as_tables: bool, tasks: Any, storage_options: Any
) -> Stream:
    """Return the parts of files, which a worker lists."""
    from onlinekern.distributed.files import list_parts

    for name, value in (("y", y), ("sample_weight", weight)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be the name of a column where X names files, got "
                            f"{type(value).__name__}")  # fmt: skip
    names = [absolute(one) for one in (X if isinstance(X, list | tuple) else [X])]
    like, files = tasks.result(
        "files", list_parts, names, y, weight, as_tables, storage_options
    )  # fmt: skip
    parts = [
        Part(
            FileRows(file, y, weight, like, group, as_tables, first),
            str(file) if group is None else f"{file}, row group {group[0]}",
        )
        for file, firsts in files
        for group, first in ([(None, 0)] if firsts is None else [
            ([number], first) for number, first in enumerate(firsts)
        ])
    ]  # fmt: skip
    return Stream(parts, parts)


def _aligned(X: Any, tasks: Any, **given: Any) -> list[Any]:
    """Return what is given for the rows of X, cut as X is."""
    found, rows = [], None
    for name, values in given.items():
        if values is None:
            continue
        if not is_array(values) and not is_frame(values, n_axes=1):
            what = "dask array" if is_array(X) else "dask array or series"
            raise TypeError(f"{name} must be a {what} where X is one, got {type(values).__name__}")
        if values.ndim != 1:
            raise ValueError(f"{name} must have one axis, got shape {values.shape}")
        if n_chunks(values) != n_chunks(X) or lengths_of(X, values) is not None:
            rows = lengths_of(X) or rows or counted("X", X, tasks)
            values = cut_at(rows, values, name, tasks)
        found.append(values)
    return found


def n_chunks(collection: Any) -> int:
    """Return the number of chunks of rows."""
    return int(collection.numblocks[0] if is_array(collection) else collection.npartitions)


def lengths_of(*collections: Any) -> tuple[int, ...] | None:
    """Return the lengths of the chunks of the first one, or None if those of any are unknown."""
    lengths: list[Any] = [one.chunks[0] if is_array(one) else (np.nan,) for one in collections]
    return None if np.isnan(np.concatenate(lengths)).any() else tuple(lengths[0])


def counted(name: str, collection: Any, tasks: Any) -> tuple[int, ...]:
    """Return the lengths of the chunks, which are counted on the workers."""
    (chunks,) = delayed_chunks(collection)
    futures = [
        tasks.send(f"count-{name}-{number}", n_rows, chunk) for number, chunk in enumerate(chunks)
    ]
    tasks.each(list(futures))
    return tuple(tasks.client.gather(futures))


def n_rows(chunk: Any) -> int:
    """Return the number of rows of a chunk."""
    return int(chunk.shape[0])


def cut_at(rows: tuple[int, ...], values: Any, name: str, tasks: Any) -> Any:
    """Return values of one axis as an array, whose chunks have so many rows."""
    lengths = lengths_of(values) or counted(name, values, tasks)
    if sum(rows) != sum(lengths):
        raise ValueError(f"{name} has {sum(lengths)} values, X has {sum(rows)} rows")
    if lengths_of(values) is None:
        # From the chunks that were counted: dask would cut a data frame anew.
        array, as_array = require("dask.array"), require("dask").delayed(np.asarray)
        (chunks,), meta = delayed_chunks(values), np.asarray(values._meta)
        values = array.concatenate([
            array.from_delayed(as_array(chunk), (length,), meta=meta)
            for chunk, length in zip(chunks, lengths, strict=True)
        ])  # fmt: skip
    return values.rechunk((rows,))


def delayed_chunks(*collections: Any) -> list[list[Any]]:
    """Return the chunks of collections, each delayed, with what is needed for it and no more."""
    cull, flatten = require("dask.optimization").cull, require("dask.core").flatten
    delayed = require("dask.delayed").Delayed
    chunks = []
    for best, graph in optimised(collections):
        keys = flatten(best.__dask_keys__())
        chunks.append([delayed(key, cull(graph, [key])[0]) for key in keys])
    return chunks


def optimised(collections: Any) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """Yield each collection, optimised, with its graph."""
    ensure_dict: Callable[[Any], dict[Any, Any]] = require("dask.utils").ensure_dict
    # Together, so that what they share is computed once. It loses columns of data frames, though,
    # and chunks that are persisted.
    arrays = [one for one in collections if is_array(one)]
    best = iter(require("dask").optimize(*arrays))
    for collection in collections:
        if is_array(collection):
            array = next(best)
            graph = ensure_dict(collection.__dask_graph__())
            yield array, graph | ensure_dict(array.__dask_graph__())
        else:
            # Other columns than those that are asked for are not read. `optimize` would also join
            # partitions, as many as fit the columns: a part is what X calls a partition.
            frame = collection.simplify()
            yield frame, ensure_dict(frame.__dask_graph__())


def to_array(values: Any) -> Any:
    """Return labels, targets or weights as an array; objects that are text as text."""
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if array.dtype == object and all(isinstance(one, str) for one in array):
        return array.astype(str)
    return array
