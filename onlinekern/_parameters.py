"""Checks of an estimator's parameters, for versions of scikit-learn that have others than its own.

The constraints are those that `_parameter_constraints` of the library's estimators are made of,
and the messages read like scikit-learn's.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np


class InvalidParameterError(ValueError, TypeError):
    """A parameter that an estimator cannot take."""


class RealNotInt(Real, ABC):
    """A type of numbers that are not integers."""


RealNotInt.register(float)


class Interval:
    """Numbers of a type between two bounds; None is infinite.

    Parameters
    ----------
    type : Integral, Real or RealNotInt
    left, right : float or None
    closed : {"left", "right", "both", "neither"}
        Which of the bounds are numbers of the interval.
    """

    def __init__(self, type: Any, left: Any, right: Any, *, closed: str) -> None:
        self.type, self.closed = type, closed
        self.left = -np.inf if left is None else left
        self.right = np.inf if right is None else right

    def takes(self, value: Any) -> bool:
        """Whether a value is one of the numbers."""
        if not isinstance(value, self.type) or value != value:
            return False
        above = value >= self.left if self.closed in ("left", "both") else value > self.left
        below = value <= self.right if self.closed in ("right", "both") else value < self.right
        return bool(above and below)

    def __str__(self) -> str:
        kind, number = ("an int", str) if self.type is Integral else ("a float", repr_of_float)
        first = "[" if self.closed in ("left", "both") else "("
        last = "]" if self.closed in ("right", "both") else ")"
        return f"{kind} in the range {first}{number(self.left)}, {number(self.right)}{last}"


class StrOptions:
    """Some texts.

    Parameters
    ----------
    options : set of str
    """

    def __init__(self, options: Iterable[str]) -> None:
        self.options = set(options)

    def takes(self, value: Any) -> bool:
        """Whether a value is one of the texts."""
        return isinstance(value, str) and value in self.options

    def __str__(self) -> str:
        return f"a str among {{{', '.join(map(repr, sorted(self.options)))}}}"


class Named:
    """Values that a test takes, with the words for them."""

    def __init__(self, words: str, test: Callable[[Any], bool]) -> None:
        self.words, self.takes = words, test

    def __str__(self) -> str:
        return self.words


def is_random_state(value: Any) -> bool:
    counted = isinstance(value, Integral) and 0 <= int(value) <= np.iinfo(np.uint32).max
    return value is None or counted or isinstance(value, np.random.RandomState)


NAMED = {
    "boolean": Named(
        "an instance of 'bool' or an instance of 'numpy.bool'",
        lambda value: isinstance(value, bool | np.bool_),
    ),
    "random_state": Named(
        "an int in the range [0, 4294967295], an instance of 'numpy.random.mtrand.RandomState' or "
        "None",
        is_random_state,
    ),
    "verbose": Named(
        "an int in the range [0, inf), an instance of 'bool' or an instance of 'numpy.bool'",
        lambda value: isinstance(value, Integral | np.bool_) and int(value) >= 0,
    ),
    None: Named("None", lambda value: value is None),
}


NUMBERS: dict[Any, str] = {Integral: "int", Real: "float"}


def constraint_of(given: Any) -> Any:
    """The object that checks for an entry of `_parameter_constraints`."""
    if given is callable:
        return Named("a callable", callable)
    if isinstance(given, type):
        name = NUMBERS.get(given) or f"{given.__module__}.{given.__qualname__}"
        name = name.removeprefix("builtins.")
        return Named(f"an instance of {name!r}", lambda value: isinstance(value, given))
    return NAMED.get(given) if given is None or isinstance(given, str) else given


def check_parameters(estimator: Any) -> None:
    """Raise InvalidParameterError, which names it, of the first parameter that cannot be."""
    values = estimator.get_params(deep=False)
    for name, given in estimator._parameter_constraints.items():
        constraints = [constraint_of(one) for one in given]
        value = values[name]
        if not all(hasattr(constraint, "takes") for constraint in constraints):
            continue  # a parameter of scikit-learn's own, as of Pipeline
        if not any(constraint.takes(value) for constraint in constraints):
            *others, last = map(str, constraints)
            allowed = f"{', '.join(others)} or {last}" if others else last
            raise InvalidParameterError(
                f"The {name!r} parameter of {type(estimator).__name__} must be {allowed}. Got "
                f"{value!r} instead."
            )


def repr_of_float(value: Any) -> str:
    return str(float(value))
