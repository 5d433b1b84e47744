"""Kernel expansions: support vectors under a budget policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from onlinekern.fitted.export.states import (
    Beside,
    CannotLearn,
    Described,
    KernelState,
    Numbers,
    Slots,
)
from onlinekern.fitted.export.taught import Taught
from onlinekern.fitted.export.terms import Constant, Terms, dense
from onlinekern.fitted.families.features import (
    SUPPORT_SET,
    SUPPORT_VECTORS,
    expansion,
    kernel_of,
    map_of,
    weighted,
)
from onlinekern.fitted.families.policies import (
    FACTOR,
    INVERSE,
    LENGTHS,
    MACHINES,
    MARGINS,
    NORM,
    NOTHING,
    POSTERIOR,
    SAMPLES,
    SPANS,
    VALUES,
    WEIGHTS,
    Learnt,
)
from onlinekern.fitted.grow import Growth
from onlinekern.fitted.merge.averages import Averaging
from onlinekern.fitted.merge.expansions import check_sets, merged_expansion
from onlinekern.fitted.merge.filters import merged_affine, merged_dependence, merged_samples
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.merge.trackers import merged_tracker
from onlinekern.fitted.state import State, closed, describe, kind_of

BOUND = "max_support="
# Policies with an inverse.
SLOTTED: dict[str, Any] = {"slots": True, "plain": True}


def policy(path: str, arguments: str, learnt: Learnt = NOTHING, **options: Any) -> None:
    """Describe a policy by the arguments of its class, and by what it learns.

    `drops`: who leaves is projected onto those who stay. `merge` and `begin` are the rules for
    spaces with the policy. `unbounded`: it may fill all room for support vectors. `slots`: some are
    free between two steps. `plain`: C has no average. `offsets`: added to the scores.
    """
    plain = path == "budgets.policy.Budget"
    # Policies of other packages have arguments without names, and learn what they like.
    own = f"arguments({arguments})", f"learnt({learnt.fields})"
    own = ("arguments=", "learnt") if plain else own
    text = f"cls= {own[0]} state(set({SUPPORT_SET} n added) refused~ {own[1]})"
    describe(path, text, by_function=plain, options={"learnt": learnt, **options})


def options_of(cls: type) -> dict[str, Any]:
    """Return the options of a policy; none for one of another package."""
    kind = kind_of(cls)
    return kind.options if kind else {}


def merged_support_vectors(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge kernel expansions by the rule of their policy."""
    check_sets(parts)
    rule = options_of(parts[0].budget.cls).get("merge", merged_expansion)
    return rule(mix, parts, base)


def begin(space: State, old: State, growth: Growth) -> None:
    """Set what policies know of a class that never came."""
    if rule := options_of(space.budget.cls).get("begin"):
        rule(space, old, growth)


def begin_machines(space: State, old: State, growth: Growth) -> None:
    """Let a new machine have targets of -1: it is minus the last row, that of the target 1."""
    learnt, before = space.budget.state.learnt, old.budget.state.learnt
    learnt.offsets[:, growth.new] = -1.0
    for field in ("targets", "products"):
        known = getattr(before, field)
        rows = growth.along(known[:-1])
        rows[growth.new] = 0.0 - known[-1]
        setattr(learnt, field, np.vstack([rows, known[-1]]))


def begin_features(space: State, old: State, growth: Growth) -> None:
    """Let new weights and offsets begin, which have their companions below them."""
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
    """Let the norm of all functions together be computed anew."""
    space.budget.state.learnt.square = -1.0


def terms(space: Any) -> Terms:
    # A policy that solves least squares has offsets beside the support vectors.
    offsets = space.budget.get_learnt().get("offsets")
    constant = () if offsets is None else (Constant(offsets.ravel()[: space.n_outputs]),)
    return expansion(space.support), *constant


def dual_terms(space: Any) -> Terms:
    weights, offsets = space.budget.coefficients()
    features = space.budget.map
    return expansion(space.support), *weighted(features, weights[:, features.columns()], offsets)


def learning(space: State) -> tuple[KernelState, Numbers]:
    """Return the coefficients of support vectors, under a policy that C knows."""
    own, state, budget = space.arguments, space.state, space.budget
    options, name = options_of(budget.cls), budget.cls.__name__
    if "learnt" not in options:  # it is of another package
        raise CannotLearn(f"the budget policy {name} has no C")
    if own.averaged is not False and "plain" in options:
        raise CannotLearn(f"the budget policy {name} has no average in C")
    slots = Slots(state.ages + 1, state.free) if "slots" in options else None
    if len(state.free) and slots is None:
        raise CannotLearn("some slots of its support vectors are free")
    arguments = dict(vars(budget.arguments)) if budget.arguments else {}
    for other in ("rng", "map"):
        arguments.pop(other, None)
    if arguments.get("max_support") == 0:  # there is no bound
        del arguments["max_support"]
    learnt = budget.state.learnt
    known = KernelState(
        kernel=kernel_of(own.kernel),
        vectors=dense(state.rows),
        policy=Described(name, arguments),
        added=state.added,
        lengths=np.asarray(getattr(learnt, "lengths", np.zeros(0))),
        unbounded="unbounded" in options,
        single=np.dtype(own.dtype) == np.float32,
        matrices=options["learnt"].kept(learnt),
        slots=slots,
    )
    numbers = Numbers.of(state, own.averaged)
    return with_offsets(known, numbers, budget) if "offsets" in options else (known, numbers)


