"""What the commands share that read rows once, in order, a thousand at a time."""

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

# So many rows are learnt or predicted at a time: Ctrl-C acts in between.
PIECE = 1000
# What `train` writes into a model file beside the model, by a key that users hardly have: the name
# of the column of the targets.
TARGET = "onlinekern.target_column"
# Options of tables, beside those that `Reading` has.
OF_TABLES = (TABLES, "tables", ("columns", "when", "missing", "categories", "slots"))
# A shell does not hand these on easily.
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}


class Known(NamedTuple):
    """What a file must have: it stands for a reader that was read before."""

    feature_names: list[str] | None
    text_labels: bool | None


def reading_of(options: FromText, kinds: Any = (), faults: list[str] | None = None) -> Reading:
    """Return how the files of a request are read.

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
        If an option is none that there can be.
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
    """Return the formats; ValueError if an option has been set that acts on no file of these.

    Parameters
    ----------
    options : FromRows
    paths : iterable of str
    reading : Reading
    table : bool
        Whether standard input is a table, as it is with a target.
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
    """Open the rows of a file as a model takes them, that of a table or one of numbers.

    Parameters
    ----------
    model : estimator
        It has learnt something.
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
    """Let errors of a value of a table name its file, and its row there.

    `before` tells how many rows of the stream came before those of the error.
    """
    try:
        yield
    except TableError as error:
        name, begin = blocks.place_of(before() + (error.row or 0))
        raise StreamError(f"{name}, {error.at(before() - begin + 1)}") from error


def count_features(paths: Iterable[str], zero_based: bool, reading: Reading) -> int | None:
    """Count the features of LIBSVM files, which do not tell them: they are read for it.

    Tables give None. Lines with faults are an error, unless they are to be left out.
    """
    if reading.faults is not None:  # noted when the lines are learnt
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
