"""Terms of a kernel forest: its trees, with one weight an output in each leaf."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinekern.core.partitions.scale import fields_of_scale
from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export.learning import described
from onlinekern.fitted.export.states import CannotLearn, ForestState, Numbers
from onlinekern.fitted.export.terms import Bends, Constant, Gaps, Groups, Tables, Terms, Trees
from onlinekern.fitted.state import State, closed

if TYPE_CHECKING:
    from onlinekern.fitted.export.taught import Taught

# What makes a scale, as in `core.partitions.scale`.
SCALE = (
    *("center", "factor", "directions"),
    *("table_sources", "table_columns", "table_starts", "table_entries"),
    *("gap_sources", "gap_givers", "gap_guesses", "gap_places"),
    *("gap_weights", "gap_means"),
    *("group_members", "group_starts", "group_middles", "group_bases", "group_steps"),
    *("bend_features", "bend_centers", "bend_factors"),
)
# Depth of the nodes that are cells beside the leaves: a constant of `core.partitions.trees`.
UPPER_LEVEL = 4
UPPER_CELLS = 2**UPPER_LEVEL


def terms_of_forest(space: Any) -> Terms:
    """Return the trees, whose leaves hold what all experts say, and the mean of the targets."""
    state = space.get_state()
    _, levels, *_ = space.settings
    left, first = state["left"].astype(np.int64), state["first"].astype(np.int64)
    below = left + np.repeat(first[:-1], np.diff(first))
    inner = below != np.arange(len(below))
    each_level = levels_of(below, inner, first)
    cells = state["cells"][:, :, 1:].astype(np.float64)
    upper = upper_of(below, inner, each_level)
    weights = folded(cells, upper, space.expert_weights().ravel(), levels, len(first))
    weights *= state["unit"]
    offset = np.full(weights.shape[1], state["offset"])
    trees = trees_of(state, state["cuts"], state["features"], left, first, weights)
    if isinstance(trees, Constant):
        return (Constant(offset + trees.values),)
    return (trees, Constant(offset)) if np.any(offset) else (trees,)


def trees_of(
    scale: Mapping[str, Any],
    cuts: Array,
    features: Array,
    left: Array,
    first: Array,
    weights: Floats,
) -> Trees | Constant:
    """Return trees whose nodes have these weights (n_nodes, n_outputs), of which leaves count.

    `scale` has the arrays that `SCALE` names; the others are `Forest.arrays`.
    """
    below = left + np.repeat(first[:-1], np.diff(first))
    inner = below != np.arange(len(below))
    if not inner.any():
        return Constant(weights.sum(axis=0))
    sizes, places = preorder(below, inner, first, levels_of(below, inner, first))
    nodes, leaves = in_order(inner, places), in_order(~inner, places)
    center, factor, directions, *rest = [scale[name] for name in SCALE]
    tables, gaps = Tables(*rest[:4]), Gaps(*rest[4:10])
    groups, bends = Groups(*rest[10:15]), Bends(*rest[15:])
    n_axes = len(center) + np.count_nonzero(tables.columns >= len(center))
    n_axes += len(gaps.means) if gaps.any else 0
    return Trees(
        center=center,
        factor=factor,
        directions=np.zeros((n_axes, 0), np.float32) if directions is None else directions,
        tables=tables,
        gaps=gaps,
        groups=groups,
        bends=bends,
        cuts=cuts[nodes],
        features=features[nodes],
        left=sizes[below[nodes]],
        first=np.append(0, np.cumsum(sizes[first[:-1]])),
        weights=weights[leaves],
    )


def in_order(chosen: Array, places: Array) -> Array:
    """Return the numbers of the chosen nodes from left to right."""
    found = np.flatnonzero(chosen)
    return found[np.argsort(places[found])]


def terms_of_cells(partition: Any, weights: Floats) -> Terms:
    """Return the trees of a partition, to whose columns a model gives weights (n_outputs, n)."""
    value = float(partition.dtype.type(1 / np.sqrt(sum(partition.settings[1]))))
    found = []
    for forest, start in zip(partition.forests, partition.reserved(), strict=False):
        cuts, features, left, first = forest.arrays()
        scale = fields_of_scale(forest.scale)
        left, first = left.astype(np.int64), first.astype(np.int64)
        below = left + np.repeat(first[:-1], np.diff(first))
        leaves = np.flatnonzero(below == np.arange(len(left)))
        own = np.zeros((len(left), len(weights)))
        own[leaves] = value * weights[:, start : start + len(leaves)].T
        found.append(trees_of(scale, cuts, features, left, first, own))
    return tuple(found)


def learning_of_forest(space: State) -> tuple[ForestState, Numbers]:
    """Return the trees with all that experts have learnt of their cells."""
    own, state = space.arguments, space.state
    left, first = state.left.astype(np.int64), state.first.astype(np.int64)
    trees = trees_of(vars(state), state.cuts, state.features, left, first, records_of(state, 0))
    if isinstance(trees, Constant):
        raise CannotLearn("its trees have not grown yet: give it 32 samples first")
    n_lower = len(own.noises) * own.levels.count(False)
    nodes = upper_nodes(left + np.repeat(first[:-1], np.diff(first)), first)
    both = records_of(state, n_lower)
    upper = np.where((nodes >= 0)[:, None], both[nodes], 0).astype(np.float32)
    return ForestState(
        trees=trees,
        upper=upper,
        noises=np.tile(own.noises, len(own.levels)),
        errors=state.errors,
        met=state.met,
        weights=closed(space).expert_weights().ravel(),
        n_lower=n_lower,
        n_labels=own.n_labels,
        offset=state.offset,
        unit=state.unit,
        rule=described(own.rule, "rule"),
        second_order=own.rule.second_order,
    ), Numbers(np.zeros((own.n_outputs, 0)), np.zeros((own.n_outputs, 0)))


def taught_forest(space: State, found: Taught) -> State:
    """Return the forest with what experts of a device have learnt of its cells.

    It has kept no samples: the next trees grow from those that came before.
    """
    state, own = space.state, space.arguments
    left, first = state.left.astype(np.int64), state.first.astype(np.int64)
    below = left + np.repeat(first[:-1], np.diff(first))
    inner = below != np.arange(len(below))
    _, places = preorder(below, inner, first, levels_of(below, inner, first))
    values, variances = state.values.copy(), state.variances.copy()
    experts, n_outputs = variances.shape[1], values.shape[2]
    n_lower = len(own.noises) * own.levels.count(False)
    nodes = upper_nodes(below, first)
    kept = nodes >= 0
    width = (experts - n_lower) * (1 + n_outputs)
    upper = found.fields["upper"][: len(nodes) * width].reshape(len(nodes), width)[kept]
    leaves = in_order(~inner, places)
    for where, records, begin in (
        (leaves, found.matrix("leaves", len(leaves)), 0),
        (nodes[kept], upper, n_lower),
    ):
        weights = (experts - begin) * n_outputs
        shape = len(where), experts - begin, n_outputs
        values[where, begin:] = records[:, :weights].reshape(shape)
        variances[where, begin:] = records[:, weights:]
    combination = found.fields["combination"]
    errors = np.tril(combination[experts:-1].reshape(experts, experts))
    more = {"errors": errors, "met": float(combination[-1])} if experts > 1 else {}
    return space.changed(state=state.changed(values=values, variances=variances, **more))


def records_of(state: State, begin: int) -> Array:
    """Return what each node holds for the experts from `begin` on: weights, then variances."""
    values, variances = state.values[:, begin:], state.variances[:, begin:]
    parts = values.reshape(len(values), -1), variances
    return np.concatenate(parts, axis=1).astype(np.float32)


def upper_nodes(below: Array, first: Array) -> Array:
    """Return the nodes of each tree at the upper level, from left to right; -1: it is a leaf, or
    there is none."""
    at = first[:-1, None]
    for _ in range(UPPER_LEVEL):
        inner = (at >= 0) & (below[at] != at)
        children = np.stack([below[at], below[at] + 1], axis=2)
        at = np.where(inner[:, :, None], children, -1).reshape(len(at), -1)
    return np.where((at >= 0) & (below[at] != at), at, -1).ravel()


def levels_of(below: Array, inner: Array, first: Array) -> list[Array]:
    """Return the nodes of all trees at each depth; `below` is the left child of an inner node."""
    found, nodes = [], first[:-1]
    while len(nodes):
        found.append(nodes)
        lower = below[nodes[inner[nodes]]]
        nodes = np.concatenate([lower, lower + 1])
    return found


def upper_of(below: Array, inner: Array, levels: list[Array]) -> Array:
    """Return for each node the one above it, or itself, that is a cell beside the leaves."""
    upper = np.arange(len(below))
    for nodes in levels[UPPER_LEVEL:]:
        parents = nodes[inner[nodes]]
        upper[below[parents]] = upper[below[parents] + 1] = upper[parents]
    return upper


def folded(cells: Floats, upper: Array, each: Floats, levels: Any, n_ends: int) -> Floats:
    """Return the weights (n_nodes, n_outputs) of a row that ends in a node, of all experts.

    `each` has the weight of each expert's score. A node that is its own upper cell counts once.
    """
    n_trees, n_noises = n_ends - 1, len(each) // len(levels)
    both = np.repeat(levels, n_noises)
    factors = each / np.sqrt(np.where(both, 2.0, 1.0) * n_trees)
    own = np.einsum("neo,e->no", cells, factors)
    above = np.einsum("neo,e->no", cells, factors * both)[upper]
    found: Floats = own + np.where((upper != np.arange(len(upper)))[:, None], above, 0)
    return found


def preorder(below: Array, inner: Array, first: Array, levels: list[Array]) -> tuple[Array, Array]:
    """Return the inner nodes of each node's subtree, and a number that orders nodes from left to
    right, parents before their children."""
    sizes = inner.astype(np.int64)
    for nodes in reversed(levels):
        parents = nodes[inner[nodes]]
        sizes[parents] += sizes[below[parents]] + sizes[below[parents] + 1]
    places = np.empty_like(below)
    places[first[:-1]] = first[:-1]
    for nodes in levels:
        parents = nodes[inner[nodes]]
        lower = below[parents]
        # A subtree of n inner nodes has n + 1 leaves.
        places[lower], places[lower + 1] = (
            places[parents] + 1,
            places[parents] + 2 * sizes[lower] + 2,
        )
    return sizes, places
