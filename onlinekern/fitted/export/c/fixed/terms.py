"""Terms in fixed point: the tables and the functions of each term.

The function ``<id>_add`` takes a row of features and adds its term to scores of 64 bits. The
coefficients of each term have as many bits as possible without an overflow for any row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export import terms
from onlinekern.fitted.export.c.fixed.rows import LARGEST, Given, Row
from onlinekern.fitted.export.c.fixed.source import FixedSource, bits_within, rounded
from onlinekern.fitted.export.c.fixed.trees import write_trees
from onlinekern.fitted.export.c.source import PARTS, VALUE_BITS, halves

# Fractional bits of an exponent. A value halved 32 times is 0.
EXPONENT_BITS, HALVINGS = 18, 32
# An exponent is a distance times a factor of 31 bits, shifted to the right. The product fits into
# 64 bits.
MOST_SHIFT = 40
LEAST_FACTOR = 2.0**-25
# If a kernel is only this many steps wide, its value changes by a tenth within a step.
LEAST_WIDTH = 8
CLOSED = {
    "polynomial": "its powers have no bound that 32 bits would hold",
    "sigmoid": "it has no table of the hyperbolic tangent",
    "cosine": "it has no root for the length of a row",
    "exponential": "it has no root for the distance",
}


def constant_of(term: terms.Term, given: Given) -> Floats:
    """Return the part of a term that is the same in the scores of all rows."""
    if isinstance(term, terms.Constant):
        return given.units * term.values
    if isinstance(term, terms.Linear):
        return given.units * (term.weights @ given.row.offset)
    if isinstance(term, terms.Moved):
        return constant_of(reduced(term.term), given.weighed(term.root))
    return np.zeros(len(given.units))


def bound_of(term: terms.Term, given: Given) -> Floats:
    """Return a bound for the absolute contribution of a term, without its constant part."""
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
    return np.abs(given.units) * own


def reduced(term: terms.Term) -> terms.Term:
    """Return an equal term of a class that can be computed in fixed point.

    Raises
    ------
    TypeError
        If there is none. The message says why.
    """
    if isinstance(term, terms.Mapped):
        term = term.simplest()
    if isinstance(term, terms.Expansion):
        kernel = term.kernel.name
        if kernel in CLOSED:
            raise TypeError(f"the kernel {kernel!r} has no fixed point: {CLOSED[kernel]}")
        if kernel == "linear":
            vectors = terms.dense(term.vectors)
            return terms.Linear((term.coefficients @ vectors).reshape(-1, vectors.shape[1]))
    if isinstance(term, terms.Trees) and len(term.tables.sources):
        raise TypeError("trees with categories have no fixed point: they look up any number")
    if isinstance(term, terms.Moved) and term.root.ndim == 2:
        return turned(reduced(term.term), term.root)
    if isinstance(term, terms.Leverage | terms.Local):
        what = "leverages" if isinstance(term, terms.Leverage) else "shares of prototypes"
        raise TypeError(f"{what} have no fixed point: they are quotients without a bound")
    return term


def turned(term: terms.Term, root: Floats) -> terms.Term:
    """Return a term of rows x that is equal to a term of rows R x, where R is symmetric.

    Raises
    ------
    TypeError
        If the term does not depend on rows through inner products alone, which can absorb R.
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


def write_linear(source: FixedSource, id_: str, term: terms.Linear, given: Given) -> None:
    weights = given.units[:, np.newaxis] * term.weights * given.row.step
    bits = bits_within(weights, LARGEST)
    whole = rounded(weights, bits)
    source.whole(f"{id_}_weights", whole, "int16_t")
    outputs, features = weights.shape
    most = (np.abs(whole).sum(axis=1) * (LARGEST + 1)).max()
    kind = "int32_t" if most < 1 << 31 else "int64_t"
    sizes = {"outputs": outputs, "features": features, "sum": kind}
    source.fill("fixed_linear", id=id_, moved=source.moved("sum", bits), **sizes)


def write_expansion(source: FixedSource, id_: str, term: terms.Expansion, given: Given) -> None:
    coefficients = given.units[:, np.newaxis] * term.coefficients
    outputs, count = coefficients.shape
    row = write_vectors(source, id_, term, given.row)
    # The coefficients of an output sum to less than 2^31, so the sum of products has at most 62
    # bits.
    bits = bits_within(np.abs(coefficients).sum(axis=1), 2.0**31 - count)
    source.whole(f"{id_}_coefficients", rounded(coefficients, bits).T, "int32_t")
    moved = source.moved("sums[k]", bits + VALUE_BITS)
    source.fill("fixed_expansion", id=id_, outputs=outputs, count=count, row=row, moved=moved)


def write_vectors(source: FixedSource, id_: str, term: terms.Expansion, row: Row) -> str:
    """Write the vectors and the function `<id>_kernel`; return the expression for its row."""
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
    """Return a step with which the numbers of the vectors and of all rows fit into 16 bits."""
    step = max(float(row.step.max()), float(np.abs(vectors).max()) / LARGEST)
    # With a finer step, no bits would be left for the factor of the exponent.
    finest = LEAST_FACTOR / (kernel.gamma * np.log2(math.e) * 2**EXPONENT_BITS)
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
    """Return factor, shift and limit for an exponent of e that is `ratio` times a distance.

    The exponent of 2 is (distance * factor) >> shift. For distances from the limit on, the value is
    0.
    """
    own = ratio * np.log2(math.e) * 2**EXPONENT_BITS
    shift = int(min(MOST_SHIFT, 30 - np.floor(np.log2(own))))
    factor = round(own * 2.0**shift)
    return factor, shift, -(-(HALVINGS << (EXPONENT_BITS + shift)) // factor)


def quarter() -> Array:
    """Return the table of sines of a quarter turn, with the last entry stored twice."""
    angles = np.minimum(np.arange(PARTS + 2), PARTS) * np.pi / (2 * PARTS)
    return rounded(np.sin(angles), 15)


def write_fourier(source: FixedSource, id_: str, term: terms.Mapped, given: Given) -> None:
    assert isinstance(term.map, terms.Fourier)
    count, features = term.map.frequencies.shape
    weights = given.units[:, np.newaxis, np.newaxis] * term.of_waves()
    turns = term.map.frequencies / (2 * np.pi)
    source.whole(f"{id_}_frequencies", wrapped(turns * given.row.step), "uint32_t")
    source.whole(f"{id_}_phases", wrapped(turns @ given.row.offset), "uint32_t")
    bits = bits_within(weights, LARGEST)
    source.whole(f"{id_}_weights", rounded(weights, bits).transpose(2, 0, 1), "int16_t")
    source.once("quarter", quarter(), "uint16_t")
    sizes = {"count": count, "features": features, "outputs": len(term.weights)}
    moved = source.moved("sums[k]", bits + 15)
    source.fill("fixed_fourier", id=id_, moved=moved, **sizes)


def wrapped(turns: Floats) -> Array:
    """Return angles in units of 2^-32 turns."""
    return rounded(turns - np.floor(turns), 32) % (1 << 32)


def write_moved(source: FixedSource, id_: str, term: terms.Moved, given: Given) -> None:
    inner = reduced(term.term)
    WRITERS[type(inner)](source, id_, inner, given.weighed(term.root))


Writer = Callable[[FixedSource, str, Any, Given], None]
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
    if not np.any(bound_of(term, given)):
        return None
    WRITERS[type(term)](source, id_, term, given)
    return id_
