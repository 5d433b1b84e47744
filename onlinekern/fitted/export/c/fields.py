"""The fields of a model's structure in C, and their first values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onlinekern.estimators.types import Array

# A counter may have any value from 0 to the largest number of its type.
COUNTER = 2**63 - 1
# Used instead of a largest value: FINITE numbers must be finite, and ANY words are not checked.
FINITE, ANY = -1, -2
# Version of the format of states, which docs/export.md describes.
VERSION, HEAD = 1, 24
# Number of literals in a line.
PER_LINE = 4
TYPES = {"real": None, "float": "<f4", "int32_t": "<i4", "int64_t": "<i8", "uint64_t": "<u8"}


class Field(NamedTuple):
    """Field of a model that learning changes.

    Attributes
    ----------
    name, type : str
        Name of the field, and type of its numbers.
    values : ndarray
        First values, in the type that they have in C, little-endian.
    is_single : bool
        Whether the field is a single number and not an array.
    most : int
        The largest value, FINITE or ANY.
    record : tuple of str
        If the field is a structure: its members, which are single numbers or arrays.
    """

    name: str
    type: str
    values: Array
    is_single: bool
    most: int
    record: tuple[tuple[str, int], ...] = ()

    def declaration(self, prefix: str) -> str:
        """Return the declaration of the member in the structure of a model."""
        if self.record:
            return f"struct {prefix}_{self.name} {self.name};"
        return (
            f"{self.public(prefix)} {self.name}{'' if self.is_single else f'[{len(self.values)}]'};"
        )

    def structure(self, prefix: str) -> str:
        """Return the declaration of the structure that is the type of the member, if it has one."""
        if not self.record:
            return ""
        members = "".join(
            f"    {self.public(prefix)} {name}{f'[{count}]' if count else ''};\n"
            for name, count in self.record
        )
        return f"struct {prefix}_{self.name} {{\n{members}}};\n\n"

    def public(self, prefix: str) -> str:
        """Return the name of a number type in the header."""
        return f"{prefix}_real" if self.type == "real" else self.type

    def contents(self) -> str:
        """Return the initialiser with the first values, without zeros at its end."""
        values = self.values.tolist()
        if self.is_single:
            return f".{self.name} = {self.literal(values[0])}"
        if self.record:
            parts = []
            for _, count in self.record:
                own, values = values[: max(1, count)], values[max(1, count) :]
                text = self.rows(own)
                parts.append(f"{{{text}}}" if count else text)
            return f".{self.name} = {{{', '.join(parts)}}}"
        while len(values) > 1 and values[-1] == 0:
            values.pop()
        return f".{self.name} = {{{self.rows(values)}}}"

    def rows(self, values: list[Any]) -> str:
        """Return literals, several in a line."""
        texts = [self.literal(value) for value in values]
        lines = [", ".join(texts[i : i + PER_LINE]) for i in range(0, len(texts), PER_LINE)]
        return ",\n        ".join(lines)

    def literal(self, value: Any) -> str:
        """Return the literal of a number."""
        if self.values.dtype.kind == "f":
            return literal_of(value, self.values.dtype)
        form = {"uint64_t": "UINT64_C({})", "int64_t": "INT64_C({})"}.get(self.type, "{}")
        return form.format(value)

    def entry(self, prefix: str) -> str:
        """Return offset, length and allowed values of the field, for the table of fields."""
        most = {FINITE: "FINITE", ANY: "ANY", COUNTER: "INT64_MAX"}.get(self.most, str(self.most))
        place = f"offsetof({prefix}_state, {self.name})"
        return f"    {{{place}, {len(self.values)}, {self.values.itemsize}, {most}}}"


def literal_of(value: float, dtype: Any) -> str:
    """Return a number as a literal of a type; 9 digits identify a float."""
    single = np.dtype(dtype).itemsize == 4
    text = f"{value:.9g}" if single else repr(value)
    text += ("" if "e" in text or "." in text else ".0") + ("f" if single else "")
    return f"({text})" if text.startswith("-") else text


def dtype_of(type_name: str, real: Any) -> np.dtype[Any]:
    """Return the little-endian dtype of a C type."""
    name = TYPES[type_name]
    return np.dtype(real).newbyteorder("<") if name is None else np.dtype(name)
