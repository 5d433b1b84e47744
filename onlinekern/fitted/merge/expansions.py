"""Merging of kernel expansions: their weighted average over the union of the support vectors.

    f = sum_i a_i f_i = sum over the distinct support vectors x of (sum_i a_i c_i(x)) kappa(x, .)

If the union is larger than the budget, the subset is kept whose span comes nearest to f. Then f is
projected onto this span; no other coefficients of the subset give a smaller error. This holds for
unions of up to 4,096 support vectors. If the budget is larger than that, the support vectors with
the largest coefficients are kept and the others are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from onlinekern.core.budgets.projectron import Projectron
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.dual_sgd import DualSpace, FeatureMerging
from onlinekern.core.models.space import InverseTimeSpace, KernelSpace
from onlinekern.core.models.union import kernel_values, take_in
from onlinekern.estimators.row_blocks import one_after_another
from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.mix import Averaging, Mix, merged_steps, of
from onlinekern.fitted.merge.selection import MOST_PROJECTED, exchanged
from onlinekern.fitted.state import State, closed, inherited, opened

# Kernel matrices get this share on their diagonal before they are inverted, as in `tracker`.
JITTER = {8: 1e-6, 4: 1e-5}
# The ridge of the projection is relative to kappa(x, x). Without it coefficients become large and
# cancel out, and the policy then evicts one of a pair. Its value comes from benchmarks/merging.py.
RIDGE = 0.001
# Kernel values are computed for this many rows at a time, which bounds the memory.
CHUNK = 4096
DIFFERENT = (
    "the models must have the same {}, got {} and {}: give all of them the same gamma, or let all "
    "begin with one model that has learnt the first samples (base)"
)


@dataclass(frozen=True)
class Expansion:
    """Support vectors with their coefficients, the oldest first.

    Parameters
    ----------
    rows : ndarray or CSR matrix of shape (n, d)
    coefficients : ndarray of shape (m, n)
        Coefficients of each output of the last model and, below, of the average if there is one.
    places : ndarray of shape (n,)
        When each came, in [0, 1]: 0 is the beginning of the stream.
    slots : ndarray of shape (n,)
    """

    rows: Any
    coefficients: Floats
    places: Floats
    slots: Any

    def __len__(self) -> int:
        return self.rows.shape[0]

    def part(self, places: Any) -> Expansion:
        """Return the support vectors at some places."""
        return Expansion(
            self.rows[places], self.coefficients[:, places], self.places[places], self.slots[places]
        )

    def names(self) -> list[bytes]:
        """Return the bytes of each support vector; equal vectors have equal bytes."""
        if isinstance(self.rows, np.ndarray):
            return [row.tobytes() for row in self.rows]
        rows = self.rows.sorted_indices()
        ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return [
            rows.indices[a:b].astype(np.int64).tobytes() + rows.data[a:b].tobytes() for a, b in ends
        ]


def expansion_of(part: State) -> Expansion:
    """Return the used support vectors of a state with the arguments and state of a support set."""
    averaging, state = Averaging(part.arguments.averaged), part.state
    ages = np.asarray(state.ages, dtype=float)
    ages[state.free] = np.inf
    order = np.argsort(ages, kind="stable")[: len(ages) - len(state.free)]
    coefficients = np.concatenate(averaging.pair(state)[: 1 + averaging.present])[:, order]
    places = (np.arange(len(order)) + 0.5) / max(len(order), 1)
    return Expansion(state.rows[order], coefficients, places, order)


def check_sets(parts: list[State]) -> None:
    """Raise ValueError unless the arguments of all support sets are the same."""
    names = ("kernel", "number of features", "dtype", "number of outputs", "average", "sparse form")
    first = vars(parts[0].arguments)
    for own in parts[1:]:
        for name, (field, value) in zip(names, first.items(), strict=True):
            if (other := getattr(own.arguments, field)) != value:
                raise ValueError(DIFFERENT.format(name, value, other))


def union(mix: Mix, expansions: list[Expansion]) -> Expansion:
    """Average expansions over the union of their support vectors.

    The age of a vector that several expansions share is that of its latest arrival.
    """
    found: dict[bytes, int] = {}
    numbers = [
        np.array([found.setdefault(key, len(found)) for key in part.names()], dtype=np.intp)
        for part in expansions
    ]
    coefficients = np.zeros((len(expansions[0].coefficients), len(found)))
    places, first = np.zeros(len(found)), np.zeros(len(found), dtype=np.intp)
    base = 0
    for i, (part, own) in enumerate(zip(expansions, numbers, strict=True)):
        # One model may hold a vector several times.
        # Each target has a unit of its own. The rows of the average use the same units.
        units = np.resize(mix.units[i], (len(part.coefficients), 1))
        scaled = mix.shares[i] * units * part.coefficients
        np.add.at(coefficients.T, own, scaled.T)
        np.maximum.at(places, own, part.places)
        first[own] = base + np.arange(len(part))
        base += len(part)
    order = np.argsort(places, kind="stable")
    rows = one_after_another([part.rows for part in expansions])[first[order]]
    return Expansion(rows, coefficients[:, order], places[order], first[order])


def empty_set(arguments: State, **changes: Any) -> SupportSet:
    """Return a set without support vectors."""
    return SupportSet(*closed(arguments.changed(**changes)))


def set_of(arguments: State, rows: Any, coefficients: Floats | None = None) -> SupportSet:
    """Return a set of these support vectors, with coefficients (n, n_outputs) or 0 by default."""
    support = empty_set(arguments)
    if coefficients is None:
        coefficients = np.zeros((rows.shape[0], arguments.n_outputs))
    support.add_rows(rows, np.ascontiguousarray(coefficients))
    return support


def gram_of(arguments: State, rows: Any) -> Floats:
    """Return the kernel matrix of rows, with the kernel of a support set with these arguments.

    It is computed in double precision. If it were rounded to float32, the matrix of a smooth kernel
    would have negative eigenvalues. These grow when support vectors are eliminated one by one.
    """
    rows, support = rows.astype(np.float64), empty_set(arguments, dtype=np.dtype(np.float64))
    support.add_rows(rows, np.zeros((rows.shape[0], support.n_outputs)))
    values: Floats = kernel_values(support, rows)
    return values


def doubled(arguments: State, whole: Expansion) -> SupportSet:
    """Return an empty set without averaging that holds the average as further outputs.

    The outputs of the average follow those of the last model.
    """
    return empty_set(arguments, n_outputs=len(whole.coefficients), averaged=False)


def fitted(space: State, whole: Expansion, cls: Any = KernelSpace) -> Any:
    """Return a new space without averaging, whose policy has admitted the support vectors."""
    budget = space.budget
    arguments = budget.arguments
    if replaced(space):
        whole = nearest(space, whole, arguments.max_support)
    if budget.cls is FeatureMerging:
        # Offsets are averaged separately.
        arguments = arguments.changed(offset=False)
    made = cls(doubled(space.arguments, whole), budget.cls(*closed(arguments)))
    take_in(made, whole.rows, np.ascontiguousarray(whole.coefficients.T))
    return made


def replaced(space: State) -> bool:
    """Return whether f is projected onto the kept support vectors.

    Otherwise the space's policy reduces the union by itself.
    """
    return any(kind.options.get("drops") for kind in inherited(space.budget.cls))


def nearest(space: State, whole: Expansion, most: int) -> Expansion:
    """Return at most `most` support vectors, chosen so that their span comes nearest to f."""
    return whole.part(nearest_places(space, whole, most))


def nearest_places(space: State, whole: Expansion, most: int) -> Any:
    """Return the places of the support vectors whose span comes nearest to f (see `exchanged`).

    A union of more than `MOST_PROJECTED` is too large for this search. Then the vectors with the
    largest coefficients are taken.
    """
    if len(whole) <= most:
        return np.arange(len(whole))
    if len(whole) > MOST_PROJECTED:
        return largest_places(whole, most)
    gram = gram_of(space.arguments, whole.rows)
    return exchanged(gram, gram @ whole.coefficients.T, most)


def largest_places(whole: Expansion, most: int) -> Any:
    """Return the places of the `most` support vectors with the largest coefficients."""
    norms = np.linalg.norm(whole.coefficients, axis=0)
    return np.sort(np.argsort(-norms, kind="stable")[:most])


def merged_expansion(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge spaces whose policy can admit the support vectors of the union."""
    space = parts[0]
    whole = union(mix, [expansion_of(part) for part in parts])
    # The policy of `InverseTimeSpace` receives coefficients in units of 1/t.
    given = whole
    if space.budget.cls is Projectron:
        # The Projectron receives the steps of a perceptron: 1 for each mistake.
        given = replace(whole, coefficients=np.sign(whole.coefficients))
    made = fitted(space, given, cls=DualSpace if space.cls is DualSpace else KernelSpace)
    fresh = opened(made)
    if replaced(space):
        project(whole, made.support, fresh)
    if hasattr(fresh.budget.state.learnt, "square"):
        # A negative value makes Ahpatron compute the norm of the function anew.
        fresh.budget.state.learnt.square = -1.0
    return finished(mix, parts, base, fresh)


