"""Conversion of data frames, Arrow data, dictionaries and arrays to Arrow tables."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from operator import is_not
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from onlinekern.estimators.array_types import plain_samples
from onlinekern.estimators.table_errors import check_rows


def table_of(X: Any, names: Any = None) -> tuple[pa.Table, bool]:
    """Return rows as an Arrow table, without a copy if the memory layout is the same.

    Parameters
    ----------
    X : pyarrow Table or RecordBatch, data frame, list of dict, or array of shape (rows, columns)
        Data frames are those with Arrow's stream interface (pandas, polars, DuckDB, ...) or with
        the data frame protocol. Of dictionaries, a value that one lacks is missing.
    names : array of str or None
        Names of the columns of an array.

    Returns
    -------
    pyarrow.Table, and whether its columns had names

    Raises
    ------
    TypeError
        If X is none of these, or a matrix of SciPy.
    ValueError
        If X has no rows or no columns, or two columns have one name, or a column has values of two
        kinds.
    """
    if sp.issparse(X):
        raise TypeError(
            "X is a sparse matrix: a TableEncoder takes tables and dense arrays. Sparse rows are "
            "numbers already: learn them without it"
        )
    X = plain_samples(X)
    check_rows(X)
    table = named_table(X)
    named = table is not None
    if table is None:
        table = table_of_array(X, names)
    if table.num_columns == 0:
        raise ValueError(f"0 feature(s) (shape=({table.num_rows}, 0)) while a minimum of 1 is "
                         "required.")  # fmt: skip
    if table.num_rows == 0:
        raise ValueError(f"0 sample(s) (shape=(0, {table.num_columns})) while a minimum of 1 is "
                         "required.")  # fmt: skip
    found = table.column_names
    if len(set(found)) < len(found):
        twice = min(name for name in found if found.count(name) > 1)
        raise ValueError(f"X has two columns named {twice!r}")
    return table, named


def named_table(X: Any) -> pa.Table | None:
    """Return rows with named columns as a table, or None if the columns have no names."""
    if isinstance(X, pa.Table):
        return X
    if isinstance(X, pa.RecordBatch):
        return pa.Table.from_batches([X])
    if isinstance(X, Mapping):
        return table_of_dictionaries([X])
    if isinstance(X, list | tuple) and len(X) and all(isinstance(row, Mapping) for row in X):
        return table_of_dictionaries(X)
    try:
        if hasattr(X, "iloc"):
            return pa.Table.from_pandas(plain_frame(X), preserve_index=False)
        if hasattr(X, "__arrow_c_stream__"):
            return pa.table(X)
        if hasattr(X, "__dataframe__"):
            from pyarrow.interchange import from_dataframe

            return from_dataframe(X)
    except (pa.ArrowException, OverflowError) as error:
        return table_of_objects(X, error)
    return None


def table_of_objects(X: Any, error: Exception) -> pa.Table:
    """Return a data frame that Arrow has refused as a table; raise ValueError if it is invalid.

    Whole numbers too large for any integer type become floats, and values of pandas become plain
    ones. An error of `array_of` names the column.
    """
    columns, is_known = {}, isinstance(error, OverflowError)
    for place, name in enumerate(X.columns if hasattr(X, "iloc") else ()):
        values = X.iloc[:, place].to_numpy(dtype=object)
        columns[str(name)] = array_of(values, name)
        is_known |= any(plain_value(value) is not value for value in values)
    if not is_known:
        raise ValueError(f"X: {' '.join(str(error).split())}") from error
    return pa.table(columns)


def plain_frame(X: Any) -> Any:
    """Return a pandas data frame in which all columns have types that Arrow knows.

    Periods become their start times, intervals become text, and sparse columns become dense.
    """
    found = {}
    for place, kind in enumerate(X.dtypes):
        name, column = type(kind).__name__, X.iloc[:, place]
        if name == "PeriodDtype":
            found[place] = column.dt.to_timestamp()
        elif name == "SparseDtype":
            found[place] = column.sparse.to_dense()
        elif name == "IntervalDtype":
            found[place] = column.astype(str).where(column.notna())
        elif name == "CategoricalDtype" and type(kind.categories.dtype).__name__ in (
            "IntervalDtype", "PeriodDtype"
        ):  # fmt: skip
            found[place] = column.cat.rename_categories(kind.categories.astype(str))
    if not found:
        return X
    X = X.copy(deep=False)
    for place, column in found.items():
        X.isetitem(place, column)
    return X


def table_of_dictionaries(rows: Any) -> pa.Table:
    """Return dictionaries as a table; columns are in the order of their first occurrence."""
    names: dict[Any, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    first = rows[0]
    if len(rows) == 1 and first and all(isinstance(value, list) for value in first.values()):
        raise TypeError(
            f"X is one row, a dictionary, but {next(iter(first))!r} is a list. pandas.DataFrame(X) "
            "makes a table of columns"
        )
    columns = {str(name): [row.get(name) for row in rows] for name in names}
    return pa.table({name: array_of(values, name) for name, values in columns.items()})


def table_of_array(X: Any, names: Any) -> pa.Table:
    """Return an array of numbers or objects, or lists, as a table."""
    rows = np.asarray(X)
    if rows.dtype.kind in "US" and not isinstance(X, np.ndarray):
        # NumPy would turn numbers into text if they stand in a list with text.
        rows = np.asarray(X, dtype=object)
    if rows.ndim != 2:
        raise ValueError(
            f"X must be a table, or an array of shape (rows, columns), got {describe(X, rows)}. "
            "Reshape your data either using array.reshape(-1, 1) if it has one column, or "
            "array.reshape(1, -1) if it is one row"
        )
    if np.iscomplexobj(rows):
        raise ValueError("Complex data not supported: X must hold numbers, text or dates")
    given = names if names is not None and len(names) == rows.shape[1] else None
    labels = [f"x{place}" for place in range(rows.shape[1])] if given is None else list(given)
    columns = [array_of(rows[:, place], name) for place, name in enumerate(labels)]
    return pa.table(columns, names=labels)


def describe(X: Any, rows: Any) -> str:
    return f"{rows.ndim}D array of shape {rows.shape}" if rows.ndim else repr(X)[:60]


def array_of(values: Any, name: str) -> Any:
    """Return a column as an Arrow array; raise ValueError if it has values of two kinds."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        values = values.tolist()
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, OverflowError) as error:
        plain = [plain_value(value) for value in values]
        if any(map(is_not, plain, values)):
            return array_of(plain, name)
        kinds = {type(value) for value in values if value is not None}
        if all(issubclass(kind, numbers.Real) for kind in kinds):
            return pa.array(np.array([np.nan if v is None else float(v) for v in values]))
        words = ", ".join(sorted(kind.__name__ for kind in kinds))
        advice = f": X[{name!r}].astype(str) makes text of all" if str in kinds else ""
        raise TypeError(
            f"column {name!r} holds {words}: argument must be a string or a number, or a date, and "
            f"of one kind in a column{advice}"
        ) from error


def plain_value(value: Any) -> Any:
    """Return a value converted as `plain_frame` converts the whole column."""
    kind = type(value)
    if kind.__module__.split(".")[0] != "pandas":
        return value
    if kind.__name__ == "Interval":
        return str(value)
    return value.to_timestamp() if kind.__name__ == "Period" else value


def array_in(table: pa.Table, name: str) -> pa.Array:
    """Return a column of a table as one array; text and dictionary-coded values become strings."""
    column = table.column(name)
    if column.num_chunks != 1:
        column = column.combine_chunks()
    # A column without rows, or one too long for a single array, is still chunked.
    values = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(values.type):
        values = plain_text(values.dictionary).take(values.indices)
    return plain_text(values)


def plain_text(values: pa.Array) -> pa.Array:
    """Return text of any layout as strings, and other arrays unchanged."""
    types = pa.types
    other = types.is_large_string(values.type) or types.is_string_view(values.type)
    return values.cast(pa.string()) if other else values
