"""Rows that wait for their turn, first in, first out."""

from typing import Any, Self

import numpy as np

from onlinekern.estimators.types import Floats

ROWS = 64


class RowQueue:
    """Queue of rows. A copy costs little: rows are never moved or overwritten.

    Rows are kept in blocks. A copy shares the blocks, and only one of the two may append.
    """

    def __init__(self) -> None:
        self.blocks: list[Floats] = []
        # Rows of the blocks, one after the other, from `start` to `stop` are waiting.
        self.start = 0
        self.stop = 0

    def copy(self) -> Self:
        """Return a queue of the same rows."""
        twin = object.__new__(type(self))
        twin.blocks, twin.start, twin.stop = self.blocks.copy(), self.start, self.stop
        return twin

    def append(self, row: Any) -> None:
        """Append a row, ndarray of shape (n_features,)."""
        if self.stop == ROWS * len(self.blocks):
            self.blocks.append(np.zeros((ROWS, len(row))))
        self.blocks[-1][self.stop % ROWS] = row
        self.stop += 1

    def pop(self) -> Floats:
        """Take the row that has waited longest."""
        row: Floats = self.blocks[0][self.start]
        self.start += 1
        if self.start == ROWS:
            del self.blocks[0]
            self.start, self.stop = 0, self.stop - ROWS
        return row

    def __len__(self) -> int:
        return self.stop - self.start

    def is_sound(self, n_features: int) -> bool:
        """Return whether the attributes fit together, as those of a file may not."""
        own = vars(self)
        blocks, start, stop = own.get("blocks"), own.get("start"), own.get("stop")
        if not (isinstance(blocks, list) and type(start) is int and type(stop) is int):
            return False
        blocks_fit = all(
            isinstance(block, np.ndarray)
            and block.dtype == np.float64
            and block.shape == (ROWS, n_features)
            for block in blocks
        )
        filled = ROWS * (len(blocks) - 1) < stop <= ROWS * len(blocks) or stop == len(blocks) == 0
        return blocks_fit and filled and 0 <= start < max(ROWS, 1) and start <= stop
