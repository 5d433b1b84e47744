"""Files whose parts are read by the workers: row groups of Parquet, and whole files of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from onlinekern.streams.errors import StreamError, is_number
from onlinekern.streams.formats.arrow import ArrowReader, ParquetReader
from onlinekern.streams.formats.csv import CsvReader
from onlinekern.streams.formats.json_lines import JsonReader
from onlinekern.streams.formats.readers import format_of
from onlinekern.streams.formats.reading import FORMATS, PLAIN
from onlinekern.streams.formats.table_reader import TableReader
from onlinekern.streams.locations import Location, located

# A store answers many at once.
MOST_ASKED = 8


class Schema(NamedTuple):
    """The columns of all files and the kind of targets, in the place of an earlier reader."""

    feature_names: list[str]
    text_labels: bool | None
    types: dict[str, Any]


class PartReader(TableReader):
    """A part of a file, with weights; callers check the values of its rows.

    Parameters
    ----------
    path, target
        File and target column, as for `TableReader`; without a target the rows have none.
    weight : str or None
        The column of the weights.
    like : Schema or None
    groups : list of int, optional
        Row groups of Parquet; None: the whole file.
    """

    def __init__(
        self,
        path: Any,
        target: str | None,
        weight: str | None,
        like: Any,
        groups: list[int] | None = None,
    ) -> None:
        self.weight, self.groups = weight, groups
        super().__init__(path, target, like, labelled=target is not None)

    def weighted(self, as_tables: bool) -> Iterator[Any]:
        """Yield (X, y, weight)."""
        for row, batch, y in self._labelled(as_numbers=not as_tables):
            X = batch.select(self.feature_names) if as_tables else self._matrix(batch, row)
            weight = None
            if self.weight is not None:
                weight = self._numbers(batch.column(self.weight), self.weight, row)
            yield X, None if self.target is None else without_empty(y), weight

    def targets(self, as_tables: bool) -> Iterator[Any]:
        """Yield the targets; no other column is read, except one if folders hold the targets."""
        rest = [] if self._own_target is not None else self._features[:1]
        self.feature_names, self.weight = rest, None
        for _, _, y in self._labelled(as_numbers=not as_tables):
            yield without_empty(y)

    def first_rows(self) -> list[int] | None:
        """Return the number of rows before each row group; None if there are no groups."""
        return None

    def schema(self, as_tables: bool) -> Schema:
        """Return the options for the other files, by the first rows of this one."""
        next(self._labelled(as_numbers=not as_tables), None)
        return Schema(self.feature_names, self.text_labels, self.types)

    def _checked_numbers(self, values: Any, name: str | None, row: Any) -> Any:
        return values

    def _checked_texts(self, texts: list[str], row: Any) -> list[str]:
        # A number that is missing does not make text of the others.
        numbers = not self.typed and not self.text_labels
        if numbers and all(is_number(text) for text in texts if text):
            return [text or "nan" for text in texts]
        return texts


class ParquetPart(PartReader, ParquetReader):
    """Some row groups of a Parquet file."""

    def first_rows(self) -> list[int] | None:
        with self._open() as table:
            found = table.metadata
            lengths = [found.row_group(k).num_rows for k in range(found.num_row_groups)]
        return [sum(lengths[:k]) for k in range(len(lengths))]

    def _chosen(self) -> dict[str, Any]:
        return {} if self.groups is None else {"row_groups": self.groups}


class ArrowPart(PartReader, ArrowReader):
    """A file of Arrow IPC."""


class CsvPart(PartReader, CsvReader):
    """A file of CSV or TSV, plain or packed."""


class JsonPart(PartReader, JsonReader):
    """A file of JSON lines, plain or packed."""


PARTS = {
    "parquet": ParquetPart, "arrow": ArrowPart, "csv": CsvPart, "tsv": CsvPart, "jsonl": JsonPart,
}  # fmt: skip


def reader_of(
    file: Location, target: str | None, weight: str | None, like: Any, groups: Any = None
) -> Any:
    """Return the reader of a part of a file; StreamError if its name has no known format."""
    found = PARTS.get(format_of(file, PLAIN, True))
    if found is None:
        endings = [ending for name in PARTS for ending in FORMATS[name][1]]
        raise StreamError(
            f"{file}: parts are read of files named {', '.join(endings)}; give a list of readers "
            "for others"
        )
    return found(file, target, weight, like, groups)


def list_parts(
    names: Any,
    target: str | None,
    weight: str | None,
    as_tables: bool,
    storage_options: Mapping[str, Any] | None,
) -> Any:
    """Return the schema of all files, and (file, rows before each row group) of each.

    Of a file without row groups, None stands for the whole. The columns of each are compared.
    """
    files = located(names, storage_options)
    schema: Any = None
    for file in files:
        schema = reader_of(file, target, weight, schema).schema(as_tables)
        if target is None or schema.text_labels is not None:
            break
    with ThreadPoolExecutor(MOST_ASKED) as pool:
        readers = pool.map(lambda file: reader_of(file, target, weight, schema), files)
        rows = pool.map(lambda reader: reader.first_rows(), readers)
        return schema, list(zip(files, rows, strict=True))


def without_empty(y: Any) -> Any:
    """Return labels, with None for those that are empty."""
    if y.dtype.kind != "U" or (y != "").all():
        return y
    return np.where(y == "", None, y.astype(object))
