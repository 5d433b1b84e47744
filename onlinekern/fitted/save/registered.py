"""Classes whose objects a file may hold. A file names them; nothing else can be made.

Classes of the core are those that the families describe; those of other packages were registered
(foreign.py). A name in a file is never imported.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from onlinekern.estimators.savable import Savable
from onlinekern.fitted.save import foreign
from onlinekern.fitted.state import kinds

# The attributes of these helpers of estimators are their state, as those of table columns are.
HELPERS = {
    "Bounded": "drift.losses",
    "Coverage": "estimators.coverage",
    "ClassCoverage": "estimators.coverage",
    "TargetCoverage": "estimators.coverage",
    "RecentQuantile": "estimators.outliers",
    "WarmUp": "estimators.median_width",
    "RowQueue": "drift.queue",
}
# Files may hold objects of the public classes of these packages that have `save`.
PACKAGES = ("onlinekern", "onlinekern.drift", "onlinekern.evaluate")


@cache
def library_class(name: str) -> type | None:
    """Return the class of this library with that name whose attributes are its state, or None."""
    if name.endswith("Column"):
        module = "slots" if name.startswith("Slot") else "columns"
        column = getattr(import_module(f"onlinekern.preprocessing.tables.{module}"), name, None)
        return column if hasattr(column, "kind") else None  # a base of columns has none
    if name in HELPERS:
        return getattr(import_module(f"onlinekern.{HELPERS[name]}"), name)
    for package in map(import_module, PACKAGES):
        found = getattr(package, name) if name in package.__all__ else None
        if isinstance(found, type) and issubclass(found, Savable):
            return found
    return None


def stateful_class(name: Any) -> type:
    """Return the class of an estimator, transformer or helper of that name."""
    if (registered := foreign.named(foreign.ESTIMATORS, name)) is not None:
        return registered
    found = library_class(name) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"it holds a {name!r}, {foreign.advice(name)}")
    return found


def stateful_name(cls: type) -> str | None:
    """Return the name by which `stateful_class` finds this class, or None."""
    package, _, rest = cls.__module__.partition(".")
    own = package == "onlinekern" and not rest.startswith("core.")
    if own and library_class(cls.__name__) is cls:
        return cls.__name__
    name = foreign.name_of(cls)
    return name if foreign.ESTIMATORS.get(name) is cls else None


@cache
def parts() -> dict[str, type]:
    """Return the classes of the components and parts of the core by their names."""
    return {name: kind.cls for name, kind in kinds().items() if kind.named}


# These classes of the core have other names in model files.
NAMES_IN_FILES = {"Sampler": "Gate"}
CLASSES_OF_NAMES = {name: cls for cls, name in NAMES_IN_FILES.items()}


def part_class(name: Any) -> type:
    """Return the class of a part of that name."""
    if (registered := foreign.named(foreign.PARTS, name)) is not None:
        return registered
    name = CLASSES_OF_NAMES.get(name, name) if isinstance(name, str) else name
    if not isinstance(name, str) or name not in parts():
        raise ValueError(f"it holds a part {name!r}, {foreign.advice(name)}")
    return parts()[name]


def part_name(cls: Any) -> str | None:
    """Return the name by which `part_class` finds this class, or None."""
    own: str = cls.__name__
    if parts().get(own) is cls:
        return NAMES_IN_FILES.get(own, own)
    name = foreign.name_of(cls)
    return name if foreign.PARTS.get(name) is cls else None


def restorer(name: Any) -> Callable[..., Any]:
    """Return the function of the core that restores an object of that name."""
    kind = kinds().get(name) if isinstance(name, str) else None
    if kind is None or not kind.by_function:
        raise ValueError(f"it holds a {name!r}, which this onlinekern cannot restore")
    return kind.restorer
