"""Rows in any form: some of them, and blocks of them one after another."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from onlinekern.estimators.types import Indices


def n_rows_of(X: Any) -> int:
    """Return the number of rows of a matrix, a list or a table."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def rows_of(X: Any, chosen: slice | Indices) -> Any:
    """Return some rows of a matrix, a list or a table, in the order of their places."""
    if hasattr(X, "iloc"):
        return X.iloc[chosen]
    if isinstance(chosen, slice):
        return X[chosen]
    if isinstance(X, list):
        return [copy.copy(X[k]) for k in chosen.tolist()]
    return X.take(chosen) if library_of(X) == "pyarrow" else X[chosen]


def one_after_another(parts: Sequence[Any]) -> Any:
    """Return the rows of several blocks, in the form of the first; None for Nones."""
    first = parts[0]
    if first is None:
        return None
    if isinstance(first, list):
        return list(chain.from_iterable(parts))
    if sparse.issparse(first):
        found = [X if sparse.issparse(X) else sparse.csr_matrix(X) for X in parts]
        return sparse.vstack(found, format="csr")
    if library_of(first) == "pyarrow":
        return of_pyarrow(parts)
    if library_of(first) == "polars":
        import polars

        return polars.concat(parts, how="vertical_relaxed")
    if hasattr(first, "iloc"):
        return of_pandas(parts)
    return np.concatenate([X.toarray() if sparse.issparse(X) else X for X in parts])


def library_of(X: Any) -> str:
    """Return the name of the library whose class X is of."""
    return type(X).__module__.partition(".")[0]


def of_pyarrow(parts: Sequence[Any]) -> Any:
    """Return tables one after another, or record batches as one."""
    import pyarrow as pa

    if isinstance(parts[0], pa.Table):
        return pa.concat_tables(parts, promote_options="permissive")
    return pa.Table.from_batches(parts).combine_chunks().to_batches()[0]


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
