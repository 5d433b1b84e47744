"""Terms as ONNX operators, and the type in which each is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.fitted.export import terms
from onlinekern.fitted.export.onnx.forest import tree_scores
from onlinekern.fitted.export.onnx.graph import Graph, Tensor
from onlinekern.fitted.export.onnx.values import (
    kernel_diagonal,
    kernel_values,
    middle,
    reduced,
    used_columns,
)


def constant(graph: Graph, x: Tensor, term: terms.Constant) -> Tensor:
    return graph.constant(term.values[np.newaxis], x.dtype)


def linear(graph: Graph, x: Tensor, term: terms.Linear) -> Tensor:
    return x @ term.weights.T


def expansion(graph: Graph, x: Tensor, term: terms.Expansion) -> Tensor | None:
    if term.coefficients.shape[1] == 0:
        return None
    return kernel_values(graph, x, term.kernel, term.vectors) @ term.coefficients.T


def mapped(graph: Graph, x: Tensor, term: terms.Mapped) -> Tensor:
    return features(graph, x, term.map) @ term.weights.T


def features(graph: Graph, x: Tensor, map_: terms.Map) -> Tensor:
    """Return the features of rows."""
    if isinstance(map_, terms.Projected):
        return kernel_values(graph, x, map_.kernel, map_.landmarks) @ map_.projection.T
    return fourier(graph, x, map_)


def fourier(graph: Graph, x: Tensor, map_: terms.Fourier) -> Tensor:
    # Older versions of onnxruntime have the sine, but not the cosine, of doubles.
    angles = x @ map_.frequencies.T
    both = graph.beside(angles + np.pi / 2, angles)
    return graph.op("Sin", both) * (1 / np.sqrt(len(map_.frequencies)))


def moved(graph: Graph, x: Tensor, term: terms.Moved) -> Tensor | None:
    turn = "Mul" if term.root.ndim == 1 else "MatMul"
    return term_scores(graph, graph.op(turn, x, term.root), term.term)


def leverage(graph: Graph, x: Tensor, term: terms.Leverage) -> Tensor:
    z = features(graph, x, term.map)
    variance = graph.op("Max", graph.sum(z @ term.matrix * z), 0.0)
    if isinstance(term.map, terms.Projected):
        diagonal = kernel_diagonal(graph, x, term.map.kernel)
        rest = diagonal - graph.square(z)
        seen = graph.cast(rest > diagonal * term.rounding, x.dtype)
        variance = variance + rest * seen / term.reg
    return graph.op("Reciprocal", variance + 1.0)


def local(graph: Graph, x: Tensor, term: terms.Local) -> Tensor:
    count, outputs, width = term.weights.shape
    assigned = min(term.n_assign, count)
    products, rows, center = reduced(graph, x, term.prototypes)
    # Squared distances are ||x - c||^2 - 2 p; only their differences matter.
    largest, nearest = products * 2.0, graph.new_name("nearest")
    best = Tensor(graph, graph.new_name("best"), x.dtype)
    graph.node(
        "TopK", [largest.name, graph.integers([assigned]).name], [best.name, nearest], axis=1
    )
    # `rows` is x - center: adapt the intercepts.
    moved = term.intercepts + np.einsum("jkf,jf->jk", term.weights, center - term.centers)
    weights = term.weights.reshape(count * outputs, width)
    flat = graph.op("Gemm", rows, weights, moved.ravel(), transB=1)
    scores = graph.op("Reshape", flat, graph.integers([-1, count, outputs]))
    # Indices (n, assigned, 1) into the axis of prototypes of `scores`.
    numbers = Tensor(graph, nearest, np.dtype(np.int64))
    places = graph.op("Unsqueeze", numbers, graph.integers([2]))
    chosen = graph.op("GatherND", scores, places, batch_dims=1)
    shares = graph.op("Unsqueeze", local_shares(graph, best, term, assigned), graph.integers([2]))
    return graph.sum(chosen * shares, keepdims=False)


def local_shares(graph: Graph, best: Tensor, term: terms.Local, assigned: int) -> Tensor:
    """Return the weights of the nearest prototypes, (n, assigned); `best` is 2 p, descending."""
    if term.bandwidth > 0:
        first = graph.columns(best, [0])
        shares = graph.op("Exp", (best - first) / term.bandwidth)
        return shares / graph.op("Sqrt", graph.square(shares))
    one = np.arange(assigned)[np.newaxis] == 0
    return best * 0.0 + one


# For each class of terms, a function that returns its scores, or None if it adds nothing.
WRITERS: dict[type, Callable[[Graph, Tensor, Any], Tensor | None]] = {
    terms.Constant: constant,
    terms.Linear: linear,
    terms.Expansion: expansion,
    terms.Mapped: mapped,
    terms.Moved: moved,
    terms.Leverage: leverage,
    terms.Local: local,
    terms.Trees: tree_scores,
}


def term_scores(graph: Graph, x: Tensor, term: terms.Term) -> Tensor | None:
    """Return what a term adds to the scores of rows, in the type of the rows.

    A term whose rounding errors would show in float32 is computed in double.
    """
    if isinstance(term, terms.Mapped):
        term = term.simplest()
    if isinstance(term, terms.Expansion):
        # Check the size before vectors become dense for the estimate of precision.
        count, columns = term.vectors.shape[0], used_columns(term.vectors)
        width = term.vectors.shape[1] if columns is None else len(columns)
        graph.check_room(count * width, x.dtype)
    inside = graph.cast(x, precision_of(term, x.dtype))
    found = WRITERS[type(term)](graph, inside, term)
    return None if found is None else graph.cast(found, x.dtype)


# Number of rows at which rounding errors are estimated.
PROBES = 64
# Largest error of scores in float32, as a share of the largest score. The estimate is an upper
# bound: errors of many summands cancel, so actual errors are a fraction of it.
TOLERANCE = 5e-5


def precision_of(term: terms.Term, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that a term is computed in."""
    if dtype == np.float64 or not needs_double(term):
        return dtype
    return np.dtype(np.float64)


