"""Kernel least squares, merged exactly: the sums of several streams are added.

    A = r I + sum_i (A_i - r I),   b = sum_i b_i,   w = A^-1 b,

where the features are the same. If the models began with a common one, what it had learnt counts
once. The core keeps A and b without the last samples, and within an epoch without forgetting
(`linalg.open_block`): both are made up for here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.maps import Common, common_map
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.merge.opened import Opened

# Residuals and their levels: what Residuals keeps at most.
KEPT = 512
# Added to the diagonal of sums that are not positive, relative to it; ten times more each time.
LEAST_EXTRA = 1e-15
ATTEMPTS = 10


def statistics(state: Any, reg: float, forgetting: float) -> tuple[Floats, Floats]:
    """A - r I and b', of all samples so far."""
    rows, count = state["rows"], state["count"]
    matrix = state["matrix"] + (state["weights"] * rows).T @ rows
    vectors = state["vectors"] + state["targets"].T @ rows[len(rows) - count :]
    fade = forgetting ** state["since"]
    # The sums of an epoch contain r I; what is forgotten of it is given back.
    known = fade * (matrix - reg * np.eye(len(matrix)))
    return known, fade * vectors


def state_of(known: Floats, vectors: Floats, reg: float) -> Any:
    """A state whose sums are A - r I and b', and which waits for nothing."""
    used, n_outputs = len(known), len(vectors)
    matrix, factor = factored((known + known.T) / 2 + reg * np.eye(used))
    inverse = scipy.linalg.cho_solve(factor, np.eye(used))
    weights = scipy.linalg.cho_solve(factor, vectors.T).T
    empty = {
        "products": (used, 0),
        "rows": (0, used),
        "factor": (0, 0),
        "innovations": (0, n_outputs),
        "targets": (0, n_outputs),
        "weights": (0, 1),
    }
    arrays = {name: np.zeros(shape) for name, shape in empty.items()}
    counts = {"used": used, "count": 0, "waiting": 0, "since": 0}
    solved = {"base": np.ascontiguousarray(weights), "inverse": (inverse + inverse.T) / 2}
    return {"matrix": matrix, "vectors": vectors, **solved, **arrays, **counts}


def factored(matrix: Floats) -> tuple[Floats, Any]:
    """A matrix, and its Cholesky factor.

    Sums of features that are not scaled may be so large that what a difference leaves of them is
    not positive by rounding. Their diagonal grows until it is.
    """
    extra = 0.0
    for _ in range(ATTEMPTS):
        grown = matrix + extra * np.diag(np.diagonal(matrix))
        try:
            return grown, scipy.linalg.cho_factor(grown, lower=True)
        except scipy.linalg.LinAlgError:
            extra = max(LEAST_EXTRA, 10 * extra)
    raise FloatingPointError("the sums of the merged models are not positive")


def added(
    mix: Mix, common: Common, states: list[Any], before: Any, reg: float, forgetting: float
) -> Any:
    """The state of all samples of several states."""
    sums = [statistics(state, reg, forgetting) for state in states]
    every = [*sums, *([statistics(before, reg, forgetting)] if before else [])]
    turned = [one_of(mix, common, place, *each) for place, each in enumerate(every)]
    used = len(turned[0][0])
    first = (turned.pop()) if before else (np.zeros((used, used)), 0 * turned[0][1])
    known = mix.total([pair[0] for pair in turned], first[0], forgetting)
    vectors = mix.total([pair[1] for pair in turned], first[1], forgetting)
    return state_of(known, np.ascontiguousarray(vectors), reg)


def one_of(
    mix: Mix, common: Common, place: int, known: Floats, vectors: Floats
) -> tuple[Floats, Floats]:
    """A - r I and b' of one model, in the common features and in the units of the merged targets.

    A shift of the targets needs the sum of the features: the column of the constant one.
    """
    place = place if place < len(mix.counts) else -1
    unit, shift = mix.units[place], mix.shifts[place]
    vectors = unit * vectors
    if common.constant is not None:
        vectors = vectors + shift * known[common.constant]
    return common.matrix(known, place), common.vectors(vectors, place)


def merged_least_squares(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`LeastSquaresSpace`."""
    *_, before = base.arguments if base else (None,)
    _, n_outputs, reg, forgetting, reach, _, _, _, _ = parts[0].arguments
    common = common_map([part.arguments[0] for part in parts], base.arguments[0] if base else None)
    entered = [part.arguments[7] for part in parts]
    own = entering(mix, entered, base.arguments[7] if base else 0)
    states = [part.arguments[8] for part in parts]
    state = added(own, common, states, before, reg, forgetting)
    residuals = [part.arguments[5] for part in parts]
    told = None
    if residuals[0] is not None:
        told = merged_residuals(mix, residuals, base.arguments[5] if base else None)
    wide = any(part.arguments[6] for part in parts)
    total = mix.count(entered, base.arguments[7] if base else 0)
    return parts[0].changed(common.map, n_outputs, reg, forgetting, reach, told, wide, total, state)


def entering(mix: Mix, entered: list[int], before: int) -> Mix:
    """The mix by the samples that have entered the sums."""
    own = mix.counting(entered, before)
    return Mix(mix.weights, own.counts, mix.units, mix.shifts)


def merged_leverage(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`LeverageSpace`."""
    _, reg, forgetting, _, _, _ = parts[0].arguments
    common = common_map([part.arguments[0] for part in parts], base.arguments[0] if base else None)
    entered, before = [part.arguments[4] for part in parts], base.arguments[4] if base else 0
    states = [part.arguments[5] for part in parts]
    own = entering(mix, entered, before)
    state = added(own, common, states, base.arguments[5] if base else None, reg, forgetting)
    wide = any(part.arguments[3] for part in parts)
    return parts[0].changed(common.map, reg, forgetting, wide, mix.count(entered, before), state)


def merged_residuals(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`Residuals`: the last ones of each model, as many as its share."""
    states = [part.arguments[0] for part in parts]
    seen = mix.count([state["seen"] for state in states], base.arguments[0]["seen"] if base else 0)
    units = zip(mix.units, states, strict=False)
    recent = mix.latest([unit * state["recent"] for unit, state in units], min(seen, KEPT))
    levels = mix.mean([state["levels"] for state in states])
    return parts[0].changed({"seen": seen, "recent": recent, "levels": levels})
