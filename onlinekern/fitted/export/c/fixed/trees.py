"""Trees in fixed point: nodes with whole-number cuts, and the row that the trees take.

Each column of this row has the value start + step q in units of the trees, where q is a whole
number. The columns are features, orders of one-hot columns in the place of these, two sums over
missing values, products with directions, and two columns for each feature with gaps, which are in
units of this feature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export import terms
from onlinekern.fitted.export.c.fixed.rows import LARGEST, ROOM, Given, Row
from onlinekern.fitted.export.c.fixed.source import FixedSource, bits_within, rounded

NODE = "typedef struct {{ int16_t cut; uint16_t feature, left; }} {}_node;\n"
NODE_BYTES = 6
# Largest weight of a guess: its product with a difference of two features is below 2^31.
MOST_GUESS, MOST_MOVE = 16383, 40
# Fractional bits of the distances from which bent features are computed.
MOST_BEND_BITS = 30


@dataclass(frozen=True, eq=False)
class Axes:
    """Values of the numbers 0 and 1 in each column of features and of sums over missing values."""

    start: Floats
    step: Floats


def write_trees(source: FixedSource, id_: str, term: terms.Trees, given: Given) -> None:
    weights = given.units * term.weights
    trees, outputs = len(term.first) - 1, weights.shape[1]
    # The sum of this many leaves stays below 2^31.
    bits = bits_within(weights, min(LARGEST, (2.0**31 - 1) // trees))
    row, cuts = write_row(source, id_, term, given)
    numbers = zip(cuts.tolist(), term.features.tolist(), term.left.tolist(), strict=True)
    source.tables.append(NODE.format(id_))
    nodes = [f"{{{int(cut)}, {feature}, {left}}}" for cut, feature, left in numbers]
    source.records(f"{id_}_nodes", f"{id_}_node", NODE_BYTES, nodes)
    source.whole(f"{id_}_sizes", np.diff(term.first), "uint16_t")
    source.whole(f"{id_}_weights", rounded(weights, bits), "int16_t")
    moved = source.moved("sums[k]", bits)
    source.fill("fixed_trees", id=id_, row=row, trees=trees, outputs=outputs, moved=moved)


def write_row(source: FixedSource, id_: str, term: terms.Trees, given: Given) -> tuple[str, Floats]:
    """Write the code for the row that trees take; return its name, and the cuts of all nodes."""
    row, name, gaps, (n_axes, n_products) = given.row, "x", term.gaps, term.directions.shape
    if term.bends.any:
        row, name = write_bends(source, id_, term, row), f"{id_}_bend(x)"
    axes = Axes(term.factor * (row.offset - term.center), term.factor * row.step)
    cuts = feature_cuts(term, row)
    if term.groups.any:
        axes = write_groups(source, id_, term, row, axes)
        orders = Axes(axes.start, np.where(axes.step > 0, axes.step, 1.0))
        own = in_groups(term)[term.features]
        name, cuts = f"{id_}_orders({name})", np.where(own, axis_cuts(term, orders, 0, cuts), cuts)
    if gaps.any:
        sums = write_gaps(source, id_, term, row, axes)
        name, cuts = f"{id_}_filled({name})", axis_cuts(term, sums, len(term.center), cuts)
        axes = Axes(np.append(axes.start, sums.start), np.append(axes.step, sums.step))
    if n_products:
        begin = f"    memcpy({id_}_z, {name}, {n_axes} * sizeof(int16_t));"
        begin = f"    {name};" if gaps.any else begin
        products = write_directions(source, id_, term, given, axes, begin)
        name, cuts = f"{id_}_products(x)", axis_cuts(term, products, n_axes, cuts)
    if gaps.any or n_products:
        source.memory(f"{id_}_z", n_axes + n_products + gaps.places.size)
    return name, np.clip(cuts, -LARGEST - 1, LARGEST)


def write_bends(source: FixedSource, id_: str, term: terms.Trees, row: Row) -> Row:
    """Write the function `<id>_bend`; return the row of features after some are bent."""
    features, factors = term.bends.features, term.bends.factors
    slopes = row.step[features] * factors
    starts = (row.offset[features] - term.bends.centers) * factors
    most = 1 + (LARGEST + 1) * np.abs(slopes) + np.abs(starts)
    # Distances have this many fractional bits, so that they stay below 2^60.
    bits = np.clip(np.floor(60 - np.log2(most)), 0, MOST_BEND_BITS)
    shifts = np.maximum(np.ceil(np.log2(np.log2(most) / ROOM) + bits), 0)
    for name, values, kind in (
        ("bent", features, "uint16_t"),
        ("slopes", np.rint(np.ldexp(slopes, bits.astype(int))), "int64_t"),
        ("distances", np.rint(np.ldexp(starts, bits.astype(int))), "int64_t"),
        ("fractions", bits, "int8_t"),
        ("drops", shifts, "int8_t"),
    ):
        source.whole(f"{id_}_{name}", values, kind)
    source.memory(f"{id_}_bent_row", len(term.center))
    missing = "" if not term.gaps.any else "        if (x[j] == INT16_MIN)\n            continue;\n"
    sizes = {"features": len(term.center), "bends": len(features), "missing": missing}
    source.fill("fixed_bends", id=id_, **sizes)
    offset, step = row.offset.copy(), row.step.copy()
    offset[features], step[features] = 0, np.exp2(shifts - bits)
    return replace(row, offset=offset, step=step)


def feature_cuts(term: terms.Trees, row: Row) -> Floats:
    """Return the cuts of nodes that compare a feature, as whole numbers of this feature.

    A whole number is right of the whole-number cut exactly if its value is right of the cut.
    """
    sides = term.features - sum(term.directions.shape)
    own = np.append(term.gaps.sources, 0)[np.maximum(sides, 0) // 2]
    j = np.where(sides < 0, np.minimum(term.features, len(term.center) - 1), own)
    values = on_feature(term, row, term.cuts.astype(np.float64), j)
    # A feature without spread is scaled to 0.
    values = np.where(term.factor[j] > 0, values, np.where(term.cuts >= 0, np.inf, -np.inf))
    return np.floor(np.clip(values, -LARGEST - 1, LARGEST))


def on_feature(term: terms.Trees, row: Row, values: Floats, j: Array) -> Floats:
    """Convert numbers in units of the trees to numbers of features j."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = (values / term.factor[j] + term.center[j] - row.offset[j]) / row.step[j]
    return found


