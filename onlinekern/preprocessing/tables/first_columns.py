"""The columns of a new encoder, chosen by the first rows of a table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onlinekern.estimators.warnings import warn
from onlinekern.preprocessing.tables.column_types import (
    MOST_ROOM,
    distinct_texts,
    family,
    guessed_kind,
    is_identifier,
    is_unbounded,
    looks_like_dates,
    looks_like_numbers,
    texts_of,
)
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
from onlinekern.preprocessing.tables.dates import DEFAULT, check_dates, parts_for, zone_of
from onlinekern.preprocessing.tables.errors import ColumnTypeError
from onlinekern.preprocessing.tables.frames import array_in
from onlinekern.preprocessing.tables.slots import SlotColumn, SlotTextColumn, led

# A category column has twice as many one-hot features as categories so far, plus this number.
ROOM_LEFT = 8
# Default features of a hashed column, and those with categories='auto'. Linear learners and races
# can use more features, which separate more categories; kernels only become slower.
HASHED, WIDE_HASHED = 64, 1024
# Slots are shared if this share of the columns is text or has many values. In other tables, numbers
# are more informative, and kernels and forests use them better than linear learners.
WIDE_SHARE = 1 / 3


def first_columns(table: Any, given: dict[str, str], encoder: Any) -> list[Column]:
    """Return the columns for a table with the first rows.

    Parameters
    ----------
    table : pyarrow Table
    given : dict of str to str
        The kinds of columns that are given and need no guess.
    encoder : TableEncoder
        Its parameters determine the numbers of features.
    """
    check_dates(encoder.dates, encoder.time_zone)
    most = encoder.max_categories or MOST_ROOM
    kinds = {name: kind_in(table, name, given.get(name), most) for name in table.column_names}
    shared = has_slots(encoder.categories, table, kinds)
    values = {name: array_in(table, name) for name in kinds}
    # Slots are shared, so there an identifier takes no features of its own.
    found = [] if shared else identifiers(kinds, values, given, encoder.hashed_features)
    for name in kinds:
        if name not in given:
            stored = table.schema.field(name).type
            warn_of_guess(name, kinds[name], values[name], stored, name in found)
    return led(
        [
            IgnoredColumn(name, waits=name not in (*given, *found))
            if kind == "ignore" or name in found
            else new_column(name, kind, values[name], encoder, shared)
            for name, kind in kinds.items()
        ]
    )


def kind_in(table: Any, name: str, given: str | None, most: int) -> str:
    """Return the kind of a column: the given one, or a guess from its values and stored type."""
    values, stored = array_in(table, name), table.schema.field(name).type
    kind = given or guessed_kind(values, stored, most)
    if kind == "other":
        raise ColumnTypeError(
            name, f"holds {values.type}: numbers, text and dates become features. "
            f"TableEncoder(kinds={{{name!r}: 'ignore'}}) leaves it out, on the command line "
            f"--column {name}=ignore"
        )  # fmt: skip
    if family(values.type) == "other" and kind != "ignore":
        raise ColumnTypeError(name, f"holds {values.type}, which is no {kind}")
    return kind


def identifiers(
    kinds: dict[str, str], values: dict[str, Any], given: dict[str, str], width: int | None
) -> list[str]:
    """Return the columns to leave out as identifiers, which say nothing about other rows.

    None is left out if the width of hashed columns is given, or if there are no other columns.
    """
    found = [
        name for name, kind in kinds.items()
        if kind == "hashed" and width is None and name not in given
        and is_identifier(values[name])
    ]  # fmt: skip
    others = [name for name, kind in kinds.items() if kind != "ignore" and name not in found]
    return found if others else []


def warn_of_guess(name: str, kind: str, values: Any, stored: Any, is_left_out: bool) -> None:
    """Warn about a column that is ignored, and about text that may be more than categories.

    `is_left_out` says that the column is an identifier.
    """
    if kind == "ignore":
        rows = (
            "the first row has no value"
            if len(values) == 1
            else f"none of its first {len(values):,} values is there"
        )
        warn(f"column {name!r} is ignored, in later rows too: {rows}, and its type does not tell "
             "what it holds. Begin with more rows, give it a type (a frame: "
             f"X[{name!r}].astype(float)), or say what it is: TableEncoder(kinds={{{name!r}: "
             f"'number'}}) in front, on the command line --column {name}=number",
             UserWarning)  # fmt: skip
        return
    is_text = family(values.type) == "text" and not str(stored).startswith("dictionary")
    may_be_more = is_text and kind in ("category", "hashed")
    numbers = looks_like_numbers(values) if may_be_more else None
    date = looks_like_dates(values) if may_be_more else None
    comma = " (on the command line: --decimal ,)" if numbers and numbers[1] else ""
    looks, more, remedy = "", "", ""
    if numbers:
        looks = f"text that looks like numbers, {numbers[0]!r} for one"
        remedy = f"Make numbers of it before{comma}"
    elif date:
        looks = f"text that looks like dates, {date!r} for one"
        more = ", for dates are read as in ISO 8601 (2026-03-02 08:00)"
        remedy = "Make dates of it before (pandas.to_datetime)"
    if is_left_out:
        there = sum(map(bool, texts_of(values).to_pylist()))
        hint = f"It is {looks}{more}. {remedy}; or " if looks else ""
        warn(f"column {name!r} is ignored, in later rows too: nearly all of the {there:,} values "
             f"in its first {len(values):,} rows are different, as those of an identifier, and "
             f"tell nothing of other rows. {hint}TableEncoder(kinds={{{name!r}: 'hashed'}}) in "
             f"front keeps it, on the command line --column {name}=hashed",
             UserWarning)  # fmt: skip
    elif looks:
        warn(f"column {name!r} is {looks}: each becomes a category{more}. {remedy}; or "
             f"kinds={{{name!r}: 'category'}} in a TableEncoder says that it is right",
             UserWarning)  # fmt: skip


def has_slots(categories: str, table: Any, kinds: dict[str, str]) -> bool:
    """Return whether categories and words share slots, as the parameter `categories` says."""
    if categories != "auto":
        return categories == "hash"
    n_wide = sum(
        kind == "text" or (kind == "hashed" and is_unbounded(array_in(table, name)))
        for name, kind in kinds.items()
    )
    return n_wide >= WIDE_SHARE * len(kinds)


def new_column(name: str, kind: str, values: Any, encoder: Any, shared: bool) -> Column:
    """Return a new column of a kind; the first values determine its features.

    If `shared`, categories and words of all columns use the same slots.
    """
    if kind in ("number", "boolean"):
        return new_number(name, kind == "boolean", values, encoder.missing == "keep")
    if shared and kind in ("category", "hashed", "text"):
        return (SlotTextColumn if kind == "text" else SlotColumn)(name, encoder.slots, leads=False)
    if kind in ("category", "hashed") and encoder.categories == "codes":
        return CodedColumn(name)
    if kind == "category":
        found = len(distinct_texts(values)[0])
        return CategoryColumn(name, encoder.max_categories or min(MOST_ROOM, 2 * found + ROOM_LEFT))
    if kind == "hashed":
        usual = WIDE_HASHED if encoder.categories == "auto" else HASHED
        return HashedColumn(name, encoder.hashed_features or usual)
    if kind == "text":
        return TextColumn(name, encoder.text_features)
    return new_date(name, values, encoder)


def new_number(name: str, boolean: bool, values: Any, keeps: bool) -> Column:
    """Return a new column of numbers; if values are missing, a second feature marks them."""
    if keeps:
        return (KeptBooleanColumn if boolean else KeptNumberColumn)(name)
    return (BooleanColumn if boolean else NumberColumn)(name, indicator=has_missing(values))


def has_missing(values: Any) -> bool:
    """Return whether a value is null or NaN."""
    floating = pa.types.is_floating(values.type)
    return bool(values.null_count or (floating and pc.any(pc.is_nan(values)).as_py()))


def new_date(name: str, values: Any, encoder: Any) -> DateColumn:
    """Return a new column of dates; parts of the day need a first value with a time of day."""
    cls = KeptDateColumn if encoder.missing == "keep" else DateColumn
    parts = tuple(DEFAULT if encoder.dates is None else encoder.dates)
    return cls(name, parts_for(values, name, parts), encoder.time_zone or zone_of(values))
