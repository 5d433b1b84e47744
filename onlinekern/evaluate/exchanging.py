"""Cells of rows and tables, exchanged for those of other rows, and which recent rows are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.estimators.categories import names_of
from onlinekern.estimators.encoded_tables import holds_rows_by_name
from onlinekern.estimators.types import Array, Floats, Indices


def names_in(X: Any) -> list[Any] | None:
    """Return the names of the columns of rows, of dictionaries those of the first; None without."""
    if holds_rows_by_name(X):
        return [*(X if isinstance(X, Mapping) else X[0])]
    found = names_of(X)
    found = getattr(X, "column_names", None) if found is None else found
    return None if found is None else [*found]


def cells_of(X: Any, names: list[Any] | None) -> Any:
    """Return the cells of rows as an array of shape (n_samples, n_columns), of tables as objects.

    Those of a sparse matrix are CSR. What a dictionary lacks is None.

    Raises
    ------
    ValueError
        If X is no table of rows, or has other columns than the names.
    """
    if sp.issparse(X):
        return X.tocsr()
    given = names_in(X)
    if given is None:
        cells = np.asarray(X)
        if cells.ndim != 2:
            raise ValueError(f"X must be of shape (n_samples, n_features), got {cells.shape}")
        return cells
    if holds_rows_by_name(X):
        rows = [X] if isinstance(X, Mapping) else X
        return of_columns([[row.get(name) for row in rows] for name in names or given])
    if names is not None and set(given) != set(names):
        raise ValueError(f"X has other columns than those before: {given!r:.200}")
    return of_columns([column_of(X, name) for name in names or given])


def column_of(X: Any, name: Any) -> Any:
    """Return the values of a column of a table, a list."""
    if hasattr(X, "iloc"):
        return X[name].tolist()
    from onlinekern.preprocessing.tables.frames import array_in, table_of

    return array_in(table_of(X)[0], name).to_pylist()


def of_columns(columns: list[list[Any]]) -> Array:
    """Return columns as an array of objects."""
    cells = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=object)
    for place, values in enumerate(columns):
        cells[:, place] = values
    return cells


def rows_like(X: Any, names: list[Any] | None, cells: Array) -> Any:
    """Return cells as rows of the kind of X, whose columns have these names."""
    if sp.issparse(cells):
        return cells
    if names is None:
        return cells if isinstance(X, np.ndarray) or cells.dtype != object else cells.tolist()
    if holds_rows_by_name(X):
        return [dict(zip(names, row, strict=True)) for row in cells.tolist()]
    if hasattr(X, "iloc"):
        columns = {name: series_like(X[name], cells[:, k]) for k, name in enumerate(names)}
        return type(X)(columns, columns=names)[[*X.columns]]
    import pyarrow as pa

    from onlinekern.preprocessing.tables.frames import array_in, table_of

    table = table_of(X)[0]
    kinds = {name: array_in(table, name).type for name in names}
    found = {name: arrow_like(kinds[name], cells[:, k]) for k, name in enumerate(names)}
    made = pa.table({name: found[name] for name in table.column_names})
    return type(X)(made) if type(X).__module__.startswith("polars") else made


def series_like(column: Any, values: Array) -> Any:
    """Return values as a column of pandas of the same type, or of one that takes them."""
    try:
        return type(column)(values.tolist(), dtype=column.dtype)
    except (TypeError, ValueError):  # a whole number where others are missing
        return type(column)(values.tolist())


def arrow_like(kind: Any, values: Array) -> Any:
    """Return values as a column of Arrow of a type, or of one that takes them."""
    import pyarrow as pa

    try:
        return pa.array(values.tolist(), type=kind)
    except pa.ArrowException:
        return pa.array(values.tolist())


def pooled(kept: Any, cells: Any) -> Any:
    """Return rows that are kept, and those of a call below; sparse if these are."""
    if kept is None:
        return cells
    if sp.issparse(cells):
        return sp.vstack([kept, cells], format="csr")
    return np.concatenate([kept.toarray() if sp.issparse(kept) else kept, cells])


def exchanged(pool: Any, own: Indices, columns: Indices, donors: Indices) -> Any:
    """Return rows of a pool of cells, each with the cell of one column of another row.

    Parameters
    ----------
    pool : ndarray or CSR matrix of shape (n_pool, n_columns)
    own, columns, donors : ndarray of shape (n_rows,)
        The row, the column, and the row that the cell comes from; column -1 exchanges none.
    """
    rows = pool[own]
    there = np.flatnonzero(columns >= 0)
    if not len(there):
        return rows
    if sp.issparse(pool):
        values = np.asarray(pool[donors[there], columns[there]]).ravel()
        return with_cells(rows, there, columns, values)
    rows[there, columns[there]] = pool[donors[there], columns[there]]
    return rows


def with_cells(rows: Any, there: Indices, columns: Indices, values: Array) -> Any:
    """Return CSR rows with other values in one column of each of the rows `there`."""
    cells = rows.tocoo()
    stays = cells.col != columns[cells.row]
    new = values != 0
    data = np.concatenate([cells.data[stays], values[new]])
    places = (
        np.concatenate([cells.row[stays], there[new]]),
        np.concatenate([cells.col[stays], columns[there[new]]]),
    )
    return sp.csr_matrix((data, places), shape=rows.shape)


class Recent:
    """Rows that are kept of those so far: a new one takes the place of one drawn at random.

    A row is the older the less likely it is kept: the age of those kept has the mean `size`.

    Parameters
    ----------
    size : int
    n_kept : int
        Rows that are kept by now.
    """

    def __init__(self, size: int, n_kept: int) -> None:
        self.size = size
        self.kept = [*range(n_kept)]

    def draw(self, shares: Floats) -> Indices:
        """Return the places of rows drawn by numbers of [0, 1), one for each of them."""
        kept = self.kept
        return np.array([kept[int(share * len(kept))] for share in shares.tolist()], dtype=np.intp)

    def add(self, place: int, share: float) -> None:
        """Keep a row; `share` of [0, 1) says which one goes."""
        if len(self.kept) < self.size:
            self.kept.append(place)
        else:
            self.kept[int(share * self.size)] = place
