"""Source of a C file in fixed point."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export.c.source import Source

TYPES = {"int8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4, "int64_t": 8}
LITERALS = {"uint32_t": "{}u", "int64_t": "INT64_C({})"}


class FixedSource(Source):
    """Source of a C file that computes with whole numbers only.

    Parameters
    ----------
    prefix : str
        Beginning of the names that the header declares.

    Attributes
    ----------
    bits : int
        A score n stands for n / 2^bits.
    calls : str
        Calls that score a row.
    has_missing : bool
        Whether values of a row may be missing.
    """

    types: ClassVar[str] = ""

    def __init__(self, prefix: str) -> None:
        super().__init__(np.int16, prefix)
        self.bits = 0
        self.calls = ""
        self.has_missing = False

    def whole(self, name: str, values: Any, type_name: str) -> None:
        """Add a constant table of whole numbers."""
        numbers = np.ravel(values)
        self.flash += numbers.size * TYPES[type_name]
        literal = LITERALS.get(type_name, "{}")
        texts = (literal.format(int(value)) for value in numbers)
        scope = "" if name.startswith(self.names["prefix"] + "_") else "static "
        self.table(f"{scope}const {type_name} {name}", texts, numbers.size)

    def once(self, name: str, values: Array, type_name: str) -> None:
        """Add a table that several terms share."""
        if name not in self.used:
            self.used.add(name)
            self.whole(name, values, type_name)

    def memory(self, name: str, count: int, type_name: str = "int16_t") -> None:
        """Add working memory that each call overwrites."""
        self.ram += count * TYPES[type_name]
        self.scratch[name] = f"{type_name} {name}[{count}];"

    def moved(self, name: str, bits: int) -> str:
        """Return the expression that shifts a sum of `bits` fractional bits to those of scores."""
        more = bits - self.bits
        if more > 0:
            return f"({name} + (INT64_C(1) << {more - 1})) >> {more}"
        return name if more == 0 else f"(int64_t){name} * (INT64_C(1) << {-more})"


def bits_within(values: Floats, largest: float) -> int:
    """Return the largest n for which 2^n times the values stay within `largest`."""
    most = float(np.max(np.abs(values), initial=0.0))
    return int(np.floor(np.log2(largest) - np.log2(most))) if most > 0 else 0


def rounded(values: Floats, bits: int) -> Array:
    """Return numbers rounded to units of 2^-bits."""
    return np.rint(values * np.exp2(float(bits))).astype(np.int64)
