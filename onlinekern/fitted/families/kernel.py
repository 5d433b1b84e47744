"""Kernel expansions: support vectors under a budget policy, or OLLA's without one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from onlinekern.core.budgets.policy import Budget
from onlinekern.core.models.space import KernelSpace
from onlinekern.core.models.union import take_in
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
    SUPPORT_VECTORS,
    expansion,
    kernel_of,
    map_of,
    weighted,
)
from onlinekern.fitted.families.policies import options_of
from onlinekern.fitted.grow import Growth
from onlinekern.fitted.merge.expansions import (
    check_sets,
    empty_set,
    expansion_of,
    merged_expansion,
    union,
)
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.state import State, closed, describe


def merged_support_vectors(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge kernel expansions by the rule of their budget policy."""
    check_sets(parts)
    rule = options_of(parts[0].budget.cls).get("merge", merged_expansion)
    return rule(mix, parts, base)


def begin(space: State, old: State, growth: Growth) -> None:
    """Set a policy's values for a new class, of which there was no sample so far."""
    if rule := options_of(space.budget.cls).get("begin"):
        rule(space, old, growth)


def terms(space: Any) -> Terms:
    # A policy that solves least squares has offsets besides the support vectors.
    offsets = space.budget.get_learnt().get("offsets")
    constant = () if offsets is None else (Constant(offsets.ravel()[: space.n_outputs]),)
    return expansion(space.support), *constant


def dual_terms(space: Any) -> Terms:
    weights, offsets = space.budget.coefficients()
    features = space.budget.map
    return expansion(space.support), *weighted(features, weights[:, features.columns()], offsets)


def learning(space: State) -> tuple[KernelState, Numbers]:
    """Return the coefficients of the support vectors, for a policy that exists in C."""
    own, state, budget = space.arguments, space.state, space.budget
    options, name = options_of(budget.cls), budget.cls.__name__
    if "learnt" not in options:  # the policy is from another package
        raise CannotLearn(f"the budget policy {name} has no C")
    if own.averaged is not False and "plain" in options:
        raise CannotLearn(f"the budget policy {name} has no average in C")
    slots = Slots(state.ages + 1, state.free) if "slots" in options else None
    if len(state.free) and slots is None:
        raise CannotLearn("some slots of its support vectors are free")
    arguments = dict(vars(budget.arguments)) if budget.arguments else {}
    for other in ("rng", "map"):
        arguments.pop(other, None)
    if arguments.get("max_support") == 0:  # the number of support vectors is unbounded
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
    """Return the same, with offsets after the coefficients of all possible slots."""
    slots, outputs = budget.arguments.max_support + 1, len(numbers.values)
    values = np.zeros((outputs, slots + 1))
    values[:, : numbers.values.shape[1]] = numbers.values
    values[:, slots] = budget.state.learnt.offsets[0]
    beside = Beside(slots, None, True)
    return replace(known, beside=beside), numbers._replace(values=values, companions=values)


def dual_learning(space: State) -> tuple[KernelState, Numbers]:
    """Return the coefficients of the support vectors, followed by the weights of the features."""
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
        # This policy fills the slots in turn.
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
    """Return the space with a device's support vectors and weights of features."""
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


SPACE = f"cls= {SUPPORT_VECTORS} budget"
RULES: dict[str, Any] = {"merge": merged_support_vectors, "begin": begin}
LEARNS: dict[str, Any] = {"terms": terms, "learning": learning, "taught": taught, **RULES}
DUAL: dict[str, Any] = {"terms": dual_terms, "learning": dual_learning, "taught": dual_taught}
describe("models.space.KernelSpace", SPACE, **LEARNS)
describe("models.space.InverseTimeSpace", SPACE, by_function=False, **LEARNS)
describe("models.dual_sgd.DualSpace", SPACE, by_function=False, **DUAL, **RULES)


def merged_olla(mix: Mix, parts: list[State], base: State | None) -> State:
    """Average the functions of OLLA."""
    check_sets(parts)
    whole = union(mix, [expansion_of(part) for part in parts])
    support = empty_set(parts[0].arguments)
    take_in(KernelSpace(support, Budget()), whole.rows, np.ascontiguousarray(whole.coefficients.T))
    state = parts[0].state.with_learnt(**{**support.get_state(), "total": 0.0, "steps": 0})
    return parts[0].with_learnt(state=state, offset=mix.blend([part.offset for part in parts]))


for name in ("OLLASpace", "AllOutputs", "SupportOutputs"):
    describe(
        f"models.olla.{name}",
        f"{SUPPORT_VECTORS} penalty= fit_intercept= offset[output]",
        by_function=name == "OLLASpace",
        merge=merged_olla,
        terms=lambda space: (expansion(space.support), Constant(space.offsets())),
    )
