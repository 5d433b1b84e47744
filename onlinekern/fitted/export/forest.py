"""Terms of a kernel forest: its trees, with a weight for each output in each leaf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np

from onlinekern.core.partitions.scale import fields_of_scale
from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export.states import CannotLearn, ForestState, Numbers, described
from onlinekern.fitted.export.taught import Taught
from onlinekern.fitted.export.terms import Bends, Constant, Gaps, Groups, Tables, Terms, Trees
from onlinekern.fitted.state import State, closed

# Depth of the nodes that are cells besides the leaves, as in `core.partitions.trees`.
UPPER_LEVEL = 4
UPPER_CELLS = 2**UPPER_LEVEL


class Nodes:
    """The nodes of all trees, tree by tree; tree t begins at ``first[t]``, as in `Forest.arrays`.

    `below` is the left child of an inner node; the right child follows it. For a leaf it is the
    leaf.
    """

    def __init__(self, left: Array, first: Array) -> None:
        self.first = first.astype(np.int64)
        self.below = left.astype(np.int64) + np.repeat(self.first[:-1], np.diff(self.first))
        self.inner = self.below != np.arange(len(self.below))

    def __len__(self) -> int:
        return len(self.below)

    @cached_property
    def levels(self) -> list[tuple[Array, Array]]:
        """The inner nodes at each depth of all trees, with their left children."""
        found, nodes = [], self.first[:-1]
        while len(nodes):
            parents = nodes[self.inner[nodes]]
            lower = self.below[parents]
            found.append((parents, lower))
            nodes = np.concatenate([lower, lower + 1])
        return found

    @cached_property
    def sizes(self) -> Array:
        """The number of inner nodes in each node's subtree."""
        sizes = self.inner.astype(np.int64)
        for parents, lower in reversed(self.levels):
            sizes[parents] += sizes[lower] + sizes[lower + 1]
        return sizes

    @cached_property
    def places(self) -> Array:
        """A number that orders nodes from left to right, with parents before their children."""
        places = np.empty_like(self.below)
        places[self.first[:-1]] = self.first[:-1]
        for parents, lower in self.levels:
            places[lower] = places[parents] + 1
            # A subtree of n inner nodes has n + 1 leaves.
            places[lower + 1] = places[parents] + 2 * self.sizes[lower] + 2
        return places

    def in_order(self, chosen: Array) -> Array:
        """Return the numbers of the chosen nodes from left to right."""
        found = np.flatnonzero(chosen)
        return found[np.argsort(self.places[found])]

    def upper_of_each(self) -> Array:
        """Return for each node its ancestor at the upper level, or itself if not below it."""
        upper = np.arange(len(self))
        for parents, lower in self.levels[UPPER_LEVEL:]:
            upper[lower] = upper[lower + 1] = upper[parents]
        return upper

    def upper(self) -> Array:
        """Return the nodes of each tree at the upper level, from left to right; -1: it is a leaf,
        or there is none."""
        at = self.first[:-1, None]
        for _ in range(UPPER_LEVEL):
            below = self.below[at]
            children = np.stack([below, below + 1], axis=2)
            at = np.where(self._are_inner(at)[:, :, None], children, -1).reshape(len(at), -1)
        return np.where(self._are_inner(at), at, -1).ravel()

    def _are_inner(self, nodes: Array) -> Array:
        return (nodes >= 0) & self.inner[nodes]


def terms_of_forest(space: Any) -> Terms:
    """Return the trees, with the experts' combined scores in the leaves, and the mean target."""
    state = space.get_state()
    _, levels, n_trees, *_ = space.settings
    nodes = Nodes(state["left"], state["first"])
    cells = state["cells"][:, :, 1:].astype(np.float64)
    seen = cells_seen(levels, n_trees, space.n_seen, cells.shape[1])
    factors = space.expert_weights().ravel() / np.sqrt(seen)
    weights = folded(cells, nodes, factors, seen_both(levels, cells.shape[1]))
    weights *= state["unit"]
    offset = np.full(weights.shape[1], state["offset"])
    trees = trees_of(state, state["cuts"], state["features"], nodes, weights)
    if isinstance(trees, Constant):
        return (Constant(offset + trees.values),)
    return (trees, Constant(offset)) if np.any(offset) else (trees,)


def trees_of(
    scale: Mapping[str, Any], cuts: Array, features: Array, nodes: Nodes, weights: Floats
) -> Trees | Constant:
    """Return trees with these node weights (n_nodes, n_outputs); only those of leaves are used.

    `scale` has the fields of a scale (`fields_of_scale`); `cuts` and `features` belong to nodes.
    """
    if not nodes.inner.any():
        return Constant(weights.sum(axis=0))
    inner = nodes.in_order(nodes.inner)
    center, directions = scale["center"], scale["directions"]
    tables, gaps = part_of(Tables, "table", scale), part_of(Gaps, "gap", scale)
    n_axes = len(center) + np.count_nonzero(tables.columns >= len(center))
    n_axes += len(gaps.means) if gaps.any else 0
    return Trees(
        center=center,
        factor=scale["factor"],
        directions=np.zeros((n_axes, 0), np.float32) if directions is None else directions,
        tables=tables,
        gaps=gaps,
        groups=part_of(Groups, "group", scale),
        bends=part_of(Bends, "bend", scale),
        cuts=cuts[inner],
        features=features[inner],
        left=nodes.sizes[nodes.below[inner]],
        first=np.append(0, np.cumsum(nodes.sizes[nodes.first[:-1]])),
        weights=weights[nodes.in_order(~nodes.inner)],
    )


