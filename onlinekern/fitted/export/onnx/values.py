"""Kernel values as operators of ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.estimators.kernel_width import falls_with_distance
from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export.onnx.graph import Graph, Tensor, narrowed
from onlinekern.fitted.export.terms import KernelFunction


def kernel_values(graph: Graph, x: Tensor, kernel: KernelFunction, vectors: Any) -> Tensor:
    """Return the kernel values of rows with vectors, (n, m)."""
    columns = used_columns(vectors)
    near = x
    if columns is not None:
        near, vectors = graph.columns(x, columns), vectors[:, columns]
    if kernel.name == "laplacian":
        distances = absolute_distances(graph, near, vectors)
        if near != x:
            beyond = absolute(graph, x) - absolute(graph, near)
            distances = distances + beyond
        return graph.op("Exp", distances * -kernel.gamma)
    if kernel.name in ("gaussian", "exponential"):
        products, rows, _ = reduced(graph, near, vectors)
        norms = graph.square(rows if near == x else x)
        half = products - norms * 0.5
        if kernel.name == "exponential":
            squares = graph.op("Max", half * (-2 * kernel.gamma), 0.0)
            return graph.op("Exp", -graph.op("Sqrt", squares))
        return graph.op("Exp", half * (2 * kernel.gamma))
    Z = graph.rows(vectors, x.dtype)
    if kernel.name == "cosine":
        norms = np.sqrt(np.square(Z).sum(axis=1, keepdims=True))
        Z = Z / np.where(norms > 0, norms, 1)
        norm = graph.op("Sqrt", graph.square(x))
        # Avoids division by 0: a row of zeros has products of 0.
        least = float(np.finfo(x.dtype).tiny)
        return near @ Z.T / graph.op("Max", norm, least)
    return of_products(graph, near @ Z.T, kernel)


def used_columns(vectors: Any) -> Array | None:
    """Return the columns in which any sparse vector is nonzero, if these are few; else None.

    Vectors are stored as dense constants; almost all columns of vectors of text are empty.
    """
    if not sp.issparse(vectors):
        return None
    columns = np.unique(vectors.indices[: vectors.indptr[-1]])
    return columns if 2 * len(columns) < vectors.shape[1] else None


def absolute(graph: Graph, x: Tensor) -> Tensor:
    """Return sum_j |x_j| of rows, (n, 1)."""
    return graph.sum(graph.op("Abs", x))


def of_products(graph: Graph, products: Tensor, kernel: KernelFunction) -> Tensor:
    """Return kernel values from inner products x . z."""
    if kernel.name == "linear":
        return products
    inner = products * kernel.gamma + kernel.coef0
    if kernel.name == "sigmoid":
        return graph.op("Tanh", inner)
    return graph.op("Pow", inner, float(kernel.degree))


def kernel_diagonal(graph: Graph, x: Tensor, kernel: KernelFunction) -> Tensor:
    """Return the kernel value of each row with itself, (n, 1)."""
    squares = graph.square(x)
    if falls_with_distance(kernel.name):
        return squares * 0.0 + 1.0
    if kernel.name == "cosine":
        return graph.cast(squares > 0.0, x.dtype)
    return of_products(graph, squares, kernel)


def reduced(graph: Graph, x: Tensor, vectors: Any) -> tuple[Tensor, Tensor, Floats]:
    """Return (x - c) . (s - c) - ||s - c||^2 / 2, (n, m); x - c; and c, the mean of the vectors s.

    The first is (||x - c||^2 - ||x - s||^2) / 2. Rows may be far from 0 but are near c, so this
    difference loses fewer digits than one with ||x||^2.
    """
    center = middle(vectors, x.dtype)
    Z = narrowed(graph.rows(vectors, x.dtype) - center, x.dtype)
    norms = np.square(Z, dtype=np.float64).sum(axis=1)
    rows = x - center if np.any(center) else x
    return graph.op("Gemm", rows, Z, -0.5 * norms, transB=1), rows, center


def middle(vectors: Any, dtype: np.dtype[Any]) -> Floats:
    """Return the mean of vectors, rounded to a type; 0 for sparse ones, to keep their zeros."""
    if sp.issparse(vectors):
        return np.zeros(vectors.shape[1])
    return narrowed(vectors.mean(axis=0), dtype).astype(np.float64)


def absolute_distances(graph: Graph, x: Tensor, vectors: Any) -> Tensor:
    """Return sum_j |x_j - s_j| of rows with vectors, (n, m)."""
    Z = graph.constant(graph.rows(vectors, x.dtype), x.dtype)
    name, body = graph.new_name("given"), Graph(graph.new_name("laplacian"))
    given = Tensor(body, name, x.dtype)
    result = body.sum(body.op("Abs", given - Z), keepdims=False)
    return graph.each_row(x, body, name, result, vectors.shape[1])
