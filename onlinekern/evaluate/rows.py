"""Rows of a stream, taken out and put together again: matrices, tables, lists of dictionaries."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from onlinekern.estimators.types import Indices


def rows_at(X: Any, places: Indices) -> Any:
    """Return the rows at some places, copied, in that order and of the kind of X."""
    if hasattr(X, "iloc"):
        return X.iloc[places]
    if library_of(X) == "pyarrow":
        return X.take(places)
    return [copy.copy(X[k]) for k in places.tolist()] if isinstance(X, list) else X[places]


def one_after_another(parts: Sequence[Any]) -> Any:
    """Return the rows of several parts of a stream, of the kind of the first part."""
    first = parts[0]
    if sparse.issparse(first):
        return sparse.vstack(parts, format="csr")
    if isinstance(first, list):
        return [row for part in parts for row in part]
    if library_of(first) == "pyarrow":
        import pyarrow as pa

        return pa.concat_tables(parts, promote_options="permissive")
    if library_of(first) == "polars":
        import polars

        return polars.concat(parts, how="vertical_relaxed")
    return of_pandas(parts) if hasattr(first, "iloc") else np.concatenate(parts)


def library_of(X: Any) -> str:
    """Return the name of the library whose class X is of."""
    return type(X).__module__.partition(".")[0]


def of_pandas(parts: Sequence[Any]) -> Any:
    """Return data frames one after another; columns of categories keep their type."""
    import pandas as pd
    from pandas.api.types import union_categoricals

    parts = [part for part in parts if len(part)] or [*parts[:1]]
    found = pd.concat(parts, ignore_index=True)
    for name in found.columns:
        columns = [part[name] for part in parts]
        kinds = {column.dtype.name for column in columns}
        if kinds == {"category"} and found[name].dtype.name != "category":
            found[name] = union_categoricals(columns)
    return found
