"""Support vectors that change, in C: how a policy admits a new one, and how many there may be."""

from __future__ import annotations

from math import inf

import numpy as np

from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.c.policies import POLICIES, RIDGE, write_inverse
from onlinekern.fitted.export.c.terms import diagonal_of, write_features, write_kernel
from onlinekern.fitted.export.states import KernelState, Slots

# On the diagonal of factored kernel matrices, of kernel values in double and in single precision:
# `core.linalg.cholesky`.
JITTERS = {False: 1e-8, True: 1e-5}


def write_support(learner: Forms, state: KernelState, room: int) -> None:
    """Write the support vectors, with room for so many, and the functions of their kernel."""
    source = learner.source
    source.counter("n_support", len(state.vectors), "int32_t", room)
    vectors = state.vectors.reshape(-1, learner.size.features)
    norm = write_kernel(source, "support", state.kernel, vectors, room)
    learner.fill("kernel_row", norm=norm)
    if state.beside is None:
        learner.fill("kernel_look")
    else:
        beside = []
        if state.beside.map is not None:
            write_features(source, "map", state.beside.map)
            beside.append(f"    map_features(x, features + {room});")
        if state.beside.offset:
            beside.append(f"    features[{learner.size.length - 1}] = 1;")
        learner.fill("beside_look", beside="\n".join(beside), slots=room)
    learner.fill("kernel_length", diagonal=diagonal_of(source, state.kernel))


def noting(state: KernelState) -> str:
    """Return the lines that note what a policy must know of a sample."""
    noted = enumerate(POLICIES[state.policy.name].noted)
    return "\n".join(f"    noted[{place}] = {each};" for place, each in noted)


def write_slots(learner: Forms, slots: Slots, room: int) -> None:
    """Write the ages of support vectors and the free slots, and the functions that take them."""
    source = learner.source
    source.whole_numbers("ages", slots.ages, "int64_t", room)
    source.whole_numbers("free_slots", slots.free, "int32_t", room, room - 1)
    source.counter("n_free", len(slots.free), "int32_t", room)
    companion = f"        companions[k * {learner.size.length} + slot] = 0;"
    learner.fill("slots", companion=learner.if_averaged(companion), slots=room)


def write_factor(learner: Forms, state: KernelState, room: int) -> None:
    """Write the Cholesky factor of the support vectors, and other matrices of theirs."""
    source = learner.source
    rows, columns = np.tril_indices(len(state.vectors))
    source.state("factor", state.matrices["factor"][rows, columns], room * (room + 1) // 2)
    if "covariance" in state.matrices:
        learner.corner("covariance", state.matrices["covariance"], room, room)
        source.memory("gain", room)
    source.memory("half", room)
    source.memory("solution", room)
    single = state.single or source.dtype == np.float32
    learner.fill("factor", jitter=learner.number(JITTERS[single]), rows="n_support")


def write_admission(learner: Forms, state: KernelState, room: int) -> None:
    """Write the functions `put` and `admit`."""
    norms = "    support_norms[slot] = inverse_norm(x);" if state.kernel.name == "cosine" else ""
    place = f"[k * {learner.size.length} + slot]"
    companion = learner.if_averaged(f"        companions{place} = values{place} * total;")
    learner.fill("put", norms=norms, companion=companion)
    write_memory(learner, state, room)
    policy = POLICIES[state.policy.name]
    given = policy.write(learner, state, room)
    bound = state.policy.arguments.get("max_support", 0)
    learner.fill(f"admit_{policy.form}", bound=bound, slots=room, **given)


def write_memory(learner: Forms, state: KernelState, room: int) -> None:
    """Write what policies keep beside the support vectors, and the functions that change it."""
    policy, source = POLICIES[state.policy.name], learner.source
    if policy.draws:
        source.use("generator")
    if policy.takes_turns or state.slots is not None:
        source.counter("n_added", state.added)
    if policy.measures:
        source.state("lengths", state.lengths, room)
    if state.slots is not None:
        write_slots(learner, state.slots, room)
    if policy.noted:
        source.memory("noted", len(policy.noted))
    if "factor" in state.matrices:
        write_factor(learner, state, room)
    if state.slots is not None or policy.form == "nonuniform":
        learner.fill("norm_of")
    if "inverse" in state.matrices:
        write_inverse(learner, state, room)
    if state.slots is not None:
        size = policy.size.format(next=room + 1, ridge=learner.number(RIDGE))
        learner.fill("smallest", size=size)


def may_overflow(state: KernelState, capacity: int) -> bool:
    """Return whether a sample may find no room."""
    bound = state.policy.arguments.get("max_support", inf)
    return state.unbounded and capacity < bound


def capacity_of(state: KernelState, capacity: int | None) -> int:
    """Return how many support vectors there is room for.

    Raises
    ------
    ValueError
        If nothing says how many there may be, or too few are asked for.
    """
    bound = state.policy.arguments.get("max_support")
    if not state.unbounded:
        # A new support vector comes before another one leaves.
        after = state.slots is not None and state.policy.name != "Halving"
        return int(bound) + after if bound is not None else 0
    room = capacity if capacity is not None else bound
    if room is None:
        raise ValueError(
            "capacity must say for how many support vectors there is room: the learner has no "
            f"budget, and {len(state.vectors)} of them now: capacity={2 * len(state.vectors)} "
            "lets it grow to twice that"
        )
    if room < max(1, len(state.vectors)):
        raise ValueError(
            f"capacity must be at least {max(1, len(state.vectors))}, the number of support "
            f"vectors that are there, got {room}"
        )
    return int(min(room, bound)) if bound is not None else int(room)
