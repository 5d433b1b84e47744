"""Merging of models whose policy keeps targets, sums of samples or the last samples.

- Sliding window, fixed budget and least-squares machines: the support vectors and their targets
  determine the model. The merged model keeps the support vectors whose span comes nearest to the
  average function. Their targets are set so that the policy computes this function from them. The
  labels of single samples would bring back their noise.
- KRLS: each sample is a combination of support vectors. The policy builds the union of the support
  vectors with its test of linear dependence. The sums P^-1 = sum w a a' and P^-1 beta, where beta
  are the values of the function at the support vectors, are added over this union. If the union is
  larger than the budget, the policy is offered those that fit the samples best (`dictionary`).
- KAPA: its projection policy reduces the union to the budget. The last samples are taken from all
  models.

Sums over support vectors D become sums over others U through the matrix K_U^-1 K_UD. It writes a
function of D as one of U, and is exact where U contains D.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from onlinekern.core.budgets.bolssvm import LeastSquaresPolicy
from onlinekern.core.budgets.removal_projection import Projection
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.space import KernelSpace
from onlinekern.core.models.union import kernel_values, take_in
from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.expansions import (
    JITTER,
    Expansion,
    doubled,
    expansion_of,
    finished,
    fitted,
    largest_places,
    nearest,
    project,
    set_of,
    union,
)
from onlinekern.fitted.merge.gaussians import symmetric_inverse
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.merge.selection import MOST_PROJECTED, NOT_POSITIVE, exchanged
from onlinekern.fitted.state import State, closed, opened

# Rows of the first output in KAPA's memory of the last samples.
TARGET, SCORE = 1, 3


def learnt_of(part: State) -> State:
    """Return the learnt state of a space's policy."""
    return part.budget.state.learnt


def taken_up(space: State, support: SupportSet, learnt: dict[str, Any]) -> State:
    """Return a space with these support vectors, whose policy has this learnt state."""
    policy, known = space.budget.state, opened_set(space, support)
    identity = policy.set.with_learnt(n=support.n, added=support.n)
    updated = policy.with_learnt(
        set=identity, refused=0, learnt=policy.learnt.with_learnt(**learnt)
    )
    return space.with_learnt(state=known, budget=space.budget.with_learnt(state=updated))


def opened_set(space: State, support: SupportSet) -> State:
    """Return the state of a new support set."""
    return space.state.with_learnt(**support.get_state())