def axis_cuts(term: terms.Trees, axes: Axes, first: int, cuts: Floats) -> Floats:
    """Return all cuts, with those of axes from `first` on converted to whole numbers."""
    own = term.features - first
    m = np.clip(own, 0, len(axes.start) - 1)
    whole = np.floor((term.cuts - axes.start[m]) / axes.step[m])
    return np.where((own >= 0) & (own < len(axes.start)), whole, cuts)


def in_groups(term: terms.Trees) -> Array:
    """Return which columns of the row are orders of one-hot columns."""
    found = np.zeros(sum(term.directions.shape) + term.gaps.places.size, bool)
    if term.groups.any:
        found[term.groups.axes] = True
    return found


def write_groups(source: FixedSource, id_: str, term: terms.Trees, row: Row, axes: Axes) -> Axes:
    """Write the function `<id>_orders`; return the values of features and orders."""
    groups = term.groups
    steps, owners = groups.steps.astype(np.float64), groups.owners
    bases, on = groups.bases.astype(np.float64), groups.bases[owners] + steps
    most = np.zeros(bases.shape)
    np.maximum.at(most, owners, np.maximum(np.abs(steps), np.abs(on)))
    most = np.maximum(most, np.abs(bases))
    units = np.where(most > 0, most / ROOM, 1.0)
    # If one member is on, its number is rounded once.
    whole = np.rint(bases / units)
    adds = np.rint(on / units[owners]) - whole[owners]
    with np.errstate(divide="ignore", invalid="ignore"):
        middles = (groups.middles - row.offset[groups.members]) / row.step[groups.members]
    middles = np.clip(np.floor(np.nan_to_num(middles)), -LARGEST - 1, LARGEST)
    for name, values, kind in (
        ("members", groups.members, "uint16_t"),
        ("borders", groups.starts, "uint16_t"),
        ("middles", middles, "int16_t"),
        ("bases", whole, "int16_t"),
        ("onsets", adds, "int16_t"),
    ):
        source.whole(f"{id_}_{name}", values, kind)
    source.memory(f"{id_}_row", len(term.center))
    sizes = {"features": len(term.center), "groups": len(bases), "orders": bases.shape[1]}
    source.fill("fixed_groups", id=id_, **sizes)
    found = Axes(axes.start.copy(), axes.step.copy())
    found.start[groups.axes], found.step[groups.axes] = 0, units[groups.has]
    return found


