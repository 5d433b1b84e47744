"""Fitted models as states whose fields have names.

The modules of `families` describe each part of the core once. A description names the fields, the
axes of their arrays, and which fields learning changes. It also has the rules by which models of
this part are merged, grown and exported. `opened` turns an object of the core into a `State`;
`closed` turns the state back into an object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from onlinekern.core.base.part import Component, Part


@dataclass(frozen=True)
class Field:
    """Description of one value of a state.

    Parameters
    ----------
    axes : tuple of str
        Names of the axes of an array. Rows along 'output' change their sign if growing turns the
        output of a class around; rows along 'class' do not. Axes of another name have the same
        length everywhere in an object.
    learnt : bool
        Whether learning changes the value. Values that it does not change must be equal in models
        that are merged.
    counts : bool
        Whether the value is the number of outputs.
    record : Kind, optional
        Kind of a tuple or a dictionary whose items have names of their own.
    follows : bool
        Whether generated code has no use for the value, for example because it follows from other
        fields.
    """

    axes: tuple[str, ...] = ()
    learnt: bool = True
    counts: bool = False
    record: Kind | None = None
    follows: bool = False


Fields: TypeAlias = "dict[str, Field]"
TOKEN = re.compile(r"(\w+)([=#~]?)(?:\[([^]]*)\])?(\()?|(\))")


def fields(text: str) -> Fields:
    """Parse a line of names into fields, in the order in which an object is restored from them.

    The signs mean: `d=` is not changed by learning; `n_outputs#` is the number of outputs;
    `values[output slot]` is an array with these axes; `steps` is a number or an object with fields
    of its own; `state(...)` is a tuple or a dictionary; `ages~[slot]` has no use in generated code.
    """
    levels: list[Fields] = [{}]
    names = []
    for name, sign, axes, begins, ends in TOKEN.findall(text):
        if begins:
            names.append(name)
            levels.append({})
        elif ends:
            inner = levels.pop()
            learnt = any(each.learnt for each in inner.values())
            levels[-1][names.pop()] = Field((), learnt, record=Kind("a record", inner))
        else:
            own = tuple(axes.split())
            levels[-1][name] = Field(own, sign in ("", "~"), sign == "#", follows=sign == "~")
    return levels[0]


@dataclass(frozen=True, eq=False)
class Kind:
    """Kind of an object, with its fields and the rules for merging, growing and exporting it.

    Parameters
    ----------
    name : str
        Name of the class.
    fields : dict
        Name -> Field, in the order in which the object is restored from them.
    module : str
        Module of the core that defines the class.
    by_function : bool
        Whether the module has a function that restores objects of the kind. Files then name this
        function.
    read, write : callable, optional
        Turn the stored values into those that the fields name, and back.
    merge : callable, optional
        (Mix, states, state of the base or None) -> merged state.
    begin : callable, optional
        (grown state, old one, Growth): sets the values of new classes that do not follow from
        the axes. A space without this rule cannot grow.
    terms : callable, optional
        Returns the terms whose sum is the score of an object.
    learning : callable, optional
        Given the state of an object, returns the description that learning in C needs.
    taught : callable, optional
        The inverse of `learning`: (state of an object, `export.taught.Taught`) -> state with what
        a device has learnt in C.
    options : dict
        Further values that the rules of its family read.
    """

    name: str
    fields: Fields
    module: str = ""
    by_function: bool = True
    read: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    write: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    merge: Callable[..., State] | None = None
    begin: Callable[..., None] | None = None
    terms: Callable[[Any], Any] | None = None
    learning: Callable[[State], Any] | None = None
    taught: Callable[[State, Any], State] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def named(self) -> bool:
        """Whether files may name the class itself."""
        return not self.by_function or "cls" in self.fields

    @property
    def cls(self) -> type:
        """Class of the core."""
        return getattr(import_module(f"onlinekern.core.{self.module}"), self.name)

    @property
    def restorer(self) -> Any:
        """Function that restores objects of the kind."""
        home = import_module(f"onlinekern.core.{self.module}")
        return getattr(home, "restore", None) or home._restore


class State(SimpleNamespace):
    """State of an object of the core, or of a tuple or dictionary in it, by named fields.

    The fields are attributes. Values that may change are States too.
    """

    __slots__ = ("form_", "kind_")
    kind_: Kind
    form_: Any

    def __init__(self, kind: Kind, form: Any, values: dict[str, Any]) -> None:
        super().__init__(**values)
        self.kind_, self.form_ = kind, form

    def changed(self, **values: Any) -> State:
        """Return the state with new values of some fields."""
        if unknown := values.keys() - vars(self).keys():
            raise TypeError(f"{self.kind_.name} has no field {min(unknown)}")
        return State(self.kind_, self.form_, {**vars(self), **values})

    def with_learnt(self, **values: Any) -> State:
        """Return the state with new values of all learnt fields; TypeError if one is missing."""
        known = self.kind_.fields
        for name in vars(self).keys() - values.keys():
            if name not in known or known[name].learnt:
                raise TypeError(f"nothing is known of the field {name} of {self.kind_.name}")
        return self.changed(**values)


KINDS: dict[str, Kind] = {}


def describe(path: str, text: str, **rules: Any) -> None:
    """Describe a class of the core, such as "models.space.KernelSpace", by a line of `fields`."""
    module, _, name = path.rpartition(".")
    KINDS[name] = Kind(name, fields(text), module, **rules)


@cache
def kinds() -> dict[str, Kind]:
    """Return the kinds of all families by name."""
    from onlinekern.fitted import families

    for module in iter_modules(families.__path__):
        import_module(f"{families.__name__}.{module.name}")
    return KINDS


@cache
def restorers() -> dict[Any, Kind]:
    """Return a dictionary from restoring functions of the core to the kinds that they restore."""
    return {kind.restorer: kind for kind in kinds().values() if kind.by_function}


def kind_of(cls: type) -> Kind | None:
    """Return the kind of a class, or None for a class of another package."""
    kind = kinds().get(cls.__name__)
    return kind if kind and cls.__module__ == f"onlinekern.core.{kind.module}" else None


def inherited(cls: type) -> Iterator[Kind]:
    """Return the kinds of a class and of its base classes."""
    return (kind for base in cls.__mro__ if (kind := kind_of(base)) is not None)


def fields_of(part: Any) -> dict[str, Any]:
    """Return the arguments of an immutable part by name; empty for a class of another package."""
    kind = kind_of(type(part))
    return dict(zip(kind.fields, part.arguments, strict=False)) if kind else {}


def opened(value: Any, made: dict[int, Any] | None = None) -> Any:
    """Return a value with each changeable object of the core replaced by its `State`.

    An object that occurs several times becomes one shared state: `made` holds the states of the
    objects opened so far, by the identity of the object.
    """
    made = {} if made is None else made
    if isinstance(value, tuple):
        return tuple(opened(item, made) for item in value)
    if isinstance(value, dict):
        return {key: opened(item, made) for key, item in value.items()}
    of_core = type(value).__module__.startswith("onlinekern.core.")
    if isinstance(value, (type, Part)) or not (of_core or isinstance(value, Component)):
        return value
    if id(value) not in made:
        reduced: Any = value.__reduce_ex__(4)
        function, arguments, *_ = reduced
        # The value is stored too: otherwise it could be freed and another object get its identity.
        made[id(value)] = state_of(what(function, arguments), function, arguments, made), value
    return made[id(value)][0]


def what(function: Any, arguments: tuple[Any, ...]) -> Kind:
    """Return the kind of the object that a function restores from these arguments."""
    first = next((each for each in (function, *arguments) if isinstance(each, type)), None)
    known = (kind_of(first) if first else None) or restorers().get(function)
    # Objects of other packages may have any number of arguments.
    return known or Kind(function.__name__, fields(" ".join(f"_{i}=" for i in range(99))))


def state_of(kind: Kind, form: Any, raw: Any, made: dict[int, Any]) -> State:
    """Return the state of a kind with these values; its form is `tuple`, `dict` or a function."""
    given = raw if isinstance(raw, dict) else dict(zip(kind.fields, raw, strict=False))
    whole = len(given) == len(raw)
    given = kind.read(given) if kind.read else given
    if not whole or not given.keys() <= kind.fields.keys():
        extra = sorted(given.keys() - kind.fields.keys())
        raise TypeError(f"{kind.name} has fields that nobody describes: {extra}")
    values = {}
    for name, value in given.items():
        inner = kind.fields[name].record
        if inner is not None and isinstance(value, (tuple, dict)):
            values[name] = state_of(inner, type(value), value, made)
        else:
            values[name] = opened(value, made)
    return State(kind, form, values)


def closed(value: Any, made: dict[int, Any] | None = None) -> Any:
    """Return a value with each `State` replaced by its object of the core."""
    made = {} if made is None else made
    if isinstance(value, tuple):
        return tuple(closed(item, made) for item in value)
    if isinstance(value, dict):
        return {key: closed(item, made) for key, item in value.items()}
    if not isinstance(value, State):
        return value
    if id(value) not in made:
        values: Any = {name: closed(item, made) for name, item in vars(value).items()}
        if value.kind_.write:
            values = value.kind_.write(values)
        if value.form_ is not dict:
            items = tuple(values.values())
            values = items if value.form_ is tuple else value.form_(*items)
        made[id(value)] = values, value
    return made[id(value)][0]


def same(one: Any, other: Any) -> bool:
    """Return whether two opened values are equal; they may be nested."""
    if isinstance(one, State) and isinstance(other, State):
        return one.form_ == other.form_ and same(vars(one), vars(other))
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if sp.issparse(one) and sp.issparse(other):
        return one.shape == other.shape and (one != other).nnz == 0
    # A parameter may be a number or text of NumPy; after loading from a file it is one of Python.
    one, other = (v.item() if isinstance(v, np.generic) else v for v in (one, other))
    alike = {type(one), type(other)} <= {int, float} or type(one) is type(other)
    return alike and bool(one == other)
