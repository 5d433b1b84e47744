"""CSV and TSV, read in chunks of lines with pyarrow."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from onlinekern.preprocessing.tables.column_types import (
    FIRST_ROWS,
    NUMBER,
    type_name,
    type_of_text,
)
from onlinekern.streams.errors import StreamError, is_number
from onlinekern.streams.formats import binary
from onlinekern.streams.formats.binary import LONGEST_LINE, TextInput, line_chunks
from onlinekern.streams.formats.table_reader import TableReader

# Texts that mean a missing value.
MISSING = [*csv.ConvertOptions().null_values, "?"]
SEPARATORS = ",;\t|"
# A header with line breaks inside quoted names may extend over this many lines.
MOST_LINES = 50
# Replacement of bytes that are not UTF-8.
SCAR = "\ufffd"


def whole_rows(chunks: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Join a chunk that ends inside quotes (text may contain line breaks) with the next one."""
    held: list[bytes] = []
    first = quotes = length = 0
    for line, chunk in chunks:
        first = first if held else line
        held.append(chunk)
        quotes, length = quotes + chunk.count(b'"'), length + len(chunk)
        # A quote that is not a quotation mark, as in 5", would otherwise delay everything after it.
        if quotes % 2 == 0 or length > LONGEST_LINE:
            yield first, b"".join(held)
            held, quotes, length = [], 0, 0
    if held:
        yield first, b"".join(held)


def mended(text: bytes) -> bytes:
    """Return text with each byte that is not UTF-8 replaced by a mark."""
    return text.decode(errors="replace").encode()


