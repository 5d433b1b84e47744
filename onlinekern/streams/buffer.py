"""A buffer of rows: written once, then replayed in order or in any number of random orders.

Rows stay in memory as long as they fit into the budget. After that, they go to an anonymous
temporary file, which the operating system removes however the process ends. The file is read and
never mapped, so that resident memory stays within the budget for a stream of any length.
"""

from __future__ import annotations

import math
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from onlinekern.estimators.row_blocks import one_after_another
from onlinekern.streams.blocks import in_blocks

BUDGET_BYTES = 64 << 20
BLOCK_BYTES = 2 << 20
MOST_ROWS = 8192
# Open files per level of the shuffle: three levels stay below the usual limit of 256 or 1024,
# and shuffle 64 MiB * (64 / 4)^3, a quarter of a terabyte.
MOST_PARTS = 64


class RowBuffer:
    """Append-only rows (all dense, or all CSR) with their targets.

    Parameters
    ----------
    budget : int
        Bytes of memory that the rows may take, copies made while shuffling included.
    in_memory : bool
        Whether to hold rows in memory until the budget is reached; False writes them to the file at
        once.
    """

    def __init__(self, budget: Any = BUDGET_BYTES, in_memory: Any = True) -> None:
        self.budget = budget
        self.n_bytes = 0
        self.n_samples = 0
        self._blocks: list[Any] = []
        self._whole: Any = None
        self._file = None if in_memory else tempfile.TemporaryFile()  # noqa: SIM115
        # Several threads may read, but the file has a single position.
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a pickle: all rows, including those in the file."""
        state = self.__dict__.copy()
        del state["_lock"]
        if self._file is not None:
            with self._lock:
                self._file.seek(0)
                state["_file"] = self._file.read()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())
        if self._file is not None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
            self._file.write(state["_file"])

    @property
    def fits(self) -> Any:
        """Whether the rows can be shuffled in memory (they are held twice while doing so)."""
        return 2 * self.n_bytes <= self.budget or self.n_samples <= 1

    def append(self, X: Any, y: Any) -> None:
        """Add rows. X and y are not copied while in memory: do not change them later."""
        self._whole = None
        self.n_bytes += n_bytes(X) + y.nbytes
        self.n_samples += len(y)
        if self._file is None and self.fits:
            self._blocks.append((X, y))
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
            for held in self._blocks:
                _write(self._file, *held)
            self._blocks = []
        _write(self._file, X, y)

    def blocks(self) -> Iterator[tuple[Any, Any]]:
        """Yield the rows in the order of their arrival."""
        if self._file is None:
            for X, y in self._blocks:
                yield from in_blocks([(X, y)], rows_per_block(X))
            return
        # Each replay keeps its own position, so that several replays can run at the same time.
        position, left = 0, self.n_samples
        while left > 0:
            with self._lock:
                self._file.seek(position)
                X, y = _read(self._file)
                position = self._file.tell()
            left -= len(y)
            yield from in_blocks([(X, y)], rows_per_block(X))

    def shuffled(self, generator: Any) -> Iterator[Any]:
        """Yield the rows in a uniformly random order.

        Each row is assigned to a random part, and each part is shuffled by itself, in memory if it
        fits, else in the same way. This sorts the rows by independent random keys whose leading
        digit is the part: every permutation is equally likely [1]_.

        Parameters
        ----------
        generator : numpy.random.Generator
            Source of the randomness.

        References
        ----------
        .. [1] C. R. Rao (1961). Generation of random permutations of given number of elements using
           random sampling numbers. Sankhyā A 23, 305-307.
        """
        if not self.n_samples:
            return
        if self.fits:
            X, y = self._load()
            order = generator.permutation(len(y))
            step = rows_per_block(X)
            for start in range(0, len(y), step):
                take = order[start : start + step]
                yield X[take], y[take]
            return
        for part in self._parted(generator):
            yield from part.shuffled(generator)
            part.close()

    def close(self) -> None:
        """Drop all rows."""
        if self._file is not None:
            self._file.close()
        self._blocks, self._whole = [], None

    def _parted(self, generator: Any) -> Any:
        # A part fits into memory if it is below half the budget. Sizes vary, so the average is a
        # quarter.
        count = min(MOST_PARTS, max(2, math.ceil(4 * self.n_bytes / self.budget)))
        parts = [RowBuffer(self.budget, in_memory=False) for _ in range(count)]
        for X, y in self.blocks():
            drawn = generator.integers(count, size=len(y))
            order = np.argsort(drawn, kind="stable")
            ends = np.searchsorted(drawn[order], np.arange(count + 1))
            for part, start, stop in zip(parts, ends[:-1], ends[1:], strict=True):
                if stop > start:
                    part.append(X[order[start:stop]], y[order[start:stop]])
        return parts

    def _load(self) -> Any:
        if self._whole is None:
            pairs = self._blocks if self._file is None else list(self.blocks())
            rows, targets = zip(*pairs, strict=True)
            whole = rows[0] if len(rows) == 1 else _stacked(rows), np.concatenate(targets)
            if self._file is not None:
                return whole
            self._blocks, self._whole = [whole], whole
        return self._whole


def n_bytes(X: Any) -> int:
    """Return the bytes of the rows X, dense or CSR."""
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes


def rows_per_block(X: Any) -> int:
    """Return how many rows of X make a block of about ``BLOCK_BYTES``."""
    return int(np.clip(BLOCK_BYTES * X.shape[0] // max(n_bytes(X), 1), 1, MOST_ROWS))


def _stacked(rows: Any) -> Any:
    if sparse.issparse(rows[0]):
        width = max(X.shape[1] for X in rows)
        for X in rows:
            X.resize(X.shape[0], width)
    return one_after_another(rows)


def _write(file: Any, X: Any, y: Any) -> None:
    arrays = [X.data, X.indices, X.indptr, np.array(X.shape)] if sparse.issparse(X) else [X]
    for array in [np.array(len(arrays)), *arrays, y]:
        np.save(file, array, allow_pickle=False)


def _read(file: Any) -> Any:
    count = int(np.load(file, allow_pickle=False))
    arrays = [np.load(file, allow_pickle=False) for _ in range(count + 1)]
    if count == 1:
        return arrays[0], arrays[1]
    data, indices, indptr, shape, y = arrays
    return sparse.csr_matrix((data, indices, indptr), shape=tuple(shape)), y
