"""The formats of files, and how to read a file where its name is not enough."""

from __future__ import annotations

from dataclasses import dataclass

from onlinekern.estimators.validation import one_of

# Format -> its reader (a class in a module of this package), and the suffixes of its files.
FORMATS: dict[str, tuple[str, tuple[str, ...]]] = {
    "libsvm": ("libsvm.LibsvmReader", ()),
    "csv": ("csv.CsvReader", (".csv",)),
    "tsv": ("csv.CsvReader", (".tsv",)),
    "jsonl": ("json_lines.JsonReader", (".jsonl", ".ndjson")),
    "parquet": ("arrow.ParquetReader", (".parquet", ".pq")),
    "arrow": ("arrow.ArrowReader", (".arrow", ".arrows", ".feather")),
}
KNOWN = tuple(FORMATS)


@dataclass(frozen=True)
class Reading:
    """How to read a file, where its name is not enough.

    Attributes
    ----------
    format : str or None
        'libsvm', 'csv', 'tsv', 'jsonl', 'parquet' or 'arrow'; None: the format follows from the
        file's name, or from the first bytes of standard input.
    separator : str or None
        Separator of the columns of CSV. None: the most frequent one among comma, semicolon, tab and
        bar in the first line.
    decimal : str
        Decimal sign of numbers in CSV.
    header : bool
        Whether the first line of CSV has the column names. Otherwise the names are f0, f1, ...
    kinds : tuple of (str, str)
        Columns and kinds (see `TableEncoder`), for columns of text that would be guessed wrongly.
    faults : list of str or None
        List to which errors of lines are added; such lines are left out. None: the first error is
        raised.
    ignore_extra : bool
        Whether to leave out columns that the stream read before did not have.
    numeric_targets : bool
        Whether text targets are errors. Otherwise they are labels if the first targets are text.
    """

    format: str | None = None
    separator: str | None = None
    decimal: str = "."
    header: bool = True
    kinds: tuple[tuple[str, str], ...] = ()
    faults: list[str] | None = None
    ignore_extra: bool = False
    numeric_targets: bool = False

    def __post_init__(self) -> None:
        if self.format is not None:
            one_of("format", self.format, KNOWN)
        for name, mark in (("separator", self.separator), ("decimal", self.decimal)):
            if mark is not None and (len(mark.encode()) != 1 or mark in '"\n\r'):
                raise ValueError(f"{name} must be one character, got {mark!r}")


PLAIN = Reading()
