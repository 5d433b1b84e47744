"""Cutting blocks of rows to other sizes, for all readers of a stream."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from onlinekern.estimators.row_blocks import one_after_another, rows_of
from onlinekern.streams.errors import StreamError


def in_blocks(
    blocks: Iterable[tuple[Any, ...]],
    rows: int,
    *,
    skip: int = 0,
    limit: int | None = None,
    join: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Cut blocks at the multiples of a number of rows.

    Parameters
    ----------
    blocks : iterable of tuple
        (X, y), or longer tuples: an array, CSR matrix, record batch or data frame, followed by
        arrays with one value per row. Any of these arrays may be None.
    rows : int
        A block ends at each multiple of `rows`, counted from the first row of the stream.
    skip : int, default=0
        Number of rows to skip at the beginning. It does not change where blocks end.
    limit : int, optional
        Number of rows, including skipped ones, after which no more blocks are read.
    join : bool, default=False
        Join small blocks, such as those of a slow pipe, until the next multiple of `rows`. Blocks
        with different columns are not joined. Data frames cannot be joined.

    Yields
    ------
    tuple
        Tuples like the given ones.

    Raises
    ------
    StreamError
        If there are fewer rows than `skip`.
    """
    position, end = 0, math.inf if limit is None else limit
    waiting: list[tuple[Any, ...]] = []
    for block in blocks:
        n_rows, start = block[0].shape[0], 0
        while start < n_rows and position < end:
            take = int(min(n_rows - start, rows - position % rows, end - position))
            first, start = start + min(take, max(0, skip - position)), start + take
            position += take
            if first == start:
                continue
            part = part_of(block, slice(first, start))
            if waiting and form_of(waiting[0]) != form_of(part):
                yield joined(waiting)
                waiting = []
            waiting.append(part)
            if not join or position % rows == 0:
                yield joined(waiting)
                waiting = []
        if position >= end:
            break
    if waiting:
        yield joined(waiting)
    if position < skip:
        raise StreamError(f"the data end before row {skip}, up to which they were learnt")


def part_of(block: tuple[Any, ...], piece: slice) -> tuple[Any, ...]:
    """Return some rows of a block; if these are all rows, they are not copied."""
    if piece == slice(0, block[0].shape[0]):
        return block
    return tuple(None if one is None else rows_of(one, piece) for one in block)


def form_of(block: tuple[Any, ...]) -> Any:
    """Return the properties that blocks must share to be joined."""
    return getattr(block[0], "schema", block[0].shape[1:])


def joined(blocks: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return blocks of the same form, joined into one."""
    if len(blocks) == 1:
        return blocks[0]
    return tuple(one_after_another(parts) for parts in zip(*blocks, strict=True))
