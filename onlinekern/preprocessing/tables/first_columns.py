"""Columns that have learnt nothing: what the first values of a table become."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onlinekern.preprocessing.tables.column_types import MOST_ROOM, Sizes, distinct_texts
from onlinekern.preprocessing.tables.columns import (
    BooleanColumn,
    CategoryColumn,
    CodedColumn,
    Column,
    DateColumn,
    HashedColumn,
    IgnoredColumn,
    KeptBooleanColumn,
    KeptDateColumn,
    KeptNumberColumn,
    NumberColumn,
    TextColumn,
)
from onlinekern.preprocessing.tables.dates import parts_for, zone_of
from onlinekern.preprocessing.tables.slots import SlotColumn, SlotTextColumn

# A category column has twice as many one-hot features as categories have come, and so many more.
ROOM_LEFT = 8


def new_column(name: str, kind: str, values: Any, sizes: Sizes) -> Column:
    """Make a column of a kind that has learnt nothing; the first values decide what it becomes."""
    if kind in ("number", "boolean"):
        return new_number(name, kind == "boolean", values, sizes.keeps)
    if sizes.slots is not None and kind in ("category", "hashed", "text"):
        return (SlotTextColumn if kind == "text" else SlotColumn)(name, sizes.slots, leads=False)
    if kind in ("category", "hashed") and sizes.codes:
        return CodedColumn(name)
    if kind == "category":
        found = len(distinct_texts(values)[0])
        return CategoryColumn(name, sizes.max_categories or min(MOST_ROOM, 2 * found + ROOM_LEFT))
    if kind == "hashed":
        return HashedColumn(name, sizes.hashed_features)
    if kind == "text":
        return TextColumn(name, sizes.text_features)
    return new_date(name, values, sizes) if kind == "date" else IgnoredColumn(name)


def new_number(name: str, boolean: bool, values: Any, keeps: bool) -> Column:
    """Make a column of numbers; a second feature tells of missing ones if the first have some."""
    if keeps:
        return (KeptBooleanColumn if boolean else KeptNumberColumn)(name)
    return (BooleanColumn if boolean else NumberColumn)(name, indicator=has_missing(values))


def has_missing(values: Any) -> bool:
    """Return whether a value is null or NaN."""
    floating = pa.types.is_floating(values.type)
    return bool(values.null_count or (floating and pc.any(pc.is_nan(values)).as_py()))


def new_date(name: str, values: Any, sizes: Sizes) -> DateColumn:
    """Make a column of dates; parts of the day are features if one of the first has a time."""
    cls = KeptDateColumn if sizes.keeps else DateColumn
    return cls(name, parts_for(values, name, sizes.dates), sizes.zone or zone_of(values))
