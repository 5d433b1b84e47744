"""Streams: files read in bounded memory and replayed in random orders, and artificial ones.

``open_source`` reads a LIBSVM, CSV or Parquet file once into a spool and gives a ``Source``, which
can be run through any number of times, in file order or in a fresh random permutation, as blocks
``(X, y)``. Memory does not grow with the file. ``read_blocks`` reads a file once, straight through.

    reader (_readers, _tables) -> Source -> spool (_spool), statistics (_statistics)
                                         -> layout (_layout) -> blocks for the learner
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from scipy import sparse

from onlinekern._streaming.readers import LibsvmReader, StreamError
from onlinekern._streaming.source import Source, stored
from onlinekern._streaming.synthetic import (
    chess_board,
    gaussian_mixture,
    gaussian_mixture_blocks,
    two_normals,
    two_spirals,
)
from onlinekern._typing import Floats

__all__ = [
    "Source",
    "StreamError",
    "chess_board",
    "gaussian_mixture",
    "gaussian_mixture_blocks",
    "open_source",
    "read_blocks",
    "two_normals",
    "two_spirals",
]

PACKED = (".gz", ".bz2", ".xz")


def _reader(
    path: Any, target: str | None = None, feature_names: Any = None, labels: Any = None
) -> Any:
    """Return the reader for a file, by its name."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    kind = suffixes[-1] if suffixes else ""
    if kind not in (".csv", ".tsv", ".parquet", ".pq"):
        if target is not None:
            raise StreamError(f"{path}: only CSV and Parquet files have a target column to name")
        return LibsvmReader(path)
    try:
        from onlinekern._streaming.tables import CsvReader, ParquetReader

        if kind in (".parquet", ".pq"):
            return ParquetReader(path, target, feature_names, labels)
        delimiter = "\t" if kind == ".tsv" else ","
        return CsvReader(path, target, feature_names, labels, delimiter)
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
    **options: Any,
) -> Source:
    """Read a file into a ``Source``.

    Parameters
    ----------
    path : str or path
        LIBSVM text, or ``.csv``, ``.tsv``, ``.parquet``; text may be packed (gzip, bzip2, xz).
        "-" is LIBSVM text from standard input.
    target : str, optional
        Name of the target column of a CSV or Parquet file.
    like : Source, optional
        The training stream to which this test stream belongs. Columns are matched by name; LIBSVM
        files with fewer features are padded with zeros, with more are refused.
    **options
        As ``Source``: dtype, scale, task, zero_based, limit, budget.

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
    reader = _reader(
        path,
        target,
        getattr(like, "feature_names", None),
        getattr(like, "labels", None),
    )
    name = "standard input" if str(path) == "-" else str(path)
    source = Source(reader.blocks(), name=name, like=like, **options)
    source.feature_names, source.labels = reader.feature_names, reader.labels
    return source


def read_blocks(
    path: str | PathLike[str],
    target: str | None = None,
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    dtype: str = "float64",
) -> Iterator[tuple[Any, Floats]]:
    """Read a file once, straight through, as blocks (X, y): for streams too long to keep at all.

    Parameters
    ----------
    path, target
        As ``open_source``.
    n_features : int, optional
        Number of features of a LIBSVM file, which it does not tell; required for those.
    zero_based : bool
        Whether the indices of a LIBSVM file start at 0.
    dtype : {"float64", "float32"}

    Yields
    ------
    X : ndarray, or CSR matrix for LIBSVM text, of shape (rows, n_features)
    y : ndarray of shape (rows,), float64
    """
    reader = _reader(path, target)
    first_index = 0 if zero_based or reader.feature_names else 1
    for X, y in reader.blocks():
        if sparse.issparse(X):
            if n_features is None:
                raise StreamError(f"{path}: n_features must be given for LIBSVM text read once")
            low, high = (X.indices.min(), X.indices.max()) if X.nnz else (first_index, first_index)
            if low < first_index or high - first_index >= n_features:
                raise StreamError(
                    f"{path}: feature index {low if low < first_index else high}, expected "
                    f"{first_index} to {n_features - 1 + first_index}"
                )
            X = sparse.csr_matrix(
                (X.data, X.indices - first_index, X.indptr), shape=(X.shape[0], n_features)
            )
        yield stored(X, dtype, str(path)), y
