"""The types in which columns of text are read: numbers, true and false, or text."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

NUMBER = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
BOOLEAN = r"^(?i:true|false)$"
NEARLY_ALL = 0.9
# Lines that tell what the columns are.
LOOKED_AT = 1000
# Types of the columns of text of each kind of `TableEncoder`; the others are text.
TYPES = {"number": pa.float64(), "boolean": pa.bool_()}


def type_of_kind(kind: str) -> Any:
    """The type of a column of which the kind of `TableEncoder` is told."""
    return TYPES.get(kind, pa.string())


def type_of_text(values: Any, decimal: str) -> Any:
    """The type in which a column of text is read, by how its first values look.

    A column of numbers with a few words among them is one of numbers, with a few faults.
    `decimal` stands before their decimals.
    """
    kind = values.type
    if pa.types.is_boolean(kind):
        return kind
    if pa.types.is_string(kind):
        there = values.drop_null()
        number = NUMBER.replace(r"\.", re.escape(decimal))
        for pattern, of_these in ((number, pa.float64()), (BOOLEAN, pa.bool_())):
            count = pc.sum(pc.match_substring_regex(there, pattern)).as_py() or 0
            if count > NEARLY_ALL * len(there):
                return of_these
        return kind
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return pa.float64() if is_number else pa.string()


def type_of_values(values: list[Any]) -> Any:
    """The type of the first values of a column of JSON: that of nearly all, or text."""
    kinds = [type(value) for value in values if value is not None]
    for types, of_these in (((bool,), pa.bool_()), ((int, float), pa.float64())):
        if sum(kind in types for kind in kinds) > NEARLY_ALL * len(kinds):
            return of_these
    return pa.string()
