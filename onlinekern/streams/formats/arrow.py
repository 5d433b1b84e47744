"""Parquet and Arrow IPC, read batch by batch with pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pyarrow as pa

from onlinekern.streams.errors import StreamError
from onlinekern.streams.formats import binary
from onlinekern.streams.formats.binary import FullReads, TextInput
from onlinekern.streams.formats.table_reader import TableReader
from onlinekern.streams.locations import as_location


class ParquetReader(TableReader):
    """Parquet, read a batch at a time without mapping the file into memory."""

    def _names(self) -> Any:
        if str(self.path) == "-":
            raise StreamError("Parquet cannot be read from standard input: it begins at its end")
        try:
            with self._named_errors(), self._open() as table:
                return self._without_index(table.schema_arrow)
        except UnicodeDecodeError as error:
            raise StreamError(f"{self.name}: column names not UTF-8 ({error})") from error

    def _batches(self, as_numbers: bool) -> Iterator[Any]:
        rows = max(64, binary.CHUNK_BYTES // (8 * (len(self.feature_names) + 1)))
        with self._open() as table:
            chosen = {"columns": self._columns, **self._chosen()}
            yield from table.iter_batches(batch_size=rows, use_threads=False, **chosen)

    def _without_index(self, schema: Any) -> list[str]:
        """Return the columns without a data frame's index, which pandas and dask also write."""
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        return [name for name in schema.names if name not in index or name == self.target]

    def _chosen(self) -> dict[str, Any]:
        """Return further arguments of pyarrow that select the part to be read."""
        return {}

    @contextmanager
    def _open(self) -> Iterator[Any]:
        from pyarrow import parquet

        location = as_location(self.path)
        # Parquet is read at scattered positions, so each column gets a buffer.
        with location.open(ahead=False) as file:
            source = location.path if location.store is None else file
            yield parquet.ParquetFile(source, pre_buffer=False, buffer_size=1 << 20)


class ArrowReader(TableReader):
    """Arrow IPC, as a file (Feather too) or as a stream, read a batch at a time."""

    def _names(self) -> Any:
        if str(self.path) == "-":
            self._stack = ExitStack()
            handle = self._stack.enter_context(TextInput(self.path).open())
            self._standard_input = pa.ipc.open_stream(FullReads(handle))
        with self._named_errors(), self._open() as batches:
            return list(batches.schema.names)

    def _batches(self, as_numbers: bool) -> Iterator[Any]:
        rows = max(64, binary.CHUNK_BYTES // (8 * (len(self.feature_names) + 1)))
        with self._open() as batches:
            for batch in self._each(batches):
                for first in range(0, batch.num_rows, rows):
                    yield batch.slice(first, rows).select(self._columns)

    def _explain(self, message: str) -> Any:
        return f": no Arrow file or stream, or a damaged one{super()._explain(message)}"

    @staticmethod
    def _each(batches: Any) -> Iterator[Any]:
        if hasattr(batches, "num_record_batches"):
            yield from map(batches.get_batch, range(batches.num_record_batches))
        else:
            yield from batches

    @contextmanager
    def _open(self) -> Iterator[Any]:
        if str(self.path) == "-":
            # The stream stays open, because the batches are read after the names.
            yield self._standard_input
            return
        with as_location(self.path).open() as file:
            # A file begins with these letters, but a stream begins with a length.
            is_file = file.read(6) == b"ARROW1"
            file.seek(0)
            yield (pa.ipc.open_file if is_file else pa.ipc.open_stream)(file)
