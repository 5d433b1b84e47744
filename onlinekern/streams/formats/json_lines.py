"""JSON lines: an object in each line, and a column for each name."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from math import isinf
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from onlinekern.preprocessing.tables.column_types import FIRST_ROWS, type_name, type_of_values
from onlinekern.streams.errors import StreamError
from onlinekern.streams.formats.binary import NO_UTF_8, TextInput, line_chunks
from onlinekern.streams.formats.table_reader import TableReader


class JsonReader(TableReader):
    """Text with a JSON object in each line, plain or compressed.

    The names in the objects of the first lines are the columns. If an object lacks a name, its
    value is missing.
    """

    typed = False

    def _names(self) -> list[str]:
        self._input = TextInput(self.path)
        known = [name for name in self._known if name in self.types]
        self._head = self._input.head(1 if known else FIRST_ROWS)
        names: dict[str, None] = {}
        for number, line in enumerate(self._head.split(b"\n"), start=1):
            try:
                names.update(dict.fromkeys(self._object(line)))
            except ValueError as error:
                if self.faults is None:
                    raise StreamError(f"{self.name}, line {number}: {error}") from error
        if not names:
            raise StreamError(f"{self.name}: no line with a JSON object that has names")
        return list(dict.fromkeys([*names, *known]))

    def _batches(self, as_numbers: bool) -> Iterator[Any]:
        types = self._types()
        if as_numbers:
            types.update(dict.fromkeys(self._features, pa.float64()))
        with self._input.open() as handle:
            for first, chunk in line_chunks(handle, self.name):
                yield self._parsed(chunk, first, types).select(self._columns)

    def _types(self) -> dict[str, Any]:
        """Return the types of the columns, as given or as guessed from the first lines."""
        values: dict[str, list[Any]] = {name: [] for name in self.names}
        for line in self._head.split(b"\n"):
            try:
                found = self._object(line)
            except ValueError:
                continue  # this error is reported elsewhere, or the line is left out
            for name, column in values.items():
                column.append(found.get(name))
        for name, column in values.items():
            self.types.setdefault(name, type_of_values(column))
        return {name: self.types[name] for name in self.names}

    def _parsed(self, chunk: bytes, first: int, types: dict[str, Any]) -> Any:
        """Parse the lines of a chunk into a record batch."""
        schema = pa.schema([(name, kind) for name, kind in types.items()])
        options = arrow_json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="error", newlines_in_values=False
        )
        reading = arrow_json.ReadOptions(use_threads=False, block_size=len(chunk) + 1)
        try:
            with io.BytesIO(chunk) as text:
                table = arrow_json.read_json(text, read_options=reading, parse_options=options)
        except pa.ArrowInvalid:
            return self._parsed_slowly(chunk, first, schema)
        if self.faults is not None and self._has_faults(table):
            return self._parsed_slowly(chunk, first, schema)
        return table.combine_chunks().to_batches()[0] if len(table) else empty(schema)

    def _has_faults(self, table: Any) -> bool:
        """Return whether a number of a table is infinite, or a target is missing."""
        if self._own_target and table.column(self._own_target).null_count:
            return True
        numbers = (column for column in table.columns if pa.types.is_floating(column.type))
        return any(pc.any(pc.is_inf(column)).as_py() for column in numbers)

    def _parsed_slowly(self, chunk: bytes, first: int, schema: Any) -> Any:
        """Parse the lines one by one, which finds the error of each line."""
        rows = []
        for number, line in enumerate(chunk.split(b"\n"), start=first):
            try:
                if found := self._object(line):
                    check_names(found, schema)
                    if self._own_target and found.get(self._own_target) is None:
                        raise ValueError(f"no value of {self.target!r}")
                    rows.append({field.name: value_of(found, field) for field in schema})
            except ValueError as error:
                fault = f"{self.name}, line {number}: {error}"
                if self.faults is None:
                    raise StreamError(fault) from error
                self.faults.append(fault)
        return pa.RecordBatch.from_pylist(rows, schema=schema)

    @staticmethod
    def _object(line: bytes) -> dict[str, Any]:
        """Return the object of a line, or {} for an empty line; ValueError if there is none."""
        if not line.strip():
            return {}
        try:
            found = json.loads(line)
        except UnicodeDecodeError as error:
            raise ValueError(NO_UTF_8) from error
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"no JSON ({error})") from error
        if not isinstance(found, dict):
            raise ValueError("no JSON object with names and values")
        return found


def check_names(found: dict[str, Any], schema: Any) -> None:
    for name in found:
        if name not in schema.names:
            raise ValueError(f"there was no column {name!r} among the first lines")


def value_of(found: dict[str, Any], field: Any) -> Any:
    """Return a value of a line, converted to the type of its column."""
    value = found.get(field.name)
    if value is None:
        return None
    if isinstance(value, dict | list):
        raise ValueError(f"column {field.name!r} holds an object or a list")
    if pa.types.is_string(field.type):
        return value if isinstance(value, str) else json.dumps(value)
    wanted = bool if pa.types.is_boolean(field.type) else (int, float)
    if not isinstance(value, wanted) or isinstance(value, bool) != (wanted is bool):
        raise ValueError(f"{value!r} in column {field.name!r} is no {type_name(field.type)}")
    try:
        number = value if wanted is bool else float(value)
    except OverflowError as error:
        raise ValueError(f"a number in column {field.name!r} is too large") from error
    if isinf(number):
        raise ValueError(f"column {field.name!r} is infinite")
    return number


def empty(schema: Any) -> Any:
    return pa.RecordBatch.from_pylist([], schema=schema)