def write_gaps(source: FixedSource, id_: str, term: terms.Trees, row: Row, axes: Axes) -> Axes:
    """Write the function `<id>_filled`; return the values of the sums over missing values."""
    gaps, n = term.gaps, len(term.center)
    each, has_spread = np.arange(n), term.factor > 0
    middle = on_feature(term, row, np.zeros(n), each)
    middle = np.where(has_spread, middle, (term.center - row.offset) / row.step)
    reach = terms.FARTHEST_GIVEN * np.stack([-np.ones(n), np.ones(n)])
    ends = np.where(has_spread, on_feature(term, row, reach, each), middle)
    orders = np.flatnonzero(in_groups(term)[:n])
    middle[orders], ends[:, orders] = 0, reach[:, orders] / axes.step[orders]
    places = on_feature(term, row, gaps.places.T.astype(float), gaps.sources)
    places = np.where(has_spread[gaps.sources], places, middle[gaps.sources])
    # A guess is in steps of its feature; it is computed from differences in steps of the givers.
    own, others = axes.step[gaps.sources][:, np.newaxis], axes.step[gaps.givers]
    guesses = np.divide(gaps.guesses * others, own, out=np.zeros(gaps.guesses.shape), where=own > 0)
    most = np.abs(guesses).max(axis=1, initial=0)
    moves = np.floor(np.log2(MOST_GUESS / np.maximum(most, 2.0**-MOST_MOVE)))
    moves = np.clip(moves, 0, MOST_MOVE)
    whole = np.clip(np.rint(guesses * np.exp2(moves)[:, np.newaxis]), -MOST_GUESS, MOST_GUESS)
    starts = np.rint(middle[gaps.sources] * np.exp2(moves)) + np.floor(np.exp2(moves - 1))
    sums = np.stack([np.maximum(gaps.weights, 0).sum(axis=0), -np.minimum(gaps.weights, 0).sum(0)])
    largest = sums.max(axis=0).astype(float)
    steps = np.where(largest > 0, largest / ROOM, 1.0)
    for name, values, kind in (
        ("centers", held(middle), "int16_t"),
        ("ends", held(ends).T, "int16_t"),
        ("sources", gaps.sources, "uint16_t"),
        ("givers", gaps.givers, "uint16_t"),
        ("guesses", whole, "int16_t"),
        ("moves", moves, "int8_t"),
        ("starts", starts.astype(np.int64), "int64_t"),
        ("places", held(places).T, "int16_t"),
        ("missed", np.rint(gaps.weights / steps), "int16_t"),
    ):
        source.whole(f"{id_}_{name}", values, kind)
    source.has_missing = True
    sizes = {"features": n, "gaps": len(gaps.sources), "givers": len(gaps.givers)}
    source.fill("fixed_gaps", id=id_, sides=sum(term.directions.shape), **sizes)
    return Axes(-gaps.means, steps)


def held(values: Floats) -> Array:
    """Clip whole numbers to the range of features."""
    return np.rint(np.clip(values, -LARGEST, LARGEST)).astype(np.int64)


def write_directions(
    source: FixedSource, id_: str, term: terms.Trees, given: Given, axes: Axes, begin: str
) -> Axes:
    """Write the function `<id>_products`; return what 0 and 1 of each product stand for."""
    n_axes, n = term.directions.shape
    weights = term.directions.T * axes.step
    start = term.directions.T @ axes.start
    products = term.scaled(given.rows)[:, n_axes : n_axes + n].astype(np.float64)
    least, most = products.min(axis=0), products.max(axis=0)
    offsets, half = least / 2 + most / 2, most / 2 - least / 2
    largest = np.abs(weights).max(axis=1)
    # Steps below those of the weights would add no precision.
    steps = np.maximum(half / ROOM, largest / LARGEST)
    steps = np.where(steps > 0, steps, 1.0)
    shifts = np.floor(np.log2(LARGEST) - np.log2(np.maximum(largest / steps, 1.0 / LARGEST)))
    scale = np.exp2(shifts) / steps
    first = np.rint((start - offsets) * scale) + np.floor(np.exp2(shifts - 1))
    source.whole(f"{id_}_directions", np.rint(weights * scale[:, np.newaxis]), "int16_t")
    source.whole(f"{id_}_offsets", first.astype(np.int64), "int64_t")
    source.whole(f"{id_}_shifts", shifts, "int8_t")
    source.fill("fixed_products", id=id_, axes=n_axes, directions=n, begin=begin)
    return Axes(offsets, steps)
