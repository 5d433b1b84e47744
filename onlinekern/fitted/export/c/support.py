"""Support vectors that change, in C: how a policy admits a new one, and how many there may be."""

from __future__ import annotations

from math import inf

import numpy as np

from onlinekern.core.budgets.quantisation import LEAST_SHARE
from onlinekern.fitted.export.c import inverse, policies
from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.c.terms import diagonal_of, write_features, write_kernel
from onlinekern.fitted.export.states import KernelState, Slots

ADMISSIONS = {
    "Budget": "admit_grow",
    "RefuseWhenFull": "admit_refuse",
    "OldestEviction": "admit_oldest",
    "NearestWhenFull": "admit_nearest",
    "Quantise": "admit_quantise",
    "RandomEviction": "admit_random",
    "UniformEviction": "admit_uniform",
    "NonuniformEviction": "admit_nonuniform",
    "CheapestReplacement": "admit_cheapest",
    "Removal": "admit_remove",
    "Merging": "admit_merge",
    "FeatureMerging": "admit_dual",
    "LinearDependence": "admit_dependence",
    "Projectron": "admit_projectron",
    "SlidingWindow": "admit_window",
    "FixedBudget": "admit_window",
    "Tracker": "admit_tracked",
    "Projection": "admit_project",
    "ShrinkingEviction": "admit_forgetron",
    "Halving": "admit_halve",
    "AffineProjection": "admit_affine",
    "LeastSquaresPolicy": "admit_machine",
}
# What policies must know of a sample beside its coefficients.
NOTED = {
    "LinearDependence": ["y - current[0]"],
    "Projectron": ["weight"],
    "LeastSquaresPolicy": ["y", "weight"],
    **{name: ["y"] for name in ("SlidingWindow", "FixedBudget", "Tracker", "AffineProjection")},
}
# Policies that multiply all coefficients.
SHRINKING = ("UniformEviction", "ShrinkingEviction", "Halving")
# Policies that keep the kernel values of support vectors with themselves, or their roots.
MEASURING = ("CheapestReplacement", "NearestWhenFull", "Removal", "AffineProjection")
# Policies under which support vectors take their slots in turn.
TAKING_TURNS = ("OldestEviction", "NearestWhenFull", "ShrinkingEviction")
# On the diagonal of factored kernel matrices, of kernel values in double and in single precision:
# `core.linalg.cholesky`.
JITTERS = {False: 1e-8, True: 1e-5}
DRAWING_POLICIES = ("RandomEviction", "UniformEviction", "NonuniformEviction")


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
    noted = NOTED.get(state.policy.name, ())
    return "\n".join(f"    noted[{place}] = {each};" for place, each in enumerate(noted))


def write_slots(learner: Forms, slots: Slots, room: int) -> None:
    """Write the ages of support vectors and the free slots, and the functions that take them."""
    source = learner.source
    source.whole_numbers("ages", slots.ages, "int64_t", room)
    source.whole_numbers("free_slots", slots.free, "int32_t", room, room - 1)
    source.counter("n_free", len(slots.free), "int32_t", room)
    companion = ""
    if learner.averaged:
        companion = f"        companions[k * {learner.size.length} + slot] = 0;"
    learner.fill("slots", companion=companion, slots=room)


