"""Trees as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.estimators.types import Array
from onlinekern.fitted.export.onnx.graph import ML_DOMAIN, Graph, Tensor, narrowed
from onlinekern.fitted.export.terms import (
    FARTHEST,
    FARTHEST_BENT,
    FARTHEST_GIVEN,
    Bends,
    Groups,
    Trees,
)


def tree_scores(graph: Graph, x: Tensor, term: Trees) -> Tensor:
    """Return the sum of the weights of each tree's leaf, in the type of the rows.

    The tree operator always adds in float32. So it computes the scores only for a single output in
    float32. Otherwise it computes the index of the leaf in each tree, and the weights are gathered.
    This also needs fewer attributes for several outputs.
    """
    attributes = nodes_of(term)
    rows = scaled(graph, x, term)
    if term.weights.shape[1] == 1 and x.dtype == np.float32:
        weights = narrowed(term.weights[:, 0], x.dtype)
        attributes |= {"target_weights": weights.tolist(), "target_ids": [0] * len(weights)}
        total = graph.op("TreeEnsembleRegressor", rows, domain=ML_DOMAIN, n_targets=1, **attributes)
    else:
        total = sums_of_leaves(graph, x, term, rows, attributes)
    # A row with an infinite value has no scores.
    return total + graph.sum(without_nan(graph, x) * 0.0)


def sums_of_leaves(
    graph: Graph, x: Tensor, term: Trees, rows: Tensor, attributes: dict[str, Any]
) -> Tensor:
    """Return the sums of the weights of the leaves, whose indices the tree operator computes."""
    n_trees = len(term.first) - 1
    leaves = graph.op(
        "TreeEnsembleRegressor", rows, domain=ML_DOMAIN, n_targets=n_trees, **attributes
    )
    begin = term.first[:-1] + np.arange(n_trees)
    places = graph.cast(leaves, np.int64) + begin
    weights = graph.constant(term.weights, x.dtype)
    found = graph.op("Gather", weights, places, axis=0)
    return graph.sum(found, keepdims=False)


def scaled(graph: Graph, x: Tensor, term: Trees) -> Tensor:
    """Return the scaled rows with their products with the directions, (n, width) of float32."""
    values = graph.cast(x, np.float64)
    if term.bends.any:
        values = bent(graph, values, term.bends, len(term.center))
    own = without_nan(graph, (values - term.center) * term.factor)
    z = graph.cast(graph.op("Clip", own, -FARTHEST, FARTHEST), np.float32)
    number, sides = [], []
    if term.groups.any:
        z = put_together(graph, x, z, term.groups, len(term.center))
    if term.gaps.any:
        z, *found = filled(graph, x, z, term)
        number, sides = found[:1], found[1:]
    if len(term.tables.sources):
        z = looked_up(graph, x, z, term)
    z = graph.beside(z, *number)
    d, count = term.directions.shape
    if count == 0:
        return graph.beside(z, *sides)
    # Not a matrix product, whose order of summation is unknown: sum in the order of the columns.
    each = graph.op("Unsqueeze", z, graph.integers([2])) * term.directions
    sums = graph.op("CumSum", each, graph.integers(1))
    last = graph.columns(sums, d - 1)
    return graph.beside(z, last, *sides)


def bent(graph: Graph, x: Tensor, bends: Bends, d: int) -> Tensor:
    """Return the features, those with heavy tails bent, in float64."""
    own = graph.columns(x, bends.features)
    u = (own - bends.centers) * bends.factors
    size = graph.op("Clip", graph.op("Abs", u), 0.0, FARTHEST_BENT) + 1.0
    exponent = graph.op("Floor", graph.op("Log", size) * (1 / np.log(2)))
    # Rounding may give the wrong exponent next to a power of two; the result is the same there.
    part = size / graph.op("Pow", 2.0, exponent, dtype=np.float64)
    far = part - 1.0 + exponent
    found = graph.op("Sign", u) * far
    found = graph.where(graph.op("IsNaN", u), u, found)
    return in_place(graph, x, found, bends.features, d)


def put_together(graph: Graph, x: Tensor, z: Tensor, groups: Groups, d: int) -> Tensor:
    """Return the scaled features with the orders of groups in place of one-hot columns."""
    n, n_orders = groups.bases.shape
    steps = np.zeros((len(groups.members), n, n_orders))
    steps[np.arange(len(steps)), groups.owners] = groups.steps
    own = graph.columns(x, groups.members)
    on = graph.cast(own, np.float64) > groups.middles
    # If one member is on, the sum of two floats is exact in double, and rounded once.
    sums = graph.cast(on, np.float64) @ steps[:, groups.has]
    found = graph.cast(sums + groups.bases[groups.has].astype(float), np.float32)
    return in_place(graph, z, found, groups.axes, d)


def in_place(graph: Graph, z: Tensor, found: Tensor, columns: Array, d: int) -> Tensor:
    """Write the columns `found` to the given columns of z, of which those >= d are appended."""
    order = np.arange(d + np.count_nonzero(columns >= d))
    order[columns] = d + np.arange(len(columns))
    return graph.columns(graph.beside(z, found), order)


def filled(graph: Graph, x: Tensor, z: Tensor, term: Trees) -> tuple[Tensor, Tensor, Tensor]:
    """Return the scaled features with guesses, the counts of missing values, and the sides."""
    gaps, d = term.gaps, len(term.center)
    own, both = graph.integers(gaps.sources), graph.integers(np.repeat(gaps.sources, 2))
    missing = graph.op("IsNaN", graph.columns(x, own))
    given = graph.cast(graph.columns(z, gaps.givers), np.float64)
    given = graph.op("Clip", given, -FARTHEST_GIVEN, FARTHEST_GIVEN)
    # Products of float32 are exact in double: the sum hardly depends on its order.
    guesses = graph.op("Clip", given @ gaps.guesses.T, -FARTHEST_GIVEN, FARTHEST_GIVEN)
    known = graph.where(missing, graph.cast(guesses, np.float32), graph.columns(z, own))
    aside = graph.op("IsNaN", graph.columns(x, both))
    places = graph.constant(gaps.places.ravel(), np.float32)
    sides = graph.where(aside, places, graph.columns(z, both))
    numbers = graph.cast(graph.cast(missing, np.float64) @ gaps.weights - gaps.means, np.float32)
    return in_place(graph, z, known, gaps.sources, d), numbers, sides


def without_nan(graph: Graph, x: Tensor) -> Tensor:
    """Return x with 0 in place of NaN."""
    return graph.where(graph.op("IsNaN", x), 0.0, x)


def looked_up(graph: Graph, x: Tensor, z: Tensor, term: Trees) -> Tensor:
    """Return the scaled rows with the columns of the tables, (n, n_axes) of float32."""
    tables = term.tables
    sizes = np.diff(tables.starts)
    value = graph.columns(x, tables.sources)
    entry = graph.op("Floor", value + 2.0)
    inside = graph.op("And", value >= 0.0, value < sizes - 2.0)
    nothing = graph.constant(0.0, x.dtype)
    known = graph.cast(graph.where(inside, entry, nothing), np.int64)
    missing = graph.cast(graph.op("IsNaN", value), np.int64)
    places = known + missing + tables.starts[:-1]
    found = graph.op("Gather", graph.constant(tables.entries, np.float32), places, axis=0)
    return in_place(graph, z, found, tables.columns, len(term.center))


def nodes_of(term: Trees) -> dict[str, Any]:
    """Return the attributes of the tree operator; the weight of a leaf is its index in its tree.

    In the numbering of a tree, its leaves follow its nodes.
    """
    sizes = np.diff(term.first)
    nodes, leaves = positions(sizes), positions(sizes + 1)
    trees = np.arange(len(sizes))
    node_trees, leaf_trees = np.repeat(trees, sizes), np.repeat(trees, sizes + 1)
    left, right = children(term, sizes[node_trees], nodes)
    # Runtimes may expect the nodes tree by tree.
    order = np.argsort(np.concatenate([node_trees, leaf_trees]), kind="stable")
    nothing = np.zeros(len(leaves), np.int64)
    lists = {
        "nodes_treeids": (node_trees, leaf_trees),
        "nodes_nodeids": (nodes, sizes[leaf_trees] + leaves),
        "nodes_featureids": (term.features, nothing),
        "nodes_modes": (np.repeat("BRANCH_LEQ", len(nodes)), np.repeat("LEAF", len(leaves))),
        "nodes_values": (term.cuts, nothing),
        "nodes_truenodeids": (left, nothing),
        "nodes_falsenodeids": (right, nothing),
    }
    found = {name: np.concatenate(both)[order].tolist() for name, both in lists.items()}
    return found | {
        "target_treeids": leaf_trees.tolist(),
        "target_nodeids": (sizes[leaf_trees] + leaves).tolist(),
        "target_ids": leaf_trees.tolist(),
        "target_weights": leaves.astype(np.float32).tolist(),
    }


def positions(counts: Array) -> Array:
    """Return 0, 1, ..., count - 1 for each of the counts, concatenated."""
    starts = np.cumsum(counts) - counts
    return np.arange(counts.sum()) - np.repeat(starts, counts)


def children(term: Trees, sizes: Array, nodes: Array) -> tuple[Array, Array]:
    """Return the numbers of the left and the right child of each node, in its tree.

    `sizes`: number of nodes in each node's tree. `nodes`: each node's number in its tree.
    """
    n = len(nodes)
    ends, leaves = (nodes == 0) * sizes, np.zeros(n, np.int64)
    for node, (place, lower) in enumerate(zip(nodes.tolist(), term.left.tolist(), strict=True)):
        behind = node + 1 + lower
        if lower:
            ends[node + 1], leaves[node + 1] = place + 1 + lower, leaves[node]
        if place + 1 + lower < ends[node]:
            ends[behind], leaves[behind] = ends[node], leaves[node] + lower + 1
    behind, first = nodes + 1 + term.left, sizes + leaves
    left = np.where(term.left > 0, nodes + 1, first)
    return left, np.where(behind < ends, behind, first + term.left + 1)
