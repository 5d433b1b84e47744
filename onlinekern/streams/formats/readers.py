"""Which reader reads a file: by its name, by what is said of it, by its first bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onlinekern.streams.formats.libsvm import LibsvmReader, StreamError, name_of
from onlinekern.streams.formats.reading import PLAIN, Reading
from onlinekern.streams.formats.text_input import TextInput

PACKED = (".gz", ".bz2", ".xz")
FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


def format_of(path: Any, reading: Reading, table: bool) -> str:
    """The format of a file; of standard input, what it looks like if it is to be a table."""
    if reading.format is not None:
        return reading.format
    if str(path) == "-":
        return TextInput(path).looks_like() if table else "libsvm"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return FORMATS.get(suffixes[-1] if suffixes else "", "libsvm")


def reader_of(
    path: Any,
    target: str | None = None,
    like: Any = None,
    labelled: bool = True,
    reading: Reading = PLAIN,
) -> Any:
    """Return the reader for a file; `like` is the reader or source of an earlier file.

    Of files that are not `labelled`, the targets are not wanted.
    """
    names = None if like is None else like.feature_names
    kind = format_of(path, reading, target is not None or names is not None)
    if kind == "libsvm":
        if target is not None and labelled:
            raise StreamError(f"{name_of(path)}: LIBSVM text has no target column to name; "
                              "CSV, Parquet, Arrow and JSON lines have")  # fmt: skip
        if names is not None:
            raise StreamError(
                f"{name_of(path)}: not of the same kind of file as the first one, a table"
            )
        return LibsvmReader(path, reading.faults)
    if like is not None and names is None:
        raise StreamError(f"{name_of(path)}: a table, the first file is none")
    if reading.faults is not None and kind in ("parquet", "arrow"):
        raise StreamError(f"{name_of(path)}: only text has faulty lines that can be left out")
    try:
        from onlinekern.streams.formats.json_lines import JsonReader
        from onlinekern.streams.formats.tables import ArrowReader, CsvReader, ParquetReader

        readers = {"arrow": ArrowReader, "jsonl": JsonReader, "parquet": ParquetReader}
        return readers.get(kind, CsvReader)(path, target, like, labelled, reading)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise StreamError(
            f"{name_of(path)}: reading it needs {package}: pip install 'onlinekern[cli]'"
        ) from error
