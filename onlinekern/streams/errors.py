"""The error for invalid streams, the checks that raise it, and names of files in messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from onlinekern.estimators.row_blocks import n_rows_of


class StreamError(ValueError):
    """A stream that cannot be learnt from; the message names the file, the place and the reason."""


class ExtraFeatures(StreamError):
    """A file with all required features and further ones."""


def name_of(path: Any) -> str:
    """Return the name of a file for messages."""
    return "standard input" if str(path) == "-" else str(path)


def shown(value: Any) -> str:
    """Return a value as JSON, shortened, for messages."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_number(text: str) -> bool:
    """Return whether Python can read a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_dtype(dtype: Any) -> None:
    """Raise StreamError unless a dtype is float32 or float64."""
    try:
        known = np.dtype(dtype) in (np.float32, np.float64)
    except TypeError:
        known = False
    if not known or dtype is None:
        raise StreamError(f"dtype must be float32 or float64, got {dtype!r}")


def check_count(name: str, value: Any, optional: bool = False, least: int = 1) -> None:
    """Raise StreamError unless a value is an integer of at least `least`, or None if it may be."""
    if optional and value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise StreamError(f"{name} must be an integer of at least {least}, got {value!r}")


def check_instance(name: str, value: Any) -> None:
    """Raise TypeError if a value is a class where an instance is expected."""
    if isinstance(value, type):
        raise TypeError(
            f"{name} must be an object such as {value.__name__}(), got the class {value.__name__}"
        )


def pairs_of(blocks: Iterable[Any], name: str) -> Iterator[tuple[Any, Any]]:
    """Yield the blocks (X, y) of an argument, and check that y has a value for each row.

    Raises
    ------
    TypeError
        If it yields anything else.
    ValueError
        If y has more or fewer values than X has rows.
    """
    # Arrays yield rows, and tables yield column names, so these would only confuse the message.
    for block in [blocks] if hasattr(blocks, "shape") else blocks:
        if not isinstance(block, tuple | list) or len(block) != 2 or np.ndim(block[1]) == 0:
            raise TypeError(
                f"{name} must yield pairs (X, y) of rows and their targets, such as [(X, y)], got "
                f"{type(block).__name__}"
            )
        X, y = block
        n_rows = n_rows_of(X)
        if n_rows != len(y):
            raise ValueError(f"{name} has {n_rows} rows of X with {len(y)} targets y")
        yield X, y


def stored(X: Any, dtype: Any, name: str) -> Any:
    """Return rows X in the dtype of the buffer, with CSR indices as int32."""
    with np.errstate(over="ignore"):
        X = X.astype(dtype)
    if sparse.issparse(X):
        X = sparse.csr_matrix(X)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    values = X.data if sparse.issparse(X) else X
    if not np.isfinite(values).all():
        raise StreamError(f"{name}: a value is NaN, infinite or too large for {np.dtype(dtype)}")
    return X
