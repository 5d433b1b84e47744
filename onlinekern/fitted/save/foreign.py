"""Registered classes of other packages, the only such classes whose objects files may hold."""

from __future__ import annotations

from typing import Any, TypeVar

from onlinekern.estimators.savable import Savable

Class = TypeVar("Class", bound=type)
# Both map a name to a class. The names have a dot, those of the library's own classes have none.
ESTIMATORS: dict[str, type] = {}
PARTS: dict[str, type] = {}


def register(cls: Class) -> Class:
    """Let files of `save` hold objects of a class of another package.

    `save` and `load` know the classes of this library, and those that were registered in this
    process. A file names such a class by its module and name; `load` looks it up among the
    registered ones and imports nothing. Call it where the class is defined, so that whoever imports
    the package can load its models. docs/extending.md shows it.

    Parameters
    ----------
    cls : type
        An estimator or a transformer, a subclass of one of this library; or a compiled part, a
        subclass of ``Loss``, ``Kernel``, ``Rule``, ``Budget``, ... A class of the same module and
        name that was registered before is replaced.

    Returns
    -------
    type
        The class itself, so that this may be a decorator.

    Raises
    ------
    TypeError
        If `cls` is no such class, or belongs to this library.
    ValueError
        If `cls` is defined inside a function, where no other process finds it.

    Notes
    -----
    What a file says is passed to the constructor: to the parameters of an estimator, and as the
    `arguments` of a part. A constructor that checks them is safe with files of strangers.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import onlinekern
    >>> @onlinekern.register
    ... @dataclass(kw_only=True, eq=False, repr=False)
    ... class SlowPerceptron(onlinekern.KernelPerceptronClassifier):
    ...     budget: int = 100
    >>> onlinekern.fitted.save.foreign.ESTIMATORS.pop(f"{__name__}.SlowPerceptron").__name__
    'SlowPerceptron'
    """
    from onlinekern.core.base.part import Component

    if not isinstance(cls, type) or not issubclass(cls, (Savable, Component)):
        raise TypeError(
            f"cls must be a subclass of an estimator or of a compiled part of onlinekern, got {cls}"
        )
    if cls.__module__.split(".")[0] == "onlinekern":
        raise TypeError(f"{cls} belongs to onlinekern: its objects can be saved as they are")
    if "<locals>" in cls.__qualname__:
        raise ValueError(f"{cls} is defined in a function: define it in the module")
    table = PARTS if issubclass(cls, Component) else ESTIMATORS
    table[name_of(cls)] = cls
    return cls


def name_of(cls: type) -> str:
    """Return the name that a class of another package has in files."""
    return f"{cls.__module__}.{cls.__qualname__}"


def named(table: dict[str, type], name: Any) -> type | None:
    """Return the registered class of that name, or None."""
    return table.get(name) if isinstance(name, str) else None


def advice(name: Any) -> str:
    """Say what to do about an unknown class in a file."""
    if not isinstance(name, str) or "." not in name:
        return "which this onlinekern does not know"
    return "a class of another package: import the package that registers it (onlinekern.register)"
