"""The classes whose objects a file may hold. A file names them; nothing else can be made.

Classes of the library are looked up in constant tables, those of other packages among the ones
that were registered (foreign.py). A name in a file is never imported.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from onlinekern._registry import public
from onlinekern.fitted.save import foreign

TABLE_COLUMNS = (
    "BooleanColumn",
    "CategoryColumn",
    "DateColumn",
    "HashedColumn",
    "IgnoredColumn",
    "NumberColumn",
    "TextColumn",
)
# Classes beside the public ones whose attributes are their state.
STATEFUL = {
    "RecentQuantile": "estimators.outliers",
    "WarmUp": "estimators.median_width",
    **dict.fromkeys(TABLE_COLUMNS, "preprocessing.tables.columns"),
}
# What a part was restored from, and the module of the core whose function `restore` does it.
RESTORERS = {
    "Budget": "budgets.policy",
    "Covariance": "models.covariances",
    "FrequentDirections": "linalg.frequent_directions",
    "Generator": "base.random",
    "KernelSpace": "models.space",
    "LeastSquaresSpace": "models.least_squares",
    "LeverageSpace": "models.leverage",
    "LinearSpace": "models.linear",
    "LocalSpace": "models.local",
    "MappedSecondOrderSpace": "models.mapped_second_order",
    "MappedSpace": "models.mapped",
    "MeanSpace": "models.kernel_mean",
    "Model": "stream",
    "NestedNystroem": "features.nested",
    "Nystroem": "features.nystroem",
    "NystroemSpace": "models.nogd",
    "OLLASpace": "models.olla",
    "Race": "race",
    "RecentScores": "learning.recent_scores",
    "Residuals": "models.residuals",
    "RunningMoments": "linalg.running_moments",
    "Scatter": "linalg.scatter",
    "Sketched": "models.sketched_covariance",
    "SketchedSpace": "models.sdrogd",
    "Vote": "learning.vote",
}
# Modules whose parts are made by their constructors, or whose classes a restorer takes.
MODULES = (
    "budgets.affine_projection",
    "budgets.bolssvm",
    "budgets.bpa",
    "budgets.dependence",
    "budgets.eviction",
    "budgets.forgetron",
    "budgets.merging",
    "budgets.policy",
    "budgets.projectron",
    "budgets.quantisation",
    "budgets.recursive",
    "budgets.removal_projection",
    "budgets.tracker",
    "features.hashed",
    "features.joined",
    "features.map",
    "features.structured",
    "kernels.kernels",
    "learning.heads",
    "learning.losses",
    "learning.point_rules",
    "learning.rules",
    "learning.sampling",
    "learning.schedules",
    "learning.second_order_rules",
    "models.dual_sgd",
    "models.linear",
    "models.linear_batches",
    "models.linear_second_order",
    "models.covariances",
    "models.sdrogd",
    "models.space",
)


def core_module(name: str) -> Any:
    return import_module(f"onlinekern.core.{name}")


@cache
def library_class(name: str) -> type | None:
    """The class of this library of that name whose attributes are its state, or None."""
    if name in STATEFUL:
        found: type = getattr(import_module(f"onlinekern.{STATEFUL[name]}"), name)
        return found
    value = public(name)
    return value if isinstance(value, type) else None


def stateful_class(name: Any) -> type:
    """The estimator, transformer or helper of that name."""
    if (registered := foreign.named(foreign.ESTIMATORS, name)) is not None:
        return registered
    found = library_class(name) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"it holds a {name!r}, {foreign.advice(name)}")
    return found


def stateful_name(cls: type) -> str | None:
    """The name by which `stateful_class` finds this class, or None."""
    if library_class(cls.__name__) is cls:
        return cls.__name__
    name = foreign.name_of(cls)
    return name if foreign.ESTIMATORS.get(name) is cls else None


@cache
def parts() -> dict[str, type]:
    """Name -> class of the components and parts of the core."""
    from onlinekern.core.base.part import Component

    found = {}
    for module in map(core_module, MODULES):
        for name, value in vars(module).items():
            own = isinstance(value, type) and value.__module__ == module.__name__
            if own and issubclass(value, Component):
                found[name] = value
    return found


@cache
def restorers() -> dict[str, Callable[..., Any]]:
    """Name -> function of the core that `__reduce__` of such an object names."""
    found = {}
    for name, module in RESTORERS.items():
        names = vars(core_module(module))
        found[name] = names["restore"] if "restore" in names else names["_restore"]
    return found


@cache
def restored_names() -> dict[Any, str]:
    """The other way round: function -> name."""
    return {function: name for name, function in restorers().items()}


def part_class(name: Any) -> type:
    """The class of a part of that name."""
    if (registered := foreign.named(foreign.PARTS, name)) is not None:
        return registered
    if not isinstance(name, str) or name not in parts():
        raise ValueError(f"it holds a part {name!r}, {foreign.advice(name)}")
    return parts()[name]


def part_name(cls: Any) -> str | None:
    """The name by which `part_class` finds this class, or None."""
    own: str = cls.__name__
    if parts().get(own) is cls:
        return own
    name = foreign.name_of(cls)
    return name if foreign.PARTS.get(name) is cls else None


def restorer(name: Any) -> Callable[..., Any]:
    """The function of the core that restores an object of that name."""
    if not isinstance(name, str) or name not in restorers():
        raise ValueError(f"it holds a {name!r}, which this onlinekern cannot restore")
    return restorers()[name]
