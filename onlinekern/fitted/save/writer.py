"""Writing of a model as the nodes of its tree and its arrays.

Each object becomes a node, a JSON object, after those it consists of. Where one is part of
another, `[3]` stands for node 3; None, bools, short integers, finite floats and text stand for
themselves. An object that is met twice is one node, so that what is shared stays shared.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.estimators.types import Array
from onlinekern.fitted.save import arrays, registered
from onlinekern.fitted.save.arrays import state_of_generator
from onlinekern.fitted.save.consistency import DERIVED
from onlinekern.fitted.state import restorers
from onlinekern.preprocessing.tables.known import Known

MOST_DEPTH = 100
CANNOT = (
    "it cannot be saved. Classes of other packages can once they are registered "
    "(onlinekern.register); pickle saves what it knows"
)
# Every reader of JSON takes integers up to this one exactly.
MOST_PLAIN = 2**53
# Rows that `RenewedLearner` keeps are as they came.
TABLE_PACKAGES = ("pandas", "polars", "pyarrow")
NO_TABLES = (
    "a file holds none, since only their own package makes one. Put what keeps rows, not a learner "
    "in it, behind a TableEncoder in a pipeline, make_stream_pipeline(TableEncoder(), "
    "RenewedLearner(...)), or teach it dictionaries; pickle saves tables"
)


class Writer:
    """Writer of the nodes and arrays of one model.

    Attributes
    ----------
    nodes : list of dict
        JSON objects; the last one is the model.
    arrays : dict
        Name -> C-contiguous array of one of safetensors' dtypes.
    """

    def __init__(self, model: Any) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.arrays: dict[str, Array] = {}
        self.path: list[str] = []
        self.owner = type(model).__name__
        # An id has its object, so that it lives and its id stays its own, and its place, which is
        # None as long as its node is not complete.
        self.known: dict[int, tuple[Any, list[int] | None]] = {}
        # Equal dtypes are one object, as those of a loaded model may not be.
        self.dtypes: dict[Any, Any] = {}
        if registered.stateful_name(type(model)) is None:
            raise TypeError(
                f"{describe(type(model))} is no class that onlinekern.load finds: register it "
                "(onlinekern.register), or save such a model with pickle"
            )
        self.reference(model)

    def reference(self, value: Any) -> Any:
        """Return the value itself if JSON has it, else `[number of its node]`."""
        kind = type(value)
        if value is None or kind in (bool, str) or (kind is int and abs(value) <= MOST_PLAIN):
            return value
        if kind is float and math.isfinite(value):
            return value
        if isinstance(value, np.dtype):
            value = self.dtypes.setdefault(value, value)
        if id(value) in self.known:
            place = self.known[id(value)][1]
            if place is None:
                raise ValueError(f"{self.where()} refers to itself: it cannot be saved")
            return place
        if len(self.path) > MOST_DEPTH:
            raise ValueError(f"{self.where()} is nested too deep: it cannot be saved")
        self.known[id(value)] = value, None
        self.nodes.append(self.node_of(value))
        place = [len(self.nodes) - 1]
        self.known[id(value)] = value, place
        return place

    def node_of(self, value: Any) -> dict[str, Any]:
        """Return the node of a value that JSON lacks."""
        kind = type(value)
        if kind in NODES:
            return NODES[kind](self, value)
        if isinstance(value, np.generic):
            with self.named_errors():
                return {"kind": "number", **encoded(value)}
        if isinstance(value, np.dtype):
            with self.named_errors():
                return {"kind": "dtype", "dtype": arrays.name_of(value)}
        if kind is type:
            return self.class_node(value)
        if registered.stateful_name(kind) is not None:
            return self.object_node(value)
        return self.part_node(value)

    def class_node(self, value: type) -> dict[str, Any]:
        if (name := registered.part_name(value)) is not None:
            return {"kind": "class", "class": name}
        if issubclass(value, np.generic):
            with self.named_errors():
                return {"kind": "dtype class", "dtype": arrays.name_of(np.dtype(value))}
        raise TypeError(f"{self.where()} is the class {describe(value)}: {CANNOT}")

    def object_node(self, value: Any) -> dict[str, Any]:
        """Return the node of an object whose attributes are its state."""
        names = value._get_param_names() if hasattr(value, "_get_param_names") else ()
        own = vars(value).copy()  # of one moment: another thread may teach
        parameters = {name: as_python(own[name]) for name in names if name in own}
        others = {name: own[name] for name in own if name not in {*parameters, *DERIVED}}
        return {
            "kind": "object",
            "class": registered.stateful_name(type(value)),
            "parameters": self.named(parameters),
            "attributes": self.named(others),
        }

    def named(self, values: dict[str, Any]) -> dict[str, Any]:
        return {name: self.inside(name, value) for name, value in values.items()}

    def part_node(self, value: Any) -> dict[str, Any]:
        """Return the node of a part of the core: its maker, and the arguments of that."""
        kind = type(value)
        if kind.__module__.split(".")[0] in TABLE_PACKAGES:
            raise TypeError(f"{self.where()} is a table, {describe(kind)}: {NO_TABLES}")
        of_core = kind.__module__.startswith("onlinekern.core.")
        if not of_core and registered.part_name(kind) is None:
            raise TypeError(f"{self.where()} is an object {describe(kind)}: {CANNOT}")
        reduced: Any = value.__reduce__()
        maker, arguments = reduced
        if (name := registered.part_name(maker)) is not None:
            made = {"kind": "part", "class": name}
        elif maker in restorers():
            made = {"kind": "restored", "object": restorers()[maker].name}
        else:
            made_by = maker if isinstance(maker, type) else kind
            raise TypeError(f"{self.where()} is an object {describe(made_by)}: {CANNOT}")
        return {**made, "arguments": self.items(arguments)}

    def items(self, values: Any) -> list[Any]:
        return [self.inside(str(i), value) for i, value in enumerate(values)]

    def dictionary_node(self, value: dict[Any, Any]) -> dict[str, Any]:
        keys = [self.inside("key", key) for key in value]
        values = [self.inside(str(key)[:40], item) for key, item in value.items()]
        return {"kind": "dict", "keys": keys, "values": values}

    def array_node(self, value: Array) -> dict[str, Any]:
        if value.dtype.hasobject:
            items = self.items(value.ravel().tolist())
            return {"kind": "object array", "shape": list(value.shape), "items": items}
        with self.named_errors():
            dtype = arrays.name_of(value.dtype)
        by_columns = value.flags.f_contiguous and not value.flags.c_contiguous
        numbers = arrays.to_numbers(value.T if by_columns else value)
        name = self.new_name()
        self.arrays[name] = numbers
        order = "F" if by_columns else "C"
        return {"kind": "array", "array": name, "dtype": dtype, "order": order}

    def new_name(self) -> str:
        """Return a new name that says where in the model an array is."""
        name = stem = ".".join(self.path)
        number = 1
        while name in self.arrays:
            number += 1
            name = f"{stem}#{number}"
        return name

    def matrix_node(self, value: Any) -> dict[str, Any]:
        made = {"kind": "csr", "class": type(value).__name__, "shape": list(value.shape)}
        parts = ("data", "indices", "indptr")
        return {**made, **{name: self.inside(name, getattr(value, name)) for name in parts}}

    def generator_node(self, value: Any) -> dict[str, Any]:
        with self.named_errors():
            state = state_of_generator(value)
        return {"kind": "generator", "class": type(value).__name__, "state": self.reference(state)}

    def inside(self, name: str, value: Any) -> Any:
        """Return the reference to a value that is part of the present one."""
        self.path.append(name)
        place = self.reference(value)
        self.path.pop()
        return place

    def where(self) -> str:
        """Return the name of the parameter or attribute that is being saved, for messages."""
        return f"{'.'.join(self.path)} of this {self.owner}"

    @contextmanager
    def named_errors(self) -> Any:
        """Let errors in the block say which parameter or attribute they are about."""
        try:
            yield
        except TypeError as error:
            raise TypeError(f"{self.where()}: {error}") from None


def describe(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def as_python(value: Any) -> Any:
    """Return a parameter with Python's own numbers, truths and text in the place of NumPy's.

    They are the same to all that reckons with them, and to other readers of the file too. Keys of
    `class_weight` come from np.unique.
    """
    if type(value) is dict:
        return {own_scalar(key): own_scalar(item) for key, item in value.items()}
    return own_scalar(value)


def own_scalar(value: Any) -> Any:
    """Return a scalar of NumPy as Python's own where there is one; anything else as it is."""
    own = value.item() if isinstance(value, np.generic) else value
    return own if type(own) in (bool, int, float, str) else value


def encoded(value: Any) -> dict[str, str]:
    """Return a NumPy scalar as the bytes of its element."""
    dtype = arrays.name_of(value.dtype)
    return {"dtype": dtype, "bytes": arrays.to_numbers(np.asarray(value)).tobytes().hex()}


NODES: dict[type, Callable[[Writer, Any], dict[str, Any]]] = {
    int: lambda writer, value: {"kind": "int", "hex": hex(value)},
    # NaN or an infinity, which JSON lacks.
    float: lambda writer, value: {"kind": "float", "bytes": struct.pack("<d", value).hex()},
    tuple: lambda writer, value: {"kind": "tuple", "items": writer.items(value)},
    Known: lambda writer, value: {"kind": "tuple", "items": writer.items(value)},
    list: lambda writer, value: {"kind": "list", "items": writer.items(value)},
    dict: Writer.dictionary_node,
    np.ndarray: Writer.array_node,
    np.memmap: Writer.array_node,
    sp.csr_matrix: Writer.matrix_node,
    sp.csr_array: Writer.matrix_node,
    np.random.RandomState: Writer.generator_node,
    np.random.Generator: Writer.generator_node,
}
