"""Dates and times of a column: local seconds since 1970, and the calendar features from them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onlinekern.estimators.types import Array, Floats
from onlinekern.preprocessing.tables.errors import TableError

HOUR, DAY, WEEK, YEAR = 3_600.0, 86_400.0, 7 * 86_400.0, 365.2425 * 86_400.0
# 1 January 1970 was a Thursday; weeks begin on Mondays.
MONDAY = 4 * DAY
EPOCH, MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
# Text that Arrow and Python parse in the same way.
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?")
# 29 February is the 60th day of a leap year.
LEAP_DAY = 59


def waves(turns: Floats) -> tuple[Floats, ...]:
    """Return sine and cosine of a position on a circle, given in turns."""
    angle = 2 * np.pi * turns
    return np.sin(angle), np.cos(angle)


def weekday(seconds: Floats) -> Floats:
    """Return 0 on Mondays ... 6 on Sundays."""
    return (np.floor(seconds / DAY) + 3) % 7


def day_of_year(seconds: Floats) -> Floats:
    """Return 1 ... 366, counted as in a leap year: a date has the same number in all years."""
    days = np.floor(seconds / DAY).astype("datetime64[D]")
    years = days.astype("datetime64[Y]")
    number = (days - years.astype("datetime64[D]")).astype(np.int64)
    length = (
        (years + np.timedelta64(1, "Y")).astype("datetime64[D]") - years.astype("datetime64[D]")
    ).astype(np.int64)
    return number + 1.0 + ((length == 365) & (number >= LEAP_DAY))


def day_of_month(seconds: Floats) -> Floats:
    """Return 1 ... 31."""
    days = np.floor(seconds / DAY).astype("datetime64[D]")
    months = days.astype("datetime64[M]").astype("datetime64[D]")
    return (days - months).astype(np.int64) + 1.0


# Part -> names of its features, and the function that computes them from seconds.
CIRCLE = ("sin of the {}", "cos of the {}")
Parts = dict[str, tuple[tuple[str, ...], Callable[[Floats], tuple[Floats, ...]]]]
PARTS: Parts = {
    "day": (CIRCLE, lambda s: waves(s / DAY)),
    "week": (CIRCLE, lambda s: waves((s - MONDAY) / WEEK)),
    "year": (CIRCLE, lambda s: waves(s / YEAR)),
    "half day": (CIRCLE, lambda s: waves(2 * s / DAY)),
    "half week": (CIRCLE, lambda s: waves(2 * (s - MONDAY) / WEEK)),
    "half year": (CIRCLE, lambda s: waves(2 * s / YEAR)),
    "hour": (("{}",), lambda s: (s % DAY / HOUR,)),
    "weekday": (("{}",), lambda s: (weekday(s),)),
    "weekend": (("{}",), lambda s: ((weekday(s) >= 5).astype(np.float64),)),
    "day of the year": (("{}",), lambda s: (day_of_year(s),)),
    "day of the month": (("{}",), lambda s: (day_of_month(s),)),
    "time": (("{}",), lambda s: (s / DAY,)),
}
# Parts that are defined for a time without a date, and those that need a time of day.
OF_TIMES = ("day", "half day", "hour")
# Of all combinations, these parts have the smallest errors on bike hire, flights and houses
# (benchmarks/table_streams.py). Public holidays make a function jump, and a stream only ever sees
# later times.
DEFAULT = ("day", "week", "year", "weekday", "weekend")


def features_of(seconds: Floats, parts: tuple[str, ...]) -> list[Floats]:
    """Return the features of parts of the calendar, in their order."""
    return [feature for part in parts for feature in PARTS[part][1](seconds)]


def names_of(parts: tuple[str, ...]) -> list[str]:
    """Return the names of these features."""
    return [name.format(part) for part in parts for name in PARTS[part][0]]


def parts_for(values: Any, name: str, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts that the first values of a column have: of the day, or of the date."""
    if pa.types.is_time(values.type):
        return tuple(part for part in wanted if part in OF_TIMES) or ("day",)
    seconds, _ = seconds_of(values, name, None)
    if (seconds % DAY).any():
        return wanted
    found = tuple(part for part in wanted if part not in OF_TIMES)
    return found or ("week", "year")


