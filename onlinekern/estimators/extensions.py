"""Checks of what users add: subclasses of estimators, parts of other packages, functions.

What would never be called or looked at is an error that says so; see docs/extending.md.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from onlinekern.core.base.part import Component
from onlinekern.estimators.parameters import annotations_of
from onlinekern.estimators.scikit_learn import InvalidParameterError

PAGE = "docs/extending.md"


def check_subclass(cls: type) -> None:
    """Raise TypeError if a new class sets a parameter as a plain attribute: `__init__` hides it."""
    inherited = {
        field.name for base in cls.__mro__[1:] if is_dataclass(base) for field in fields(base)
    }
    hidden = inherited & vars(cls).keys() - annotations_of(cls).keys()
    if hidden:
        name = min(hidden)
        raise TypeError(
            f"{cls.__name__}.{name} would never be looked at: {name} is a parameter, which "
            "__init__ sets. Give it another default as a field, with its type, under "
            f"@dataclass(kw_only=True, eq=False, repr=False), as {PAGE} shows"
        )


@cache
def check_declared(cls: type) -> None:
    """Raise TypeError if a class has declared fields that its `__init__` does not take."""
    for base in cls.__mro__:
        own = {n for n, kind in annotations_of(base).items() if "ClassVar" not in str(kind)}
        if own and is_dataclass(base) and "__init__" not in vars(base):
            raise TypeError(
                f"{base.__name__} declares the parameter {min(own)!r}, but is no dataclass: write "
                f"@dataclass(kw_only=True, eq=False, repr=False) above it, as {PAGE} shows"
            )


def explained(error: InvalidParameterError, parameters: dict[str, Any]) -> InvalidParameterError:
    """Return the error of a parameter, with the page if other learners take the value."""
    for name, value in parameters.items():
        # An array is not compared with a text.
        word = type(value) is str and value == "precomputed"
        added = isinstance(value, Component) or callable(value) or word
        if added and f"The {name!r} parameter" in str(error):
            return InvalidParameterError(
                f"{error} {PAGE} says which learners take functions and parts of other packages, "
                "and what takes the place of kernel='precomputed'."
            )
    return error
