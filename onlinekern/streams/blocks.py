"""Blocks of rows, cut anew: one function for whoever reads a stream piece by piece."""

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
        (X, y), or more than that: an array, CSR matrix, record batch or data frame, and arrays of
        one value per row. None in the place of an array stays None.
    rows : int
        A block ends at each multiple of `rows`, counted from the first row of the stream.
    skip : int, default=0
        Rows at the beginning that are left out. Blocks end where they would without it.
    limit : int, optional
        Rows after which no more blocks are asked for; those that are skipped count.
    join : bool, default=False
        Join blocks that are small, as those of a slow pipe, until they end at a multiple of `rows`
        too. Blocks whose columns differ are not joined. Data frames cannot be joined.

    Yields
    ------
    tuple
        As the blocks.

    Raises
    ------
    StreamError
        If there are not so many rows as are to be skipped.
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
    """Return some rows of a block; all rows are not copied."""
    if piece == slice(0, block[0].shape[0]):
        return block
    return tuple(None if one is None else rows_of(one, piece) for one in block)


def form_of(block: tuple[Any, ...]) -> Any:
    """Return what blocks that can be joined have in common."""
    return getattr(block[0], "schema", block[0].shape[1:])


def joined(blocks: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return blocks of one form as one."""
    if len(blocks) == 1:
        return blocks[0]
    return tuple(one_after_another(parts) for parts in zip(*blocks, strict=True))
