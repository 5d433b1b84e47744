"""Kernel expansions, merged: their weighted average, a union of support vectors.

    f = sum_i a_i f_i = sum over the different support vectors x of (sum_i a_i c_i(x)) kappa(x, .)

Where they are more than the budget, the learner's own policy decides who stays: the support vectors
of the union, those from the beginning of the streams first, are given to it one by one, as if a
rule had found their coefficients. `RefuseWhenFull` keeps the largest. A policy that would drop the
others says only who stays: f is then projected onto their span, which no choice of coefficients
betters. So it is up to 4,096 support vectors; of larger budgets the rest is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from onlinekern.core.budgets.bpa import CheapestReplacement
from onlinekern.core.budgets.eviction import OldestEviction, RandomEviction
from onlinekern.core.budgets.forgetron import ShrinkingEviction
from onlinekern.core.budgets.policy import Budget, RefuseWhenFull
from onlinekern.core.budgets.projectron import Projectron
from onlinekern.core.budgets.quantisation import Quantise
from onlinekern.core.budgets.removal_projection import Removal
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.dual_sgd import DualSpace, FeatureMerging
from onlinekern.core.models.nogd import NystroemSpace
from onlinekern.core.models.space import InverseTimeSpace, KernelSpace
from onlinekern.core.models.union import kernel_values, take_in
from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.averages import Averaging, merged_steps
from onlinekern.fitted.merge.linear import arguments_at
from onlinekern.fitted.merge.maps import stacked
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.merge.opened import Opened, closed, opened, same

# On the diagonal of kernel matrices that are inverted, relative to it; as in `tracker`.
JITTER = {8: 1e-6, 4: 1e-5}
# Support vectors up to which functions are projected: a matrix of 128 MiB, in about a second.
MOST_PROJECTED = 4096
# Of the projection, relative to kappa(x, x): without it coefficients become large and cancel out,
# and the policy then evicts one of a pair. Chosen by benchmarks/merging.py.
RIDGE = 0.01
# Rows whose kernel values are held at the same time.
CHUNK = 4096
# Policies of which only who stays counts; whoever leaves is projected onto those who stay.
DROPPING = (
    CheapestReplacement,
    OldestEviction,
    Projectron,
    Quantise,
    RandomEviction,
    RefuseWhenFull,
    Removal,
    ShrinkingEviction,
)
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
        Of each output, of the last model and, below, of the average if there is one.
    places : ndarray of shape (n,)
        When each came, in [0, 1]: 0 is the beginning of the stream.
    slots : ndarray of shape (n,)
    """

    rows: Any
    coefficients: Floats
    places: Floats
    slots: Any

    def __len__(self) -> int:
        n: int = self.rows.shape[0]
        return n

    def part(self, places: Any) -> Expansion:
        """Some of the support vectors."""
        return Expansion(
            self.rows[places], self.coefficients[:, places], self.places[places], self.slots[places]
        )

    def names(self) -> list[bytes]:
        """What tells one support vector from another."""
        if isinstance(self.rows, np.ndarray):
            return [row.tobytes() for row in self.rows]
        rows = self.rows.sorted_indices()
        ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return [
            rows.indices[a:b].astype(np.int64).tobytes() + rows.data[a:b].tobytes() for a, b in ends
        ]


def expansion_of(arguments: Any, state: Any) -> Expansion:
    """The support vectors of a set that are in use."""
    averaging = Averaging(arguments[4])
    ages = np.asarray(state["ages"], dtype=float)
    ages[state["free"]] = np.inf
    order = np.argsort(ages, kind="stable")[: len(ages) - len(state["free"])]
    pair = averaging.pair(state, state["values"], state["companions"])
    coefficients = np.concatenate(pair[: 1 + averaging.present])[:, order]
    places = (np.arange(len(order)) + 0.5) / max(len(order), 1)
    return Expansion(state["rows"][order], coefficients, places, order)


def check_sets(sets: list[Any]) -> None:
    """Raise ValueError unless the arguments of all support sets are the same."""
    names = ("kernel", "number of features", "dtype", "number of outputs", "average", "sparse form")
    for own in sets[1:]:
        for name, one, other in zip(names, sets[0], own, strict=True):
            if one != other:
                raise ValueError(DIFFERENT.format(name, one, other))


def union(mix: Mix, expansions: list[Expansion]) -> Expansion:
    """The average of expansions; a vector that several have came when the last of them got it."""
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
        scaled = mix.shares[i] * mix.units[i] * part.coefficients
        np.add.at(coefficients.T, own, scaled.T)
        np.maximum.at(places, own, part.places)
        first[own] = base + np.arange(len(part))
        base += len(part)
    order = np.argsort(places, kind="stable")
    rows = stacked([part.rows for part in expansions])[first[order]]
    return Expansion(rows, coefficients[:, order], places[order], first[order])


