"""The table formats, read batch by batch with pyarrow."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onlinekern._streaming.readers import (
    CHUNK_BYTES,
    StreamError,
    TableReader,
    line_chunks,
    open_binary,
)


class CsvReader(TableReader):
    """CSV (or, with ``delimiter="\\t"``, TSV) with a header line, plain or compressed."""

    typed = False

    def __init__(
        self,
        path: Any,
        target: str | None,
        like: Any = None,
        labelled: bool = True,
        delimiter: str = ",",
    ) -> None:
        self.delimiter = delimiter
        super().__init__(path, target, like, labelled)

    def _names(self) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        with open_binary(self.path) as (handle, name):
            _, chunk = next(line_chunks(handle, name), (1, b""))
        header = chunk.partition(b"\n")[0]
        if not header.strip():
            raise StreamError(f"{self.path}: empty file, or an empty first line")
        try:
            options = csv.ParseOptions(delimiter=self.delimiter)
            return csv.read_csv(io.BytesIO(header + b"\n"), parse_options=options).column_names
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise StreamError(f"{self.path}, line 1: not a header ({error})") from error

    def _explained(self, message: str) -> Any:
        number = re.search(r"CSV column #(\d+): Row #(\d+): .* invalid value '(.*)'", message)
        if number:
            column, line, value = number.groups()
            name = self.names[int(column)]
            return f", line {line}: {value[:30]!r} in column {name!r} is no number"
        parsed = re.search(r"Row #(\d+): (.*)", " ".join(message.split()))
        return f", line {parsed[1]}: {parsed[2]}" if parsed else super()._explained(message)

    def _batches(self) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv

        # Types are given, not guessed: a guess from the first rows fails at the first "1.5" after
        # a thousand integers. Columns are float64, the target text (numbers are told later).
        types = {name: pa.float64() for name in self.feature_names}
        if self.target is not None:
            types[self.target] = pa.string()
        with open_binary(self.path) as (handle, _):
            yield from csv.open_csv(
                handle,
                read_options=csv.ReadOptions(use_threads=False, block_size=CHUNK_BYTES),
                parse_options=csv.ParseOptions(delimiter=self.delimiter),
                convert_options=csv.ConvertOptions(
                    column_types=types, include_columns=self._columns
                ),
            )


class ParquetReader(TableReader):
    """Parquet, read a batch at a time without mapping the file into memory."""

    def _names(self) -> Any:
        try:
            with self._named_errors(), self._open() as table:
                return list(table.schema_arrow.names)
        except UnicodeDecodeError as error:
            raise StreamError(f"{self.path}: column names not UTF-8 ({error})") from error

    def _batches(self) -> Iterator[Any]:
        rows = max(64, CHUNK_BYTES // (8 * (len(self.feature_names) + 1)))
        with self._open() as table:
            yield from table.iter_batches(batch_size=rows, columns=self._columns, use_threads=False)

    def _open(self) -> Any:
        from pyarrow import parquet

        if Path(self.path).is_dir():
            raise IsADirectoryError(21, "Is a directory", str(self.path))
        return parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=1 << 20)


class ArrowReader(TableReader):
    """Arrow IPC, as a file (Feather too) or as a stream, read a batch at a time."""

    def _names(self) -> Any:
        with self._named_errors(), self._open() as batches:
            return list(batches.schema.names)

    def _batches(self) -> Iterator[Any]:
        rows = max(64, CHUNK_BYTES // (8 * (len(self.feature_names) + 1)))
        with self._open() as batches:
            for batch in self._each(batches):
                for first in range(0, batch.num_rows, rows):
                    yield batch.slice(first, rows)

    @staticmethod
    def _each(batches: Any) -> Iterator[Any]:
        if hasattr(batches, "num_record_batches"):
            yield from map(batches.get_batch, range(batches.num_record_batches))
        else:
            yield from batches

    @contextmanager
    def _open(self) -> Iterator[Any]:
        import pyarrow as pa

        with open(self.path, "rb") as file:
            # A file begins with these letters, a stream with a length.
            is_file = file.read(6) == b"ARROW1"
            file.seek(0)
            yield (pa.ipc.open_file if is_file else pa.ipc.open_stream)(file)
