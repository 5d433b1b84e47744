"""Kernel forests: the weights and a variance for each cell of the trees.

Models that continued from one base have the same trees until the trees are renewed or grow. In this
case, what the cells have learnt is merged as a product of Gaussians (see `gaussians`). Models with
different trees have no cells in common, so a new forest grows from the samples that they have kept.
The same happens if the merged forest is due for a renewal. Many short parts can together reach this
point although no single one has.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from onlinekern.core.learning.second_order_rules import ConfidenceWeighted
from onlinekern.core.models.forest import ForestSpace
from onlinekern.core.partitions.groups import GROUPS as GROUP_FIELDS
from onlinekern.core.partitions.groups import groups_of
from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export.forest import learning_of_forest, taught_forest, terms_of_forest
from onlinekern.fitted.grow import Growth
from onlinekern.fitted.merge.gaussians import merged_gaussians, repeats_of
from onlinekern.fitted.merge.mix import Mix, in_turns, last, of
from onlinekern.fitted.state import State, closed, describe, fields, opened, same

SCALE = "center[feature] factor[feature] directions[axis direction]"
TABLES = "table_sources[table] table_columns[table] table_starts[border] table_entries[entry]"
GAPS = (
    "gap_sources[gap] gap_givers[giver] gap_guesses[gap giver] gap_places[gap side] "
    "gap_weights[gap number] gap_means[sum]"
)
GROUPS = (
    "group_members[member] group_starts[limit] group_middles[member] group_bases[group order] "
    "group_steps[member order] group_rates[member]"
)
BENDS = "bend_features[bend] bend_centers[bend] bend_factors[bend]"
NODES = "cuts[node] features[node] left[node] first[end]"
KEPT = "rows~[sample feature] targets~[sample] weights~[sample]"
# The same value as in the core.
FIRST_RENEWAL = 32
# Two forests that agree in these fields have the same cells, and targets in the same units.
CELLS = (*fields(f"{SCALE} {TABLES} {GAPS} {GROUPS} {BENDS} {NODES}"), "offset", "unit")


def merged_forest(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge the cells of common trees, or let new trees grow."""
    base = base and finished(base)
    own, before = of(parts, base, "state")
    entered = mix.count(*of(own, before, "entered"))
    learnt: dict[str, Any] = kept_samples(mix, own, before, min(entered, parts[0].arguments.memory))
    learnt |= {
        name: mix.mean([getattr(each, name) for each in own]) for name in ("errors", "met", "held")
    }
    metrics = [each.metric for each in own]
    due = is_due(own, entered, len(learnt["targets"]))
    learnt |= {"renewed": entered, "n_grown": 0}
    if not due and all(same_cells(own[0], each) for each in own[1:]):
        learnt |= {
            "metric": mix.mean(metrics),
            **common_cells(mix, own, before, parts[0].arguments),
        }
        if not any(each.renewed for each in own):
            learnt["renewed"] = 0  # There are neither trees nor units of targets yet.
    else:
        d = parts[0].arguments.d
        metric = mix.mean([metric_of_features(each, d) for each in own])
        learnt |= new_cells(parts[0], {**learnt, "metric": metric})
    return parts[0].with_learnt(state=own[0].with_learnt(**{**learnt, "entered": entered}))


def metric_of_features(state: State, d: int) -> Floats:
    """Return the metric of the features alone.

    Axes of further columns and of orders may have different meanings in each model.
    """
    groups = groups_of(*[getattr(state, name) for name in GROUP_FIELDS], d)
    metric: Floats = state.metric[:d]
    return metric if groups is None else groups.as_members(metric)


def finished(base: State) -> State:
    """Return the base after its pending renewal, which all models have done in the same way."""
    space = closed(base)
    space.finish_renewal()
    return opened(space)


def is_due(own: list[State], entered: int, n_kept: int) -> bool:
    """Return whether a single stream of all samples would have renewed the forest by now.

    Only then, and if all samples are still kept, the merged forest is renewed. A renewal is due
    when the number of samples has reached the next power of two since the last finished renewal
    began.
    """
    reached = entered.bit_length() > max(each.renewed for each in own).bit_length()
    return reached and n_kept == entered >= FIRST_RENEWAL


def same_cells(one: State, other: State) -> bool:
    """Return whether two forests have the same cells."""
    return all(same(getattr(one, name), getattr(other, name)) for name in CELLS)


def kept_samples(mix: Mix, own: list[State], before: State | None, most: int) -> dict[str, Array]:
    """Return the samples that the merged model keeps: the last ones of each model, by its share.

    The base's samples come first, as far as there is room. The samples of the models are
    interleaved, as if they had come in one stream. The weight of a model multiplies the weights of
    its samples.
    """
    known = before.entered if before else 0
    fresh = [min(each.entered - known, len(each.targets)) for each in own]
    counts = mix.numbers_of_latest(fresh, most)
    order = in_turns(counts)
    found = {}
    for name in ("rows", "targets", "weights"):
        lasts = [last(getattr(each, name), n) for each, n in zip(own, counts, strict=True)]
        if name == "weights":
            lasts = [one * weight for one, weight in zip(lasts, mix.weights, strict=True)]
        old = [last(getattr(before, name), most - len(order))] if before else []
        found[name] = np.concatenate([*old, np.concatenate(lasts)[order]])
    return found