def with_offsets(
    known: KernelState, numbers: Numbers, budget: State
) -> tuple[KernelState, Numbers]:
    """Return the same with offsets behind the coefficients of all slots there may be."""
    slots, outputs = budget.arguments.max_support + 1, len(numbers.values)
    values = np.zeros((outputs, slots + 1))
    values[:, : numbers.values.shape[1]] = numbers.values
    values[:, slots] = budget.state.learnt.offsets[0]
    beside = Beside(slots, None, True)
    return replace(known, beside=beside), numbers._replace(values=values, companions=values)


def dual_learning(space: State) -> tuple[KernelState, Numbers]:
    """Return the coefficients of support vectors, and behind them the weights of the features."""
    known, numbers = learning(space)
    own, learnt = space.budget.arguments, space.budget.state.learnt
    features, slots = closed(own.map), own.max_support + 1
    weights = np.split(learnt.weights[:, features.columns()], 2)
    offsets = np.split(learnt.offsets[:, np.newaxis], 2)
    halves = []
    for rows, *more in zip((numbers.values, numbers.companions), weights, offsets, strict=True):
        padded = np.pad(rows, ((0, 0), (0, slots - rows.shape[1])))
        halves.append(np.hstack([padded, *more[: 1 + own.offset]]))
    beside = Beside(slots, map_of(features), bool(own.offset))
    return replace(known, beside=beside), numbers._replace(values=halves[0], companions=halves[1])


def taught(space: State, found: Taught) -> State:
    """Return the space with the support vectors of a device."""
    budget, n = space.budget, found.count("n_support")
    fields = found.vectors(space, n)
    if "ages" in found:
        free = found.fields["free_slots"][: found.count("n_free")]
        fields |= {"ages": found.fields["ages"][:n] - 1, "free": free.astype(np.intp)}
        fields["added"] = found.count("n_added")
    elif "n_added" in found:
        # Slots are taken in turn.
        bound, added = budget.arguments.max_support, found.count("n_added")
        fields |= {"added": added, "ages": added - 1 - (added - 1 - np.arange(n)) % bound}
    empty = np.zeros((len(space.state.values), n))
    numbers = found.average(space.state.changed(values=empty, companions=empty), slice(n))
    learnt = budget.state.learnt
    if "lengths" in found:
        learnt = learnt.changed(lengths=found.fields["lengths"][:n].copy())
    learnt = options_of(budget.cls)["learnt"].taught(learnt, found, n)
    identity = budget.state.set.changed(n=n, added=fields["added"])
    state = budget.state.changed(set=identity, learnt=learnt)
    return space.changed(
        state=space.state.changed(**fields, **numbers), budget=budget.changed(state=state)
    )


def dual_taught(space: State, found: Taught) -> State:
    """Return the space with the support vectors and the weights of a device."""
    space = taught(space, found)
    budget, own = space.budget, space.budget.arguments
    outputs, columns = len(space.state.values), closed(own.map).columns()
    weights, offsets = budget.state.learnt.weights.copy(), budget.state.learnt.offsets.copy()
    for half, name in enumerate(("values", "companions")):
        if name in found:
            rows = found.matrix(name, outputs)[:, own.max_support + 1 :]
            place = slice(half * outputs, (half + 1) * outputs)
            weights[place, columns] = rows[:, : len(columns)]
            if own.offset:
                offsets[place] = rows[:, -1]
    learnt = budget.state.learnt.changed(weights=weights, offsets=offsets)
    return space.changed(budget=budget.changed(state=budget.state.changed(learnt=learnt)))


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
SPACE = f"cls= {SUPPORT_VECTORS} budget"
RULES: dict[str, Any] = {"merge": merged_support_vectors, "begin": begin}
LEARNS: dict[str, Any] = {"terms": terms, "learning": learning, "taught": taught, **RULES}
DUAL: dict[str, Any] = {"terms": dual_terms, "learning": dual_learning, "taught": dual_taught}
describe("models.space.KernelSpace", SPACE, **LEARNS)
describe("models.space.InverseTimeSpace", SPACE, by_function=False, **LEARNS)
describe("models.dual_sgd.DualSpace", SPACE, by_function=False, **DUAL, **RULES)