def merged_samples(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge spaces whose support vectors and targets determine the function."""
    space = parts[0]
    whole = union(mix, [expansion_of(part) for part in parts])
    own = space.budget.arguments
    kept = nearest(space, whole, own.max_support)
    made = fitted(space, kept, space.cls)
    fresh = opened(made)
    coefficients = project(whole, made.support, fresh)
    # With these targets v = (K + R) c, the policy computes the average function.
    ridge = 1 / own.C if space.budget.cls is LeastSquaresPolicy else own.reg
    gram = kernel_values(made.support, fresh.state.rows) + ridge * np.eye(made.support.n)
    values = coefficients @ gram
    if space.budget.cls is LeastSquaresPolicy:
        offsets = mix.mean([learnt_of(part).offsets for part in parts])
        set_machines(fresh, values + offsets.T)
    else:
        values[:, fresh.state.free] = 0
        learnt_of(fresh).values[:, : values.shape[1]] = values
    return finished(mix, parts, base, fresh)


def set_machines(fresh: State, targets: Floats) -> None:
    """Train least-squares machines on these targets of their support vectors."""
    learnt, n = learnt_of(fresh), targets.shape[1]
    learnt.targets[:-1, :n] = targets
    learnt.products[:, :n] = learnt.targets[:, :n] @ learnt.inverse[:n, :n]
    learnt.offsets[0] = learnt.products[:-1].sum(axis=1) / learnt.products[-1].sum()
    alphas = learnt.products[:-1] - learnt.offsets.T * learnt.products[-1]
    fresh.state.values = alphas[:, :n] / fresh.state.scale


@dataclass(frozen=True)
class Union:
    """Support vectors of a new set, by slot.

    Parameters
    ----------
    support : SupportSet
    gram : ndarray of shape (n, n)
        Their kernel values, with a jitter on the diagonal.
    """

    support: SupportSet
    gram: Floats

    @classmethod
    def of(cls, support: SupportSet) -> Union:
        rows = support.get_state()["rows"]
        gram = kernel_values(support, rows)
        gram = (gram + gram.T) / 2
        return cls(support, gram + JITTER[support.itemsize] * np.eye(len(gram)))

    def turn(self, rows: Any) -> Floats:
        """Return K_U^-1 K_UD for the rows D.

        The column of a row that is in U is a unit vector, so it is exact.
        """
        values = kernel_values(self.support, rows).T
        try:
            turned: Floats = scipy.linalg.solve(self.gram, values, assume_a="pos")
        except np.linalg.LinAlgError as error:
            raise ValueError(NOT_POSITIVE) from error
        own = Expansion(self.support.get_state()["rows"], np.zeros((1, 0)), np.empty(0), None)
        known = {key: place for place, key in enumerate(own.names())}
        for j, key in enumerate(Expansion(rows, np.zeros((1, 0)), np.empty(0), None).names()):
            if key in known:
                turned[:, j] = 0
                turned[known[key], j] = 1
        return turned


def added_over(
    mix: Mix, whole: Union, sums: list[tuple[Any, Floats, Floats]], has_base: bool
) -> tuple[Floats, Floats]:
    """Add the sums (rows, matrix, vectors) of all models over the union; the base's come last."""
    turned = []
    for rows, matrix, vector in sums:
        turn = whole.turn(rows)
        turned.append((turn @ matrix @ turn.T, turn @ vector))
    n = len(whole.gram)
    first = turned.pop() if has_base else (np.zeros((n, n)), np.zeros_like(turned[0][1]))
    matrix = mix.total([pair[0] for pair in turned], first[0])
    vector = mix.total([pair[1] for pair in turned], first[1])
    return (matrix + matrix.T) / 2, vector


def merged_dependence(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge KRLS with approximate linear dependence."""
    sums = [observed(mix, part, i) for i, part in enumerate(parts)]
    sums += [observed(mix, base, -1)] if base else []
    whole = dictionary(mix, parts, sums, base is not None)
    space = fitted(parts[0], whole, parts[0].cls)
    chosen = Union.of(space.support)
    matrix, vector = added_over(mix, chosen, sums, base is not None)
    covariance = symmetric_inverse(matrix)
    coefficients = scipy.linalg.solve(chosen.gram, covariance @ vector, assume_a="pos")
    fresh = opened(space)
    fresh.state.values = np.ascontiguousarray(coefficients.T) / fresh.state.scale
    learnt_of(fresh).covariance = covariance
    return finished(mix, parts, base, fresh)


def observed(mix: Mix, part: State, place: int) -> tuple[Any, Floats, Floats]:
    """Return rows, P^-1 and P^-1 beta of a KRLS model; beta has a column for each output."""
    state = part.state
    own = Union.of(closed(part).support)
    matrix = symmetric_inverse(learnt_of(part).covariance)
    values = own.gram @ (state.scale * state.values.T)
    values = mix.units[place] * values + mix.shifts[place]
    return state.rows, matrix, matrix @ values


def dictionary(
    mix: Mix, parts: list[State], sums: list[tuple[Any, Floats, Floats]], has_base: bool
) -> Expansion:
    """Return the union, reduced to the support vectors that fit the samples best.

    A function sum_i c_i kappa(x_i, .) has the squared error c'K J K c - 2 c'K b plus a constant,
    where J and b are the sums of P^-1 and of P^-1 beta.
    """
    whole = union(mix, [expansion_of(part) for part in parts])
    most = parts[0].budget.arguments.max_support
    if not most < len(whole) <= MOST_PROJECTED:
        return whole
    every = Union.of(set_of(parts[0].arguments, whole.rows))
    matrix, vector = added_over(mix, every, sums, has_base)
    norm = every.gram @ matrix @ every.gram + every.gram
    return whole.part(exchanged((norm + norm.T) / 2, every.gram @ vector, most))


def merged_affine(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge KAPA."""
    space, own = parts[0], parts[0].budget.arguments
    most, order = own.max_support, own.order
    expansions = [expansion_of(part) for part in parts]
    whole = union(mix, expansions)
    count = sum(min(learnt_of(part).learnt, order) for part in parts)
    last, older = split(whole, min(order, count, len(whole)))
    if len(whole) > most:
        plain = KernelSpace(doubled(space.arguments, older), Projection(max(most - len(last), 1)))
        take_in(plain, older.rows, np.ascontiguousarray(older.coefficients.T))
        older = expansion_of(space.changed(state=opened_set(space, plain.support)))
        older = older.part(largest_places(older, most - len(last)))
    support = set_of(space.arguments, older.rows, older.coefficients.T)
    support.add_rows(last.rows, np.ascontiguousarray(last.coefficients.T))
    learnt = remembered(mix, parts, expansions, support, last, order)
    return finished(mix, parts, base, taken_up(space, support, learnt))


def rows_of(first: int, recent: Floats) -> Any:
    """Return the rows that hold the targets, or the scores, of all outputs."""
    return [first, *range(4 + (first == SCORE), len(recent), 2)]


def split(whole: Expansion, n: int) -> tuple[Expansion, Expansion]:
    """Return the last n support vectors, and the ones before them."""
    first = len(whole) - n
    return whole.part(slice(first, None)), whole.part(slice(first))


def remembered(
    mix: Mix,
    parts: list[State],
    expansions: list[Expansion],
    support: SupportSet,
    last: Expansion,
    order: int,
) -> Any:
    """Return KAPA's memory of the last samples.

    It consists of slots, targets, weights, scores and kernel values.
    """
    latest: dict[bytes, tuple[Any, float]] = {}
    for i, (part, own) in enumerate(zip(parts, expansions, strict=True)):
        recent = learnt_of(part).recent
        targets = mix.units[i] * recent[rows_of(TARGET, recent)].T + mix.shifts[i]
        names = dict(zip(own.slots.tolist(), own.names(), strict=True))
        for slot, target, weight in zip(recent[0], targets, recent[2], strict=True):
            if weight > 0 and int(slot) in names:
                latest[names[int(slot)]] = (target, weight)
    values = kernel_values(support, last.rows)
    known = opened_set(parts[0], support)
    scores = values @ (known.scale * known.values.T)
    n, first = len(last), support.n - len(last)
    recent, gram = np.zeros((2 + 2 * scores.shape[1], order)), np.zeros((order, order))
    recent[0, :n] = first + np.arange(n)
    for k, (key, score) in enumerate(zip(last.names(), scores, strict=True)):
        target, recent[2, k] = latest.get(key, (score, 1.0))
        recent[rows_of(TARGET, recent), k], recent[rows_of(SCORE, recent), k] = target, score
    gram[:n, :n] = values[:, first:]
    lengths = np.diagonal(kernel_values(support, known.rows)).copy()
    return {"recent": recent, "gram": gram, "learnt": n, "lengths": lengths}
