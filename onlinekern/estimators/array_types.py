"""Samples and targets in array types that scikit-learn misreads: as NumPy holds them."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from sklearn.utils.validation import assert_all_finite, column_or_1d

from onlinekern.estimators.table_errors import OBJECTS, check_labels, explained_targets
from onlinekern.estimators.types import Array


def plain_samples(X: Any) -> Any:
    """Return samples as they are, but masked values, and gaps between sparse ones, as missing.

    NumPy and scikit-learn read what lies under a mask, and take no frame of pandas all of whose
    columns are sparse, unless what they leave out is 0.
    """
    if isinstance(X, np.ma.MaskedArray):
        if not np.ma.is_masked(X):
            return X.data
        is_number = X.dtype.kind in "biuf"
        kind: Any = X.dtype if X.dtype.kind == "f" else np.float64 if is_number else object
        rows = X.data.astype(kind)
        rows[np.ma.getmaskarray(X)] = np.nan if is_number else None
        return rows
    types = list(X.dtypes) if hasattr(X, "iloc") and hasattr(X, "columns") else []
    if not types or any(type(kind).__name__ != "SparseDtype" for kind in types):
        return X
    return X.sparse.to_dense() if any(kind.fill_value != 0 for kind in types) else X


def plain_targets(y: Any) -> Any:
    """Return targets, or labels, in types that NumPy and scikit-learn take as they are.

    scikit-learn makes floats of pandas' nullable integers, in which large numbers become equal,
    and of nullable truth; it does not see masks, and takes no array of NumPy's own type of text.

    Parameters
    ----------
    y : array-like

    Returns
    -------
    array-like
        y itself, if it is of no such type or holds missing values, which are told later.

    Raises
    ------
    ValueError
        If elements of y are masked.
    """
    if isinstance(y, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(y).reshape(len(y), -1).any(axis=1) if y.ndim else y.mask
        if np.any(masked):
            raise ValueError(
                f"y[{int(np.argmax(masked))}] is masked, which is missing: leave out the samples "
                "that have no target"
            )
        return y.data
    if isinstance(y, np.ndarray) and y.dtype.kind == "T":
        return y.astype(object)
    if isinstance(y, list | tuple) or str(getattr(y, "dtype", "")) == "object":
        return dates_in(y)
    if not hasattr(y, "isna"):
        return y
    # Of types that NumPy lacks, pandas names the one without missing values.
    types = list(y.dtypes) if hasattr(y, "columns") else [getattr(y, "dtype", None)]
    plain = {getattr(kind, "numpy_dtype", None) for kind in types}
    kind = plain.pop() if len(plain) == 1 else None
    if kind is None or kind.kind not in "biuf" or np.any(y.isna()):
        return y
    return y.astype(kind)


def dates_in(y: Any) -> Any:
    """Return labels that are dates, or spans of time, of Python or pandas as NumPy holds them.

    All else, also dates with a time zone, is returned as it is.
    """
    values = y if isinstance(y, list | tuple) else np.asarray(y)
    first = values[0] if getattr(values, "ndim", 1) == 1 and len(values) else None
    dates, spans = (datetime.date, np.datetime64), (datetime.timedelta, np.timedelta64)
    if not isinstance(first, dates + spans):
        return y
    if any(type(one) is not type(first) or getattr(one, "tzinfo", None) for one in values):
        return y
    return np.array(values, dtype="m8" if isinstance(first, spans) else "M8")


def check_one_kind(y: Any) -> None:
    """Raise ValueError if labels in a list are text and other things: NumPy makes text of all."""
    if isinstance(y, list | tuple):
        n_texts = sum(isinstance(label, str) for label in y)
        if 0 < n_texts < len(y):
            error = ValueError(OBJECTS)
            raise explained_targets(y, error) or error


def numbers_in(y: Any) -> Any:
    """Return targets as they are; TypeError or ValueError, which names y, if objects are none."""
    listed = isinstance(y, list | tuple) or hasattr(y, "iloc")
    values = np.asarray(y) if listed or str(getattr(y, "dtype", "")) == "object" else None
    if values is not None and values.dtype.kind in "OU":
        try:
            values.astype(np.float64)
        except (TypeError, ValueError) as error:
            about_y = explained_targets(y, error)
            raise about_y or type(error)(f"y must hold numbers: {error}") from None
    return y


def column_of_labels(y: Any) -> Array:
    """Return the labels of samples as an array; ValueError, which names a row, if they are none."""
    check_one_kind(y)
    try:
        labels: Array = column_or_1d(plain_targets(y), warn=True)
        assert_all_finite(labels, input_name="y")
    except (TypeError, ValueError) as error:
        raise explained_targets(y, error) or error from None
    check_labels(labels)
    return labels