def project(whole: Expansion, support: SupportSet, fresh: State) -> Floats:
    """Set the coefficients of an opened space to those of the projection of f.

    Return them by slot, as an ndarray of shape (n_outputs, n_slots).
    """
    state = fresh.state
    slots = np.setdiff1d(np.arange(support.n), state.free)
    rows, found = state.rows[slots], np.zeros_like(state.values)
    if len(whole) == len(slots):
        places = {key: place for place, key in enumerate(whole.names())}
        own = replace(whole, rows=rows)
        found[:, slots] = whole.coefficients[:, [places[key] for key in own.names()]]
    elif len(slots) > MOST_PROJECTED:
        return np.asarray(state.scale * state.values)
    else:
        gram = kernel_values(support, rows)[:, slots]
        gram = (gram + gram.T) / 2
        wanted = values_of(whole, support)[:, slots]
        gram[np.diag_indices(len(gram))] += RIDGE * np.diagonal(gram).mean()
        found[:, slots] = scipy.linalg.solve(gram, wanted.T, assume_a="pos").T
        learnt = fresh.budget.state.learnt
        if hasattr(learnt, "damage"):
            # The Forgetron's margin at a support vector sums the terms that came with it or later.
            margins = found @ (gram * (state.ages[:, None] >= state.ages))
            learnt = learnt.changed(values=margins, companions=0 * margins, scale=1.0)
            fresh.budget.state.learnt = learnt
    state.values = found / state.scale
    return found


