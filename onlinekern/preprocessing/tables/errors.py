"""Errors for invalid tables. Unlike the rest of the package, they do not need pyarrow."""

from __future__ import annotations

# The advice for each kind that a column should have.
MAKES = {
    "number": ": pandas.to_numeric makes numbers of text",
    "date": ": pandas.to_datetime makes dates of text and of numbers",
}


class TableError(ValueError):
    """Error for a table with an invalid value.

    Attributes
    ----------
    column : str
    what : str
        What is wrong; the text follows the column's name in the message.
    row : int or None
        Number of the row in the table, from 0; None if the error concerns no single row.
    """

    def __init__(self, column: str, what: str, row: int | None = None) -> None:
        self.column, self.what, self.row = column, what, row
        super().__init__(self.at(0))

    def at(self, first: int) -> str:
        """Return the message for a table whose first row has the number `first`."""
        where = "" if self.row is None else f"data row {first + self.row}: "
        return f"{where}column {self.column!r} {self.what}"

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None]]:
        return type(self), (self.column, self.what, self.row)


class ColumnTypeError(TableError, TypeError):
    """Error for a column whose type cannot become features."""


def listed(names: list[str], most: int = 8) -> str:
    """Return names as a list; of many names, return the first ones and their number.

    Names with blanks at an end or with line breaks could be misread, so they are quoted.
    """
    plain = (name if name and name == name.strip() and name.isprintable() else repr(name)
             for name in names[:most])  # fmt: skip
    first = ", ".join(plain)
    return first if len(names) <= most else f"{first}, ... ({len(names)} in all)"


def difference(found: list[str], known: list[str]) -> str:
    """Return which columns a table lacks and which are new, or ""."""
    missing = [name for name in known if name not in found]
    extra = [name for name in found if name not in known]
    what = [f"lacks {listed(missing)}"] if missing else []
    what += [f"has also {listed(extra)}"] if extra else []
    return " and ".join(what)
