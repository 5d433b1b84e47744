"""The kinds of the columns of a table, as their first rows tell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onlinekern.preprocessing.tables.columns import (
    DAY,
    BooleanColumn,
    CategoryColumn,
    Column,
    DateColumn,
    HashedColumn,
    IgnoredColumn,
    NumberColumn,
    TextColumn,
    TextualColumn,
    seconds_of,
)

# Texts that have so many words on the average, and seldom come twice, are no categories.
WORDS = 4
DIFFERENT = 0.5
# So many rows are looked at: the guess is to be as good for the first thousand as for a million.
LOOKED_AT = 1000
# Without a number given, a category column has so many one-hot features more than categories have
# come, and at most these.
ROOM_LEFT = 8
MOST_ROOM = 100
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?")


@dataclass(frozen=True)
class Sizes:
    """How many features the columns of a table become (see `TableEncoder`)."""

    max_categories: int | None
    hashed_features: int
    text_features: int


def family(kind: Any) -> str:
    """Return what an Arrow type holds: number, boolean, text, date, missing (no value) or other."""
    types = pa.types
    if types.is_null(kind):
        return "missing"
    if types.is_boolean(kind):
        return "boolean"
    numeric = (types.is_integer, types.is_floating, types.is_decimal, types.is_duration)
    if any(test(kind) for test in numeric):
        return "number"
    if any(test(kind) for test in (types.is_timestamp, types.is_date, types.is_time)):
        return "date"
    return "text" if types.is_string(kind) else "other"


def guessed_kind(values: Any, stored: Any, sizes: Sizes) -> str:
    """Guess the kind of a column, by the type in which it is stored or by the first texts."""
    found = family(values.type)
    if pa.types.is_dictionary(stored):
        return category_kind(values, sizes)
    if found == "missing" or (found == "text" and values.null_count == len(values)):
        return "ignore"
    return text_kind(values, sizes) if found == "text" else found


def text_kind(values: Any, sizes: Sizes) -> str:
    """Return whether texts are dates, categories or words."""
    texts = [text for text in TextualColumn.texts(values[:LOOKED_AT]).to_pylist() if text]
    if texts and all(map(DATE.fullmatch, texts)):
        return "date"
    words = sum(len(text.split()) for text in texts) / max(1, len(texts))
    if words >= WORDS and len(set(texts)) > DIFFERENT * len(texts):
        return "text"
    return category_kind(values, sizes)


def category_kind(values: Any, sizes: Sizes) -> str:
    """Return whether categories are few enough for a feature each."""
    most = sizes.max_categories or MOST_ROOM
    return "category" if len(TextualColumn.different(values)[0]) <= most else "hashed"


def new_column(name: str, kind: str, values: Any, sizes: Sizes) -> Column:
    """Make a column of a kind that has learnt nothing; its form depends on the first values."""
    if kind in ("number", "boolean"):
        cls = NumberColumn if kind == "number" else BooleanColumn
        return cls(name, indicator=has_missing(values))
    if kind == "category":
        found = len(TextualColumn.different(values)[0])
        return CategoryColumn(name, sizes.max_categories or min(MOST_ROOM, 2 * found + ROOM_LEFT))
    if kind == "hashed":
        return HashedColumn(name, sizes.hashed_features)
    if kind == "text":
        return TextColumn(name, sizes.text_features)
    return new_date(name, values) if kind == "date" else IgnoredColumn(name)


def has_missing(values: Any) -> bool:
    """Return whether a value is null or NaN."""
    floating = pa.types.is_floating(values.type)
    return bool(values.null_count or (floating and pc.any(pc.is_nan(values)).as_py()))


def new_date(name: str, values: Any) -> DateColumn:
    """Make a column of dates; the time of day is a feature if one of the first has any."""
    if pa.types.is_time(values.type):
        return DateColumn(name, ("day",))
    seconds, _ = seconds_of(values, name)
    return DateColumn(name, ("day", "week", "year") if (seconds % DAY).any() else ("week", "year"))