def needs_double(term: terms.Term) -> bool:
    """Return whether float32 is too coarse for a term."""
    if isinstance(term, terms.Leverage):  # a difference of nearly equal numbers is divided by `reg`
        return True
    if isinstance(term, terms.Expansion) and term.kernel.name == "exponential":
        return True  # the root of a difference of nearly equal numbers
    if isinstance(term, terms.Local):
        return bool(spread(term.prototypes) > TOLERANCE * term.bandwidth / unit())
    if isinstance(term, terms.Mapped) and isinstance(term.map, terms.Fourier):
        total = np.abs(term.weights).sum(axis=1).max(initial=0) / np.sqrt(len(term.map.frequencies))
        return bool(total * unit() > TOLERANCE)
    return isinstance(term, terms.Expansion) and term.coefficients.size > 0 and is_coarse(term)


def is_coarse(term: terms.Expansion) -> bool:
    """Return whether the summands of a kernel expansion are much larger than the sum.

    The estimate: kernel values have an error of half a unit in the last place, and Gaussian ones
    also the error of the exponent.
    """
    vectors, columns = term.vectors, used_columns(term.vectors)
    if columns is not None:
        vectors = vectors[:, columns]
    count = vectors.shape[0]
    places = np.unique(np.linspace(0, count - 1, min(count, PROBES)).astype(int))
    signed = term.kernel.values(terms.dense(vectors[places]), vectors)
    values, scores = np.abs(signed), signed @ term.coefficients.T
    error = unit() * (values @ np.abs(term.coefficients).T)
    if term.kernel.name == "gaussian":
        error *= 1 + term.kernel.gamma * spread(vectors)
    return bool(error.max() > TOLERANCE * max(np.abs(scores).max(), np.finfo(float).tiny))


def spread(vectors: Any) -> float:
    """Return the largest squared distance of vectors from their mean; from 0 if sparse."""
    if sp.issparse(vectors):
        return float(np.max(np.asarray(vectors.multiply(vectors).sum(axis=1)), initial=0))
    center = middle(vectors, np.dtype(np.float32))
    return float(np.square(vectors - center).sum(axis=1).max(initial=0))


def unit() -> float:
    """Return half a unit in the last place of 1 in float32."""
    return float(np.finfo(np.float32).eps) / 2
