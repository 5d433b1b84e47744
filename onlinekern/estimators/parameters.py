"""The parameters of estimators: their types, which say what is valid, their order, their checks.

An estimator is a dataclass, whose annotated fields are its parameters. The type of a field is also
its check: a number in a range is an `Annotated` type with scikit-learn's constraint, a choice is a
`Literal`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields
from functools import cache, lru_cache, reduce
from numbers import Integral, Real
from operator import is_, itemgetter, or_
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
)

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config

from onlinekern.core import KERNEL_ALIASES, KERNELS, SCHEDULES
from onlinekern.estimators.scikit_learn import Interval, StrOptions
from onlinekern.estimators.warnings import warn

Class = TypeVar("Class", bound=type)

# The core counts with machine words, and multiplies counts with the bytes of a number.
Count: TypeAlias = Annotated[int, Interval(Integral, 1, 2**48, closed="both")]
# LAPACK counts in 32 bits.
MatrixSize: TypeAlias = Annotated[int, Interval(Integral, 1, 2**31 - 1, closed="both")]
Positive: TypeAlias = Annotated[float, Interval(Real, 0, None, closed="neither")]
NotNegative: TypeAlias = Annotated[float, Interval(Real, 0, None, closed="left")]
# These lie between 0 and 1: without both, with 1, with both.
Share: TypeAlias = Annotated[float, Interval(Real, 0, 1, closed="neither")]
Forgetting: TypeAlias = Annotated[float, Interval(Real, 0, 1, closed="right")]
Part: TypeAlias = Annotated[float, Interval(Real, 0, 1, closed="both")]
Finite: TypeAlias = Annotated[float, Interval(Real, None, None, closed="neither")]
RandomState: TypeAlias = Annotated[int | np.random.RandomState | None, "random_state"]
# It says which average of the models predicts: none if False, "uniform" if True.
Average: TypeAlias = bool | Literal["uniform", "decay"] | Share
Rows: TypeAlias = Annotated[ArrayLike, "array-like"]
KernelName: TypeAlias = Annotated[str, StrOptions({*KERNELS, *KERNEL_ALIASES})]
KernelWidth: TypeAlias = Literal["median", "scale", "auto"] | Positive
# Those who know what each sample was to be may try widths.
TriedWidth: TypeAlias = Literal["best", "median", "scale", "auto"] | Positive
Schedule: TypeAlias = Annotated[str, StrOptions(set(SCHEDULES))]

# These come last in a signature, in this order: the kernel; how many support vectors, and which
# of the models predicts; the task; the calls.
SHARED = (
    *("kernel", "gamma", "degree", "coef0"),
    *("budget", "max_support", "when_full", "average"),
    *("contamination", "class_weight", "multi_class", "standardize_target"),
    *("encode", "n_epochs", "shuffle", "random_state", "window", "n_jobs", "verbose"),
)
# A new model is made of these: what is set in mid-stream waits for the next `fit`.
OF_A_MODEL = """
average batch_size budget cap center coef0 covariance degree encode exact features fit_intercept
frequencies gamma joint kernel levels linear local_features maintenance max_leaf max_norm
max_samples max_support memory memory_budget merge_size metric metric_exponent multi_class n_assign
n_candidates n_components n_prototypes n_replays n_trees novelty order projection random_state
removal selection sharing sketch sketch_size standardize_target statistic teacher time_budget
when_full
"""
OF_NEW_MODELS = frozenset(OF_A_MODEL.split())
# These types say less of a parameter than a base class may have said.
PLAIN = {bool: "boolean", int: Integral, float: Real, NoneType: None}
KINDS = (*PLAIN.values(), str, dict)
# NumPy's integers overflow, and its short floats round, in what is reckoned with them; its truth is
# neither `True` nor `False`.
NUMPY_NUMBERS = frozenset(np.dtype(code).type for code in "?bBhHiIlLqQef")


@dataclass_transform(kw_only_default=True, eq_default=False)
def estimator(cls: Class) -> Class:
    """Make an estimator, or a base of estimators, a dataclass whose parameters are in order.

    The algorithm's own parameters come first: those of the class, then those of its bases. Then
    come those that many share (`SHARED`).
    """
    made: Any = dataclass(kw_only=True, eq=False, repr=False)(cls)
    owner = {name: i for i, base in enumerate(made.__mro__) for name in annotations_of(base)}

    def place(name: str) -> tuple[int, int]:
        return (SHARED.index(name) + 1 if name in SHARED else 0), owner[name]

    return declared(made, sorted((field.name for field in fields(made)), key=place))


@dataclass_transform(eq_default=False)
def positional_estimator(cls: Class) -> Class:
    """Make an estimator a dataclass whose parameters may be given without their names."""
    made: Any = dataclass(eq=False, repr=False)(cls)
    return declared(made, [field.name for field in fields(made)])


def declared(made: Any, names: list[str]) -> Any:
    """Let a dataclass have scikit-learn's constraints, and a signature with these parameters."""
    note_constraints(made)
    init = made.__init__
    known = inspect.signature(init).parameters
    own = [known[name].replace(annotation=bare(known[name].annotation)) for name in names]
    init.__signature__ = inspect.Signature([known["self"], *own], return_annotation=None)
    init.__annotations__ = {one.name: one.annotation for one in own} | {"return": None}
    return made


def bare(kind: Any) -> Any:
    """Return a type without the constraints in it."""
    if get_origin(kind) is Annotated:
        return kind.__origin__
    if get_origin(kind) in (Union, UnionType):
        return reduce(or_, map(bare, get_args(kind)))
    return kind


