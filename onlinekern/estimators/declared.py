"""What the attributes of a saved state may be: declarations, and the one reader of them.

A class says in `_attributes`, one after the other, the name of an attribute and a check of it,
which may rely on those before. `check_attributes` reads them: a file may have given anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from onlinekern.estimators.savable import require

Check: TypeAlias = Callable[[Any], bool]
LARGEST = float(np.finfo(np.float64).max)
# The least number above 0.
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


def check_attributes(owner: Any, others: bool = True) -> None:
    """Raise ValueError for the first attribute that is not what the classes of its owner declare.

    Without `others` there may be no other attributes.
    """
    own, names = vars(owner), set()
    for base in reversed(type(owner).__mro__):
        if "_attributes" in vars(base):
            for name, fits in vars(base)["_attributes"](owner):
                require(fits(own.get(name)), f"its attribute {name!r} is wrong")
                names.add(name)
    require(others or own.keys() <= names, "it has other attributes")


def of(kind: type) -> Check:
    """Check for an object of a class."""
    return lambda value: type(value) is kind


def whole(least: float = 0, most: float = np.inf) -> Check:
    """Check for an int from `least` to `most`."""
    return lambda value: type(value) is int and least <= value <= most


def number(least: float = -LARGEST, most: float = LARGEST) -> Check:
    """Check for a float from `least` to `most`."""
    return lambda value: type(value) is float and least <= value <= most


def between(least: float, most: float) -> Check:
    """Check for a float between two others."""
    return lambda value: type(value) is float and least < value < most


def array(*shape: int | None, least: float = -LARGEST, most: float = LARGEST) -> Check:
    """Check for an array of doubles from `least` to `most`; None is an axis of any length."""

    def check(value: Any) -> bool:
        if not isinstance(value, np.ndarray) or value.dtype != np.float64:
            return False
        fits = len(value.shape) == len(shape) and all(
            length in (None, found) for length, found in zip(shape, value.shape, strict=True)
        )
        return fits and bool(((value >= least) & (value <= most)).all())

    return check


def each(check: Check, *lengths: int) -> Check:
    """Check for a tuple of values that pass a check, perhaps of one of these lengths."""
    return lambda value: (
        type(value) is tuple and (not lengths or len(value) in lengths) and all(map(check, value))
    )


def none_or(check: Check) -> Check:
    """Check for None, or a value that passes a check."""
    return lambda value: value is None or check(value)
