"""Errors of tables that cannot be taken. Unlike the rest of the package they need no pyarrow."""

from __future__ import annotations

# What makes a column of the kind that it should be.
MAKES = {
    "number": ": pandas.to_numeric makes numbers of text",
    "date": ": pandas.to_datetime makes dates of text and of numbers",
}


class TableError(ValueError):
    """Error of a table with a value that cannot be taken.

    Attributes
    ----------
    column : str
    what : str
        What is wrong with it, as it follows the column's name.
    row : int or None
        Number of the row among those given, from 0; None if it is no single one.
    """

    def __init__(self, column: str, what: str, row: int | None = None) -> None:
        self.column, self.what, self.row = column, what, row
        super().__init__(self.at(0))

    def at(self, first: int) -> str:
        """Return the message, where the first of the rows given has the number `first`."""
        where = "" if self.row is None else f"data row {first + self.row}: "
        return f"{where}column {self.column!r} {self.what}"

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None]]:
        return type(self), (self.column, self.what, self.row)


class ColumnTypeError(TableError, TypeError):
    """Error of a column whose type becomes no features."""


def listed(names: list[str], most: int = 8) -> str:
    """Return some names, and how many they are if they are many.

    Names that would be misread, as they begin or end with a blank or hold a line break, are quoted.
    """
    plain = (name if name and name == name.strip() and name.isprintable() else repr(name)
             for name in names[:most])  # fmt: skip
    first = ", ".join(plain)
    return first if len(names) <= most else f"{first}, ... ({len(names)} in all)"


def difference(found: list[str], known: list[str]) -> str:
    """Return in words which columns a table lacks and which it has in addition, or ""."""
    missing = [name for name in known if name not in found]
    extra = [name for name in found if name not in known]
    what = [f"lacks {listed(missing)}"] if missing else []
    what += [f"has also {listed(extra)}"] if extra else []
    return " and ".join(what)
