"""Reading of a model from the nodes of its tree and its arrays, the way back of writer.py.

A node may refer to earlier nodes only. So there are no circles, and one loop makes all objects.
Nothing in a file is trusted: its classes are looked up in the tables of registered.py.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.estimators.savable import Savable, require
from onlinekern.estimators.types import Array
from onlinekern.fitted.save import arrays, registered
from onlinekern.fitted.save.arrays import generator_of
from onlinekern.fitted.save.consistency import complete
from onlinekern.fitted.save.writer import MOST_DEPTH

MATRICES = {"csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array}
# The elements of an object array may be of these types.
PLAIN = (type(None), bool, int, float, str, np.generic)


class Reader:
    """Maker of the objects of the nodes.

    Parameters
    ----------
    nodes : list of dict
    stored : dict
        Name -> array. Each belongs to one node, which takes it out, so no file of a kilobyte can
        fill the memory with copies of one array.
    """

    def __init__(self, nodes: Any, stored: dict[str, Array]) -> None:
        self.stored = stored
        self.objects: list[Any] = []
        self.depths: list[int] = []
        require(isinstance(nodes, list) and nodes, "it has no nodes")
        for node in nodes:
            self.depth = 0
            made = self.object_of(node)
            require(self.depth <= MOST_DEPTH, f"node {len(self.objects)} is nested too deep")
            self.objects.append(made)
            self.depths.append(self.depth)
        require(not stored, f"no node uses the array {next(iter(stored), None)!r}")
        require(isinstance(self.model, Savable), "its last node is no model")

    @property
    def model(self) -> Any:
        """Object of the last node."""
        return self.objects[-1]

    def object_of(self, node: Any) -> Any:
        """Return the object of one node."""
        if not isinstance(node, dict) or node.get("kind") not in MAKERS:
            raise ValueError(f"node {len(self.objects)} is of no kind that this onlinekern knows")
        fields = dict(node)
        maker = MAKERS[fields.pop("kind")]
        return maker(self, **{name.replace("class", "class_"): v for name, v in fields.items()})

    def value(self, reference: Any) -> Any:
        """Return the object for which a reference in a node stands."""
        if not isinstance(reference, list):
            if isinstance(reference, dict):
                raise ValueError(f"node {len(self.objects)} holds another node")
            return reference
        if len(reference) != 1 or type(reference[0]) is not int:
            raise ValueError(f"node {len(self.objects)} has a reference that is none")
        number = reference[0]
        if not 0 <= number < len(self.objects):
            raise ValueError(f"node {len(self.objects)} refers to node {number}")
        self.depth = max(self.depth, self.depths[number] + 1)
        return self.objects[number]

    def values(self, references: Any) -> list[Any]:
        require(isinstance(references, list), f"node {len(self.objects)} has no list of items")
        return [self.value(reference) for reference in references]

    def of_type(self, reference: Any, *kinds: type) -> Any:
        """Return the object of a reference; raise ValueError unless it has one of these types."""
        found = self.value(reference)
        require(type(found) in kinds, f"node {len(self.objects)} holds a {type(found).__name__}")
        return found

    def dictionary(self, keys: Any, values: Any) -> dict[Any, Any]:
        made = dict(zip(self.values(keys), self.values(values), strict=True))
        require(len(made) == len(keys), f"node {len(self.objects)} has a key twice")
        return made

    def array(self, array: Any, dtype: Any, order: Any) -> Array:
        if not isinstance(array, str) or array not in self.stored:
            raise ValueError(f"there is no array {array!r}, or two nodes use it")
        require(order in ("C", "F"), f"the order of an array must be C or F, got {order!r}")
        made = arrays.from_numbers(self.stored.pop(array), arrays.dtype_of(dtype))
        return made.T if order == "F" else made

    def object_array(self, shape: Any, items: Any) -> Array:
        values = self.values(items)
        if not all(isinstance(value, PLAIN) for value in values):
            raise ValueError(f"node {len(self.objects)} is an array of objects that are no labels")
        made = np.empty(len(values), dtype=object)
        made[:] = values
        return made.reshape(tuple(shape))

    def matrix(self, class_: Any, shape: Any, data: Any, indices: Any, indptr: Any) -> Any:
        parts = [self.of_type(part, np.ndarray) for part in (data, indices, indptr)]
        if parts[1].dtype.kind != "i" or parts[2].dtype != parts[1].dtype:
            raise ValueError("the indices of a CSR matrix must be signed integers of one size")
        if any(part.ndim != 1 for part in parts):
            raise ValueError("the arrays of a CSR matrix must have one axis")
        rows, columns = shape
        made = MATRICES[class_](tuple(parts), shape=(rows, columns), copy=False)
        made.check_format(full_check=True)
        # SciPy makes indices of 64 bits shorter where they fit.
        made.indices, made.indptr = parts[1:]
        return made

    def number(self, dtype: Any, bytes: Any) -> Any:
        kind = arrays.dtype_of(dtype)
        data = np.frombuffer(bytearray.fromhex(bytes), arrays.stored_dtype(kind))
        shape = (arrays.width_of(kind),) if kind.kind in "US" else ()
        return arrays.from_numbers(data.reshape(shape), kind)[()]

    def named(self, references: Any, cls: type) -> dict[str, Any]:
        """Return attributes; raise ValueError if one hides a method or a property."""
        require(isinstance(references, dict), f"node {len(self.objects)} has no attributes")
        for name in references:
            hidden = getattr(cls, name, None)
            if callable(hidden) or isinstance(hidden, property) or name.startswith("__"):
                raise ValueError(f"it holds an attribute {name!r} of a {cls.__name__}")
        return {name: self.value(reference) for name, reference in references.items()}

    def stateful(self, class_: Any, parameters: Any, attributes: Any) -> Any:
        cls = registered.stateful_class(class_)
        given, others = self.named(parameters, cls), self.named(attributes, cls)
        known: Any = cls._get_param_names() if hasattr(cls, "_get_param_names") else ()
        for name in given:
            require(name in known, f"{class_} has a parameter {name!r} that it does not know")
        given = {**getattr(cls, "_absent", {}), **given}
        made: Any = cls(**given) if known else object.__new__(cls)
        vars(made).update(others)
        complete(made)
        return made

    def part(self, class_: Any, arguments: Any) -> Any:
        return registered.part_class(class_)(*self.values(arguments))

    def restored(self, object: Any, arguments: Any) -> Any:
        return registered.restorer(object)(*self.values(arguments))

    def generator(self, class_: Any, state: Any) -> Any:
        return generator_of(class_, self.of_type(state, dict))


def integer(reader: Reader, hex: Any) -> int:
    return int(hex, 16)


def real(reader: Reader, bytes: Any) -> float:
    (value,) = struct.unpack("<d", bytearray.fromhex(bytes))
    return float(value)


MAKERS: dict[Any, Callable[..., Any]] = {
    "int": integer,
    "float": real,
    "tuple": lambda reader, items: tuple(reader.values(items)),
    "list": lambda reader, items: reader.values(items),
    "dict": Reader.dictionary,
    "array": Reader.array,
    "object array": Reader.object_array,
    "number": Reader.number,
    "dtype": lambda reader, dtype: arrays.dtype_of(dtype),
    "dtype class": lambda reader, dtype: arrays.dtype_of(dtype).type,
    "csr": Reader.matrix,
    "generator": Reader.generator,
    "class": lambda reader, class_: registered.part_class(class_),
    "part": Reader.part,
    "restored": Reader.restored,
    "object": Reader.stateful,
}
