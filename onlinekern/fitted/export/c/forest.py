"""Trees in C: a table of nodes, and one of the weights of the leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.fitted.export.c.fields import literal_of
from onlinekern.fitted.export.c.forms import Forms, Size
from onlinekern.fitted.export.c.rules import write_rule
from onlinekern.fitted.export.c.source import Source
from onlinekern.fitted.export.forest import UPPER_CELLS, UPPER_LEVEL
from onlinekern.fitted.export.states import Described, ForestState, Learning
from onlinekern.fitted.export.terms import (
    FARTHEST,
    FARTHEST_BENT,
    FARTHEST_GIVEN,
    Bends,
    Groups,
    Tables,
    Trees,
)

TABLE = "typedef struct {{ int32_t source, column, first, size; }} {}_table;\n"
TABLE_BYTES = 16
NODE = "typedef struct {{ float cut; uint16_t feature, left; }} {}_node;\n"
NODE_BYTES = 8
# The values are those of `core.models.cell_experts` and `core.learning.combination`.
COMBINATION = {"keep": 0.999, "most_error": 2, "most_weight": 1e30, "prior": 10}
LEAST_ERROR = 1
# The values are those of `core.learning.held_targets`.
HELD = {"longest": 10, "far": 5, "explained": 0.6, "trusted": 4, "fewest": 50,
        "window": 200, "kept": 0.99, "kept_squares": 0.99 * 0.99, "most_said": 1e6,
        "farthest": 1e30}  # fmt: skip
NUMBERS_HELD = 5
MOST_STEP = 1e30


def write_trees(source: Source, id_: str, term: Trees) -> None:
    write_walk(source, id_, term)
    source.constants(f"{id_}_weights", term.weights)
    trees, outputs = len(term.first) - 1, term.weights.shape[1]
    source.fill("trees", id=id_, trees=trees, outputs=outputs)


def write_walk(source: Source, id_: str, term: Trees) -> None:
    """Write the nodes, and the function that scales a row."""
    axes, directions = term.directions.shape
    source.memory(f"{id_}_z", axes + directions + term.gaps.places.size, "float")
    source.exact(id_, center=term.center, factor=term.factor)
    more = [bend_columns(source, id_, term.bends)] if term.bends.any else []
    more += [group_columns(source, id_, term.groups)] if term.groups.any else []
    more += [gap_columns(source, id_, term)] if term.gaps.any else []
    more += [table_columns(source, id_, term.tables)] if len(term.tables.sources) else []
    if directions:
        source.exact(id_, directions=term.directions)
        sizes = {"axes": axes, "directions": directions}
        more.append(source.filled("row_products", id=id_, **sizes).rstrip())
    write_nodes(source, id_, term)
    row = {"features": len(term.center), "farthest": FARTHEST, "more": "\n".join(more)}
    source.fill("scaled_row", id=id_, **row)


def bend_columns(source: Source, id_: str, bends: Bends) -> str:
    """Write the tables of bent features; return the lines that bend them."""
    source.integers(f"{id_}_bent", bends.features, "int32_t", 4)
    source.exact(id_, bend_centers=bends.centers, bend_factors=bends.factors)
    sizes = {"bends": len(bends.features), "most": FARTHEST_BENT, "farthest": FARTHEST}
    return source.filled("bend_columns", id=id_, **sizes).rstrip()


def group_columns(source: Source, id_: str, groups: Groups) -> str:
    """Write groups of one-hot columns; return the lines that compute their orders."""
    source.integers(f"{id_}_members", groups.members, "int32_t", 4)
    source.integers(f"{id_}_starts", groups.starts, "int32_t", 4)
    source.exact(id_, middles=groups.middles, bases=groups.bases, onsets=groups.steps)
    sizes = dict(zip(("groups", "orders"), groups.bases.shape, strict=True))
    return source.filled("group_columns", id=id_, **sizes).rstrip()


def gap_columns(source: Source, id_: str, term: Trees) -> str:
    """Write the tables of features with gaps; return the lines that fill the gaps."""
    gaps, (axes, directions) = term.gaps, term.directions.shape
    source.integers(f"{id_}_sources", gaps.sources, "uint16_t", 2)
    source.integers(f"{id_}_givers", gaps.givers, "uint16_t", 2)
    source.exact(id_, guesses=gaps.guesses, places=gaps.places)
    source.exact(id_, missed=gaps.weights, means=gaps.means)
    sizes = {"gaps": len(gaps.sources), "givers": len(gaps.givers), "most": int(FARTHEST_GIVEN)}
    columns = {"number": axes - len(gaps.means), "sides": axes + directions}
    return source.filled("gap_columns", id=id_, **sizes, **columns).rstrip()


def table_columns(source: Source, id_: str, tables: Tables) -> str:
    """Write the lookup tables; return the lines that use them."""
    ends = zip(tables.starts[:-1].tolist(), np.diff(tables.starts).tolist(), strict=True)
    columns = zip(tables.sources.tolist(), tables.columns.tolist(), ends, strict=True)
    source.tables.append(TABLE.format(id_))
    records = [f"{{{own}, {column}, {first}, {size}}}" for own, column, (first, size) in columns]
    source.records(f"{id_}_tables", f"{id_}_table", TABLE_BYTES, records)
    source.exact(id_, entries=tables.entries)
    return source.filled("table_columns", id=id_, tables=len(records)).rstrip()


def write_nodes(source: Source, id_: str, term: Trees) -> None:
    """Write the nodes, with cuts as float in a file of any number type, as in Python."""
    cuts = (literal_of(cut, np.float32) for cut in term.cuts.tolist())
    numbers = zip(cuts, term.features.tolist(), term.left.tolist(), strict=True)
    source.tables.append(NODE.format(id_))
    nodes = [f"{{{cut}, {feature}, {left}}}" for cut, feature, left in numbers]
    source.records(f"{id_}_nodes", f"{id_}_node", NODE_BYTES, nodes)
    source.integers(f"{id_}_sizes", np.diff(term.first), "uint16_t", 2)


class ForestWriter(Forms):
    """Writer of a forest whose experts go on learning, while the trees stay the same."""

    def __init__(self, source: Source, learning: Learning, state: ForestState) -> None:
        self.state = state
        outputs = learning.numbers.values.shape[0]
        features, length = len(state.trees.center), state.trees.weights.shape[1]
        super().__init__(source, learning, Size(outputs, features, length), False)

    def write(self) -> None:
        """Write all functions that learn, except those declared in the header."""
        state, outputs = self.state, self.size.outputs
        experts, trees = len(state.noises), len(state.trees.first) - 1
        self.write_state(experts, trees)
        both = (experts - state.n_lower) * (1 + outputs)
        values = {
            "trees": trees,
            "experts": experts,
            "most_experts": experts,
            "lower": state.n_lower,
            "both": both,
            "sums": f"    real sums[{self.size.length}], above[{both + 1}];",
            "level": UPPER_LEVEL,
            "cells": UPPER_CELLS,
            **self.units(),
        }
        self.fill("forest_cells", **values)
        self.fill("forest_scores", **values)
        self.fill("forest_body", **values)
        self.write_rule(state.rule)
        self.write_goal()
        values |= {"numbers": experts * (experts + 1) + 1, "most_step": self.number(MOST_STEP)}
        values["combine"] = "    memcpy(fresh, combination, sizeof(combination));"
        if experts > 1:
            values["combine"] = "    combine(y, weight, fresh);"
            given = {name: self.number(value) for name, value in COMBINATION.items()}
            given["least_error"] = self.number(LEAST_ERROR if self.state.n_labels > 0 else 0)
            self.fill("forest_combination", clipped=self.clipped(), **given, **values)
        self.fill("forest_learn", **values, **self.hold(values))

    def write_state(self, experts: int, trees: int) -> None:
        """Write the trees, the state, and the working memory."""
        source, state, outputs = self.source, self.state, self.size.outputs
        write_walk(source, "trees", state.trees)
        source.changing("leaves", state.trees.weights)
        source.changing("upper", state.upper)
        source.state("combination", np.r_[state.weights, state.errors.ravel(), state.met])
        source.counter("seen", self.learning.seen)
        source.constants("noises", state.noises)
        source.constants("expert_shares", state.shares)
        if self.several:
            source.constants("offsets", state.offset)
            source.constants("units", state.unit)
        for name in ("leaf_of", "upper_of"):
            source.memory(name, trees, "int32_t")
        for name, count in (("scored", experts * outputs), ("expert_steps", experts * outputs),
                            ("expert_variances", experts), ("falls", experts)):  # fmt: skip
            source.memory(name, count)

    def write_rule(self, rule: Described) -> None:
        """Write the loss and the rule of the experts."""
        self.write_loss(rule.arguments["loss"])
        if "schedule" in rule.arguments:
            self.part("schedule", rule.arguments["schedule"])
        write_rule(self, rule, self.state.second_order)
        if not self.state.second_order:
            self.fill("no_contraction")

    def hold(self, values: dict[str, Any]) -> dict[str, str]:
        """Return the lines that replace outlying targets, or keep all; classes have none."""
        if self.state.n_labels:
            return {"hold": "", "known": ""}
        source, outputs = self.source, self.size.outputs
        source.memory("aims", outputs)
        given = "targets[k]" if self.several else "y"
        if not len(self.state.held):
            lines = f"    for (int32_t k = 0; k < {outputs}; k++)\n        aims[k] = {given};"
            return {"hold": lines, "known": ""}
        source.state("held", self.state.held)
        source.memory("held_next", NUMBERS_HELD * outputs)
        self.fill("forest_held", **{k: self.number(v) for k, v in HELD.items()}, **values)
        return {
            "hold": "    memcpy(held_next, held, sizeof held_next);\n"
            f"    for (int32_t k = 0; k < {outputs}; k++)\n"
            f"        aims[k] = hold(k, {given}, held_next + {NUMBERS_HELD} * k);",
            "known": "    memcpy(held, held_next, sizeof held_next);",
        }

    @property
    def several(self) -> bool:
        """Whether a sample has several targets."""
        return self.state.n_labels == 0 and self.size.outputs > 1

    def units(self) -> dict[str, str]:
        """Return mean and deviation of the target of output k."""
        offset, unit = self.state.offset, self.state.unit
        if self.several:
            return {"offset": "offsets[k]", "unit": "units[k]"}
        return {"offset": self.number(float(offset)), "unit": self.number(float(unit))}

    def write_goal(self) -> None:
        """Write the function that returns the target of an output."""
        state, units = self.state, self.units()
        goal = "(aims[k] - {offset}) / {unit}".format(**units)
        if self.several:
            self.source.scratch["targets"] = f"const {self.source.public('real')} *targets;"
        if state.n_labels:
            goal = "k == (int32_t)y ? 1 : -1" if self.size.outputs > 1 else "y > 0 ? 1 : -1"
        self.fill("forest_goal", goal=goal)

    def clipped(self) -> str:
        """Return the line that clips the score of a classifier to [-1, 1]."""
        if self.state.n_labels == 0:
            return ""
        return "            f = f > 1 ? 1 : f < -1 ? -1 : f;"
