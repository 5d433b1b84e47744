"""Policies in C that shrink, halve or solve: the Forgetron, Ahpatron, KAPA and BOLS-SVM."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.states import KernelState

# Constants of the core: of `budgets.halving`, and of the systems of `budgets.affine_projection`.
RIDGE, LEAST_EXTRA = 5e-4, {np.dtype("f8"): 1e-12, np.dtype("f4"): 1e-6}


def write_shrinking(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Write what the Forgetron keeps; return what its form wants."""
    source, known = learner.source, state.matrices
    padded = np.zeros((learner.size.outputs, room))
    padded[:, : known["margins"].shape[1]] = known["margins"]
    source.state("margins", padded)
    source.scalar("damage", known["damage"])
    source.counter("n_steps", int(known["n_steps"]))
    return {}


def write_halving(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Write what Ahpatron keeps; return what its form wants."""
    source, size = learner.source, learner.size
    kept, arguments = state.policy.arguments["max_support"] // 2, state.policy.arguments
    source.scalar("norm_squared", state.matrices["square"])
    for name, count in (("sizes", room), ("margins", size.outputs * room),
                        ("goals", size.outputs * room), ("packed", room),
                        ("factor", max(1, kept * (kept + 1) // 2)), ("half", max(1, kept)),
                        ("solution", max(1, kept))):  # fmt: skip
        source.memory(name, count)
    source.memory("n_kept", 1, "int32_t")
    jitter = learner.number(RIDGE)
    learner.fill("factor", jitter=jitter, rows="n_kept[0]")
    ball = size.outputs * arguments["radius"] ** 2
    return {"kept": kept, "jitter": jitter, "largest": largest_of(learner),
            "ball": learner.number(min(ball, float(np.finfo(source.dtype).max)))}  # fmt: skip


def write_affine(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Write the last samples of KAPA; return what its forms want."""
    source, known, arguments = learner.source, state.matrices, state.policy.arguments
    order = arguments["order"]
    slots, targets, weights, scores = known["recent"]
    source.whole_numbers("recent_slots", slots.astype(np.int64), "int32_t", order, room - 1)
    for name, values in (("targets", targets), ("weights", weights), ("scores", scores)):
        source.state(f"recent_{name}", values)
    source.state("gram", known["gram"])
    source.counter("n_learnt", int(known["learnt"]))
    source.memory("moves_of", order)
    given = {"order": order, "eta": learner.number(arguments["eta"])}
    joint = arguments["normalised"]
    if joint:
        source.memory("system_of", order * order)
        extra = learner.number(LEAST_EXTRA[source.dtype])
        given |= {"reg": learner.number(arguments["reg"]), "extra": extra}
    learner.fill("kapa_moves_joint" if joint else "kapa_moves_own", **given)
    return {"order": order}


def write_machines(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Write the memory of least-squares machines; return what their form wants."""
    arguments = state.policy.arguments
    for name in ("sizes", "ones_solved"):
        learner.source.memory(name, room)
    binary = learner.size.outputs == 1
    return {
        "target": "(void)k, noted[0] > 0 ? 1 : -1" if binary else "k == (int32_t)noted[0] ? 1 : -1",
        "largest": largest_of(learner),
        "most": learner.number(arguments["share"] * arguments["max_support"]),
        "C": learner.number(arguments["C"]),
    }


def largest_of(learner: Forms) -> str:
    """Return the literal of the largest number."""
    return learner.number(float(np.finfo(learner.source.dtype).max))


WRITERS = {
    "ShrinkingEviction": write_shrinking,
    "Halving": write_halving,
    "AffineProjection": write_affine,
    "LeastSquaresPolicy": write_machines,
}
