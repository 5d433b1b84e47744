"""Functions for commands that read rows once, in order, a thousand at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from onlinekern.cli.arguments import check_unused
from onlinekern.cli.options import FromRows, FromText
from onlinekern.preprocessing.tables.encoder import encoder_of
from onlinekern.preprocessing.tables.errors import TableError
from onlinekern.streams.errors import StreamError
from onlinekern.streams.files import AsMatrix, Blocks, Form, as_tables
from onlinekern.streams.formats.libsvm import LibsvmReader
from onlinekern.streams.formats.readers import OF_FORMATS, TABLES, format_of, reader_of
from onlinekern.streams.formats.reading import PLAIN, Reading
from onlinekern.streams.locations import located

# Number of rows learnt or predicted at a time; Ctrl-C acts between them.
PIECE = 1000
# Key of the name of the target column, which `train` saves in the model file. Users' own keys
# hardly have this form.
TARGET = "onlinekern.target_column"
# Options for tables, besides those of `Reading`.
OF_TABLES = (TABLES, "tables", ("columns", "when", "missing", "categories", "slots"))
# Names of separators that are hard to type in a shell.
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}


class Known(NamedTuple):
    """The columns and targets that a file must have; it replaces a reader of earlier files."""

    feature_names: list[str] | None
    text_labels: bool | None


def reading_of(options: FromText, kinds: Any = (), faults: list[str] | None = None) -> Reading:
    """Return how to read the files of a request.

    Parameters
    ----------
    options : FromText
    kinds : iterable of (str, str)
        Column and kind.
    faults : list of str or None
        As in `Reading`.

    Raises
    ------
    ValueError
        If an option is invalid.
    """
    separator = options.separator and SEPARATORS.get(options.separator, options.separator)
    marks = separator, options.decimal, options.header
    try:
        return Reading(options.format, *marks, tuple(kinds), faults)
    except ValueError as error:
        raise ValueError(f"--{error}") from None


def check_formats(
    options: FromRows, paths: Iterable[str], reading: Reading = PLAIN, table: bool = False
) -> set[str]:
    """Return the formats; raise ValueError for an option that acts on none of these files.

    Parameters
    ----------
    options : FromRows
    paths : iterable of str
    reading : Reading
    table : bool
        Whether standard input is a table, which it is if there is a target.
    """
    table = table or options.target is not None
    found = {format_of(path, reading, table) for path in located(paths)}
    names = ", ".join(paths)
    for formats, kind, fields in (*OF_FORMATS[:-1], OF_TABLES):
        if found.isdisjoint(formats):
            what = " and ".join(sorted(found))
            check_unused(options, f"is for {kind}, and {names} is {what}", *fields)
    return found


def blocks_for(
    model: Any, path: str, target: str | None, zero_based: bool, reading: Reading
) -> Blocks:
    """Open the rows of a file for a model, as a table or as numbers.

    Parameters
    ----------
    model : estimator
        A fitted model.
    path : str
    target : str or None
        The column of the targets.
    zero_based : bool
        Whether the features of LIBSVM text count from 0.
    reading : Reading
        Its kinds are those of the model.
    """
    encoder, names = encoder_of(model), getattr(model, "feature_names_in_", None)
    n_features, ignore_extra = int(model.n_features_in_), reading.ignore_extra
    form: Form = AsMatrix(n_features, zero_based, ignore_extra=ignore_extra)
    if encoder is not None:
        names, form = encoder.kinds_, as_tables
        reading = replace(reading, kinds=tuple(encoder.kinds_.items()))
    known = Known(None if names is None else list(names), None)
    return Blocks([path], target, form, known, False, reading)


@contextmanager
def rows_of_files(blocks: Blocks, before: Callable[[], int]) -> Iterator[None]:
    """Make errors of table values name the file, and the row in this file.

    `before` returns the number of rows of the stream before those with the error.
    """
    try:
        yield
    except TableError as error:
        name, begin = blocks.place_of(before() + (error.row or 0))
        raise StreamError(f"{name}, {error.at(before() - begin + 1)}") from error


def count_features(paths: Iterable[str], zero_based: bool, reading: Reading) -> int | None:
    """Count the features of LIBSVM files, which do not store the number, by reading the files.

    For tables, return None. Invalid lines are errors unless they are to be left out.
    """
    if reading.faults is not None:  # recorded when the lines are learnt
        reading = replace(reading, faults=[])
    largest = -1
    for path in located(paths):
        if str(path) == "-":
            if format_of(path, reading, False) != "libsvm":
                return None
            raise StreamError("LIBSVM text from standard input needs --n-features")
        reader = reader_of(path, reading=reading)
        if not isinstance(reader, LibsvmReader):
            return None
        for X, _ in reader.blocks():
            largest = max(largest, X.shape[1] - 1)
    return max(1, largest + (1 if zero_based else 0))
