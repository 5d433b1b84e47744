"""Open files as a ``Source``, or read them once, as blocks of numbers or of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from scipy import sparse

from onlinekern.estimators.types import Array, Sparse
from onlinekern.preprocessing.tables.errors import TableError
from onlinekern.streams.checks import check_count, check_dtype, stored
from onlinekern.streams.errors import StreamError, name_of
from onlinekern.streams.formats.readers import reader_of
from onlinekern.streams.formats.reading import PLAIN, Reading

if TYPE_CHECKING:
    from onlinekern.preprocessing.tables.encoder import TableEncoder
    from onlinekern.streams.source import Source, SourceOptions


def open_source(
    path: str | PathLike[str],
    target: str | None = None,
    *,
    like: Source | None = None,
    encoder: TableEncoder | None = None,
    reading: Reading = PLAIN,
    **options: Unpack[SourceOptions],
) -> Source:
    """Read a file into a ``Source``.

    Parameters
    ----------
    path : str or path
        LIBSVM text, or ``.csv``, ``.tsv``, ``.parquet``, ``.arrow`` (IPC file or stream; also
        ``.arrows``, ``.feather``), ``.jsonl`` (JSON lines; also ``.ndjson``); text may be packed
        (gzip, bzip2, xz). "-" is standard input: LIBSVM text, or with a target CSV, JSON lines or
        an Arrow stream, whichever it begins like.
    target : str, optional
        Name of the target column of a table.
    like : Source, optional
        The training stream to which this test stream belongs. Columns are put in its order by
        name; LIBSVM files with fewer features are padded with zeros, with more are refused.
    encoder : TableEncoder, optional
        What makes features of the columns of a table. It learns each row as it is read; of a test
        stream (`like`) it only transforms them. Without it, all columns must be numbers.
    reading : Reading, optional
        How the file is to be read, as far as its name does not tell.
    **options
        Options of ``Source``: dtype, scale, task, zero_based, limit, n_features, budget.

    Returns
    -------
    Source

    Raises
    ------
    StreamError
        If the file cannot be learnt from; the message names the file and the line or row.
    OSError
        If it cannot be opened.
    """
    from onlinekern.streams.source import Source

    reader = reader_of(path, target, like, reading=reading)
    blocks = reader.blocks()
    if encoder is not None and reader.feature_names is not None:
        encode = encoder.learn_transform if like is None else encoder.transform
        blocks = encoded_blocks(reader, encode)
        options["zero_based"] = True
    source = Source(blocks, name=name_of(path), like=like, **options)
    source.feature_names = reader.feature_names
    return source


def encoded_blocks(reader: Any, encode: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (X, y) with what an encoder makes of the columns; its errors name the file's row."""
    first = 1
    for X, y in reader.tables():
        try:
            yield encode(X), y
        except TableError as error:
            raise StreamError(f"{reader.name}, {error.at(first)}") from error
        first += len(y)


class Blocks:
    """An iterator of blocks (X, y); `read_blocks` makes it.

    Attributes
    ----------
    feature_names : list of str, or None for LIBSVM text
        The columns of X, in order.
    text_labels : bool or None
        Whether y is text; None for a table of which no block has been read.
    """

    def __init__(
        self,
        paths: list[Any],
        target: str | None,
        form: Form | Columns,
        like: Any = None,
        labelled: bool = True,
        reading: Reading = PLAIN,
    ) -> None:
        self._rest = iter(paths)
        self._target, self._form, self._options = target, form, (labelled, reading)
        self._reader = reader_of(next(self._rest), target, like, *self._options)
        self._blocks = self._all()

    @property
    def feature_names(self) -> list[str] | None:
        return self._reader.feature_names

    @property
    def text_labels(self) -> bool | None:
        return self._reader.text_labels

    def __iter__(self) -> Blocks:
        return self

    def __next__(self) -> tuple[Array | Sparse, Array]:
        return next(self._blocks)

    def _all(self) -> Iterator[tuple[Any, Any]]:
        while True:
            yield from self._form.blocks(self._reader)
            path = next(self._rest, None)
            if path is None:
                return
            self._reader = reader_of(path, self._target, self._reader, *self._options)


@dataclass(frozen=True)
class Form:
    """The form that `read_blocks` gives to the rows of a file."""

    n_features: int | None
    zero_based: bool
    dtype: str

    def blocks(self, reader: Any) -> Iterator[tuple[Any, Any]]:
        name = name_of(reader.path)
        for X, y in reader.blocks():
            X = self._shifted(X, name) if sparse.issparse(X) else X
            yield stored(X, self.dtype, name), y

    def _shifted(self, X: Any, name: str) -> Any:
        if self.n_features is None:
            raise StreamError(f"{name}: n_features must be given for LIBSVM text read once")
        first = 0 if self.zero_based else 1
        low, high = (X.indices.min(), X.indices.max()) if X.nnz else (first, first)
        if low < first or high - first >= self.n_features:
            raise StreamError(
                f"{name}: feature index {low if low < first else high}, expected "
                f"{first} to {self.n_features - 1 + first}"
            )
        shape = (X.shape[0], self.n_features)
        return sparse.csr_matrix((X.data, X.indices - first, X.indptr), shape=shape)