def check_dates(dates: Any, zone: str | None) -> None:
    """Raise ValueError unless the parts of dates and the time zone are known."""
    known = ", ".join(map(repr, PARTS))
    for part in dates or ():
        if part not in PARTS:
            raise ValueError(f"dates: unknown {part!r}; known are {known}")
    if dates is not None and (len(dates) == 0 or len({*dates}) < len(dates)):
        raise ValueError(f"dates must name parts of dates, each once, got {dates!r}: {known}")
    try:
        if zone is not None:
            now = pa.array([0], pa.timestamp("us", tz=zone))
            pc.local_timestamp(now)
    except pa.ArrowInvalid as error:
        raise ValueError(f"time_zone: {zone!r} is unknown: {error}") from None


def zone_of(values: Any) -> str | None:
    """Return the time zone of a column's type, or None for UTC or no time zone."""
    zone: str | None = getattr(values.type, "tz", None)
    return None if zone in (None, "UTC") else zone


def seconds_of(values: Any, name: str, zone: str | None) -> tuple[Floats, Array]:
    """Return local seconds since 1970 of dates and times, and whether each is missing.

    A moment is converted to local time in `zone` (None: UTC). A time without a zone is taken as
    local time. Text must be in ISO 8601: 2026-11-22, 2026-11-22 10:00:00.5, 2026-11-22T10:00Z.
    """
    if pa.types.is_string(values.type):
        values = parsed(values, name)
    if pa.types.is_time(values.type):
        values = values.cast(pa.time64("us")).cast(pa.int64())
    elif zone is not None and getattr(values.type, "tz", None) is not None:
        values = pc.cast(values, pa.timestamp("us", tz=zone), safe=False)
        values = pc.local_timestamp(values).cast(pa.int64())
    else:
        own = getattr(values.type, "tz", None)
        values = pc.cast(values, pa.timestamp("us", tz=own), safe=False).cast(pa.int64())
    missing = values.is_null().to_numpy(zero_copy_only=False)
    numbers = pc.cast(pc.fill_null(values, 0), pa.float64(), safe=False)
    return numbers.to_numpy(zero_copy_only=False) / 1e6, missing


def parsed(texts: Any, name: str) -> Any:
    """Return texts as timestamps; raise TableError for the first text that is not a date."""
    # Before Arrow 24, `if_else` of a lone null and a slice of texts returned texts of other rows.
    nulls = pa.nulls(len(texts), texts.type)
    texts = pc.if_else(pc.equal(texts, ""), nulls, texts)
    # Arrow can parse texts that all have a zone, or that all have none.
    for kind in (pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
        try:
            return pc.cast(texts, kind)
        except pa.ArrowInvalid:
            pass
    moments = []
    for row, text in enumerate(texts.to_pylist()):
        try:
            moments.append(moment(text))
        except ValueError as error:
            raise TableError(name, str(error), row) from None
    return pa.array(moments, pa.timestamp("us", tz="UTC"))


def moment(text: str | None) -> Any:
    """Return one text as a time in UTC without a zone; raise ValueError if it is not a date."""
    for kind in (pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
        try:
            return pc.cast(pa.scalar(text, pa.string()), kind).cast(pa.timestamp("us")).as_py()
        except pa.ArrowInvalid:
            pass
    raise ValueError(f"is {str(text)[:30]!r}, which is no date as in ISO 8601")


def seconds_of_one(value: Any) -> float | None:
    """Return a plain date in seconds since 1970, or NaN for a missing one; else None."""
    if value is None or (type(value) is str and value == ""):
        return math.nan
    if type(value) is str and DATE.fullmatch(value):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    elif hasattr(value, "to_pydatetime") and value == value and value.nanosecond == 0:
        value = value.to_pydatetime()
    if type(value) is not datetime or value.tzinfo is not None:
        return None
    return (value - EPOCH) // MICROSECOND / 1e6
