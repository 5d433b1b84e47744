"""Encoding of single rows given as dictionaries, with the same bits as tables of one row.

For each column of a table, Arrow and SciPy take microseconds, however few rows there are. A row of
plain Python values is encoded without them. If a value is not plain, its column encodes it as a
table.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.preprocessing.tables.columns import Found
from onlinekern.preprocessing.tables.frames import table_of_dictionaries


def encoded_row(encoder: Any, row: Any, learn: bool) -> Any:
    """Return the features of one row, ndarray of shape (1, n_features) or CSR matrix.

    Parameters
    ----------
    encoder : TableEncoder
        If it has to `learn` the row, its attributes are replaced at the end, all at once.
    row : dict
    learn : bool

    Returns
    -------
    ndarray, CSR matrix, or None if the row must be encoded as a table.
    """
    before = encoder._columns
    if encoder.missing == "refuse" or not isinstance(row, Mapping) or len(row) != len(before):
        return None
    if any(column.shares or column.name not in row for column in before):
        return None
    found = [one_value(encoder, column, row[column.name], learn) for column in before]
    after = [column for column, _ in found]
    scaler, parts = scaled(encoder, found, learn)
    rows = joined(after, parts, encoder.sparse_)
    if learn:
        encoder._take(after, scaler)
    return rows


def one_value(encoder: Any, column: Any, value: Any, learn: bool) -> Found:
    """Return the column after a value, which it learns if `learn`, and the value's features."""
    if (found := column.of_one(value, learn)) is not None:
        return found
    table = table_of_dictionaries([{column.name: value}])
    if learn:
        column, block = encoder._about(column, table, column.learnt_features)
    else:
        block = encoder._about(column, table, column.features)
    if sp.issparse(block):
        pairs = zip(block.indices.tolist(), block.data.tolist(), strict=True)
        return column, sorted(pairs)
    return column, list(enumerate(block[0].tolist()))


def scaled(encoder: Any, found: list[Found], learn: bool) -> tuple[Any, list[Any]]:
    """Return the encoder's scaler after the row, and the scaled features."""
    scaler, parts = vars(encoder).get("_scaler"), [features for _, features in found]
    places = [k for k, (column, _) in enumerate(found) if not column.is_sparse]
    if scaler is None or not places:
        return scaler, parts
    each = [dense(*found[k]) for k in places]
    values = np.concatenate(each)
    if len(values) == 0:
        return scaler, parts
    if learn:  # replaced, not changed, like the columns
        scaler = scaler_like(scaler)
        values = scaler.learn_transform_one(values)
    else:
        values = scaler.transform_one(values)
    start = 0
    for place, part in zip(places, each, strict=True):
        parts[place] = list(enumerate(values[start : start + len(part)].tolist()))
        start += len(part)
    return scaler, parts


def scaler_like(scaler: Any) -> Any:
    """Return a copy of a scaler: `copy.deepcopy` without the checks for data from files."""
    twin = object.__new__(type(scaler))
    vars(twin).update(vars(scaler), _moments=copy.deepcopy(scaler._moments))
    return twin


def dense(column: Any, features: Any) -> Any:
    """Return the dense features of a column, including zeros."""
    row = np.zeros(column.n_features)
    for place, number in features:
        row[place] = number
    return row


def joined(columns: list[Any], parts: list[Any], is_sparse: bool) -> Any:
    """Return the features of all columns side by side, in their order."""
    places, numbers, start = [], [], 0
    for column, features in zip(columns, parts, strict=True):
        for place, number in features:
            # Words whose signs cancel are stored as explicit zeros; dense zeros are not stored.
            if number != 0 or column.is_sparse or not is_sparse:
                places.append(start + place)
                numbers.append(number)
        start += column.n_features
    if is_sparse:
        return sp.csr_matrix((numbers, places, [0, len(places)]), shape=(1, start), dtype=float)
    row = np.zeros((1, start))
    row[0, places] = numbers
    return row