class Columns:
    """The form that `read_tables` gives: the columns of a table as they are."""

    def blocks(self, reader: Any) -> Iterator[tuple[Any, Any]]:
        if reader.feature_names is None:
            raise StreamError(f"{name_of(reader.path)}: LIBSVM text is no table")
        yield from reader.tables()


def read_blocks(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    target: str | None = None,
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    dtype: str = "float64",
    like: Blocks | Source | None = None,
) -> Blocks:
    """Read files once, straight through, as blocks (X, y): for streams too long to keep at all.

    Several files are one stream. The first file sets the columns and the kind of targets. Columns
    are matched by name: the same names in another order are put in order, other names are an error.
    Labels keep their values, whatever the file and the order in which they come.

    Parameters
    ----------
    paths : str or path, or a list of them
        Files as ``open_source`` takes them.
    target : str, optional
        Name of the target column of CSV, Parquet or Arrow files.
    n_features : int, optional
        Number of features; required for LIBSVM files, which do not store it.
    zero_based : bool
        Whether the indices of a LIBSVM file start at 0.
    dtype : {"float64", "float32"}
    like : Blocks or Source, optional
        The stream read before: these files go on with its columns and its kind of targets.

    Returns
    -------
    Blocks
        An iterator of pairs: X, ndarray, or CSR matrix for LIBSVM text, of shape
        (rows, n_features); y, ndarray of shape (rows,), float64, or text if the targets of a table
        are text.

    Raises
    ------
    StreamError
        If a file cannot be learnt from, or its columns or targets are not those of the first; the
        message names the file, and the columns or the row.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from onlinekern.streams import read_blocks
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "monday.csv").write_text("amount,hour,kind\\n5,1,fraud\\n1,9,ok\\n")
    >>> _ = (folder / "tuesday.csv").write_text("kind,hour,amount\\nok,8,2\\n")
    >>> for X, y in read_blocks([folder / "monday.csv", folder / "tuesday.csv"], "kind"):
    ...     print(X.tolist(), y.tolist())
    [[5.0, 1.0], [1.0, 9.0]] ['fraud', 'ok']
    [[2.0, 8.0]] ['ok']
    """
    check_dtype(dtype)
    check_count("n_features", n_features, optional=True)
    return Blocks(files(paths), target, Form(n_features, zero_based, dtype), like)


def read_tables(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    target: str | None,
    *,
    like: Blocks | Source | None = None,
    reading: Reading = PLAIN,
) -> Blocks:
    """Read tables once, straight through, as blocks (X, y) with their columns as they are.

    For pipelines that begin with a `TableEncoder`: X is a pyarrow RecordBatch, of Arrow files
    without a copy. Several files are one stream, as in `read_blocks`.

    Parameters
    ----------
    paths : str or path, or a list of them
        CSV, TSV, Parquet, Arrow IPC or JSON lines, as ``open_source``.
    target : str or None
        Name of the target column; None if there is none: y are zeros then.
    like : Blocks or Source, optional
        The stream read before: these files go on with its columns and its kind of targets.
    reading : Reading, optional
        What a file's name does not tell: format, separator, decimal sign, header, kinds of columns.

    Returns
    -------
    Blocks
        An iterator of pairs: X, RecordBatch of the columns besides the target; y, ndarray of
        shape (rows,), float64 or text.

    Raises
    ------
    StreamError
        If `read_blocks` raises it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from onlinekern import StreamClassifier, TableEncoder, make_stream_pipeline
    >>> from onlinekern.streams import read_tables
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = file.write_text("town;size;sold\\nUlm;3;yes\\nBonn;;no\\n")
    >>> model = make_stream_pipeline(TableEncoder(), StreamClassifier())
    >>> for X, y in read_tables(file, "sold"):
    ...     model = model.partial_fit(X, y)
    >>> model[0].kinds_
    {'town': 'category', 'size': 'number'}
    """
    return Blocks(files(paths), target, Columns(), like, target is not None, reading)


def files(paths: Any) -> list[Any]:
    """Return a list of one or more paths."""
    paths = [paths] if isinstance(paths, str | PathLike) else list(paths)
    if not paths:
        raise StreamError("no files to read")
    return paths
