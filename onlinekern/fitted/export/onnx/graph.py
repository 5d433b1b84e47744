"""Builder of an ONNX graph, operator by operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from onlinekern.estimators.types import Array
from onlinekern.fitted.export.terms import dense

# Most bytes of constants: the limit of a protobuf message, minus space for nodes and names.
MOST_BYTES = (1 << 31) - (1 << 22)
# Operators with boolean results.
QUESTIONS = {"And", "Equal", "Greater", "GreaterOrEqual", "IsNaN", "Less"}
# Domain of the operators for trees and label encoding, used in their version 1.
ML_DOMAIN, ML_OPSET = "ai.onnx.ml", 1


def operator(kind: str) -> Callable[..., Tensor]:
    """Return a method that adds a node of an ONNX operator, for a Python operator."""
    return lambda tensor, *other: tensor.graph.op(kind, tensor, *other)


@dataclass(frozen=True)
class Tensor:
    """Result of an operator, or a constant. Expressions such as ``a + b`` add nodes to the graph.

    Attributes
    ----------
    graph : Graph
    name : str
    dtype : numpy.dtype
    """

    graph: Graph
    name: str
    dtype: np.dtype[Any]

    __add__, __sub__ = operator("Add"), operator("Sub")
    __mul__, __truediv__, __matmul__ = operator("Mul"), operator("Div"), operator("MatMul")
    __neg__, __lt__ = operator("Neg"), operator("Less")
    __gt__, __ge__ = operator("Greater"), operator("GreaterOrEqual")


class Graph:
    """Nodes and constants of an ONNX graph.

    Parameters
    ----------
    prefix : str, default=''
        Prefix of all names, for a graph that also has nodes from elsewhere.

    Attributes
    ----------
    nodes : list of NodeProto
    constants : list of TensorProto
    n_bytes : int
        Bytes of the constants.
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.known: dict[tuple[Any, ...], str] = {}
        self.n_bytes = self.n_names = 0

    def domains(self) -> dict[str, int]:
        """Return the versions of the operators' domains, except the standard one."""
        return {ML_DOMAIN: ML_OPSET} if any(node.domain for node in self.nodes) else {}

    def new_name(self, kind: str) -> str:
        """Return an unused name."""
        self.n_names += 1
        return f"{self.prefix}{kind}_{self.n_names}"

    def constant(self, values: Any, dtype: Any) -> Tensor:
        """Return a constant of numbers or texts; equal small ones are stored once."""
        array = narrowed(np.asarray(values), np.dtype(dtype))
        key = (array.dtype, array.shape, array.tobytes()) if array.size <= 16 else ()
        if key and array.dtype != object and key in self.known:
            return Tensor(self, self.known[key], array.dtype)
        self.reserve(array.size, array.dtype)
        found = Tensor(self, self.new_name("constant"), array.dtype)
        self.constants.append(numpy_helper.from_array(array, found.name))
        if key:
            self.known[key] = found.name
        return found

    def rows(self, vectors: Any, dtype: Any) -> Array:
        """Return vectors as a dense array for a constant; raise ValueError if it is too large."""
        self.check_room(vectors.shape[0] * vectors.shape[1], np.dtype(dtype))
        return dense(vectors)

    def reserve(self, size: int, dtype: np.dtype[Any]) -> None:
        """Count the bytes of a constant of `size` numbers."""
        self.check_room(size, dtype)
        self.n_bytes += size * dtype.itemsize

    def check_room(self, size: int, dtype: np.dtype[Any]) -> None:
        """Raise ValueError unless the file has room for `size` more numbers."""
        n_bytes = self.n_bytes + size * dtype.itemsize
        if n_bytes > MOST_BYTES:
            more = "" if dtype == np.float32 else "; dtype='float32' takes half of it"
            raise ValueError(
                f"the model needs {n_bytes / 2**30:.1f} GiB of dense numbers ({size:,} of "
                f"{dtype.name} at once), and an ONNX file holds 2 GiB{more}. Take a smaller budget "
                "or fewer features"
            )

    def op(self, kind: str, *inputs: Any, dtype: Any = None, **attributes: Any) -> Tensor:
        """Add an operator and return its result.

        Parameters
        ----------
        kind : str
            Name of the operator in ONNX.
        *inputs : Tensor, array-like or number
            An input that is no tensor becomes a constant of the type of the first tensor.
        dtype : numpy dtype, default=None
            Type of the result. None: bool for `QUESTIONS`, else the type of the first tensor.
        **attributes : dict
            Attributes of the operator.
        """
        first = next(one for one in inputs if isinstance(one, Tensor))
        names = [
            (one if isinstance(one, Tensor) else self.constant(one, first.dtype)).name
            for one in inputs
        ]
        own = bool if kind in QUESTIONS else first.dtype
        result = Tensor(self, self.new_name(kind.lower()), np.dtype(dtype or own))
        self.node(kind, names, [result.name], **attributes)
        return result

    def node(self, kind: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        """Add a node."""
        name = self.new_name("node")
        self.nodes.append(helper.make_node(kind, inputs, outputs, name, **attributes))

    def integers(self, values: Any) -> Tensor:
        """Return an int64 constant, for axes or indices."""
        return self.constant(values, np.int64)

    def cast(self, tensor: Tensor, dtype: Any) -> Tensor:
        """Return the same numbers in another type."""
        dtype = np.dtype(dtype)
        if tensor.dtype == dtype:
            return tensor
        return self.op("Cast", tensor, dtype=dtype, to=helper.np_dtype_to_tensor_dtype(dtype))

    def shape(self, tensor: Tensor) -> Tensor:
        """Return the lengths of the axes."""
        return self.op("Shape", tensor, dtype=np.int64)

    def columns(self, tensor: Tensor, places: Any) -> Tensor:
        """Return some columns; for a single index, the column without its axis."""
        places = places if isinstance(places, Tensor) else self.integers(places)
        return self.op("Gather", tensor, places, axis=1)

    def beside(self, *tensors: Tensor) -> Tensor:
        """Return the tensors concatenated along columns."""
        return tensors[0] if len(tensors) == 1 else self.op("Concat", *tensors, axis=1)

    def where(self, condition: Tensor, value: Any, otherwise: Tensor) -> Tensor:
        """Return `value` where the condition holds, and `otherwise` elsewhere."""
        if not isinstance(value, Tensor):
            value = self.constant(value, otherwise.dtype)
        return self.op("Where", condition, value, otherwise, dtype=otherwise.dtype)

    def sum(self, tensor: Tensor, keepdims: bool = True) -> Tensor:
        """Return the sums of rows."""
        return self.op("ReduceSum", tensor, self.integers([1]), keepdims=int(keepdims))

    def largest(self, tensor: Tensor) -> Tensor:
        """Return the largest number of rows, (n, 1)."""
        return self.op("ReduceMax", tensor, axes=[1], keepdims=1)

    def square(self, tensor: Tensor) -> Tensor:
        """Return ||x||^2 of rows, (n, 1)."""
        return self.sum(self.op("Mul", tensor, tensor))

    def total(self, tensors: list[Tensor]) -> Tensor:
        """Return the sum of some tensors."""
        return tensors[0] if len(tensors) == 1 else self.op("Sum", *tensors)

    def each_row(self, tensor: Tensor, body: Graph, given: str, result: Tensor, n: int) -> Tensor:
        """Return the `result` of graph `body` for each row, whose n numbers have the name `given`.

        `body` may use names of this graph. Memory does not grow with the number of rows.
        """
        kind = helper.np_dtype_to_tensor_dtype(tensor.dtype)
        inner = helper.make_graph(
            body.nodes,
            body.new_name("row"),
            [helper.make_tensor_value_info(given, kind, [n])],
            [helper.make_tensor_value_info(result.name, kind, None)],
            body.constants,
        )
        self.n_bytes += body.n_bytes
        return self.op("Scan", tensor, body=inner, num_scan_inputs=1)


def narrowed(array: Array, dtype: np.dtype[Any]) -> Array:
    """Convert numbers to a type; raise ValueError if one of them overflows."""
    if dtype.kind != "f":
        return np.ascontiguousarray(array.astype(dtype)).reshape(array.shape)
    with np.errstate(over="ignore"):
        found = array.astype(dtype)
    if not np.isfinite(found).all():
        largest = np.max(np.abs(array))
        raise ValueError(f"dtype={dtype.name!r} has no room for a number of the model, {largest}")
    return np.ascontiguousarray(found).reshape(array.shape)
