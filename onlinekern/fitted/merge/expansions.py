"""Kernel expansions, merged: their weighted average, a union of support vectors.

    f = sum_i a_i f_i = sum over the different support vectors x of (sum_i a_i c_i(x)) kappa(x, .)

Where they are more than the budget, those stay whose span comes nearest to f, and f is projected
onto it, which no choice of coefficients betters. This holds up to 4,096 support vectors; with
larger budgets the largest stay and the rest is dropped.
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

# This share is added to the diagonal of kernel matrices that are inverted, as in `tracker`.
JITTER = {8: 1e-6, 4: 1e-5}
# The ridge of the projection is relative to kappa(x, x). Without it coefficients become large and
# cancel out, and the policy then evicts one of a pair. benchmarks/merging.py chose it.
RIDGE = 0.001
# The kernel values of so many rows are held at the same time.
CHUNK = 4096
DIFFERENT = (
    "the models must have the same {}, got {} and {}: give all of them the same gamma, or let all "
    "begin with one model that has learnt the first samples (base)"
)


@dataclass(frozen=True)
class Expansion:
    """Support vectors, the oldest first.

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
        """Return some of the support vectors."""
        return Expansion(
            self.rows[places], self.coefficients[:, places], self.places[places], self.slots[places]
        )

    def names(self) -> list[bytes]:
        """Return the bytes by which equal support vectors are found."""
        if isinstance(self.rows, np.ndarray):
            return [row.tobytes() for row in self.rows]
        rows = self.rows.sorted_indices()
        ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return [
            rows.indices[a:b].astype(np.int64).tobytes() + rows.data[a:b].tobytes() for a, b in ends
        ]


def expansion_of(part: State) -> Expansion:
    """Return the support vectors in use of a state that holds arguments and state of a set."""
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
    """Average expansions; a vector that several have came when the last of them got it."""
    found: dict[bytes, int] = {}
    numbers = [
        np.array([found.setdefault(key, len(found)) for key in part.names()], dtype=np.intp)
        for part in expansions
    ]
    coefficients = np.zeros((len(expansions[0].coefficients), len(found)))
    places, first = np.zeros(len(found)), np.zeros(len(found), dtype=np.intp)
    base = 0
    for i, (part, own) in enumerate(zip(expansions, numbers, strict=True)):
        # A model may have a vector several times.
        # Of several targets each has a unit, in the rows of the average too.
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
    """Return a set of these support vectors; their coefficients (n, n_outputs) are 0 by default."""
    support = empty_set(arguments)
    if coefficients is None:
        coefficients = np.zeros((rows.shape[0], arguments.n_outputs))
    support.add_rows(rows, np.ascontiguousarray(coefficients))
    return support


def gram_of(arguments: State, rows: Any) -> Floats:
    """Return the kernel values of rows with each other, of a set of these arguments.

    They are computed in double: rounded to float32, the matrix of a smooth kernel has negative
    eigenvalues, which grow where one support vector after the other is taken off.
    """
    rows, support = rows.astype(np.float64), empty_set(arguments, dtype=np.dtype(np.float64))
    support.add_rows(rows, np.zeros((rows.shape[0], support.n_outputs)))
    values: Floats = kernel_values(support, rows)
    return values


def doubled(arguments: State, whole: Expansion) -> SupportSet:
    """Return a set without an average; its outputs are the model's and, below, the average's."""
    return empty_set(arguments, n_outputs=len(whole.coefficients), averaged=False)


def fitted(space: State, whole: Expansion, cls: Any = KernelSpace) -> Any:
    """Return a new space without an average whose policy was given the support vectors."""
    budget = space.budget
    arguments = budget.arguments
    if replaced(space):
        whole = nearest(space, whole, arguments.max_support)
    if budget.cls is FeatureMerging:
        # Offsets are averaged by themselves.
        arguments = arguments.changed(offset=False)
    made = cls(doubled(space.arguments, whole), budget.cls(*closed(arguments)))
    take_in(made, whole.rows, np.ascontiguousarray(whole.coefficients.T))
    return made


def replaced(space: State) -> bool:
    """Return whether f is projected onto those who stay, not left to the space's policy."""
    return any(kind.options.get("drops") for kind in inherited(space.budget.cls))


