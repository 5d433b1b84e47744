"""Support vectors that change, in C: how a policy admits a new one, and how many there may be."""

from __future__ import annotations

from math import inf

from onlinekern.core.budgets.quantisation import LEAST_SHARE
from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.states import KernelState

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
}
DRAWING_POLICIES = ("RandomEviction", "UniformEviction", "NonuniformEviction")


def write_admission(learner: Forms, state: KernelState) -> None:
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
    if name in DRAWING_POLICIES:
        learner.source.use("generator")
    if name in ("OldestEviction", "NearestWhenFull"):
        learner.source.counter("n_added", state.added)
    if name in ("CheapestReplacement", "NearestWhenFull"):
        learner.source.state("lengths", state.lengths, length)
    if name in ("NearestWhenFull", "Quantise"):
        learner.fill("add_at", moved=moved)
    bound = state.policy.arguments.get("max_support", 0)
    rescale = rescaling(learner, state)
    learner.fill(
        ADMISSIONS[name],
        bound=bound,
        rescale=rescale,
        full=f"n_support == {bound}" if bound else "0",
        similarity=learner.number(state.policy.arguments.get("similarity", 1.0)),
        least=learner.number(LEAST_SHARE),
    )


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
        return int(bound) if bound is not None else 0
    room = capacity if capacity is not None else bound
    if room is None:
        raise ValueError(
            "capacity must say for how many support vectors there is room: the learner has no "
            f"budget; {len(state.vectors)} are there now"
        )
    if room < max(1, len(state.vectors)):
        raise ValueError(
            f"capacity must be at least {max(1, len(state.vectors))}, the number of support "
            f"vectors that are there, got {room}"
        )
    return int(min(room, bound)) if bound is not None else int(room)