def common_cells(
    mix: Mix, own: list[State], before: State | None, arguments: State
) -> dict[str, Any]:
    """Return the common trees with the product of what the models' cells have learnt.

    If the base has the same trees, all models contain what its cells have learnt, and it counts
    once. Under a first-order rule, the weights are averaged, as in linear models.
    """
    inside = [before] if before is not None and same_cells(before, own[0]) else []
    numbers = [numbers_of(each) for each in [*own, *inside]]
    means, variances = map(list, zip(*numbers, strict=True))
    old, prior = (means.pop(), variances.pop()) if inside else (0 * means[0], None)
    if prior is None and arguments.exact_variances:
        prior = first_variances(own[0], np.max(variances, axis=0), arguments)
    if arguments.rule.second_order:
        mix = replace(mix, adds=not isinstance(arguments.rule, ConfidenceWeighted))
        repeats = repeats_of(arguments.n_trees)
        mean, variance = merged_gaussians(mix, means, variances, old, prior, repeats)
        seen = seen_cells(own[0], arguments).reshape(1, -1)
        mean, variance = np.where(seen, mean, 0.0), np.where(seen, variance, 0.0)
    else:
        mean, variance = mix.mean(means), variances[0]
    first = own[0]
    return {
        **{name: getattr(first, name) for name in (*CELLS, "importances")},
        "variances": variance.reshape(first.variances.shape).astype(np.float32),
        "values": mean.T.reshape(first.values.shape).astype(np.float32),
    }


def seen_cells(state: State, arguments: State) -> Array:
    """Return whether each expert sees the tree of each node; cells of other trees stay 0.

    A variance of 0 is not a sign of such cells: in cells that learn heavy samples it may round to
    0.
    """
    seen = np.array(arguments.n_seen or (arguments.n_trees,) * state.variances.shape[1])
    trees = np.repeat(np.arange(arguments.n_trees), np.diff(state.first))
    return trees[:, None] < seen


def first_variances(state: State, most: Floats, arguments: State) -> Floats:
    """Return the variances that the cells began with, (1, n), given the largest ones of all models.

    Variances never grow. So a tree is an exact one if no leaf has a larger variance than leaves of
    exact trees begin with. Nodes that are no cells get the variance 1.
    """
    ends, exact = state.first, np.float32(arguments.exact_variances).astype(np.float64)
    found = most.reshape(state.variances.shape)
    places = np.arange(len(state.left)) - np.repeat(ends[:-1], np.diff(ends))
    leaves = np.where((state.left == places)[:, None], found, 0.0)
    largest = np.maximum.reduceat(leaves, ends[:-1], axis=0)
    begun = np.where((largest <= exact).all(axis=1, keepdims=True), exact, 1.0)
    first: Floats = np.maximum(np.repeat(begun, np.diff(ends), axis=0), found)
    return first.reshape(1, -1)


def numbers_of(state: State) -> tuple[Floats, Floats]:
    """Return weights (n_outputs, n) and variances (1, n) of all cells and experts."""
    values = state.values.astype(np.float64)
    return values.reshape(-1, values.shape[2]).T, state.variances.astype(np.float64).reshape(1, -1)


def new_cells(part: State, kept: dict[str, Any]) -> dict[str, Any]:
    """Return a new forest that has grown from these samples and has learnt them."""
    space = ForestSpace(*vars(part.arguments).values())
    entered = len(kept["targets"])
    space.set_state({**space.get_state(), **kept, "entered": entered, "renewed": entered})
    space.renew()
    fresh = vars(opened(space).state)
    return {name: value for name, value in fresh.items() if name == "metric" or name not in kept}


def begin(space: State, old: State, growth: Growth) -> None:
    """Renumber the classes of the kept samples; the weights of new classes are 0."""
    numbers = growth.class_numbers(old.arguments.n_outputs, old.arguments.n_labels)
    space.arguments = space.arguments.changed(n_labels=growth.n_outputs)
    space.state = space.state.changed(targets=numbers[old.state.targets.astype(np.intp)])


def read(stored: dict[str, Any]) -> dict[str, Any]:
    """Split the records of the cells into variances and weights."""
    state = dict(stored["state"])
    cells = state.pop("cells")
    return {**stored, "state": {**state, "variances": cells[:, :, 0], "values": cells[:, :, 1:]}}


def write(named: dict[str, Any]) -> dict[str, Any]:
    state = dict(named["state"])
    records = [state.pop("variances")[:, :, None], state.pop("values")]
    # Weights become float64 when growing changes their outputs.
    cells = np.concatenate(records, axis=2).astype(np.float32)
    return {**named, "state": {**state, "cells": cells}}


describe(
    "models.forest.ForestSpace",
    "arguments(d= dtype= n_outputs# n_labels= rule= noises= levels= n_trees= most_in_leaf= "
    "n_candidates= share= most_rows= memory= replays= spread= early= anew= seed= categories= "
    "n_exact= exact_from= is_light= cut_weights= exact_share= n_seen= exact_variances= holds=) "
    f"state(entered~ renewed~ n_grown~ {KEPT} errors[expert other] met held[target figure] {SCALE} "
    f"{TABLES} {GAPS} {GROUPS} {BENDS} {NODES} variances~[node expert] "
    "values[node expert output] metric~[axis] importances~[feature] offset unit)",
    read=read,
    write=write,
    merge=merged_forest,
    begin=begin,
    terms=terms_of_forest,
    learning=learning_of_forest,
    taught=taught_forest,
)
