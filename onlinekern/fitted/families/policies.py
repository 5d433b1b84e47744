"""Budget policies: arguments, learnt fields, their conversion to C and back, and merging."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from onlinekern.fitted.export.taught import Taught
from onlinekern.fitted.families.features import SUPPORT_SET
from onlinekern.fitted.grow import Growth
from onlinekern.fitted.merge.filters import merged_affine, merged_dependence, merged_samples
from onlinekern.fitted.merge.mix import Averaging
from onlinekern.fitted.merge.trackers import merged_tracker
from onlinekern.fitted.state import State, describe, kind_of

Kept = dict[str, Any]
MATRICES = ("inverse", "covariance", "prior")


def kept_factor(learnt: State) -> Kept:
    """Return a Cholesky factor, and a covariance if there is one."""
    return {name: np.asarray(value) for name, value in vars(learnt).items()}


def taught_factor(learnt: State, found: Taught, n: int) -> State:
    factor = np.zeros((n, n))
    rows, columns = np.tril_indices(n)
    factor[rows, columns] = found.fields["factor"][: len(rows)]
    fields = {"factor": factor}
    if "covariance" in found:
        room = isqrt(len(found.fields["covariance"]))
        fields["covariance"] = np.ascontiguousarray(found.matrix("covariance", room)[:n, :n])
    return learnt.changed(**fields)


def kept_inverse(learnt: State) -> Kept:
    """Return an inverse without padding and with pending terms added, and further learnt fields."""
    size = len(learnt.inverse)
    found = {name: getattr(learnt, name)[:, :size] for name in MATRICES if name in vars(learnt)}
    whole = found["inverse"].copy()
    for term, factor in zip(*(learnt.pending or ((), ())), strict=True):
        whole += np.multiply.outer(factor * term[:size], term[:size])
    found |= {"inverse": whole, "diagonals": learnt.diagonal[0, :size]}
    # A broken inverse is recomputed, as the core recomputes one after many updates.
    found["n_updates"] = np.array(np.iinfo(np.int32).max if learnt.broken else learnt.n_updates)
    if "values" in vars(learnt):
        found["goals"] = learnt.values[0, :size]
    if "residuals" in vars(learnt):
        found["residuals"] = learnt.residuals[0]
    return found


def taught_inverse(learnt: State, found: Taught, n: int) -> State:
    size, width = learnt.inverse.shape
    fields: dict[str, Any] = {"pending": None, "broken": False}
    fields["n_updates"] = found.count("n_updates")
    for name in MATRICES:
        if name in found:
            given = found.matrix(name, size)
            fields[name] = np.pad((given + given.T) / 2, ((0, 0), (0, width - size)))
    for name, own in (("diagonal", "diagonals"), ("values", "goals")):
        if own in found and name in vars(learnt):
            fields[name] = np.pad(found.fields[own], (0, width - size))[np.newaxis]
    if "residuals" in found:
        fields["residuals"] = found.fields["residuals"][np.newaxis].copy()
    return learnt.changed(**fields)


def kept_machines(learnt: State) -> Kept:
    """Return the inverse of least-squares machines, and the targets of their support vectors."""
    size = len(learnt.inverse)
    return kept_inverse(learnt) | {"goals": learnt.targets[:-1, :size]}


def taught_machines(learnt: State, found: Taught, n: int) -> State:
    own = taught_inverse(learnt, found, n)
    targets = np.zeros_like(own.targets)
    size, width = own.inverse.shape
    targets[:-1, :size] = found.matrix("goals", len(targets) - 1)
    targets[-1] = own.diagonal[0] != 0
    products = np.pad(targets[:, :size] @ own.inverse[:, :size], ((0, 0), (0, width - size)))
    offsets = found.matrix("values", len(targets) - 1)[:, -1:].T.copy()
    return own.changed(targets=targets, products=products, offsets=offsets)


def kept_margins(learnt: State) -> Kept:
    """Return the Forgetron's margins at the support vectors, and the damage so far.

    The margin at a support vector sums the terms of f since this vector came.
    """
    margins = learnt.scale * learnt.values
    return {"margins": margins, "damage": learnt.damage, "n_steps": learnt.n_steps}


def taught_margins(learnt: State, found: Taught, n: int) -> State:
    margins = np.ascontiguousarray(found.matrix("margins", len(learnt.values))[:, :n])
    empty = np.zeros_like(margins)
    own = {"damage": found.number("damage"), "n_steps": found.count("n_steps")}
    return learnt.changed(values=margins, companions=empty, scale=1.0, **own)


def kept_samples(learnt: State) -> Kept:
    """Return the last samples of affine projection, and their kernel matrix."""
    return {name: getattr(learnt, name) for name in ("recent", "gram", "learnt")}


def taught_samples(learnt: State, found: Taught, n: int) -> State:
    names = ("slots", "targets", "weights", "scores")
    recent = np.stack([found.fields[f"recent_{name}"] for name in names]).astype(np.float64)
    gram = found.matrix("gram", len(learnt.gram)).copy()
    return learnt.changed(recent=recent, gram=gram, learnt=found.count("n_learnt"))


class Learnt(NamedTuple):
    """Learnt fields of a policy besides the support vectors, and their conversion to C and back.

    Attributes
    ----------
    fields : str
        Description of the fields (`state.fields`).
    kept : callable
        (learnt state) -> numbers by their names in C.
    taught : callable
        (learnt state, numbers of a device, number of used slots) -> learnt state of the device.
    """

    fields: str = ""
    kept: Callable[[State], Kept] = lambda learnt: {}
    taught: Callable[[State, Taught, int], State] = lambda learnt, found, n: learnt

    def beside(self, more: str, **rules: Any) -> Learnt:
        """Return the learnt fields of a policy that has some more than this one."""
        return self._replace(fields=f"{self.fields} {more}", **rules)


NOTHING = Learnt()
LENGTHS = Learnt("lengths[slot]")
FACTOR = Learnt("factor[slot slot]", kept_factor, taught_factor)
SPANS = FACTOR.beside("covariance[slot slot]")
INVERSE = Learnt(
    "inverse~[row column] diagonal~[one column] n_updates~ broken~ pending~",
    kept_inverse,
    taught_inverse,
)
VALUES = INVERSE.beside("values~[output column]")
POSTERIOR = VALUES.beside("covariance[row column] prior[row column] residuals[output level]")
MACHINES = INVERSE.beside(
    "targets[machine column] offsets[one output] products~[machine column]",
    kept=kept_machines,
    taught=taught_machines,
)
MARGINS = Learnt(
    "values~[output slot] companions~[output slot] scale~ total~ steps~ n_steps~ damage~",
    kept_margins,
    taught_margins,
)
# The squared norm of all functions together; < 0 if it must be computed anew.
NORM = Learnt(
    "square~",
    lambda learnt: {"square": learnt.square},
    lambda learnt, found, n: learnt.changed(square=found.number("norm_squared")),
)
SAMPLES = Learnt(
    f"recent[known sample] gram[sample sample] learnt {LENGTHS.fields}",
    kept_samples,
    taught_samples,
)
WEIGHTS = Learnt("weights[machine feature] offsets[machine]")

BOUND = "max_support="
# Options of policies with an inverse.
SLOTTED: dict[str, Any] = {"slots": True, "plain": True}


def policy(path: str, arguments: str, learnt: Learnt = NOTHING, **options: Any) -> None:
    """Describe a policy by the arguments of its class and by its learnt fields.

    Options: with `drops`, an evicted support vector is projected onto the others. `merge` and
    `begin` are the rules for spaces with the policy. With `unbounded`, the policy may use all slots
    that there is memory for. With `slots`, some slots are free between two steps. With `plain`, C
    keeps no average. With `offsets`, offsets are added to the scores.
    """
    plain = path == "budgets.policy.Budget"
    # Policies of other packages may have any arguments, without names, and any learnt fields.
    own = f"arguments({arguments})", f"learnt({learnt.fields})"
    own = ("arguments=", "learnt") if plain else own
    text = f"cls= {own[0]} state(set({SUPPORT_SET} n added) refused~ {own[1]})"
    describe(path, text, by_function=plain, options={"learnt": learnt, **options})


def options_of(cls: type) -> dict[str, Any]:
    """Return the options of a policy; empty for a policy of another package."""
    kind = kind_of(cls)
    return kind.options if kind else {}


def begin_machines(space: State, old: State, growth: Growth) -> None:
    """Initialise new machines with targets of -1.

    A new machine is the negative of the last row, which belongs to the target 1.
    """
    learnt, before = space.budget.state.learnt, old.budget.state.learnt
    learnt.offsets[:, growth.new] = -1.0
    for field in ("targets", "products"):
        known = getattr(before, field)
        rows = growth.along(known[:-1])
        rows[growth.new] = 0.0 - known[-1]
        setattr(learnt, field, np.vstack([rows, known[-1]]))


def begin_features(space: State, old: State, growth: Growth) -> None:
    """Initialise new weights and offsets; their companions are stored below them."""
    learnt, before = space.budget.state.learnt, old.budget.state.learnt
    weights, halves = (
        [growth.along(half) for half in np.split(rows, 2)]
        for rows in (before.weights, before.offsets)
    )
    if space.budget.arguments.offset and growth.level:
        both = growth.numbers(old.state, Averaging(space.arguments.averaged))
        for half, number in zip(halves, both, strict=True):
            half[growth.new] = number
    learnt.weights, learnt.offsets = np.vstack(weights), np.concatenate(halves)


def begin_norm(space: State, old: State, growth: Growth) -> None:
    """Mark the norm of all functions together as unknown, so that it is computed anew."""
    space.budget.state.learnt.square = -1.0


policy("budgets.policy.Budget", "", unbounded=True)
policy("budgets.policy.RefuseWhenFull", BOUND, drops=True, unbounded=True)
policy("budgets.eviction.OldestEviction", BOUND, drops=True)
policy("budgets.eviction.RandomEviction", f"{BOUND} rng=", drops=True)
policy("budgets.eviction.UniformEviction", f"{BOUND} rng= max_coefficient=")
policy("budgets.eviction.NonuniformEviction", f"{BOUND} rng= max_coefficient=")
policy("budgets.bpa.CheapestReplacement", BOUND, LENGTHS, drops=True)
policy("budgets.forgetron.ShrinkingEviction", BOUND, MARGINS, drops=True, plain=True)
halving = {"drops": True, "begin": begin_norm, **SLOTTED}
policy("budgets.halving.Halving", f"{BOUND} radius=", NORM, **halving)
policy("budgets.removal_projection.Removal", BOUND, LENGTHS, drops=True, slots=True)
policy("budgets.removal_projection.Projection", BOUND, INVERSE, drops=True, **SLOTTED)
policy("budgets.merging.Merging", BOUND, drops=True, **SLOTTED)
projectron = {"drops": True, "plain": True, "unbounded": True}
policy("budgets.projectron.Projectron", f"eta= {BOUND} price= joint=", FACTOR, **projectron)
policy("budgets.quantisation.NearestWhenFull", BOUND, LENGTHS, drops=True, unbounded=True)
policy("budgets.quantisation.Quantise", f"similarity= {BOUND}", drops=True, unbounded=True)
merging = f"map= {BOUND} merge_size= offset="
policy("models.dual_sgd.FeatureMerging", merging, WEIGHTS, begin=begin_features, slots=True)
affine, given = "budgets.affine_projection", f"{BOUND} order= eta= reg= normalised="
policy(f"{affine}.AffineProjection", given, SAMPLES, merge=merged_affine, **SLOTTED)
dependence = {"merge": merged_dependence, "plain": True}
policy("budgets.dependence.LinearDependence", f"{BOUND} nu=", SPANS, **dependence)
RIDGES: dict[str, Any] = {"merge": merged_samples, **SLOTTED}
machines = {"offsets": True, "begin": begin_machines, **RIDGES}
policy("budgets.bolssvm.LeastSquaresPolicy", f"{BOUND} C= share=", MACHINES, **machines)
policy("budgets.recursive.SlidingWindow", f"{BOUND} reg=", VALUES, **RIDGES)
policy("budgets.recursive.FixedBudget", f"{BOUND} reg= eta=", VALUES, **RIDGES)
given = f"{BOUND} noise= forgetting= back_to_prior="
policy("budgets.tracker.Tracker", given, POSTERIOR, merge=merged_tracker, **SLOTTED)
