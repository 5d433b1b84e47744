"""The reader of rows for models that begin with a `TableEncoder`: any values, by name."""

from __future__ import annotations

import math
from typing import Any

from onlinekern.preprocessing.tables.encoder import TableEncoder
from onlinekern.serve.refusal import bad, kind_of
from onlinekern.streams.errors import shown

CATEGORY = (str, int, float, bool), "text, a number, true or false"
# Kind of a column -> the types of its values, and how a message calls them.
VALUES: dict[str, tuple[tuple[type, ...], str]] = {
    "number": ((int, float, bool), "a number"),
    "boolean": ((bool,), "true or false"),
    "category": CATEGORY,
    "hashed": CATEGORY,
    "text": ((str,), "text"),
    "date": ((str,), "a date as text, as in ISO 8601"),
}


class TableRowReader:
    """Reader that turns rows of JSON into the dictionaries that an encoder takes.

    Parameters
    ----------
    encoder : TableEncoder
    """

    def __init__(self, encoder: TableEncoder) -> None:
        self.kinds = encoder.kinds_
        self.names = list(self.kinds)

    def rows_to_X(self, rows: list[Any]) -> list[dict[str, Any]]:
        """Return the checked rows; 400 names the first row and feature that do not fit."""
        if not rows:
            bad("rows is empty; give at least one")
        return [self._checked(self._named(row, k), k) for k, row in enumerate(rows)]

    def _named(self, row: Any, number: int) -> dict[str, Any]:
        """Return a row as a dictionary of all columns and no others."""
        if isinstance(row, list):
            if len(row) != len(self.names):
                bad(f"rows[{number}] has {len(row)} values, the model has {len(self.names)} "
                    "features")  # fmt: skip
            return dict(zip(self.names, row, strict=True))
        if not isinstance(row, dict):
            bad(f"rows[{number}] must be an array or an object, got {kind_of(row)}")
        for name in row:
            if name not in self.kinds:
                bad(f"rows[{number}] has the feature {shown(name)}, which the model does not know")
        for name in self.names:
            if name not in row:
                bad(f"rows[{number}] has no feature {shown(name)}; null is a missing value")
        return row

    def _checked(self, row: dict[str, Any], number: int) -> dict[str, Any]:
        return {name: self._value(row[name], name, number) for name in self.names}

    def _value(self, value: Any, name: str, number: int) -> Any:
        """Return a value in the type of its column."""
        kind = self.kinds[name]
        if value is None or kind == "ignore":
            return None
        place, (types, wanted) = f"rows[{number}] (feature {shown(name)})", VALUES[kind]
        if type(value) not in types:
            bad(f"{place} must be {wanted}, got {kind_of(value)}")
        if kind in ("category", "hashed"):
            return category_of(value)
        if kind == "number":
            try:
                value = float(value)
            except OverflowError:
                value = math.inf
            if not math.isfinite(value):
                bad(f"{place} is too large for a number")
        return value


def category_of(value: Any) -> str:
    """Return a category as the encoder has it: text, with whole numbers without a point."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
