"""The parts of a stream: what a task reads of it on its worker."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onlinekern.streams.locations import Location, absolute

if TYPE_CHECKING:
    from onlinekern.distributed.starting import Asked


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
    is_list = isinstance(X, list | tuple) and len(X) > 0
    return isinstance(X, kinds) or (is_list and all(isinstance(one, kinds) for one in X))


def check_column(name: str, value: str, columns: list[str]) -> None:
    """Raise ValueError if an argument names no column of X."""
    if value not in columns:
        raise ValueError(f"{name} is {value!r}, which is no column of X; there are {columns}")


def listed_parts(
    asked: Asked,
    weight: Any,
    tasks: Any,
    kind: Any = (),
    names: tuple[str, str] = ("functions", "a path"),
) -> Stream:
    """Return the parts of files, or of a list.

    Parameters
    ----------
    asked : Asked
        What the caller of `fit` asks for.
    weight : str or None
        As `fit` takes `sample_weight`.
    tasks : Tasks
        A worker lists the files.
    kind : type or ()
        What stands for a chunk on the cluster.
    names : (str, str)
        What messages call the members of a list, and one that is no function.
    """
    if are_files(asked.X):
        return file_parts(asked, weight, tasks)
    if isinstance(asked.X, list | tuple):
        return chunk_parts(asked.X, asked.y, weight, kind, names[1])
    raise TypeError(
        f"X must be a list of {names[0]}, or paths or URLs of files, got {type(asked.X).__name__}"
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


def file_parts(asked: Asked, weight: Any, tasks: Any) -> Stream:
    """Return the parts of files, which a worker lists."""
    from onlinekern.distributed.files import list_parts

    X, y, as_tables = asked.X, asked.y, asked.as_tables
    for name, value in (("y", y), ("sample_weight", weight)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be the name of a column where X names files, got "
                            f"{type(value).__name__}")  # fmt: skip
    names = [absolute(one) for one in (X if isinstance(X, list | tuple) else [X])]
    given = names, y, weight, as_tables, asked.storage_options
    like, files = tasks.result("files", list_parts, *given)
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


def to_array(values: Any) -> Any:
    """Return labels, targets or weights as an array; objects that are text as text."""
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if array.dtype == object and all(isinstance(one, str) for one in array):
        return array.astype(str)
    return array
