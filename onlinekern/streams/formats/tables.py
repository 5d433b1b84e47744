"""CSV, Parquet and Arrow IPC, read batch by batch with pyarrow."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from onlinekern.streams.formats.libsvm import CHUNK_BYTES, LONGEST_LINE, StreamError, line_chunks
from onlinekern.streams.formats.table_reader import TableReader, is_number
from onlinekern.streams.formats.text_input import InFull, TextInput
from onlinekern.streams.formats.types_of_text import LOOKED_AT, type_of_text

# Of text, what else than pyarrow's list is no value.
MISSING = [*csv.ConvertOptions().null_values, "?"]
SEPARATORS = ",;\t|"


def whole_rows(chunks: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Join chunks of lines that end inside quotes, as text with line breaks may, to the next."""
    held: list[bytes] = []
    first = quotes = length = 0
    for line, chunk in chunks:
        first = first if held else line
        held.append(chunk)
        quotes, length = quotes + chunk.count(b'"'), length + len(chunk)
        # A quote that is no quotation mark, as in 5", would hold up all that follows.
        if quotes % 2 == 0 or length > LONGEST_LINE:
            yield first, b"".join(held)
            held, quotes, length = [], 0, 0
    if held:
        yield first, b"".join(held)


class CsvReader(TableReader):
    """Text with a column separator, plain or compressed, and a header line."""

    typed = False

    def _names(self) -> Any:
        self._input, self._line = TextInput(self.path), 1
        header = self._input.head(1).partition(b"\n")[0]
        if not header.strip():
            raise StreamError(f"{self.name}: empty file, or an empty first line")
        self._separator = self._chosen_separator(header)
        try:
            with io.BytesIO(header + b"\n") as line:
                return csv.read_csv(
                    line, read_options=self._reading(CHUNK_BYTES), parse_options=self._parsing()
                ).column_names
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise StreamError(f"{self.name}, line 1: not a header ({error})") from error

    def _chosen_separator(self, header: bytes) -> str:
        reading = self.reading
        if reading.separator is not None:
            return reading.separator
        if reading.format == "tsv" or ".tsv" in str(self.path).lower():
            return "\t"
        bare = re.sub(rb'"[^"]*"', b"", header).decode("latin-1")
        return max(SEPARATORS, key=bare.count)

    def _explained(self, message: str) -> Any:
        number = re.search(r"CSV column #(\d+): Row #(\d+): .* invalid value '(.*)'", message)
        if number:
            column, row, value = number.groups()
            name, line = self.names[int(column)], self._line + int(row) - 1
            what = "true or false" if "to bool" in message else "number"
            return f", line {line}: {value[:30]!r} in column {name!r} is no {what}"
        parsed = re.search(r"Row #(\d+): (.*)", " ".join(message.split()))
        if parsed is None:
            return super()._explained(message)
        return f", line {self._line + int(parsed[1]) - 1}: {parsed[2]}"

    def _batches(self, as_numbers: bool) -> Iterator[Any]:
        # Types are given, not guessed: a guess from the first rows fails at the first "1.5" after
        # a thousand integers. Columns are float64, the target text (numbers are told later).
        if as_numbers:
            types = dict.fromkeys(self.feature_names, pa.float64())
        else:
            types = self._types()
        if self.target is not None:
            types[self.target] = pa.string()
        read = types if self.faults is None else dict.fromkeys(types, pa.string())
        convert = self._converting(not as_numbers, types=read, columns=self._columns)
        row = 1
        with self._input.open() as handle:
            for line, chunk in whole_rows(line_chunks(handle, self.name)):
                headed = line == 1 and self.reading.header
                self._line = line + headed
                chunk = chunk.partition(b"\n")[2] if headed else chunk
                for batch in self._parsed(chunk, convert):
                    yield batch if self.faults is None else self._good_rows(batch, types, row)
                    row += batch.num_rows

    def _parsed(self, chunk: bytes, convert: Any) -> list[Any]:
        """Lines as record batches. pyarrow's streaming reader would wait for the next block."""
        if not chunk.strip():
            return []
        options = self._reading(len(chunk) + 1)
        options.column_names, options.autogenerate_column_names = self.names, False
        with io.BytesIO(chunk) as text:
            table = csv.read_csv(
                text, read_options=options, parse_options=self._parsing(), convert_options=convert
            )
        return list(table.to_batches())

    def _types(self) -> dict[str, Any]:
        """The types of the columns, as they are told or as the first rows look."""
        if all(name in self.types for name in self.feature_names):
            return {name: self.types[name] for name in self.feature_names}
        head = self._input.head(LOOKED_AT)
        options = {
            "read_options": self._reading(len(head) + 1),
            "parse_options": self._parsing(lambda row: "skip"),
            "convert_options": self._converting(True),
        }
        with io.BytesIO(head) as text:
            first = csv.read_csv(text, **options)
        for name in self.feature_names:
            found = type_of_text(first.column(name).combine_chunks(), self.reading.decimal)
            self.types.setdefault(name, found)
        return {name: self.types[name] for name in self.feature_names}

    def _reading(self, block_size: int) -> Any:
        return csv.ReadOptions(
            use_threads=False,
            block_size=block_size,
            autogenerate_column_names=not self.reading.header,
        )

    def _parsing(self, on_fault: Any = None) -> Any:
        if on_fault is None and self.faults is not None:
            on_fault = self._left_out
        return csv.ParseOptions(
            delimiter=self._separator, invalid_row_handler=on_fault, newlines_in_values=True
        )

    def _converting(self, nulls: bool, types: Any = None, columns: Any = None) -> Any:
        return csv.ConvertOptions(
            column_types=types,
            include_columns=columns,
            null_values=MISSING,
            strings_can_be_null=nulls,
            decimal_point=self.reading.decimal,
        )

    def _left_out(self, row: Any) -> str:
        """Note a row with a wrong number of columns."""
        where = f", line {self._line + row.number - 1}" if row.number else ""
        self._note(f"{where}: {row.actual_columns} columns, not {row.expected_columns}")
        return "skip"

    def _note(self, fault: str) -> None:
        assert self.faults is not None
        self.faults.append(f"{self.name}{fault}")

    def _good_rows(self, batch: Any, types: dict[str, Any], first: int) -> Any:
        """The rows of a batch of text whose values are of the types, with these types."""
        faults: dict[int, str] = {}
        for name, kind in types.items():
            if not pa.types.is_string(kind):
                faults.update(self._faults_of(batch.column(name), name, kind))
        if self.target is not None:
            missing = batch.column(self.target).is_null().to_numpy(zero_copy_only=False)
            faults.update(
                dict.fromkeys(np.flatnonzero(missing).tolist(), f"no value of {self.target!r}")
            )
        good = np.ones(batch.num_rows, dtype=bool)
        good[list(faults)] = False
        for row in sorted(faults):
            self._note(f", data row {first + row}: {faults[row]}")
        kept = batch.filter(pa.array(good))
        columns = [self._typed(kept.column(name), types[name]) for name in kept.schema.names]
        return pa.RecordBatch.from_arrays(columns, names=kept.schema.names)

    def _typed(self, values: Any, kind: Any) -> Any:
        """Texts of which each is of a type, in that type."""
        return values if pa.types.is_string(kind) else pc.cast(self._pointed(values), kind)

    def _faults_of(self, values: Any, name: str, kind: Any) -> dict[int, str]:
        """Row -> what is wrong with it, of the values that are not of a type."""
        try:
            pc.cast(self._pointed(values), kind)
        except pa.ArrowInvalid:
            known = is_number if kind == pa.float64() else is_boolean
            return {
                row: f"{text[:30]!r} in column {name!r} is no {plain(kind)}"
                for row, text in enumerate(self._pointed(values).to_pylist())
                if text is not None and not known(text)
            }
        return {}

    def _pointed(self, values: Any) -> Any:
        """Texts of numbers with the point of Arrow."""
        texts = pc.utf8_trim_whitespace(values)
        if self.reading.decimal == ".":
            return texts
        return pc.replace_substring(texts, self.reading.decimal, ".")