def values_of(whole: Expansion, support: SupportSet) -> Floats:
    """Return the values of f at the support vectors of a set, ndarray (n_outputs, n_slots)."""
    values = np.zeros((len(whole.coefficients), support.n))
    for first in range(0, len(whole), CHUNK):
        part = slice(first, first + CHUNK)
        values += whole.coefficients[:, part] @ kernel_values(support, whole.rows[part])
    return values


def finished(mix: Mix, parts: list[State], base: State | None, fresh: State) -> State:
    """Complete the space that `fitted` made by the merged model's average and counters."""
    space = parts[0]
    own, policy = space.arguments, fresh.budget.state
    steps = merged_steps(mix, *of(parts, base, "state"))
    averaging, is_dual = Averaging(own.averaged), issubclass(space.cls, DualSpace)
    rows = (1.0 if is_dual else fresh.state.scale) * fresh.state.values
    inverse_time = issubclass(space.cls, InverseTimeSpace) and steps > 0
    final = 1 / steps if inverse_time else 1.0
    fields = averaging.fields(rows[: own.n_outputs], rows[-own.n_outputs :], steps, final)
    state = space.state.with_learnt(**{**vars(fresh.state), **fields})
    learnt = policy.learnt
    if is_dual:
        learnt = merged_dual(mix, parts, learnt, state, averaging)
    refused = mix.count(*of(parts, base, "budget.state.refused")) + policy.refused
    sizes = {"n": len(state.ages), "added": state.added}
    identity = space.budget.state.set.with_learnt(**vars(own), **sizes)
    known = space.budget.state.with_learnt(set=identity, refused=refused, learnt=learnt)
    return space.with_learnt(state=state, budget=space.budget.with_learnt(state=known))


def merged_dual(
    mix: Mix, parts: list[State], fresh: State, state: State, averaging: Averaging
) -> State:
    """Merge weights and offsets of DualSGD: the models' average, plus what `fitted` added."""
    n = state.values.shape[0]
    pairs = []
    for part in parts:
        old = part.budget.state.learnt
        numbers = np.column_stack([old.weights, old.offsets])
        own = part.state.changed(values=numbers[:n], companions=numbers[n:])
        pairs.append(averaging.pair(own))
    latest, averaged = (mix.blend(half) for half in zip(*pairs, strict=True))
    halves = len(fresh.weights) // 2
    latest[:, :-1] += fresh.weights[:n]
    averaged[:, :-1] += fresh.weights[halves - n : halves]
    known = averaging.fields(latest, averaged, state.steps, state.scale)
    rows = np.concatenate([known["values"], known["companions"]])
    return fresh.with_learnt(weights=np.ascontiguousarray(rows[:, :-1]), offsets=rows[:, -1].copy())
