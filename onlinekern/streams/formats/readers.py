"""Choosing the reader of a file by its name, by the caller's settings or by its first bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from importlib import import_module
from pathlib import PurePath
from typing import Any

from onlinekern.streams.errors import StreamError, name_of
from onlinekern.streams.formats.binary import TextInput
from onlinekern.streams.formats.reading import FORMATS, PLAIN, Reading

PACKED = (".gz", ".bz2", ".xz", ".zst")
# Settings that act only on some formats: these formats, the words for them, and the settings.
TABLES = tuple(name for name in FORMATS if name != "libsvm")
OF_FORMATS = (
    (("csv", "tsv"), "CSV", ("separator", "decimal", "header")),
    (("libsvm",), "LIBSVM text", ("n_features", "zero_based")),
    (TABLES, "tables", ("kinds", "ignore_extra")),
)


def format_of(path: Any, reading: Reading, table: bool) -> str:
    """Return the format of a file. Standard input is inspected if it must be a table."""
    if reading.format is not None:
        return reading.format
    if str(path) == "-":
        return TextInput(path).looks_like() if table else "libsvm"
    suffixes = ["", *(suffix.lower() for suffix in PurePath(str(path)).suffixes)]
    if suffixes[-1] in PACKED:
        suffixes.pop()
    known = (name for name, (_, own) in FORMATS.items() if suffixes[-1] in own)
    return next(known, "libsvm")


def check_used(paths: Iterable[Any], table: bool, reading: Reading = PLAIN, **options: Any) -> None:
    """Raise StreamError if a setting acts on no file of these formats.

    Parameters
    ----------
    paths : iterable of str or path
    table : bool
        Whether standard input is a table.
    reading : Reading
    **options
        Further settings; None means not set.
    """
    paths = list(paths)
    told = {name: value for name, value in options.items() if value is not None}
    told |= {
        one.name: getattr(reading, one.name)
        for one in fields(Reading)
        if getattr(reading, one.name) != one.default
    }
    if not told:
        return
    found = {format_of(path, reading, table) for path in paths}
    for formats, kind, names in OF_FORMATS:
        if not found.isdisjoint(formats):
            continue
        for name in names:
            if name in told:
                raise StreamError(
                    f"{name}={told[name]!r} is for {kind}, and {', '.join(map(name_of, paths))} is "
                    f"{' and '.join(sorted(found))}"
                )


def reader_of(
    path: Any,
    target: str | None = None,
    like: Any = None,
    labelled: bool = True,
    reading: Reading = PLAIN,
) -> Any:
    """Return the reader for a file; `like` is the reader or source of an earlier file.

    If not `labelled`, targets are not read.
    """
    is_table = target is not None or getattr(like, "feature_names", None) is not None
    module, name = FORMATS[format_of(path, reading, is_table)][0].split(".")
    try:
        cls = getattr(import_module(f"onlinekern.streams.formats.{module}"), name)
        if reading.faults is not None and cls.typed:
            raise StreamError(f"{name_of(path)}: only text has faulty lines that can be left out")
        return cls(path, target, like, labelled, reading)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise StreamError(
            f"{name_of(path)}: reading it needs {package}: pip install 'onlinekern[cli]'"
        ) from error
