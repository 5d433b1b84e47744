"""Streams: files read in bounded memory and replayed in random orders, and artificial ones.

``open_source`` reads a LIBSVM, CSV or Parquet file once into a spool and gives a ``Source``, which
can be read any number of times, in file order or in a fresh random permutation, as blocks
``(X, y)``. Memory does not grow with the file. ``read_blocks`` reads files once, straight through.

    reader -> Source -> spool, statistics -> layout -> blocks for the learner

in the modules ``readers``, ``tables``, ``source``, ``spool``, ``statistics`` and ``layout`` of
``onlinekern._streaming``.

Artificial streams that change are classes, which can be read as often as one likes: ``take`` gives
the first samples, ``blocks`` all of them, without end. ``ConceptDrift`` joins concepts into a
stream with abrupt, gradual or recurring drift.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from scipy import sparse

from onlinekern._streaming.agrawal import Agrawal
from onlinekern._streaming.chaotic import lorenz, mackey_glass
from onlinekern._streaming.concepts import LED, SEA, STAGGER, Mixed, Sine
from onlinekern._streaming.drifting import ConceptDrift, DriftStream
from onlinekern._streaming.moving import Hyperplane, RandomRBF
from onlinekern._streaming.readers import LibsvmReader, StreamError, name_of
from onlinekern._streaming.source import (
    Source,
    SourceOptions,
    check_count,
    check_dtype,
    stored,
)
from onlinekern._streaming.synthetic import (
    chess_board,
    gaussian_mixture,
    gaussian_mixture_blocks,
    two_normals,
    two_spirals,
)
from onlinekern._typing import Array, Sparse

__all__ = [
    "LED",
    "SEA",
    "STAGGER",
    "Agrawal",
    "Blocks",
    "ConceptDrift",
    "DriftStream",
    "Hyperplane",
    "Mixed",
    "RandomRBF",
    "Sine",
    "Source",
    "StreamError",
    "chess_board",
    "gaussian_mixture",
    "gaussian_mixture_blocks",
    "lorenz",
    "mackey_glass",
    "open_source",
    "read_blocks",
    "two_normals",
    "two_spirals",
]

PACKED = (".gz", ".bz2", ".xz")


def reader_of(
    path: Any,
    target: str | None = None,
    like: Any = None,
    labelled: bool = True,
    faults: list[str] | None = None,
) -> Any:
    """Return the reader for a file name; `like` is the reader or source of an earlier file.

    Of files that are not `labelled`, the targets are not wanted. With `faults`, faulty lines of
    LIBSVM text are noted there and left out.
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    kind = suffixes[-1] if suffixes else ""
    if kind not in (".csv", ".tsv", ".parquet", ".pq", ".arrow", ".arrows", ".feather"):
        if target is not None and labelled:
            raise StreamError(
                f"{path}: only CSV, Parquet and Arrow files have a target column to name"
            )
        if like is not None and like.feature_names is not None:
            raise StreamError(f"{path}: not of the same kind of file as the first one, a table")
        return LibsvmReader(path, faults)
    if like is not None and like.feature_names is None:
        raise StreamError(f"{path}: a table, the first file is none")
    try:
        from onlinekern._streaming.tables import ArrowReader, CsvReader, ParquetReader

        if kind in (".parquet", ".pq"):
            return ParquetReader(path, target, like, labelled)
        if kind in (".arrow", ".arrows", ".feather"):
            return ArrowReader(path, target, like, labelled)
        delimiter = "\t" if kind == ".tsv" else ","
        return CsvReader(path, target, like, labelled, delimiter)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise StreamError(
            f"{path}: reading it needs {package}: pip install 'onlinekern[cli]'"
        ) from error


def open_source(
    path: str | PathLike[str],
    target: str | None = None,
    *,
    like: Source | None = None,
    **options: Unpack[SourceOptions],
) -> Source:
    """Read a file into a ``Source``.

    Parameters
    ----------
    path : str or path
        LIBSVM text, or ``.csv``, ``.tsv``, ``.parquet``, ``.arrow`` (IPC file or stream; also
        ``.arrows``, ``.feather``); text may be packed (gzip, bzip2, xz).
        "-" is LIBSVM text from standard input.
    target : str, optional
        Name of the target column of a CSV, Parquet or Arrow file.
    like : Source, optional
        The training stream to which this test stream belongs. Columns are put in its order by
        name; LIBSVM files with fewer features are padded with zeros, with more are refused.
    **options
        As ``Source``: dtype, scale, task, zero_based, limit, n_features, budget.

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
    reader = reader_of(path, target, like)
    source = Source(reader.blocks(), name=name_of(path), like=like, **options)
    source.feature_names = reader.feature_names
    return source


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
        form: Form,
        like: Any = None,
        labelled: bool = True,
        faults: list[str] | None = None,
    ) -> None:
        self._rest = iter(paths)
        self._target, self._form, self._options = target, form, (labelled, faults)
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
            for X, y in self._reader.blocks():
                yield self._form.rows(X, name_of(self._reader.path)), y
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

    def rows(self, X: Any, name: str) -> Any:
        if sparse.issparse(X):
            X = self._shifted(X, name)
        return stored(X, self.dtype, name)

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
        As ``open_source``.
    target : str, optional
        Name of the target column of CSV, Parquet or Arrow files.
    n_features : int, optional
        Number of features; required for LIBSVM files, which do not store it.
    zero_based : bool
        Whether the indices of a LIBSVM file start at 0.
    dtype : {"float64", "float32"}
    like : Blocks or Source, optional
        What was read before: these files go on with its columns and its kind of targets.

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
    paths = [paths] if isinstance(paths, str | PathLike) else list(paths)
    if not paths:
        raise StreamError("no files to read")
    return Blocks(paths, target, Form(n_features, zero_based, dtype), like)
