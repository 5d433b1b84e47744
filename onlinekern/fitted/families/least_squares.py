"""Kernel least squares, which are merged exactly by adding the sums of the models:

    A = r I + sum_i (A_i - p_i I),   b = sum_i b_i,   w = A^-1 b.

This needs common features. p_i is the part of the prior r that model i has kept: forgetting reduces
it, and the core restores it from time to time. The merged model has all of r, as if it had just
been restored. If the models began with a common base, the base's sums count once. In the core, A
and b lack the last samples and, within an epoch, the forgetting (`linalg.open_block`); the
functions here add both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import solve_triangular

from onlinekern.core.linalg.copies import PANEL, unpacked
from onlinekern.estimators.types import Floats
from onlinekern.fitted.export.states import CannotLearn, Landmarks, Numbers, SquaresState, Sums
from onlinekern.fitted.export.taught import Taught
from onlinekern.fitted.export.terms import Fourier, Leverage, Terms
from onlinekern.fitted.families.features import grown, joint_of, joint_places, map_of, rounding_of
from onlinekern.fitted.families.mapped import terms
from onlinekern.fitted.grow import Growth
from onlinekern.fitted.merge.maps import Common, common_map
from onlinekern.fitted.merge.mix import Mix, of
from onlinekern.fitted.state import State, closed, describe, opened

# `Residuals` stores at most this many residuals.
KEPT = 512
# If sums are not positive definite, their diagonal grows by this share, ten times more each time.
LEAST_EXTRA = 1e-15
# The evidence of a model whose reg was given is empty.
NO_EVIDENCE = np.zeros(0)
ATTEMPTS = 10


def statistics(state: Any, forgetting: float) -> tuple[Floats, Floats, Floats]:
    """Return A - p I, b and the sums of the evidence after all samples so far.

    p is the part of the prior r that has not been forgotten. Models with a given reg have no
    evidence.
    """
    rows = state.rows
    matrix = state.matrix + (state.weights * rows).T @ rows
    vectors = state.vectors + state.targets.T @ rows[len(rows) - state.count :]
    fade = forgetting**state.since
    known = fade * (matrix - state.reg * np.eye(len(matrix)))
    totals = evidence_in_epoch(state, forgetting)
    totals[:-1] *= fade
    return known, fade * vectors, totals


def evidence_in_epoch(state: Any, forgetting: float) -> Floats:
    """Return the sums of `linalg.evidence` after all samples so far; empty if reg is given.

    They are in the units of the epoch, in which sample i has the weight `forgetting` ** -i.
    """
    totals: Floats = np.array(state.evidence)
    if len(totals) > 0:
        weights = state.weights[len(state.weights) - state.count :]
        ones = ones_of(state.since, state.count, forgetting)
        totals += [*(state.targets**2 / weights).sum(axis=0), ones.sum(), state.count]
    return totals


def ones_of(since: int, count: int, forgetting: float) -> Floats:
    """Return the weights in an epoch's units of its last samples, if their sample weights are 1."""
    return forgetting ** -np.arange(since - count + 1.0, since + 1.0)


def sums_of(
    known: Floats, vectors: Floats, reg: float, evidence: Floats = NO_EVIDENCE
) -> dict[str, Any]:
    """Return the fields of a state with the sums A - r I and b, with no open block."""
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
    chosen = {"reg": reg, "evidence": evidence, "coming": 0.0}
    return {"matrix": matrix, "vectors": vectors, **solved, **arrays, **counts, **chosen}


def factored(matrix: Floats) -> tuple[Floats, Any]:
    """Return a matrix and its Cholesky factor.

    Sums of unscaled features may be so large that, by rounding, their difference is not positive
    definite. In this case the diagonal is increased until it is.
    """
    extra = 0.0
    for _ in range(ATTEMPTS):
        grown = matrix + extra * np.diag(np.diagonal(matrix))
        try:
            return grown, scipy.linalg.cho_factor(grown, lower=True)
        except scipy.linalg.LinAlgError:
            extra = max(LEAST_EXTRA, 10 * extra)
    raise FloatingPointError("the sums of the merged models are not positive")