def is_boolean(text: str) -> bool:
    return text.lower() in ("true", "false", "0", "1")


def plain(kind: Any) -> str:
    return "number" if kind == pa.float64() else "true or false"


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
        rows = max(64, CHUNK_BYTES // (8 * (len(self.feature_names) + 1)))
        with self._open() as table:
            chosen = {"columns": self._columns, **self._chosen()}
            yield from table.iter_batches(batch_size=rows, use_threads=False, **chosen)

    def _without_index(self, schema: Any) -> list[str]:
        """The columns but for the index of a data frame, which pandas and dask write too."""
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        return [name for name in schema.names if name not in index or name == self.target]

    def _chosen(self) -> dict[str, Any]:
        """What else pyarrow is to be told of the part that is read."""
        return {}

    def _open(self) -> Any:
        from pyarrow import parquet

        if Path(self.path).is_dir():
            raise IsADirectoryError(21, "Is a directory", str(self.path))
        return parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=1 << 20)


class ArrowReader(TableReader):
    """Arrow IPC, as a file (Feather too) or as a stream, read a batch at a time."""

    def _names(self) -> Any:
        if str(self.path) == "-":
            self._stack = ExitStack()
            handle = self._stack.enter_context(TextInput(self.path).open())
            self._standard_input = pa.ipc.open_stream(InFull(handle))
        with self._named_errors(), self._open() as batches:
            return list(batches.schema.names)

    def _batches(self, as_numbers: bool) -> Iterator[Any]:
        rows = max(64, CHUNK_BYTES // (8 * (len(self.feature_names) + 1)))
        with self._open() as batches:
            for batch in self._each(batches):
                for first in range(0, batch.num_rows, rows):
                    yield batch.slice(first, rows).select(self._columns)

    @staticmethod
    def _each(batches: Any) -> Iterator[Any]:
        if hasattr(batches, "num_record_batches"):
            yield from map(batches.get_batch, range(batches.num_record_batches))
        else:
            yield from batches

    @contextmanager
    def _open(self) -> Iterator[Any]:
        if str(self.path) == "-":
            # Left open: the names come first, then the batches.
            yield self._standard_input
            return
        with open(self.path, "rb") as file:
            # A file begins with these letters, a stream with a length.
            is_file = file.read(6) == b"ARROW1"
            file.seek(0)
            yield (pa.ipc.open_file if is_file else pa.ipc.open_stream)(file)