def write_factor(learner: Forms, state: KernelState, room: int) -> None:
    """Write the Cholesky factor of the support vectors, and other matrices of theirs."""
    source, n = learner.source, len(state.vectors)
    rows, columns = np.tril_indices(n)
    source.state("factor", state.matrices["factor"][rows, columns], room * (room + 1) // 2)
    if "covariance" in state.matrices:
        padded = np.zeros((room, room))
        padded[:n, :n] = state.matrices["covariance"]
        source.state("covariance", padded)
        source.memory("gain", room)
    source.memory("half", room)
    source.memory("solution", room)
    single = state.single or source.dtype == np.float32
    learner.fill("factor", jitter=learner.number(JITTERS[single]), rows="n_support")


def write_admission(learner: Forms, state: KernelState, room: int) -> None:
    """Write the functions `put` and `admit`."""
    name = state.policy.name
    norms = ""
    if state.kernel.name == "cosine":
        norms = "    support_norms[slot] = inverse_norm(x);"
    length = learner.size.length
    companion = moved = ""
    if learner.averaged:
        place = f"[k * {length} + slot]"
        companion = f"        companions{place} = values{place} * total;"
        moved = f"        companions{place} += share * coefficients[k] / scale * total;"
    learner.fill("put", norms=norms, companion=companion)
    write_memory(learner, state, room)
    if name in ("NearestWhenFull", "Quantise"):
        learner.fill("add_at", moved=moved)
    bound = state.policy.arguments.get("max_support", 0)
    own = policies.WRITERS.get(name)
    more = {} if own is None else own(learner, state, room)
    learner.fill(
        ADMISSIONS[name],
        bound=bound,
        rescale=rescaling(learner, state),
        full=f"n_support == {bound}" if bound else "0",
        similarity=learner.number(state.policy.arguments.get("similarity", 1.0)),
        least=learner.number(LEAST_SHARE),
        **numbers_of_projection(learner, state),
        **numbers_of_merging(learner, state, room),
        **(inverse.numbers_of_inverse(learner, state, room) | more),
    )


def write_memory(learner: Forms, state: KernelState, room: int) -> None:
    """Write what a policy keeps beside the support vectors, and the functions that change it."""
    name = state.policy.name
    if name in DRAWING_POLICIES:
        learner.source.use("generator")
    if name in TAKING_TURNS or state.slots is not None:
        learner.source.counter("n_added", state.added)
    if name in MEASURING:
        learner.source.state("lengths", state.lengths, room)
    if state.slots is not None:
        write_slots(learner, state.slots, room)
    if name in NOTED:
        learner.source.memory("noted", len(NOTED[name]))
    if "factor" in state.matrices:
        write_factor(learner, state, room)
    if state.slots is not None or name == "NonuniformEviction":
        learner.fill("norm_of")
    if state.slots is not None:
        size = "norm_of(slot)" + " * lengths[slot]" * (name == "Removal")
        if name in inverse.SIZES:
            inverse.write_inverse(learner, state, room)
            size = inverse.size_of(learner, state, room)
        elif name == "Halving":
            size = "sizes[slot]"
        learner.fill("smallest", size=size)


def numbers_of_projection(learner: Forms, state: KernelState) -> dict[str, object]:
    """Return what the forms of policies that project samples want."""
    arguments = state.policy.arguments
    names = [name for name in ("nu", "eta") if name in arguments]
    found: dict[str, object] = {name: learner.number(arguments[name]) for name in names}
    if (price := arguments.get("price")) is not None:
        largest = float(np.finfo(learner.source.dtype).max) / 4
        found["price"] = learner.number(min(price, largest))
    return {**found, "unit": 2 if arguments.get("joint") else 1}


def numbers_of_merging(learner: Forms, state: KernelState, room: int) -> dict[str, object]:
    """Return what the forms of policies that merge support vectors want."""
    found: dict[str, object] = {"slots": room, "rounded": "(real)(float)" if state.single else ""}
    wide = learner.source.dtype == np.float64
    found["narrow"] = learner.number(1e-15 if wide else 1e-7)
    found["tiny"] = learner.number(1e-300 if wide else 1e-37)
    own, length = state.beside, learner.size.length
    if own is None or own.map is None:
        return found
    absorbed = companion = ""
    if learner.averaged:
        place = f"companions[k * {length} + {room} + f]"
        absorbed = f"            {place} += companions[k * {length} + slot] * z[f];"
        companion = f"        companions[k * {length} + {length - 1}] += "
        companion += "coefficients[k] / scale * total;"
    offset = learner.filled("offset_step", companion=companion) if own.offset else ""
    return found | {
        "count": own.map.n_features,
        "merged": state.policy.arguments["merge_size"],
        "absorbed": absorbed,
        "offset": offset,
    }


def rescaling(learner: Forms, state: KernelState) -> str:
    """Return the lines by which an eviction at random changes all coefficients."""
    bound = state.policy.arguments.get("max_support", 0)
    lines = []
    if state.policy.name == "UniformEviction" and bound > 1:
        lines.append(f"        shrink({learner.number(bound / (bound - 1.0))});")
    limit = state.policy.arguments.get("max_coefficient", inf)
    if limit < inf:
        lines.append(learner.filled("clip_coefficients", limit=learner.number(limit)))
    return "\n".join(lines)


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
