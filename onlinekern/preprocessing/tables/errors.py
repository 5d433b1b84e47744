"""The error of tables that cannot be taken. Unlike the rest of the package it needs no pyarrow."""

from __future__ import annotations


class TableError(ValueError):
    """A value of a table that cannot be taken.

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
        """Return the message, when the first of the rows given has this number."""
        where = "" if self.row is None else f"data row {first + self.row}: "
        return f"{where}column {self.column!r} {self.what}"

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None]]:
        return type(self), (self.column, self.what, self.row)
