"""Objects of the core, opened: the function that restores each, and what it is restored from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.core.base.part import Component, Frozen, Part
from onlinekern.fitted.save.registered import restored_names


@dataclass(eq=False)
class Opened:
    """An object of the core as a function and its arguments, which are opened too."""

    function: Any
    arguments: tuple[Any, ...]

    @property
    def name(self) -> str:
        """What kind of object it is."""
        found: str = restored_names().get(self.function, getattr(self.function, "__name__", ""))
        return found

    def changed(self, *arguments: Any) -> Opened:
        """The same function of other arguments."""
        return Opened(self.function, arguments)


def opened(value: Any, made: dict[int, Any] | None = None) -> Any:
    """A value in which each object of the core that may change is an `Opened`.

    What is shared stays shared: `made` holds the objects that have been opened, by identity.
    """
    made = {} if made is None else made
    if isinstance(value, tuple):
        return tuple(opened(item, made) for item in value)
    if isinstance(value, dict):
        return {key: opened(item, made) for key, item in value.items()}
    if isinstance(value, (type, Part)) or not (isinstance(value, Frozen) or is_of_core(value)):
        return value
    reduced: Any = value.__reduce_ex__(4)
    function, arguments, *_ = reduced
    if id(value) not in made:
        # The value too, so that no other gets its identity.
        made[id(value)] = Opened(function, opened(arguments, made)), value
    return made[id(value)][0]


def is_of_core(value: Any) -> bool:
    return isinstance(value, Component) or type(value).__module__.startswith("onlinekern.core.")


def closed(value: Any, made: dict[int, Any] | None = None) -> Any:
    """The other way round."""
    made = {} if made is None else made
    if isinstance(value, tuple):
        return tuple(closed(item, made) for item in value)
    if isinstance(value, dict):
        return {key: closed(item, made) for key, item in value.items()}
    if not isinstance(value, Opened):
        return value
    if id(value) not in made:
        made[id(value)] = value.function(*closed(value.arguments, made)), value
    return made[id(value)][0]


def same(one: Any, other: Any) -> bool:
    """Whether two opened values are equal, whatever they are nested of."""
    if isinstance(one, Opened) and isinstance(other, Opened):
        return one.function == other.function and same(one.arguments, other.arguments)
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if sp.issparse(one) and sp.issparse(other):
        return one.shape == other.shape and (one != other).nnz == 0
    return type(one) is type(other) and bool(one == other)
