"""Rows of files for the commands that read them once, in order, a thousand at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from onlinekern.estimators.validation import one_of
from onlinekern.preprocessing.tables.errors import TableError
from onlinekern.streams.formats.libsvm import LibsvmReader, StreamError
from onlinekern.streams.formats.readers import reader_of
from onlinekern.streams.formats.reading import KNOWN, Reading

# So many rows are learnt or predicted at a time: Ctrl-C acts between two pieces.
PIECE = 1000
# What a shell does not hand on easily.
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}


class Known(NamedTuple):
    """What a file must have, as a reader that was read before would tell."""

    feature_names: list[str] | None
    text_labels: bool | None


def reading_of(options: Any, kinds: Any = (), faults: list[str] | None = None) -> Reading:
    """How the files of a request are read.

    Parameters
    ----------
    options : request with the attributes format, separator, decimal and header
    kinds : iterable of (str, str)
        Column and kind.
    faults : list of str or None
        As in `Reading`.

    Raises
    ------
    ValueError
        If an option cannot be.
    """
    if options.format is not None:
        one_of("--format", options.format, KNOWN)
    separator = SEPARATORS.get(options.separator, options.separator)
    for name, mark in (("separator", separator), ("decimal", options.decimal)):
        if mark is not None and (len(mark.encode()) != 1 or mark in '"\n\r'):
            raise ValueError(f"--{name} must be one character, got {mark!r}")
    return Reading(options.format, separator, options.decimal, options.header, tuple(kinds), faults)


@contextmanager
def rows_from(first: int) -> Iterator[None]:
    """A context in which errors of a value of a table name the row of the stream."""
    try:
        yield
    except TableError as error:
        raise StreamError(error.at(first)) from error


def count_features(paths: Iterable[str], zero_based: bool, reading: Reading) -> int | None:
    """The number of features of LIBSVM files, which do not tell it: they are read for it.

    None for tables. Lines with faults are an error, unless they are to be left out.
    """
    if reading.faults is not None:  # noted when the lines are learnt
        reading = replace(reading, faults=[])
    largest = -1
    for path in paths:
        if path == "-":
            raise StreamError("LIBSVM text from standard input needs --n-features")
        reader = reader_of(path, reading=reading)
        if not isinstance(reader, LibsvmReader):
            return None
        for X, _ in reader.blocks():
            largest = max(largest, X.shape[1] - 1)
    return max(1, largest + (1 if zero_based else 0))


def pieces(blocks: Iterable[tuple[Any, Any]], limit: int | None = None) -> Iterator[Any]:
    """Cut blocks into pieces of at most `PIECE` rows, `limit` rows in all."""
    cut = (
        (X[first : first + PIECE], y[first : first + PIECE])
        for X, y in blocks
        for first in range(0, len(y), PIECE)
    )
    if limit is None:
        yield from cut
        return
    left = limit
    for X, y in cut:
        yield X[:left], y[:left]
        left -= min(left, len(y))
        if left == 0:
            return


def full_pieces(blocks: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """Join what comes in small blocks, of a slow pipe, to `PIECE` rows, but for the last ones."""
    waiting: list[Any] = []
    count = 0
    for X, y in blocks:
        waiting.append((X, y))
        count += len(y)
        if count >= PIECE:
            yield joined(waiting)
            waiting, count = [], 0
    if waiting:
        yield joined(waiting)


def joined(blocks: list[Any]) -> tuple[Any, Any]:
    """Blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    rows, targets = zip(*blocks, strict=True)
    if sparse.issparse(rows[0]):
        X = sparse.vstack(rows, format="csr")
    elif isinstance(rows[0], np.ndarray):
        X = np.concatenate(rows)
    else:
        import pyarrow as pa

        X = pa.Table.from_batches(rows).combine_chunks().to_batches()[0]
    return X, np.concatenate(targets)


def skip(blocks: Iterator[Any], n_rows: int) -> Iterator[Any]:
    """Leave out the first rows; StreamError if there are fewer."""
    left = n_rows
    for X, y in blocks:
        if left < len(y):
            yield X[left:], y[left:]
            break
        left -= len(y)
    else:
        if left > 0:
            raise StreamError(f"the data end before row {n_rows}, up to which they were learnt")
    yield from blocks
