"""Rows of files for the commands that read them once, in order, a thousand at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from onlinekern._streaming.readers import LibsvmReader, StreamError
from onlinekern.streams import reader_of

# So many rows are learnt or predicted at a time: Ctrl-C acts between two pieces.
PIECE = 1000


class Columns(NamedTuple):
    """What a file must have, as a reader that was read before would tell."""

    feature_names: list[str] | None
    text_labels: bool | None


def count_features(paths: Iterable[str], zero_based: bool, skip_faults: bool) -> int | None:
    """The number of features of LIBSVM files, which do not tell it: they are read for it.

    None for tables. Lines with faults are an error, unless they are to be skipped.
    """
    largest = -1
    for path in paths:
        if path == "-":
            raise StreamError("LIBSVM text from standard input needs --n-features")
        reader = reader_of(path, faults=[] if skip_faults else None)
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