def fitted(cls: type, arguments: Any, budget: Opened, whole: Expansion, targets: Any = None) -> Any:
    """A new space whose policy has been given the support vectors, without an average.

    Its outputs are those of the model, and of the average below.
    """
    kernel, d, dtype, _, _, is_sparse = arguments
    policy_class, policy_arguments, _ = budget.arguments
    if policy_class is RefuseWhenFull:
        whole = largest(whole, policy_arguments[0])
    if policy_class is FeatureMerging:
        # Offsets are averaged by themselves.
        policy_arguments = (*policy_arguments[:3], False)
    policy = policy_class(*closed(policy_arguments))
    support = SupportSet(kernel, d, dtype, len(whole.coefficients), False, is_sparse)
    space = cls(support, policy)
    take_in(space, whole.rows, np.ascontiguousarray(whole.coefficients.T), targets)
    return space


def largest(whole: Expansion, most: int) -> Expansion:
    """At most so many support vectors, those of the largest coefficients."""
    norms = np.linalg.norm(whole.coefficients, axis=0)
    return whole.part(np.sort(np.argsort(-norms, kind="stable")[:most]))


def merged_expansion(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`KernelSpace`, and its subclasses whose policy may be given support vectors."""
    cls, arguments, _, budget = parts[0].arguments
    whole = union(mix, [expansion_of(*part.arguments[1:3]) for part in parts])
    # Coefficients of `InverseTimeSpace` are in units of 1/t while they enter.
    given = whole
    if budget.arguments[0] is Projectron:
        # It takes what a perceptron finds: a step of 1 for a mistake.
        given = replace(whole, coefficients=np.sign(whole.coefficients))
    space = fitted(DualSpace if cls is DualSpace else KernelSpace, arguments, budget, given)
    fresh = opened(space)
    if issubclass(budget.arguments[0], DROPPING):
        project(whole, space.support, fresh)
    return finished(mix, parts, base, fresh)


def project(whole: Expansion, support: SupportSet, fresh: Opened) -> Floats:
    """Give the support vectors of an opened space the coefficients of the function nearest to f.

    Returns the coefficients by slot, ndarray of shape (n_outputs, n_slots).
    """
    state = fresh.arguments[2]
    slots = np.setdiff1d(np.arange(support.n), state["free"])
    rows, found = state["rows"][slots], np.zeros_like(state["values"])
    if len(whole) == len(slots):
        places = {key: place for place, key in enumerate(whole.names())}
        own = replace(whole, rows=rows)
        found[:, slots] = whole.coefficients[:, [places[key] for key in own.names()]]
    elif len(slots) > MOST_PROJECTED:
        return np.asarray(state["scale"] * state["values"])
    else:
        gram = kernel_values(support, rows)[:, slots]
        gram = (gram + gram.T) / 2
        wanted = values_of(whole, support)[:, slots]
        gram[np.diag_indices(len(gram))] += RIDGE * np.diagonal(gram).mean()
        found[:, slots] = scipy.linalg.solve(gram, wanted.T, assume_a="pos").T
        if "damage" in (learnt := fresh.arguments[3].arguments[2]["learnt"]):
            # The Forgetron's margins: terms that came in with a support vector or later.
            margins = found @ (gram * (state["ages"][:, None] >= state["ages"]))
            learnt.update(values=margins, companions=0 * margins, scale=1.0)
    state["values"] = found / state["scale"]
    return found


def values_of(whole: Expansion, support: SupportSet) -> Floats:
    """The values of an expansion at support vectors, by slot, ndarray of shape (n_outputs, n)."""
    values = np.zeros((len(whole.coefficients), support.n))
    for first in range(0, len(whole), CHUNK):
        part = slice(first, first + CHUNK)
        values += whole.coefficients[:, part] @ kernel_values(support, whole.rows[part])
    return values


def finished(mix: Mix, parts: list[Opened], base: Opened | None, fresh: Opened) -> Opened:
    """The space of the merged model, from one that `fitted` made."""
    cls, arguments, _, budget = parts[0].arguments
    states, before = arguments_at(parts, base, 2)
    steps = merged_steps(mix, states, before)
    n_outputs, averaging = arguments[3], Averaging(arguments[4])
    fresh_state, policy = fresh.arguments[2:]
    is_dual = issubclass(cls, DualSpace)
    scale = 1.0 if is_dual else fresh_state["scale"]
    rows = scale * fresh_state["values"]
    inverse_time = issubclass(cls, InverseTimeSpace) and steps > 0
    final = 1 / steps if inverse_time else 1.0
    state = averaging.state(rows[:n_outputs], rows[-n_outputs:], steps, final)
    learnt = policy.arguments[2]
    if is_dual:
        learnt = merged_dual(mix, parts, learnt, state, averaging)
    refused = [part.arguments[3].arguments[2]["refused"] for part in parts]
    old = base.arguments[3].arguments[2]["refused"] if base else 0
    named = {
        "set": (*arguments, len(fresh_state["ages"]), fresh_state["added"]),
        "refused": mix.count(refused, old) + learnt["refused"],
        "learnt": learnt["learnt"],
    }
    merged = budget.changed(*policy.arguments[:1], budget.arguments[1], named)
    return parts[0].changed(cls, arguments, {**fresh_state, **state}, merged)


def merged_dual(
    mix: Mix, parts: list[Opened], learnt: Any, state: Any, averaging: Averaging
) -> Any:
    """Weights and offsets of DualSGD: those merged into now, and the average of those before."""
    n = state["values"].shape[0]
    pairs = []
    for part in parts:
        own, old = part.arguments[2], part.arguments[3].arguments[2]["learnt"]
        numbers = np.column_stack([old["weights"], old["offsets"]])
        pairs.append(averaging.pair(own, numbers[:n], numbers[n:]))
    latest, averaged = (mix.blend(half) for half in zip(*pairs, strict=True))
    fresh = learnt["learnt"]["weights"]
    halves = len(fresh) // 2
    latest[:, :-1] += fresh[:n]
    averaged[:, :-1] += fresh[halves - n : halves]
    known = averaging.state(latest, averaged, state["steps"], state["scale"])
    rows = np.concatenate([known["values"], known["companions"]])
    weights = {"weights": np.ascontiguousarray(rows[:, :-1]), "offsets": rows[:, -1].copy()}
    return {**learnt, "learnt": weights}


def merged_nystroem(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`NystroemSpace`: weights of common landmarks, or expansions that are given to a new one."""
    arguments, _, n_landmarks, n_components, learnt = parts[0].arguments
    check_sets([part.arguments[0] for part in parts])
    averaging = Averaging(arguments[4])
    stages = [part.arguments[4] for part in parts]
    landmarks = [part.arguments[1]["rows"] for part in parts]
    if learnt and all(same(learnt[0], s and s[0]) for s in stages) and same_rows(landmarks):
        pairs = [averaging.pair(s[1], s[1]["values"], s[1]["companions"]) for s in stages]
        halves = [mix.blend(half) for half in zip(*pairs, strict=True)]
        steps = mix.count([stage[1]["steps"] for stage in stages], steps_of(base) if base else 0)
        state = averaging.state(halves[0], halves[1], steps)
        return parts[0].changed(*parts[0].arguments[:4], (learnt[0], state))
    whole = union(mix, [landmark_expansion(part, averaging) for part in parts])
    kernel, d, dtype, n_outputs, _, is_sparse = arguments
    support = SupportSet(kernel, d, dtype, len(whole.coefficients), False, is_sparse)
    space = NystroemSpace(support, n_landmarks, n_components)
    take_in(space, whole.rows, np.ascontiguousarray(whole.coefficients.T))
    fresh = opened(space)
    steps = mix.count([steps_of(part) for part in parts], steps_of(base) if base else 0)
    _, state, _, _, moved = fresh.arguments
    first = averaged_state(averaging, state, n_outputs, steps)
    if moved:
        moved = moved[0], averaged_state(averaging, moved[1], n_outputs, steps)
    return parts[0].changed(arguments, first, n_landmarks, n_components, moved)


def averaged_state(averaging: Averaging, state: Any, n_outputs: int, steps: int) -> Any:
    """A state of twice the outputs as one with an average."""
    rows = state["scale"] * state["values"]
    return {**state, **averaging.state(rows[:n_outputs], rows[-n_outputs:], steps)}


def same_rows(landmarks: list[Any]) -> bool:
    return all(same(landmarks[0], other) for other in landmarks[1:])


def steps_of(part: Opened) -> int:
    """Models that have been counted: those of the second stage, if there is one."""
    learnt = part.arguments[4]
    steps: int = (learnt[1] if learnt else part.arguments[1])["steps"]
    return steps


def landmark_expansion(part: Opened, averaging: Averaging) -> Expansion:
    """The expansion of a model of either stage over its landmarks."""
    arguments, state, _, _, learnt = part.arguments
    whole = expansion_of(arguments, state)
    if learnt is None:
        return whole
    projection, weights = learnt
    pair = averaging.pair(weights, weights["values"], weights["companions"])
    features = np.concatenate(pair[: 1 + averaging.present])[:, : len(projection)]
    coefficients = (features @ projection)[:, whole.slots]
    return Expansion(whole.rows, coefficients, whole.places, whole.slots)


def merged_olla(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`OLLASpace`: the average of the functions."""
    arguments, _, penalty, intercept, _ = parts[0].arguments
    check_sets([part.arguments[0] for part in parts])
    whole = union(mix, [expansion_of(*part.arguments[:2]) for part in parts])
    support = SupportSet(*arguments)
    space = KernelSpace(support, Budget())
    take_in(space, whole.rows, np.ascontiguousarray(whole.coefficients.T))
    state = {**support.get_state(), "total": 0.0, "steps": 0}
    offset = mix.blend([part.arguments[4] for part in parts])
    return parts[0].changed(arguments, state, penalty, intercept, offset)
