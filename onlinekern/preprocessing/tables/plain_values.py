"""Plain values of Python as the numbers, texts and times that Arrow makes of them."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from typing import Any

# Floats hold all integers up to here.
EXACT = 2**53
MOST_INTEGER = 2**63 - 1
EPOCH, MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
# Text that Arrow and Python read alike.
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?")


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


def seconds_of_one(value: Any) -> float | None:
    """Return a plain date in seconds since 1970, NaN of a missing one; else None."""
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
