"""Terms in fixed point: the tables and the functions of each term.

A function ``<id>_add`` takes the features as they are given and adds to scores of 64 bits. Each
term has the bits that its coefficients allow, chosen so that no sum can overflow whatever the row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export import terms
from onlinekern.fitted.export.c.exponential import PARTS, VALUE_BITS, halves
from onlinekern.fitted.export.c.fixed.rows import LARGEST, ROOM, Row
from onlinekern.fitted.export.c.fixed.source import FixedSource, bits_within, rounded

# Bits of an exponent's fraction. At 32 halvings a value is 0.
EXPONENT_BITS, HALVINGS = 18, 32
# An exponent is the distance times a factor of 31 bits, shifted: 64 bits hold the product.
MOST_SHIFT = 40
LEAST_FACTOR = 2.0**-25
# A kernel of this width, in steps, changes by a tenth of its value within a step.
LEAST_WIDTH = 8
NODE = "typedef struct {{ int16_t cut; uint16_t feature, left; }} {}_node;\n"
NODE_BYTES = 6
CLOSED = {
    "polynomial": "its powers have no bound that 32 bits would hold",
    "sigmoid": "it has no table of the hyperbolic tangent",
    "cosine": "it has no root for the length of a row",
    "exponential": "it has no root for the distance",
}


@dataclass(frozen=True, eq=False)
class Given:
    """What terms are told of the model.

    Attributes
    ----------
    row : Row
    rows : ndarray of shape (n, n_features)
        The samples behind the scaler.
    units : ndarray of shape (n_outputs,)
        Factors of the scores.
    """

    row: Row
    rows: Floats
    units: Floats

    def weighed(self, root: Floats) -> Given:
        """Return the same for features that are multiplied with these numbers."""
        return Given(self.row.weighed(root), self.rows * root, self.units)


def constant_of(term: terms.Term, given: Given) -> Floats:
    """Return what a term adds to the scores of every row."""
    if isinstance(term, terms.Constant):
        return given.units * term.values
    if isinstance(term, terms.Linear):
        constant: Floats = given.units * (term.weights @ given.row.offset)
        return constant
    if isinstance(term, terms.Moved):
        return constant_of(reduced(term.term), given.weighed(term.root))
    return np.zeros(len(given.units))


def bound_of(term: terms.Term, given: Given) -> Floats:
    """Return what a term adds to the scores of a row at most, without its constant."""
    if isinstance(term, terms.Linear):
        own = (np.abs(term.weights) @ given.row.step) * (LARGEST + 1)
    elif isinstance(term, terms.Expansion):
        own = np.abs(term.coefficients).sum(axis=1)
    elif isinstance(term, terms.Mapped):
        own = np.abs(term.weights).sum(axis=1) / np.sqrt(term.map.n_features / 2)
    elif isinstance(term, terms.Trees):
        own = (len(term.first) - 1) * np.abs(term.weights).max(axis=0)
    elif isinstance(term, terms.Moved):
        return bound_of(reduced(term.term), given.weighed(term.root))
    else:
        own = np.zeros(len(given.units))
    found: Floats = np.abs(given.units) * own
    return found


def reduced(term: terms.Term) -> terms.Term:
    """Return a term of one of the classes that have a form here.

    Raises
    ------
    TypeError
        If there is none. The message says why.
    """
    if isinstance(term, terms.Mapped) and isinstance(term.map, terms.Projected):
        # Weights of P k(x) are coefficients of k(x).
        own = term.map
        term = terms.Expansion(own.kernel, own.landmarks, term.weights @ own.projection)
    if isinstance(term, terms.Expansion):
        kernel = term.kernel.name
        if kernel in CLOSED:
            raise TypeError(f"the kernel {kernel!r} has no fixed point: {CLOSED[kernel]}")
        if kernel == "linear":
            vectors = terms.dense(term.vectors)
            return terms.Linear((term.coefficients @ vectors).reshape(-1, vectors.shape[1]))
    if isinstance(term, terms.Trees) and (len(term.tables.sources) or term.gaps.any):
        raise TypeError("trees with categories, or guesses of what is missing, have no fixed point")
    if isinstance(term, terms.Moved) and term.root.ndim == 2:
        return turned(reduced(term.term), term.root)
    if isinstance(term, terms.Leverage | terms.Local):
        what = "leverages" if isinstance(term, terms.Leverage) else "shares of prototypes"
        raise TypeError(f"{what} have no fixed point: they are quotients without a bound")
    return term


def turned(term: terms.Term, root: Floats) -> terms.Term:
    """Return a term of rows x in the place of one of rows R x; R is symmetric.

    Raises
    ------
    TypeError
        If the term has other than products with rows, which take up the matrix.
    """
    if isinstance(term, terms.Linear):
        return terms.Linear(term.weights @ root)
    if isinstance(term, terms.Mapped) and isinstance(term.map, terms.Fourier):
        return terms.Mapped(terms.Fourier(term.map.frequencies @ root), term.weights)
    if isinstance(term, terms.Constant):
        return term
    raise TypeError(
        "a metric that is a matrix has no fixed point but before linear learners and random "
        "features, whose weights and frequencies take it up: use metric='diagonal'"
    )


def write_linear(source: FixedSource, id_: str, term: terms.Linear, given: Given) -> bool:
    weights = given.units[:, np.newaxis] * term.weights * given.row.step
    if not weights.any():
        return False
    bits = bits_within(weights, LARGEST)
    whole = rounded(weights, bits)
    source.whole(f"{id_}_weights", whole, "int16_t")
    outputs, features = weights.shape
    most = (np.abs(whole).sum(axis=1) * (LARGEST + 1)).max()
    kind = "int32_t" if most < 1 << 31 else "int64_t"
    sizes = {"outputs": outputs, "features": features, "sum": kind}
    source.fill("fixed_linear", id=id_, moved=source.moved("sum", bits), **sizes)
    return True


def write_expansion(source: FixedSource, id_: str, term: terms.Expansion, given: Given) -> bool:
    coefficients = given.units[:, np.newaxis] * term.coefficients
    if not coefficients.any():
        return False
    outputs, count = coefficients.shape
    row = write_vectors(source, id_, term, given.row)
    # The coefficients of an output sum to less than 2^31: a sum of products of 61 bits has 62.
    bits = bits_within(np.abs(coefficients).sum(axis=1), 2.0**31 - count)
    source.whole(f"{id_}_coefficients", rounded(coefficients, bits).T, "int32_t")
    moved = source.moved("sums[k]", bits + VALUE_BITS)
    source.fill("fixed_expansion", id=id_, outputs=outputs, count=count, row=row, moved=moved)
    return True


def write_vectors(source: FixedSource, id_: str, term: terms.Expansion, row: Row) -> str:
    """Write the vectors and the function `<id>_kernel`; return the row that it takes."""
    vectors, kernel = terms.dense(term.vectors) - row.offset, term.kernel
    squared = kernel.name == "gaussian"
    step = step_of(kernel, squared, row, vectors)
    whole = rounded(vectors / step, 0)
    source.whole(f"{id_}_vectors", whole, "int16_t")
    steps = rounded(row.step / step, 15)
    farthest = np.abs(whole).max(axis=0) + steps + 1
    bound = int((farthest**2).sum() if squared else farthest.sum())
    wide = "uint32_t" if bound < 1 << 32 else "uint64_t"
    factor, shift, limit = exponent_of(kernel.gamma * (step * step if squared else step))
    limit = min(limit, (1 << (32 if wide == "uint32_t" else 64)) - 1)
    source.once("halves", halves(), "uint32_t")
    distance = "(uint32_t)gap * (uint32_t)gap" if squared else "(uint32_t)(gap < 0 ? -gap : gap)"
    source.fill(
        "fixed_kernel",
        id=id_,
        features=len(steps),
        wide=wide,
        distance=distance,
        limit=f"UINT64_C({limit})" if wide == "uint64_t" else f"{limit}u",
        factor=f"{factor}u",
        shift=shift,
    )
    if np.all(steps == 1 << 15):
        return "x"
    source.whole(f"{id_}_steps", steps, "uint16_t")
    source.memory(f"{id_}_row", len(steps))
    source.fill("fixed_row", id=id_, features=len(steps))
    return f"{id_}_scaled(x)"


def step_of(kernel: terms.KernelFunction, squared: bool, row: Row, vectors: Floats) -> float:
    """Return the step of the vectors, which holds them and every row."""
    step = max(float(row.step.max()), float(np.abs(vectors).max()) / LARGEST)
    # A finer step would leave no bits for the factor of the exponent.
    finest = LEAST_FACTOR / (kernel.gamma * np.log2(np.e) * 2**EXPONENT_BITS)
    step = max(step, float(np.sqrt(finest) if squared else finest))
    width = 1 / (np.sqrt(kernel.gamma) if squared else kernel.gamma)
    if width < LEAST_WIDTH * step:
        raise ValueError(
            f"rows: 16 bits over their range give steps of {step:.3g}, which a kernel of gamma="
            f"{kernel.gamma:g}, {width:.3g} wide, cannot have. Scale the features, or leave out "
            "rows far off"
        )
    return step


def exponent_of(ratio: float) -> tuple[int, int, int]:
    """Return factor, shift and limit of an exponent, of e, that is `ratio` times a distance.

    The exponent of 2 is (distance * factor) >> shift; from the limit on the value is 0.
    """
    own = ratio * np.log2(np.e) * 2**EXPONENT_BITS
    shift = int(min(MOST_SHIFT, 30 - np.floor(np.log2(own))))
    factor = round(own * 2.0**shift)
    return factor, shift, -(-(HALVINGS << (EXPONENT_BITS + shift)) // factor)


def quarter() -> Array:
    """Return the table of sines of a quarter turn; its end is there twice."""
    angles = np.minimum(np.arange(PARTS + 2), PARTS) * np.pi / (2 * PARTS)
    return rounded(np.sin(angles), 15)


def write_fourier(source: FixedSource, id_: str, term: terms.Mapped, given: Given) -> bool:
    assert isinstance(term.map, terms.Fourier)
    count, features = term.map.frequencies.shape
    outputs = len(term.weights)
    weights = term.weights.reshape(outputs, 2, count) / np.sqrt(count)
    weights = given.units[:, np.newaxis, np.newaxis] * weights
    if not weights.any():
        return False
    turns = term.map.frequencies / (2 * np.pi)
    source.whole(f"{id_}_frequencies", wrapped(turns * given.row.step), "uint32_t")
    source.whole(f"{id_}_phases", wrapped(turns @ given.row.offset), "uint32_t")
    bits = bits_within(weights, LARGEST)
    source.whole(f"{id_}_weights", rounded(weights, bits).transpose(2, 0, 1), "int16_t")
    source.once("quarter", quarter(), "uint16_t")
    sizes = {"count": count, "features": features, "outputs": outputs}
    moved = source.moved("sums[k]", bits + 15)
    source.fill("fixed_fourier", id=id_, moved=moved, **sizes)
    return True


def wrapped(turns: Floats) -> Array:
    """Return angles in units of 2^-32 turns."""
    return rounded(turns - np.floor(turns), 32) % (1 << 32)


def write_moved(source: FixedSource, id_: str, term: terms.Moved, given: Given) -> bool:
    inner = reduced(term.term)
    return WRITERS[type(inner)](source, id_, inner, given.weighed(term.root))


def write_trees(source: FixedSource, id_: str, term: terms.Trees, given: Given) -> bool:
    weights = given.units * term.weights
    trees, outputs = len(term.first) - 1, weights.shape[1]
    # A sum of so many leaves stays below 2^31.
    bits = bits_within(weights, min(LARGEST, (2.0**31 - 1) // trees))
    row, cuts = "x", axis_cuts(term, given.row)
    if term.directions.shape[1]:
        offsets, steps = write_directions(source, id_, term, given)
        row = f"{id_}_products(x)"
        own = term.features - len(term.directions)
        m = np.maximum(own, 0)
        cuts = np.where(own >= 0, np.floor((term.cuts - offsets[m]) / steps[m]), cuts)
    cuts = np.clip(cuts, -LARGEST - 1, LARGEST)
    numbers = zip(cuts.tolist(), term.features.tolist(), term.left.tolist(), strict=True)
    source.tables.append(NODE.format(id_))
    nodes = [f"{{{int(cut)}, {feature}, {left}}}" for cut, feature, left in numbers]
    source.records(f"{id_}_nodes", f"{id_}_node", NODE_BYTES, nodes)
    source.whole(f"{id_}_sizes", np.diff(term.first), "uint16_t")
    source.whole(f"{id_}_weights", rounded(weights, bits), "int16_t")
    moved = source.moved("sums[k]", bits)
    source.fill("fixed_trees", id=id_, row=row, trees=trees, outputs=outputs, moved=moved)
    return True


def axis_cuts(term: terms.Trees, row: Row) -> Floats:
    """Return the cuts of nodes that look at a feature, as whole numbers of it.

    A row is right of a cut in whole numbers where what they stand for is right of the cut.
    """
    j = np.minimum(term.features, len(term.center) - 1)
    factor, cuts = term.factor[j], term.cuts.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (cuts / factor + term.center[j] - row.offset[j]) / row.step[j]
    # Without a spread, a scaled feature is 0.
    values = np.where(factor > 0, values, np.where(cuts >= 0, np.inf, -np.inf))
    found: Floats = np.floor(np.clip(values, -LARGEST - 1, LARGEST))
    return found


def write_directions(
    source: FixedSource, id_: str, term: terms.Trees, given: Given
) -> tuple[Floats, Floats]:
    """Write the function `<id>_products`; return what 0 and 1 of each product stand for."""
    row, features = given.row, len(term.center)
    weights = term.directions.T * (term.factor * row.step)
    start = term.directions.T @ (term.factor * (row.offset - term.center))
    products = term.scaled(given.rows)[:, features:].astype(np.float64)
    least, most = products.min(axis=0), products.max(axis=0)
    offsets, half = least / 2 + most / 2, most / 2 - least / 2
    largest = np.abs(weights).max(axis=1)
    # Steps below those of the weights would say nothing.
    steps = np.maximum(half / ROOM, largest / LARGEST)
    steps = np.where(steps > 0, steps, 1.0)
    shifts = np.floor(np.log2(LARGEST) - np.log2(np.maximum(largest / steps, 1.0 / LARGEST)))
    scale = np.exp2(shifts) / steps
    begin = np.rint((start - offsets) * scale) + np.floor(np.exp2(shifts - 1))
    source.whole(f"{id_}_directions", np.rint(weights * scale[:, np.newaxis]), "int16_t")
    source.whole(f"{id_}_offsets", begin.astype(np.int64), "int64_t")
    source.whole(f"{id_}_shifts", shifts, "int8_t")
    source.memory(f"{id_}_z", features + len(steps))
    source.fill("fixed_products", id=id_, features=features, directions=len(steps))
    return offsets, steps


Writer = Callable[[FixedSource, str, Any, Given], bool]
WRITERS: dict[type, Writer] = {
    terms.Linear: write_linear,
    terms.Expansion: write_expansion,
    terms.Mapped: write_fourier,
    terms.Moved: write_moved,
    terms.Trees: write_trees,
}


def write_term(source: FixedSource, term: terms.Term, given: Given) -> str | None:
    """Add a term to a file; return the id of its function, or None if it adds nothing."""
    if isinstance(term, terms.Constant):
        return None
    id_ = source.new_id(type(term).__name__.lower())
    return id_ if WRITERS[type(term)](source, id_, term, given) else None
