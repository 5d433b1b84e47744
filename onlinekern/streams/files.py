"""Opening files as a ``Source``, or reading them once, as blocks of numbers or of table columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from scipy import sparse

from onlinekern.estimators.types import Array, Sparse
from onlinekern.preprocessing.tables.errors import TableError
from onlinekern.streams.errors import (
    ExtraFeatures,
    StreamError,
    check_count,
    check_dtype,
    name_of,
    stored,
)
from onlinekern.streams.formats.readers import check_used, reader_of
from onlinekern.streams.formats.reading import PLAIN, Reading
from onlinekern.streams.locations import located

if TYPE_CHECKING:
    from onlinekern.preprocessing.tables.encoder import TableEncoder
    from onlinekern.streams.source import Source, SourceOptions


Paths = str | PathLike[str] | Iterable[str | PathLike[str]]


def open_source(
    path: Paths,
    target: str | None = None,
    *,
    like: Source | None = None,
    encoder: TableEncoder | None = None,
    reading: Reading = PLAIN,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[SourceOptions],
) -> Source:
    """Read files into a ``Source``.

    Parameters
    ----------
    path : str or path, or a list of them
        LIBSVM text, or ``.csv``, ``.tsv``, ``.parquet``, ``.arrow`` (IPC file or stream; also
        ``.arrows``, ``.feather``), ``.jsonl`` (JSON lines; also ``.ndjson``); text may be
        compressed (gzip, bzip2, xz). "-" is standard input: LIBSVM text, or with a target CSV, JSON
        lines or an Arrow stream, as its first bytes indicate. A folder, a pattern (``logs/*.csv``)
        and a list are one stream of several files. A URL (``s3://bucket/logs``) is read by fsspec.
        A folder named ``day=1`` gives the tables in it a column ``day``.
    target : str, optional
        Name of the target column of a table.
    like : Source, optional
        The training stream to which this test stream belongs. Columns are matched by name. LIBSVM
        files with fewer features are padded with zeros; those with more features are refused.
    encoder : TableEncoder, optional
        Encodes the columns of a table as features. It learns each row as it is read; rows of a test
        stream (`like`) are only transformed. Without an encoder, all columns must be numbers.
    reading : Reading, optional
        How to read the file, where its name is not enough.
    storage_options : mapping, optional
        Options of fsspec for the store of a URL, such as keys or an endpoint. By default, fsspec
        takes them from the environment.
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
        If one cannot be opened.
    """
    from onlinekern.streams.source import Source

    files = located(path, storage_options)
    based: Any = options.get("zero_based", "auto")
    said = options.get("n_features"), None if based in ("auto", False) else based
    check_used(files, target is not None, reading, n_features=said[0], zero_based=said[1])
    form: Form = as_read
    if encoder is not None:
        form = partial(as_encoded, encoder.learn_transform if like is None else encoder.transform)
    blocks = Blocks(files, target, form, like, reading=reading)
    names: Any = blocks.feature_names
    if encoder is not None and names is not None:
        options["zero_based"] = True
    one = len(files) == 1 or isinstance(path, str | PathLike)
    name = name_of(path if one else f"{files[0]} to {files[-1]}")
    source = Source(blocks, name=name, like=like, **options)
    source.feature_names = names
    return source


# Functions that convert the rows of a reader to blocks (X, y).
Form: TypeAlias = Callable[[Any], Iterator[tuple[Any, Any]]]


def as_read(reader: Any) -> Iterator[tuple[Any, Any]]:
    """Yield rows as the reader returns them; `Source` converts them."""
    return reader.blocks()


def as_tables(reader: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the columns of a table unchanged."""
    if reader.feature_names is None:
        raise StreamError(f"{name_of(reader.path)}: LIBSVM text is no table")
    return reader.tables()


def as_encoded(encode: Callable[[Any], Any], reader: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the encoded record batches of a table; errors name the row of the file."""
    if reader.feature_names is None:
        yield from reader.blocks()
        return
    first = 1
    for X, y in reader.tables():
        try:
            yield encode(X), y
        except TableError as error:
            raise StreamError(f"{reader.name}, {error.at(first)}") from error
        first += len(y)


@dataclass(frozen=True)
class AsMatrix:
    """Conversion of rows to a fixed number of features, which LIBSVM text does not store."""

    n_features: int | None
    zero_based: bool
    dtype: str = "float64"
    ignore_extra: bool = False

    def __call__(self, reader: Any) -> Iterator[tuple[Any, Any]]:
        name = name_of(reader.path)
        for X, y in reader.blocks():
            X = self._shifted(X, name) if sparse.issparse(X) else X
            yield stored(X, self.dtype, name), y

    def _shifted(self, X: Any, name: str) -> Any:
        if self.n_features is None:
            raise StreamError(f"{name}: n_features must be given for LIBSVM text read once")
        first = 0 if self.zero_based else 1
        if self.ignore_extra and X.shape[1] > self.n_features + first:
            X = X[:, : self.n_features + first]
        low, high = (X.indices.min(), X.indices.max()) if X.nnz else (first, first)
        if low < first or high - first >= self.n_features:
            range_ = f"expected {first} to {self.n_features - 1 + first}"
            if low < first:
                raise StreamError(
                    f"{name}: feature index 0, {range_}; if its indices start at 0, say "
                    "zero_based=True, in a command --zero-based"
                )
            raise ExtraFeatures(f"{name}: feature index {high}, {range_}")
        shape = (X.shape[0], self.n_features)
        return sparse.csr_matrix((X.data, X.indices - first, X.indptr), shape=shape)


class Blocks:
    """An iterator of blocks (X, y); `read_blocks` makes it.

    Attributes
    ----------
    feature_names : list of str, or None for LIBSVM text
        The columns of X, in order.
    text_labels : bool or None
        Whether y is text; None for a table before its first block has been read.
    """

    def __init__(
        self,
        paths: Any,
        target: str | None,
        form: Form,
        like: Any = None,
        labelled: bool = True,
        reading: Reading = PLAIN,
    ) -> None:
        self._rest = iter(located(paths))
        self._target, self._form, self._options = target, form, (labelled, reading)
        first = next(self._rest)
        self._reader = reader_of(first, target, like, *self._options)
        # For each file, the number of rows of the stream before it.
        self._begins = [(0, name_of(first))]
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

    def place_of(self, row: int) -> tuple[str, int]:
        """Return the file of a row of the stream, counted from 0, and the rows before the file."""
        begin, name = next(one for one in reversed(self._begins) if one[0] <= row)
        return name, begin

    def _all(self) -> Iterator[tuple[Any, Any]]:
        n_rows = 0
        while True:
            for X, y in self._form(self._reader):
                n_rows += len(y)
                yield X, y
            path = next(self._rest, None)
            if path is None:
                return
            self._begins.append((n_rows, name_of(path)))
            self._reader = reader_of(path, self._target, self._reader, *self._options)


def read_blocks(
    paths: Paths,
    target: str | None = None,
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    dtype: str = "float64",
    like: Blocks | Source | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Blocks:
    """Read files once, from beginning to end, as blocks (X, y), for streams too long to store.

    Parameters
    ----------
    paths : str or path, or a list of them
        Files, folders, patterns and URLs, as ``open_source`` takes them.
    target : str, optional
        Name of the target column of CSV, Parquet or Arrow files.
    n_features : int, optional
        Number of features; required for LIBSVM files, which do not store it.
    zero_based : bool
        Whether the indices of a LIBSVM file start at 0.
    dtype : {"float64", "float32"}
    like : Blocks or Source, optional
        The stream read before, whose columns and kind of targets these files must have.
    storage_options : mapping, optional
        As of ``open_source``.

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
    OSError
        If a file cannot be opened.

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
    files = located(paths, storage_options)
    is_table = target is not None or getattr(like, "feature_names", None) is not None
    check_used(files, is_table, n_features=n_features, zero_based=zero_based or None)
    return Blocks(files, target, AsMatrix(n_features, zero_based, dtype), like)


def read_tables(
    paths: Paths,
    target: str | None,
    *,
    like: Blocks | Source | None = None,
    reading: Reading = PLAIN,
    storage_options: Mapping[str, Any] | None = None,
) -> Blocks:
    """Read tables once, from beginning to end, as blocks (X, y) with their columns unchanged.

    Parameters
    ----------
    paths : str or path, or a list of them
        CSV, TSV, Parquet, Arrow IPC or JSON lines: files, folders, patterns and URLs, as
        ``open_source`` takes them.
    target : str or None
        Name of the target column; None if there is none: y are zeros then.
    like : Blocks or Source, optional
        The stream read before: these files go on with its columns and its kind of targets.
    reading : Reading, optional
        What a file's name does not tell: format, separator, decimal sign, header, kinds of columns.
    storage_options : mapping, optional
        As of ``open_source``.

    Returns
    -------
    Blocks
        An iterator of pairs: X, RecordBatch of the columns besides the target; y, ndarray of
        shape (rows,), float64 or text.

    Raises
    ------
    StreamError
        If `read_blocks` raises it.
    OSError
        If a file cannot be opened.

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
    files = located(paths, storage_options)
    check_used(files, True, reading)
    return Blocks(files, target, as_tables, like, target is not None, reading)
