"""Single rows, dictionaries, as features: the same bits as those of tables of one row.

Arrow and SciPy take microseconds for each column of a table, however many rows it has. A row of
plain values of Python goes without them; the column makes the features of any other value.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import murmurhash3_32

from onlinekern.estimators.categories import MOST_CODE
from onlinekern.preprocessing.tables.columns import (
    BooleanColumn,
    CategoryColumn,
    CodedColumn,
    DateColumn,
    HashedColumn,
    IgnoredColumn,
    KeptBooleanColumn,
    KeptDateColumn,
    KeptNumberColumn,
    NumberColumn,
)
from onlinekern.preprocessing.tables.dates import features_of
from onlinekern.preprocessing.tables.frames import table_of_dictionaries

# The column after the value, and its features: pairs of a place and a number; the others are 0.
Features = list[tuple[int, float]]
Found = tuple[Any, Features]
# Floats hold all integers up to here.
EXACT = 2**53
MOST_INTEGER = 2**63 - 1
EPOCH, MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
# Text that Arrow and Python read alike.
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?")


def encoded_row(encoder: Any, row: Any, learn: bool) -> Any:
    """Return the features of one row, ndarray of shape (1, n_features) or CSR matrix.

    Parameters
    ----------
    encoder : TableEncoder
        If it is to `learn` the row, its attributes are replaced, all at the end.
    row : dict
    learn : bool

    Returns
    -------
    ndarray, CSR matrix, or None if this is a case for a table.
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
    """Return a column that has learnt a value, if it is to, and the features of the value."""
    plain = PLAIN.get(type(column))
    found = None if plain is None else plain(column, value, learn)
    if found is not None:
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


def scaled(encoder: Any, found: list[Found], learn: bool) -> tuple[Any, list[Features]]:
    """Return the scaler of an encoder after the row, and the features that it has scaled."""
    scaler, parts = vars(encoder).get("_scaler"), [features for _, features in found]
    places = [k for k, (column, _) in enumerate(found) if not column.is_sparse]
    if scaler is None or not places:
        return scaler, parts
    each = [dense(*found[k]) for k in places]
    values = np.concatenate(each)
    if len(values) == 0:
        return scaler, parts
    if learn:  # It is replaced, not changed, as the columns are.
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
    """Return a copy of a scaler: `copy.deepcopy`, without the checks of what comes from files."""
    twin = object.__new__(type(scaler))
    vars(twin).update(vars(scaler), _moments=copy.deepcopy(scaler._moments))
    return twin


def dense(column: Any, features: Features) -> Any:
    """Return the features of a column, those that are 0 too."""
    row = np.zeros(column.n_features)
    for place, number in features:
        row[place] = number
    return row


def joined(columns: list[Any], parts: list[Features], is_sparse: bool) -> Any:
    """Return the features of all columns beside one another, in their order."""
    places, numbers, start = [], [], 0
    for column, features in zip(columns, parts, strict=True):
        for place, number in features:
            # Words whose signs cancel out are stored; a dense 0 is not.
            if number != 0 or column.is_sparse or not is_sparse:
                places.append(start + place)
                numbers.append(number)
        start += column.n_features
    if is_sparse:
        return sp.csr_matrix((numbers, places, [0, len(places)]), shape=(1, start), dtype=float)
    row = np.zeros((1, start))
    row[0, places] = numbers
    return row


def changed(column: Any, **attributes: Any) -> Any:
    """Return a column with other attributes: `dataclasses.replace`, in a tenth of the time."""
    twin = object.__new__(type(column))
    vars(twin).update(vars(column), **attributes)
    return twin


def of_number(column: Any, value: Any, learn: bool) -> Found | None:
    """Return what a column of numbers makes of a value; None if it is no plain number."""
    number = number_of(value)
    if number is None:
        return None
    if not column.fills:
        return column, [(0, number)]
    is_missing = number != number
    shown = column.total / max(column.count, 1) if is_missing else number
    if learn:
        total = column.total + (0.0 if is_missing else number)
        if math.isinf(total):
            return None
        column = changed(column, count=column.count + (not is_missing), total=total)
    return column, [(0, shown), (1, float(is_missing))] if column.indicator else [(0, shown)]


def number_of(value: Any) -> float | None:
    """Return a plain finite number, true and false among them, or NaN of a missing one."""
    if value is None:
        return math.nan
    if isinstance(value, float):
        return None if math.isinf(value) else float(value)
    return float(value) if type(value) in (int, bool) and -EXACT <= value <= EXACT else None


def text_of(value: Any) -> str | None:
    """Return a plain value as the text that Arrow makes of it, "" of a missing one; else None."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int:
        return str(value) if abs(value) <= MOST_INTEGER else None
    return value if type(value) is str and value.isprintable() else None


def of_category(column: Any, value: Any, learn: bool) -> Found | None:
    """Return what a one-hot column makes of a value; None if it is not plain."""
    text = text_of(value)
    if text is None:
        return None
    known = column.known
    if text in known:
        return column, [(known.index(text), 1.0)]
    if len(known) == column.room:
        return column, [(column.room, 1.0)]
    if not learn:
        return column, []
    return changed(column, known=(*known, text)), [(len(known), 1.0)]


def of_code(column: Any, value: Any, learn: bool) -> Found | None:
    """Return what a column of numbers of categories makes of a value; None if it is not plain."""
    text = text_of(value)
    if text is None:
        return None
    known = column.known
    if not text:
        return column, [(0, math.nan)]
    if text in known:
        return column, [(0, float(known.index(text)))]
    if not learn or len(known) == MOST_CODE:
        return column, [(0, float(MOST_CODE))]
    return changed(column, known=(*known, text)), [(0, float(len(known)))]


def of_hash(column: Any, value: Any, learn: bool) -> Found | None:
    """Return what a hashed column makes of a value; None if it is not plain."""
    text = text_of(value)
    if text is None:
        return None
    return column, [(murmurhash3_32(text, positive=True) % column.width, 1.0)]


def of_date(column: Any, value: Any, learn: bool) -> Found | None:
    """Return what a column of dates makes of a value; None if it is not plain."""
    if value is None or (type(value) is str and value == ""):
        return column, [(place, column.absent) for place in range(column.n_features)]
    if type(value) is str and DATE.fullmatch(value):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    elif hasattr(value, "to_pydatetime") and value == value and value.nanosecond == 0:
        value = value.to_pydatetime()
    if type(value) is not datetime or value.tzinfo is not None:
        return None
    seconds = np.array([(value - EPOCH) // MICROSECOND / 1e6])
    features = features_of(seconds, column.circles)
    return column, [(place, feature.item()) for place, feature in enumerate(features)]


def of_nothing(column: Any, value: Any, learn: bool) -> Found | None:
    """Return what a column that is ignored makes of a value."""
    return column, []


PLAIN: dict[type, Callable[[Any, Any, bool], Found | None]] = {
    NumberColumn: of_number,
    BooleanColumn: of_number,
    KeptNumberColumn: of_number,
    KeptBooleanColumn: of_number,
    CategoryColumn: of_category,
    CodedColumn: of_code,
    HashedColumn: of_hash,
    DateColumn: of_date,
    KeptDateColumn: of_date,
    IgnoredColumn: of_nothing,
}