def nearest(space: State, whole: Expansion, most: int) -> Expansion:
    """Return at most so many support vectors, whose span comes nearest to f."""
    return whole.part(nearest_places(space, whole, most))


def nearest_places(space: State, whole: Expansion, most: int) -> Any:
    """Return the places of those whose span comes nearest to f, see `exchanged`.

    Of more than `MOST_PROJECTED`, the largest ones are taken.
    """
    if len(whole) <= most:
        return np.arange(len(whole))
    if len(whole) > MOST_PROJECTED:
        return largest_places(whole, most)
    gram = gram_of(space.arguments, whole.rows)
    return exchanged(gram, gram @ whole.coefficients.T, most)


def largest_places(whole: Expansion, most: int) -> Any:
    """Return the places of at most so many, those with the largest coefficients."""
    norms = np.linalg.norm(whole.coefficients, axis=0)
    return np.sort(np.argsort(-norms, kind="stable")[:most])


def merged_expansion(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge spaces whose policy may be given support vectors."""
    space = parts[0]
    whole = union(mix, [expansion_of(part) for part in parts])
    # Coefficients of `InverseTimeSpace` are in units of 1/t while they enter.
    given = whole
    if space.budget.cls is Projectron:
        # It takes what a perceptron finds: a step of 1 for a mistake.
        given = replace(whole, coefficients=np.sign(whole.coefficients))
    made = fitted(space, given, cls=DualSpace if space.cls is DualSpace else KernelSpace)
    fresh = opened(made)
    if replaced(space):
        project(whole, made.support, fresh)
    if hasattr(fresh.budget.state.learnt, "square"):
        # Ahpatron computes the norm of the function anew.
        fresh.budget.state.learnt.square = -1.0
    return finished(mix, parts, base, fresh)


def project(whole: Expansion, support: SupportSet, fresh: State) -> Floats:
    """Give the support vectors of an opened space the coefficients of the function nearest to f.

    Return the coefficients by slot, ndarray of shape (n_outputs, n_slots).
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
            # The Forgetron's margins count the terms that came with a support vector or later.
            margins = found @ (gram * (state.ages[:, None] >= state.ages))
            learnt = learnt.changed(values=margins, companions=0 * margins, scale=1.0)
            fresh.budget.state.learnt = learnt
    state.values = found / state.scale
    return found


def values_of(whole: Expansion, support: SupportSet) -> Floats:
    """Return the values of an expansion at support vectors, ndarray (n_outputs, n_slots)."""
    values = np.zeros((len(whole.coefficients), support.n))
    for first in range(0, len(whole), CHUNK):
        part = slice(first, first + CHUNK)
        values += whole.coefficients[:, part] @ kernel_values(support, whole.rows[part])
    return values


def finished(mix: Mix, parts: list[State], base: State | None, fresh: State) -> State:
    """Return the space of the merged model from one that `fitted` made."""
    space = parts[0]
    own, policy = space.arguments, fresh.budget.state
    steps = merged_steps(mix, *of(parts, base, "state"))
    averaging, is_dual = Averaging(own.averaged), issubclass(space.cls, DualSpace)
    rows = (1.0 if is_dual else fresh.state.scale) * fresh.state.values
    inverse_time = issubclass(space.cls, InverseTimeSpace) and steps > 0
    final = 1 / steps if inverse_time else 1.0
    fields = averaging.fields(rows[: own.n_outputs], rows[-own.n_outputs :], steps, final)
    state = space.state.told(**{**vars(fresh.state), **fields})
    learnt = policy.learnt
    if is_dual:
        learnt = merged_dual(mix, parts, learnt, state, averaging)
    refused = mix.count(*of(parts, base, "budget.state.refused")) + policy.refused
    sizes = {"n": len(state.ages), "added": state.added}
    identity = space.budget.state.set.told(**vars(own), **sizes)
    known = space.budget.state.told(set=identity, refused=refused, learnt=learnt)
    return space.told(state=state, budget=space.budget.told(state=known))


def merged_dual(
    mix: Mix, parts: list[State], fresh: State, state: State, averaging: Averaging
) -> State:
    """Merge weights and offsets of DualSGD: the average of the old ones, plus the new ones."""
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
    return fresh.told(weights=np.ascontiguousarray(rows[:, :-1]), offsets=rows[:, -1].copy())