class CsvReader(TableReader):
    """Text with a column separator, plain or compressed, and a header line."""

    typed = False

    def _names(self) -> Any:
        self._input, self._line = TextInput(self.path), 1
        header = self._header = self._first_row()
        if not header.strip():
            raise StreamError(f"{self.name}: empty file, or an empty first line")
        if b"\r" in re.sub(rb'"[^"]*"', b"", header).rstrip(b"\r"):
            raise StreamError(
                f"{self.name}: lines end in a carriage return alone, as those of old Macs did: "
                "tr '\\r' '\\n' makes line ends of them"
            )
        self._separator = self._chosen_separator(header)
        try:
            with io.BytesIO(header + b"\n") as line:
                options = self._reading(binary.CHUNK_BYTES)
                table = csv.read_csv(line, read_options=options, parse_options=self._parsing())
            return table.column_names
        except UnicodeDecodeError as error:
            raise StreamError(f"{self.name}, line 1: {binary.NO_UTF_8}") from error
        except pa.ArrowException as error:
            raise StreamError(f"{self.name}, line 1: not a header ({error})") from error

    def _first_row(self) -> bytes:
        """Return the first row with all of its lines, or the first line if quotes never end."""
        for lines in range(1, MOST_LINES + 1):
            row = b"\n".join(self._input.head(lines).split(b"\n", lines)[:lines])
            if row.count(b'"') % 2 == 0:
                return row
        return self._input.head(1).partition(b"\n")[0]

    def _chosen_separator(self, header: bytes) -> str:
        reading = self.reading
        if reading.separator is not None:
            return reading.separator
        if reading.format == "tsv" or ".tsv" in str(self.path).lower():
            return "\t"
        bare = re.sub(rb'"[^"]*"', b"", header).decode("latin-1")
        return max(SEPARATORS, key=bare.count)

    def _explain(self, message: str) -> Any:
        number = re.search(r"CSV column #(\d+): Row #(\d+): .* invalid value '(.*)'", message)
        if number:
            column, row, value = number.groups()
            name, line = self.names[int(column)], self._line + int(row) - 1
            what = "true or false" if "to bool" in message else "number"
            whole = line <= 1 + self.reading.header and what == "number"
            hint = self._hint(name, value) if whole else ""
            return f", line {line}: {value[:30]!r} in column {name!r} is no {what}{hint}"
        parsed = re.search(r"Row #(\d+): (.*)", " ".join(message.split()))
        if parsed is None:
            return super()._explain(message)
        what = binary.NO_UTF_8 if "invalid UTF8" in parsed[2] else parsed[2]
        return f", line {self._line + int(parsed[1]) - 1}: {what}"

    def _hint(self, name: str, value: str) -> str:
        """Return advice about text in the first row of a column that is read as numbers."""
        if self.reading.decimal == "." and re.match(NUMBER, value.replace(",", ".")):
            return "; decimal=',' reads decimal commas (on the command line: --decimal ,)"
        # Text is usually no error if nobody has said that the column holds numbers.
        taken = "; open_source with an encoder, and read_tables, take columns of text"
        return "" if name in self.types else taken

    def _batches(self, as_numbers: bool) -> Iterator[Any]:
        # Types are fixed, not guessed: a guess from the first rows would fail at the first "1.5"
        # after a thousand integers. Columns are float64. The target is text; numbers are recognised
        # later.
        types = dict.fromkeys(self._features, pa.float64()) if as_numbers else self._types()
        if self._own_target is not None:
            types[self._own_target] = pa.string()
        read = types if self.faults is None else dict.fromkeys(types, pa.string())
        convert = self._converting(not as_numbers, types=read, columns=self._columns)
        row = 1
        with self._input.open() as handle:
            for line, chunk in whole_rows(line_chunks(handle, self.name)):
                self._line = line
                if line == 1 and self.reading.header:
                    self._line += self._header.count(b"\n") + 1
                    chunk = chunk[len(self._header) + 1 :]
                for batch in self._parsed(chunk, convert):
                    yield batch if self.faults is None else self._good_rows(batch, types, row)
                    row += batch.num_rows

    def _parsed(self, chunk: bytes, convert: Any) -> list[Any]:
        """Parse lines into record batches; pyarrow's streaming reader would wait for more input."""
        if not chunk.strip():
            return []
        if self.faults is not None:
            whole, chunk = chunk, mended(chunk)
            self._scarred = chunk != whole
        options = self._reading(len(chunk) + 1)
        options.column_names, options.autogenerate_column_names = self.names, False
        with io.BytesIO(chunk) as text:
            table = csv.read_csv(
                text, read_options=options, parse_options=self._parsing(), convert_options=convert
            )
        return list(table.to_batches())

    def _types(self) -> dict[str, Any]:
        """Return the types of the columns, as given or as guessed from the first rows."""
        if all(name in self.types for name in self._features):
            return {name: self.types[name] for name in self._features}
        head = mended(self._input.head(FIRST_ROWS))
        options = {
            "read_options": self._reading(len(head) + 1),
            "parse_options": self._parsing(lambda row: "skip"),
            "convert_options": self._converting(True),
        }
        with io.BytesIO(head) as text:
            first = csv.read_csv(text, **options)
        for name in self._features:
            found = type_of_text(first.column(name).combine_chunks(), self.reading.decimal)
            self.types.setdefault(name, found)
        return {name: self.types[name] for name in self._features}

    def _reading(self, block_size: int) -> Any:
        return csv.ReadOptions(
            use_threads=False,
            block_size=block_size,
            autogenerate_column_names=not self.reading.header,
        )

    def _parsing(self, on_fault: Any = None) -> Any:
        if on_fault is None and self.faults is not None:
            on_fault = self._skip_row
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

    def _skip_row(self, row: Any) -> str:
        """Record a row with a wrong number of columns."""
        where = f", line {self._line + row.number - 1}" if row.number else ""
        self._note_fault(f"{where}: {row.actual_columns} columns, not {row.expected_columns}")
        return "skip"

    def _note_fault(self, fault: str) -> None:
        assert self.faults is not None
        self.faults.append(f"{self.name}{fault}")

    def _good_rows(self, batch: Any, types: dict[str, Any], first: int) -> Any:
        """Return the rows of a batch of text whose values are valid, converted to the types."""
        faults: dict[int, str] = {}
        for name, kind in types.items():
            if not pa.types.is_string(kind):
                faults.update(self._faults_of(batch.column(name), name, kind))
            if self._scarred:
                scars = pc.match_substring(batch.column(name), SCAR)
                faults |= all_of(scars.fill_null(False), f"column {name!r} is not UTF-8")
        if self._own_target is not None:
            faults |= self._faults_of_targets(batch.column(self._own_target))
        good = np.ones(batch.num_rows, dtype=bool)
        good[list(faults)] = False
        for row in sorted(faults):
            self._note_fault(f", data row {first + row}: {faults[row]}")
        kept = batch.filter(pa.array(good))
        columns = [self._cast(kept.column(name), types[name]) for name in kept.schema.names]
        return pa.RecordBatch.from_arrays(columns, names=kept.schema.names)

    def _cast(self, values: Any, kind: Any) -> Any:
        """Convert valid texts to a type."""
        return values if pa.types.is_string(kind) else pc.cast(self._with_points(values), kind)

    def _faults_of(self, values: Any, name: str, kind: Any) -> dict[int, str]:
        """Return the errors of values that are infinite or not of a type, by row."""
        texts, faults = self._with_points(values), {}
        try:
            found = pc.cast(texts, kind)
        except pa.ArrowInvalid:
            known = is_decimal if kind == pa.float64() else is_boolean
            rows = texts.to_pylist()
            faults = {
                row: f"{text[:30]!r} in column {name!r} is no {type_name(kind)}"
                for row, text in enumerate(rows)
                if text is not None and not known(text)
            }
            good = [None if row in faults else text for row, text in enumerate(rows)]
            found = pc.cast(pa.array(good, pa.string()), kind)
        if kind == pa.float64():
            faults |= all_of(pc.is_inf(found).fill_null(False), f"column {name!r} is infinite")
        return faults

    def _faults_of_targets(self, values: Any) -> dict[int, str]:
        """Return the errors of targets by row; text targets must not be missing."""
        texts = ["" if text is None else text.strip() for text in values.to_pylist()]
        faults = {row: f"no value of {self.target!r}" for row, text in enumerate(texts) if not text}
        there = {row: self._with_point(text) for row, text in enumerate(texts) if text}
        text_labels = self.text_labels
        if text_labels is None:
            text_labels = not all(map(is_number, there.values()))
        for row, text in there.items():
            if not text_labels and not is_number(text):
                faults[row] = f"target {texts[row][:30]!r} is not a number"
            elif not text_labels and not isfinite(float(text)):
                faults[row] = f"column {self.target!r} is infinite"
        return faults

    def _with_point(self, text: str) -> str:
        return text.replace(self.reading.decimal, ".")

    def _with_points(self, values: Any) -> Any:
        """Return texts of numbers with a decimal point, as Arrow needs it."""
        texts = pc.utf8_trim_whitespace(values)
        if self.reading.decimal == ".":
            return texts
        return pc.replace_substring(texts, self.reading.decimal, ".")


def all_of(marks: Any, fault: str) -> dict[int, str]:
    """Return an error for each marked row."""
    return dict.fromkeys(np.flatnonzero(marks.to_numpy(zero_copy_only=False)).tolist(), fault)


def is_decimal(text: str) -> bool:
    """Return whether Arrow can read a text as a number: no underscores, and only ASCII digits."""
    return is_number(text) and text.isascii() and "_" not in text


def is_boolean(text: str) -> bool:
    return text.lower() in ("true", "false", "0", "1")