def added(mix: Mix, common: Common, states: list[Any], before: Any, forgetting: float) -> Any:
    """Return the state that results from the samples of several states.

    If r follows the stream, the merged r is the geometric mean. New samples then change it again.
    """
    every = [statistics(state, forgetting) for state in (*states, *([before] if before else []))]
    turned = [one_of(mix, common, place, *parts) for place, parts in enumerate(every)]
    first = turned.pop() if before else tuple(0 * part for part in turned[0])
    known = mix.total([parts[0] for parts in turned], first[0], forgetting)
    vectors = mix.total([parts[1] for parts in turned], first[1], forgetting)
    # If targets have other units and there is no constant feature, the base's sums do not cancel
    # exactly.
    evidence = mix.total([parts[2] for parts in turned], first[2], forgetting)
    evidence = np.maximum(evidence, 0.0)
    regs = [state.reg for state in states]
    reg = regs[0]
    if len(set(regs)) > 1:
        reg = float(np.exp(mix.mean([np.log(each) for each in regs])))
    return states[0].with_learnt(**sums_of(known, np.ascontiguousarray(vectors), reg, evidence))


def one_of(
    mix: Mix, common: Common, place: int, known: Floats, vectors: Floats, evidence: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the sums of a model in the common features and in units of the merged targets.

    Shifting the targets needs the sum of the features, which is the column of the constant feature.
    """
    place = place if place < len(mix.counts) else -1
    # The unit is common to all targets, or there is one for each.
    unit, shift = np.ravel(mix.units[place]), np.ravel(mix.shifts[place])
    vectors, constant = unit[:, None] * vectors, common.constant
    squares = evidence[:-2]
    if len(squares) > 0:
        squares = squares * unit**2
        if constant is not None:
            squares = squares + 2 * shift * vectors[:, constant]
            squares += shift**2 * known[constant, constant]
    if constant is not None:
        vectors = vectors + shift[:, None] * known[constant]
    evidence = np.concatenate([np.maximum(squares, 0.0), evidence[-2:]])
    return common.matrix(known, place), common.vectors(vectors, place), evidence


def merged_space(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge the sums of spaces and the counts of the samples in them."""
    return parts[0].with_learnt(**merged_fields(mix, parts, base))


def merged_fields(mix: Mix, parts: list[State], base: State | None) -> dict[str, Any]:
    """Return the merged fields of spaces."""
    weights = mix.terms([weights_of(part.state) for part in parts])
    common = common_map(*of(parts, base, "map"), weights)
    entered, before = of(parts, base, "entered")
    counts = mix.counting(entered, before).counts
    own = Mix(mix.weights, counts, mix.units, mix.shifts)
    state = added(own, common, *of(parts, base, "state"), parts[0].forgetting)
    fields = {"map": common.map, "entered": mix.count(entered, before), "state": state}
    if hasattr(parts[0], "residuals"):
        fields["residuals"] = merged_residuals(mix, *of(parts, base, "residuals"))
    return {**fields, "wide": any(part.wide for part in parts)}


def merged_residuals(mix: Mix, parts: list[State], base: State | None) -> State | None:
    """Merge `Residuals`: keep the last ones of each model, in proportion to its share."""
    if parts[0] is None:
        return None
    states, before = of(parts, base, "state")
    seen = mix.count(*of(states, before, "seen"))
    units = zip(mix.units, states, strict=False)
    recent = mix.latest([unit * state.recent for unit, state in units], min(seen, KEPT))
    levels = mix.mean([state.levels for state in states])
    return parts[0].with_learnt(
        state=states[0].with_learnt(seen=seen, recent=recent, levels=levels)
    )


def begin(space: State, _: State, growth: Growth) -> None:
    """Set the new outputs as if they had learnt the target -1 from all samples so far.

    The features phi contain a constant 1, so sum a phi (-1) = -(A - r I) e, where e is the unit
    vector of the constant. The weights are -A^-1 (A - r I) e = r A^-1 e - e. The last samples need
    care: some are not in A and b yet, and those of the open block are not in the weights either
    (`linalg.open_block`).
    """
    state, constant, new = space.state, closed(space.map).constant, growth.new
    has_constant = 0 <= constant < state.used
    if len(state.evidence) > 0:
        # The targets are 1 and -1, so the sum of their squares is the same for each output. Without
        # a constant, the new outputs begin with targets of 0.
        squares = np.full(growth.n_outputs, state.evidence[0])
        squares[new] *= has_constant
        state.evidence = np.concatenate([squares, state.evidence[-2:]])
    if not has_constant:
        return
    unit = np.zeros(state.used)
    unit[constant] = 1.0
    rows, weights = state.rows, state.weights[:, 0]
    waiting = len(rows) - state.count
    seen = state.matrix[:, constant] - space.reg * unit + weights[:waiting] @ rows[:waiting]
    state.vectors[new] = -seen
    state.base[new] = base = space.reg * state.inverse[:, constant] - unit
    errors = -1.0 - rows[waiting:] @ base
    state.innovations[:, new] = np.linalg.solve(state.factor.T, errors)[:, None]
    state.targets[:, new] = -weights[waiting:, None]


def gains_of(state: State) -> Floats:
    """Return rows C, where C'C is the reduction of A^-1 by the open block (`linalg.open_block`)."""
    if not state.count:
        return np.zeros((0, len(state.inverse)))
    return solve_triangular(state.factor, state.products.T, trans="T", lower=False)


def weights_of(state: State) -> Floats:
    """Return the weights after all samples so far, ndarray of shape (n_outputs, used)."""
    return state.base + state.innovations.T @ gains_of(state)


def inverse_of(state: State, forgetting: float) -> Floats:
    """Return A^-1 after all samples so far."""
    solved = gains_of(state)
    matrix: Floats = state.inverse - solved.T @ solved
    if forgetting < 1:
        matrix = matrix * forgetting ** -float(state.since)
    return matrix


def leverage_terms(space: Any) -> Terms:
    features, own = space.map, opened(space)
    places = features.columns()
    inverse = inverse_of(own.state, own.forgetting)
    matrix = np.ascontiguousarray(inverse[np.ix_(places, places)])
    return (Leverage(map_of(features), matrix, own.reg, rounding_of(features)),)


def learning(space: State) -> tuple[SquaresState, Numbers]:
    """Return the state of recursive least squares, with the current r."""
    features = closed(space.map)
    factor, constant, mapping, root = joint_of(features)
    if not isinstance(mapping, Fourier | Landmarks):
        raise CannotLearn(f"the feature map {type(features).__name__} has no C")
    places = joint_places(features)
    # The inverse is in units of the epoch.
    inverse = inverse_of(space.state, 1.0)[np.ix_(places, places)]
    own = closed(space)
    values = np.ascontiguousarray(own.block.weights()[:, places])
    sums = sums_in_c(space, own.block, places)
    inverse, reg = np.ascontiguousarray(inverse), space.state.reg
    state = SquaresState(factor, constant, mapping, root, inverse, reg, own.entered, sums)
    return state, Numbers(values, values)


def sums_in_c(space: State, block: Any, places: Any) -> Sums | None:
    """Return the sums from which C solves least squares anew, or None if it never needs to."""
    own, follows = space.state, len(space.state.evidence) > 0
    if space.forgetting == 1 and not follows:
        return None
    rows = own.rows
    matrix = own.matrix + (own.weights * rows).T @ rows
    vectors = own.vectors + own.targets.T @ rows[len(rows) - own.count :]
    return Sums(
        matrix=np.ascontiguousarray(matrix[np.ix_(places, places)]),
        vectors=np.ascontiguousarray(vectors[:, places]),
        evidence=evidence_in_epoch(own, space.forgetting),
        coming=block.coming_reg(),
        since=own.since,
        count=own.count,
        epoch=block.epoch_length,
        block=block.block_length,
        forgetting=space.forgetting,
        below=block.below,
    )


def leverage_learning(space: State) -> tuple[SquaresState, Numbers]:
    """Return the state of a detector whose scores are leverages."""
    state, numbers = learning(space)
    return replace(state, leverage=True, rounding=rounding_of(closed(space.map))), numbers


def taught(space: State, found: Taught) -> State:
    """Return the space with the sums, the inverse and the weights of a device."""
    features = grown(space.map, found)
    places, reg = joint_places(closed(features)), found.number("reg")
    n, used = len(places), space.state.used
    if "whitening" in found:
        used = int(places.max()) + 1
    n_outputs = len(space.state.vectors)
    length = len(found.fields["values"]) // n_outputs
    given = found.matrix("inverse", length)[:n, :n]
    # Some columns between those of the features belong to no feature; they keep the prior.
    inverse, matrix = np.eye(used) / reg, np.eye(used) * reg
    inverse[np.ix_(places, places)] = (given + given.T) / 2
    weights = np.zeros((n_outputs, used))
    weights[:, places] = found.matrix("values", n_outputs)[:, :n]
    if "sums" in found:
        fields = sums_of_device(space, found, places, matrix)
    else:
        # The sums are computed from the inverse.
        known = scipy.linalg.inv(inverse[np.ix_(places, places)])
        matrix[np.ix_(places, places)] = factored((known + known.T) / 2)[0]
        fields = sums_of(matrix - reg * np.eye(used), weights @ matrix, reg)
    fields |= {"matrix": matrix, "inverse": inverse, "base": weights}
    state = space.state.changed(**fields)
    return space.changed(map=features, entered=found.count("entered"), state=state)


def sums_of_device(space: State, found: Taught, places: Any, matrix: Floats) -> dict[str, Any]:
    """Return the fields of a device's sums, and write its A into `matrix`.

    The device's sums include all samples. The next block and the next epoch must end at the same
    sample as on the device, so zero samples fill the open block.
    """
    n, used, n_outputs = len(places), len(matrix), len(space.state.vectors)
    rows, columns = np.tril_indices(n)
    lower = np.zeros((n, n))
    lower[rows, columns] = found.fields["sums"][: len(rows)]
    matrix[np.ix_(places, places)] = lower + np.tril(lower, -1).T
    vectors = np.zeros((n_outputs, used))
    vectors[:, places] = found.matrix("vectors", n_outputs)[:, :n]
    count, since = found.count("in_block"), found.count("since")
    evidence, coming = NO_EVIDENCE, 0.0
    if "evidence" in found:
        coming = found.number("coming")
        # The core counts the samples of the open block when it is full, so they are subtracted
        # here.
        evidence = np.append(found.fields["evidence"], found.count("counted"))
        evidence[-2:] -= ones_of(since, count, space.forgetting).sum(), count
        evidence = np.maximum(evidence, 0.0)
    return {
        "vectors": vectors,
        "products": np.zeros((used, count)),
        "rows": np.zeros((count, used)),
        "factor": np.eye(count),
        "innovations": np.zeros((count, n_outputs)),
        "targets": np.zeros((count, n_outputs)),
        "weights": np.ones((count, 1)),
        "used": used,
        "count": count,
        "waiting": count,
        "since": since,
        "reg": found.number("reg"),
        "evidence": evidence,
        "coming": coming,
    }


def read(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a space, with packed matrices unpacked and numbers as doubles."""
    state = dict(stored["state"])
    for name, width in (("matrix", 1), ("inverse", PANEL)):
        state[name] = unpacked(name, state[name], state["used"], width)
    for name in ("products", "rows"):
        state[name] = state[name].astype(np.float64)
    return {**stored, "state": state}


SUMS = (
    "matrix~[feature feature] vectors~[output feature] base[output feature] "
    "inverse[feature feature] products[feature open] rows~[sample feature] factor[open open] "
    "innovations[open output] targets~[open output] weights~[sample one] "
    "used count waiting since reg~ evidence~[total] coming~"
)
describe(
    "models.least_squares.LeastSquaresSpace",
    f"map n_outputs# reg= forgetting= reach= residuals wide~ entered~ state({SUMS})",
    read=read,
    merge=merged_space,
    begin=begin,
    terms=terms,
    learning=learning,
    taught=taught,
)
describe(
    "models.leverage.LeverageSpace",
    f"map reg= forgetting= wide~ entered~ state({SUMS})",
    read=read,
    merge=merged_space,
    terms=leverage_terms,
    learning=leverage_learning,
    taught=taught,
)
residuals = "state(seen~ recent~[residual] levels~[one level])"
describe("models.residuals.Residuals", residuals)
