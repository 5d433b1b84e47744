"""Kernel expansions: support vectors under a budget policy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinekern.fitted.export.states import (
    Beside,
    CannotLearn,
    Described,
    KernelState,
    Numbers,
    Slots,
)
from onlinekern.fitted.export.terms import Constant, Terms, dense
from onlinekern.fitted.families import policies
from onlinekern.fitted.families.features import (
    SUPPORT_SET,
    SUPPORT_VECTORS,
    expansion,
    kernel_of,
    map_of,
    weighted,
)
from onlinekern.fitted.grow import Growth
from onlinekern.fitted.merge.averages import Averaging
from onlinekern.fitted.merge.expansions import check_sets, merged_expansion
from onlinekern.fitted.merge.filters import (
    merged_affine,
    merged_dependence,
    merged_samples,
)
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.merge.trackers import merged_tracker
from onlinekern.fitted.state import State, closed, describe, kind_of

if TYPE_CHECKING:
    from onlinekern.fitted.export.taught import Taught

# These are what policies learn: the inverse of a kernel matrix, a factor of it, or lengths.
INVERSE = "inverse~[row column] diagonal~[one column] n_updates~ broken~ pending~"
VALUES = f"{INVERSE} values~[output column]"
FACTOR, LENGTHS = "factor[slot slot]", "lengths[slot]"
# Policies with an inverse that learn in C.
SLOTTED: dict[str, Any] = {"in_c": True, "slots": True, "plain": True}


def policy(path: str, arguments: str, learnt: str = "", **options: Any) -> None:
    """Describe a policy by the arguments of its class, and by what it learns.

    `drops`: who leaves is projected onto those who stay. `merge` and `begin` are the rules for
    spaces with the policy. `in_c`: learning in C knows it. `unbounded`: it may fill all room for
    support vectors. `slots`: some are free between two steps. `plain`: without an average. `keeps`:
    `Rules` of what it learns beside them and C goes on with. `offsets`: added to the scores.
    """
    plain = path == "budgets.policy.Budget"
    # Policies of other packages have arguments without names, and learn what they like.
    own = ("arguments=", "learnt") if plain else (f"arguments({arguments})", f"learnt({learnt})")
    text = f"cls= {own[0]} state(set({SUPPORT_SET} n added) refused~ {own[1]})"
    describe(path, text, by_function=plain, options=options)


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
    if "in_c" not in options:
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
    learnt, rules = budget.state.learnt, options.get("keeps")
    known = KernelState(
        kernel=kernel_of(own.kernel),
        vectors=dense(state.rows),
        policy=Described(name, arguments),
        added=state.added,
        lengths=np.asarray(getattr(learnt, "lengths", np.zeros(0))),
        unbounded="unbounded" in options,
        single=np.dtype(own.dtype) == np.float32,
        matrices=rules.kept(learnt) if rules else {},
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
    if rules := options_of(budget.cls).get("keeps"):
        learnt = rules.taught(learnt, found, n)
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


policy("budgets.policy.Budget", "", in_c=True, unbounded=True)
BOUND = "max_support="
policy("budgets.policy.RefuseWhenFull", BOUND, drops=True, in_c=True, unbounded=True)
policy("budgets.eviction.OldestEviction", BOUND, drops=True, in_c=True)
policy("budgets.eviction.RandomEviction", f"{BOUND} rng=", drops=True, in_c=True)
policy("budgets.eviction.UniformEviction", f"{BOUND} rng= max_coefficient=", in_c=True)
policy("budgets.eviction.NonuniformEviction", f"{BOUND} rng= max_coefficient=", in_c=True)
policy("budgets.bpa.CheapestReplacement", BOUND, LENGTHS, drops=True, in_c=True)
margins = "values~[output slot] companions~[output slot] scale~ total~ steps~ n_steps~ damage~"
policy(
    "budgets.forgetron.ShrinkingEviction",
    BOUND,
    margins,
    drops=True,
    in_c=True,
    plain=True,
    keeps=policies.MARGINS,
)
policy(
    "budgets.halving.Halving",
    f"{BOUND} radius=",
    "square~",
    drops=True,
    begin=begin_norm,
    keeps=policies.NORM,
    **SLOTTED,
)
policy("budgets.removal_projection.Removal", BOUND, LENGTHS, drops=True, in_c=True, slots=True)
policy(
    "budgets.removal_projection.Projection",
    BOUND,
    INVERSE,
    drops=True,
    keeps=policies.INVERSE,
    **SLOTTED,
)
policy("budgets.merging.Merging", BOUND, drops=True, in_c=True, slots=True, plain=True)
policy(
    "budgets.projectron.Projectron",
    f"eta= {BOUND} price= joint=",
    FACTOR,
    drops=True,
    in_c=True,
    plain=True,
    unbounded=True,
    keeps=policies.FACTOR,
)
policy(
    "budgets.quantisation.NearestWhenFull", BOUND, LENGTHS, drops=True, in_c=True, unbounded=True
)
policy(
    "budgets.quantisation.Quantise", f"similarity= {BOUND}", drops=True, in_c=True, unbounded=True
)
machines = f"{INVERSE} targets[machine column] offsets[one output] products~[machine column]"
policy(
    "budgets.bolssvm.LeastSquaresPolicy",
    f"{BOUND} C= share=",
    machines,
    merge=merged_samples,
    offsets=True,
    begin=begin_machines,
    keeps=policies.MACHINES,
    **SLOTTED,
)
merging = f"map= {BOUND} merge_size= offset="
WEIGHTS = "weights[machine feature] offsets[machine]"
policy(
    "models.dual_sgd.FeatureMerging", merging, WEIGHTS, begin=begin_features, in_c=True, slots=True
)
policy(
    "budgets.affine_projection.AffineProjection",
    f"{BOUND} order= eta= reg= normalised=",
    f"recent[known sample] gram[sample sample] learnt {LENGTHS}",
    merge=merged_affine,
    keeps=policies.SAMPLES,
    **SLOTTED,
)
spans = f"{FACTOR} covariance[slot slot]"
policy(
    "budgets.dependence.LinearDependence",
    f"{BOUND} nu=",
    spans,
    merge=merged_dependence,
    in_c=True,
    plain=True,
    keeps=policies.FACTOR,
)
RIDGES = {"merge": merged_samples, "keeps": policies.INVERSE, **SLOTTED}
policy("budgets.recursive.SlidingWindow", f"{BOUND} reg=", VALUES, **RIDGES)
policy("budgets.recursive.FixedBudget", f"{BOUND} reg= eta=", VALUES, **RIDGES)
policy(
    "budgets.tracker.Tracker",
    f"{BOUND} noise= forgetting= back_to_prior=",
    f"{VALUES} covariance[row column] prior[row column] residuals[output level]",
    merge=merged_tracker,
    keeps=policies.INVERSE,
    **SLOTTED,
)
SPACE = f"cls= {SUPPORT_VECTORS} budget"
RULES: dict[str, Any] = {"merge": merged_support_vectors, "begin": begin}
LEARNS: dict[str, Any] = {"terms": terms, "learning": learning, "taught": taught, **RULES}
DUAL: dict[str, Any] = {"terms": dual_terms, "learning": dual_learning, "taught": dual_taught}
describe("models.space.KernelSpace", SPACE, **LEARNS)
describe("models.space.InverseTimeSpace", SPACE, by_function=False, **LEARNS)
describe("models.dual_sgd.DualSpace", SPACE, by_function=False, **DUAL, **RULES)