def annotations_of(cls: type) -> dict[str, Any]:
    """Return the annotations in the body of a class."""
    if "__annotations__" in vars(cls):
        return dict(vars(cls)["__annotations__"])
    try:
        return inspect.get_annotations(cls)
    except NameError:
        # Python 3.14 evaluates them only now. Names for type checkers make no field.
        return {}


def note_constraints(cls: type) -> None:
    """Let a class have the attribute with which scikit-learn checks parameters."""
    if "_declared" in vars(cls):
        return
    own: Any = cls
    own._declared = declared_in(cls)
    known: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        for name, found in vars(base).get("_declared", {}).items():
            # Another default with a plain type, `eta: float = 0.1`, is checked as before.
            if not (known.get(name) and found and all(one in KINDS for one in found)):
                known[name] = found
    own._parameter_constraints = {name: found for name, found in known.items() if found}


def declared_in(cls: type) -> dict[str, list[Any] | None]:
    """Return the parameters that the body of a class declares, with scikit-learn's constraints.

    A parameter of a base class that is taken away has None."""
    names = getattr(sys.modules.get(cls.__module__), "__dict__", {})
    found: dict[str, list[Any] | None] = {}
    for name, kind in annotations_of(cls).items():
        if isinstance(kind, str):
            try:
                kind = eval(kind, {**names, **vars(cls)})
            except (AttributeError, NameError, TypeError):
                continue  # It is for type checkers only, and says nothing about values.
        if not name.startswith("_"):
            found[name] = None if "ClassVar" in str(kind) else constraints_of(kind)
    return found


def constraints_of(kind: Any) -> list[Any]:
    """Return what scikit-learn checks of a parameter of this type."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return [constraint for part in parts for constraint in constraints_of(part)]
    if origin is Annotated:
        return list(kind.__metadata__)
    if origin is Literal:
        return [StrOptions(set(parts))]
    if kind is Any:
        return ["no_validation"]
    return [callable if origin is Callable else PLAIN.get(kind, origin or kind)]


def with_plain_numbers(estimator: Any) -> dict[str, Any]:
    """Return a copy of the attributes, in which parameters of NumPy's types are Python's numbers.

    The estimator itself keeps what it was given: `clone` asks for the very object.
    """
    own: dict[str, Any] = estimator.__dict__.copy()
    if not NUMPY_NUMBERS.isdisjoint(map(type, own.values())):
        for name in type(estimator)._get_param_names():
            if type(own.get(name)) in NUMPY_NUMBERS:
                own[name] = plain_number(own[name])
    return own


@lru_cache(maxsize=256, typed=True)
def plain_number(number: Any) -> int | float:
    """Return Python's number for one of NumPy: the same object each time (`are_same`)."""
    return number.item()


# Checking parameters and making the rule of a model takes longer than learning a row.
# The model holds the values that were looked at last. They are compared by identity: what users
# set, by `set_params` or as an attribute, is another object, or the same value.


def check_parameters_of(estimator: Any) -> None:
    """Check the parameters, unless they are those of the last time that the model knows of."""
    model = estimator.__dict__.get("_model")
    given = parameters_of(estimator)
    if model is not None and are_same(model.checked, given):
        return
    if not get_config()["skip_parameter_validation"]:
        estimator._validate_params()
        if model is not None:
            model.checked = given


def parameters_of(estimator: Any) -> tuple[Any, ...] | None:
    """Return the values of the parameters; None where the estimator has no such attributes."""
    try:
        kind: Any = type(estimator)
        return cast(tuple[Any, ...], getter_of(kind)(estimator.__dict__))
    except KeyError:
        return None


def parameters_of_rule(estimator: Any) -> tuple[Any, ...] | None:
    """Return the same, if they alone decide what the rule and the sampler are.

    A user's class may make its rule of anything.
    """
    of_library = type(estimator).__module__.startswith("onlinekern.")
    return parameters_of(estimator) if of_library else None


@cache
def getter_of(cls: Hashable) -> Any:
    """Make a function that gives the parameters of a class of estimators from its attributes."""
    return itemgetter(*cast(Any, cls)._get_param_names())


def are_same(known: tuple[Any, ...] | None, given: tuple[Any, ...] | None) -> bool:
    """Return whether parameters are the very objects that are known: 1 equals True, too."""
    return known is not None and given is not None and all(map(is_, known, given))


def note_waiting(estimator: Any, before: dict[str, Any]) -> None:
    """Note which parameters, of values before, were set in mid-stream and wait for `fit`.

    One that has its first value again waits no more. Those of an estimator inside wait with it.
    """
    own = vars(estimator)
    waits = estimator._begins_with
    known = {name: before[name] for name in before if name.partition("__")[0] in waits}
    known.update(own.pop("_waiting_parameters", {}))
    now = estimator.get_params() if any("__" in name for name in known) else own
    waiting = {
        name: value
        for name, value in known.items()
        if name in now and not is_same(value, now[name])
    }
    if waiting:
        own["_waiting_parameters"] = waiting


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values of a parameter are one: 1 is 1.0, but not True."""
    # NumPy 2.0 cannot tell whether the array of a text equals that of a number.
    for kind in (bool | np.bool_, str):
        if isinstance(one, kind) != isinstance(other, kind):
            return False
    return one is other or bool(np.array_equal(one, other))


def warn_of_waiting(estimator: Any, start: bool = False) -> None:
    """Warn, once, of parameters that were set in mid-stream and wait for `fit`: for a `start`."""
    names = vars(estimator).pop("_waiting_parameters", ())
    if names and not start:
        when = getattr(estimator, "_waits_for", "when it is fitted anew")
        warn(
            f"{', '.join(sorted(names))} of {type(estimator).__name__} will take effect {when}: "
            "the stream goes on with what its model began with.",
            UserWarning,
        )
