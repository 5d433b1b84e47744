"""Columns whose categories and words share features (slots), selected by a hash of the value.

Each column returns rows with all slots. The first of these columns counts the slots as its
features, and the rows of all columns are added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.preprocessing.tables.column_types import (
    distinct_texts,
    hashed,
    is_width,
    one_of_each,
)
from onlinekern.preprocessing.tables.columns import Column, TextColumn, TextualColumn


@dataclass(frozen=True)
class SlotColumn(TextualColumn):
    """Categories whose features all columns of this kind share; a hash selects one.

    Parameters
    ----------
    name : str
    width : int
        Number of features of all such columns together.
    leads : bool
        Whether it is the first such column, which counts the features as its own.
    """

    kind = "hashed"
    accepts = ("text", "number", "boolean")
    shares = True

    width: int = 2**20
    leads: bool = True

    def is_sound(self) -> bool:
        return super().is_sound() and is_width(self.width) and type(self.leads) is bool

    def features(self, values: Any) -> Any:
        texts, codes = distinct_texts(values)
        return one_of_each((hashed(texts) + self._shift)[codes] % self.width, self.width)

    @property
    def n_features(self) -> int:
        return self.width if self.leads else 0

    @property
    def layout(self) -> list[tuple[int, int]]:
        return []

    def feature_names(self) -> list[str]:
        return [f"(slot {place})" for place in range(self.n_features)]

    @property
    def _shift(self) -> int:
        """Offset of the first slot, so that a value has different slots in different columns."""
        return int(hashed([self.name])[0])


@dataclass(frozen=True)
class SlotTextColumn(SlotColumn):
    """Text like that of a `TextColumn`, whose features are shared by all columns with slots."""

    kind = "text"
    accepts = ("text",)  # type: ignore[assignment]

    def features(self, values: Any) -> Any:
        rows = TextColumn(self.name, self.width).features(values)
        places = (rows.indices.astype(np.int64) + self._shift) % self.width
        rows.indices = places.astype(rows.indices.dtype)
        rows.has_sorted_indices = False
        return rows


def led(columns: list[Column]) -> list[Column]:
    """Return columns in which the first one with shared features counts them as its own."""
    first = next((column for column in columns if column.shares), None)
    return [replace(c, leads=True) if c is first else c for c in columns]  # type: ignore[call-arg]


def folded(columns: list[Column], blocks: list[Any]) -> list[Any]:
    """Return the features of columns, with shared ones added at the first such column."""
    shared = [k for k, column in enumerate(columns) if column.shares]
    width = blocks[shared[0]].shape[1]
    rows = sp.csr_matrix(sp.hstack([blocks[k] for k in shared], format="csr"))
    one = sp.csr_matrix((rows.data, rows.indices % width, rows.indptr), (rows.shape[0], width))
    one.sum_duplicates()
    others = {*shared[1:]}
    blocks = [*blocks[: shared[0]], one, *blocks[shared[0] + 1 :]]
    return [block for k, block in enumerate(blocks) if k not in others]