def part_of(kind: Any, name: str, scale: Mapping[str, Any]) -> Any:
    """Return a part of the scale. The names of its fields begin with the name of the part."""
    return kind(*[scale[f"{name}_{field.name}"] for field in fields(kind)])


def terms_of_cells(partition: Any, weights: Floats) -> Terms:
    """Return the trees of a partition, given a model's weights (n_outputs, n) for its columns."""
    value = float(partition.dtype.type(1 / np.sqrt(sum(partition.settings[1]))))
    found = []
    for forest, start in zip(partition.forests, partition.reserved(), strict=False):
        cuts, features, left, first = forest.arrays()
        nodes = Nodes(left, first)
        leaves = np.flatnonzero(~nodes.inner)
        own = np.zeros((len(nodes), len(weights)))
        own[leaves] = value * weights[:, start : start + len(leaves)].T
        found.append(trees_of(fields_of_scale(forest.scale), cuts, features, nodes, own))
    return tuple(found)


def learning_of_forest(space: State) -> tuple[ForestState, Numbers]:
    """Return the trees with the weights and variances of all experts in their cells."""
    own, state = space.arguments, space.state
    nodes = Nodes(state.left, state.first)
    trees = trees_of(vars(state), state.cuts, state.features, nodes, records_of(state, 0))
    if isinstance(trees, Constant):
        raise CannotLearn("its trees have not grown yet: give it 32 samples first")
    n_lower = len(own.noises) * own.levels.count(False)
    places, both = nodes.upper(), records_of(state, n_lower)
    upper = np.where((places >= 0)[:, None], both[places], 0).astype(np.float32)
    return ForestState(
        trees=trees,
        upper=upper,
        noises=np.tile(own.noises, len(own.levels)),
        shares=1 / np.sqrt(cells_seen(own.levels, own.n_trees, own.n_seen, len(state.errors))),
        errors=state.errors,
        met=state.met,
        weights=closed(space).expert_weights().ravel(),
        held=state.held,
        n_lower=n_lower,
        n_labels=own.n_labels,
        offset=state.offset,
        unit=state.unit,
        rule=described(own.rule, "rule"),
        second_order=own.rule.second_order,
    ), Numbers(np.zeros((own.n_outputs, 0)), np.zeros((own.n_outputs, 0)))


def taught_forest(space: State, found: Taught) -> State:
    """Return the forest with the cells that its experts have learnt on a device.

    The device has kept no samples, so the next trees grow from the samples before the export.
    """
    state, own = space.state, space.arguments
    nodes = Nodes(state.left, state.first)
    values, variances = state.values.copy(), state.variances.copy()
    experts, n_outputs = variances.shape[1], values.shape[2]
    n_lower = len(own.noises) * own.levels.count(False)
    places = nodes.upper()
    kept = places >= 0
    width = (experts - n_lower) * (1 + n_outputs)
    upper = found.fields["upper"][: len(places) * width].reshape(len(places), width)[kept]
    leaves = nodes.in_order(~nodes.inner)
    for where, records, begin in (
        (leaves, found.matrix("leaves", len(leaves)), 0),
        (places[kept], upper, n_lower),
    ):
        weights = (experts - begin) * n_outputs
        shape = len(where), experts - begin, n_outputs
        values[where, begin:] = records[:, :weights].reshape(shape)
        variances[where, begin:] = records[:, weights:]
    combination = found.fields["combination"]
    errors = np.tril(combination[experts:-1].reshape(experts, experts))
    more = {"errors": errors, "met": float(combination[-1])} if experts > 1 else {}
    if len(state.held):
        more["held"] = found.matrix("held", len(state.held)).copy()
    return space.changed(state=state.changed(values=values, variances=variances, **more))


def records_of(state: State, begin: int) -> Array:
    """Return each node's record for the experts from `begin` on: weights, then variances."""
    values, variances = state.values[:, begin:], state.variances[:, begin:]
    parts = values.reshape(len(values), -1), variances
    return np.concatenate(parts, axis=1).astype(np.float32)


def seen_both(levels: Any, n_experts: int) -> Array:
    """Return which experts see the upper cells besides the leaves."""
    return np.repeat(levels, n_experts // len(levels))


def cells_seen(levels: Any, n_trees: int, n_seen: Any, n_experts: int) -> Floats:
    """Return how many cells of a row each expert sees."""
    trees = n_seen or (n_trees,) * n_experts
    return np.where(seen_both(levels, n_experts), 2.0, 1.0) * np.array(trees)


def folded(cells: Floats, nodes: Nodes, factors: Floats, both: Array) -> Floats:
    """Return weights (n_nodes, n_outputs): the experts' scores of rows that end in each node.

    `factors` are the weights of the experts' cells; `both` says which experts see the upper cells.
    A node that is its own upper cell counts once.
    """
    own = np.einsum("neo,e->no", cells, factors)
    upper = nodes.upper_of_each()
    above = np.einsum("neo,e->no", cells, factors * both)[upper]
    return own + np.where((upper != np.arange(len(nodes)))[:, None], above, 0)
