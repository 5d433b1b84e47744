"""Labels, numbers and lists as text."""

from __future__ import annotations

from typing import Any

import numpy as np

# More names or classes than this are counted, not listed.
MOST_LISTED = 20


def listed(values: Any) -> str:
    """List the values, if they are few, or say how many they are."""
    shown = ", ".join(map(str, values[:MOST_LISTED]))
    return f"{shown}, ... ({len(values):,} in all)" if len(values) > MOST_LISTED else shown


def text_of(value: Any) -> str:
    """Return a label or number as text: whole ones without a point, others to the last bit."""
    if isinstance(value, np.floating):
        value = float(value)
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)
