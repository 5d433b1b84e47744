"""Parquet files whose row groups are read by the workers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from onlinekern.streams.errors import StreamError
from onlinekern.streams.formats.arrow import ParquetReader


class Schema(NamedTuple):
    """The columns and the kind of targets of all files, in the place of an earlier reader."""

    feature_names: list[str]
    text_labels: bool | None


class GroupReader(ParquetReader):
    """Some row groups of a Parquet file.

    Parameters
    ----------
    path, target
        File and target column, as for `TableReader`; without a target the rows have none.
    weight : str or None
        The column of the weights.
    like : Schema or None
    groups : list of int
    """

    def __init__(
        self, path: str, target: str | None, weight: str | None, like: Any, groups: list[int]
    ) -> None:
        self.weight, self.groups = weight, groups
        super().__init__(path, target, like, labelled=target is not None)

    def weighted(self, as_tables: bool) -> Iterator[Any]:
        """Yield (X, y, weight)."""
        for row, batch, y in self._labelled(as_numbers=not as_tables):
            y = without_empty(y)
            X = batch.select(self.feature_names) if as_tables else self._matrix(batch, row)
            weight = None
            if self.weight is not None:
                weight = self._numbers(batch.column(self.weight), self.weight, row)
            yield X, None if self.target is None else y, weight

    def targets(self) -> Iterator[Any]:
        """Yield the targets; no other column is read."""
        self.feature_names, self.weight = [], None
        for _, _, y in self._labelled(as_numbers=True):
            yield without_empty(y)

    def _names(self) -> Any:
        names = super()._names()
        if self.weight is None:
            return names
        if self.weight not in names:
            raise StreamError(f"{self.name}: no column named {self.weight!r} for sample_weight")
        return [name for name in names if name != self.weight]

    @property
    def _columns(self) -> list[str]:
        return [*super()._columns, *([] if self.weight is None else [self.weight])]

    def _checked_numbers(self, values: Any, name: str | None, row: Any) -> Any:
        # Whoever asks looks at all values of a row.
        return values

    def _checked_texts(self, texts: list[str], row: Any) -> list[str]:
        return texts

    def _chosen(self) -> dict[str, Any]:
        return {"row_groups": self.groups}


def without_empty(y: Any) -> Any:
    """Return labels, with None for those that are empty."""
    if y.dtype.kind != "U" or (y != "").all():
        return y
    return np.where(y == "", None, y.astype(object))


def list_groups(path: str, target: str | None, weight: str | None) -> Any:
    """Return the schema of the first file, and (file, rows before each row group) of each.

    Hidden files, and those that begin with an underscore, are none.
    """
    found = sorted(str(file) for file in files_in(Path(path)))
    if not found:
        raise StreamError(f"{path}: no files named *.parquet")
    first = GroupReader(found[0], target, weight, None, [])
    text_labels = None
    if target is not None:
        text_labels = is_text(parquet.read_schema(found[0]).field(target).type)
    schema = Schema(first.feature_names, text_labels)
    return schema, [(file, first_rows(parquet.read_metadata(file))) for file in found]


def first_rows(metadata: Any) -> list[int]:
    """Return the number of rows before each row group."""
    lengths = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    return [sum(lengths[:k]) for k in range(len(lengths))]


def files_in(path: Path) -> Iterator[Path]:
    """Yield the Parquet files of a folder, and of the folders in it; or the one file."""
    if path.is_file():
        yield path
        return
    for file in path.rglob("*.parquet"):
        inside = file.relative_to(path).parts
        if file.is_file() and not any(part.startswith((".", "_")) for part in inside):
            yield file


def is_text(kind: Any) -> bool:
    """Return whether values of a type are text."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
