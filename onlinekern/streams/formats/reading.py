"""The formats of files, and what the name of a file does not tell of how it is to be read."""

from __future__ import annotations

from dataclasses import dataclass

from onlinekern.estimators.validation import one_of

# Name of a format -> its reader, a class of a module beside this one, and the suffixes of files.
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
    """How a file is to be read, as far as its name does not tell.

    Attributes
    ----------
    format : str or None
        'libsvm', 'csv', 'tsv', 'jsonl', 'parquet' or 'arrow'; None: the file's name tells it, and
        the first bytes of standard input.
    separator : str or None
        Between the columns of CSV; None: comma, semicolon, tab or bar, whichever the first line has
        most of.
    decimal : str
        What stands before the decimals of a number in CSV.
    header : bool
        Whether the first line of CSV has the names of the columns. Else they are f0, f1, ...
    kinds : tuple of (str, str)
        Column and kind (see `TableEncoder`), of columns of text that are not what they look like.
    faults : list of str or None
        Where faulty lines, which are left out, are noted. None: the first one is an error.
    ignore_extra : bool
        Whether columns are left out that the stream read before did not have.
    numeric_targets : bool
        Whether targets that are text are faults. Else they are labels, if the first ones are text.
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
