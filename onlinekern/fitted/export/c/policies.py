"""Budget policies in C. A new policy is a template that admits a sample, and a line of `POLICIES`.

Policies that hold an inverse Gram matrix come first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

import numpy as np

from onlinekern.core.budgets.quantisation import LEAST_SHARE
from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.states import KernelState

# Constants of the core: of `linalg.inverse_gram`, `budgets.removal_projection` and
# `budgets.tracker`, the last one for kernel values in double and in single precision.
LEAST_PERIOD, RIDGE, JITTERS = 64, 1e-5, {False: 1e-6, True: 1e-5}


def write_inverse(learner: Forms, state: KernelState, room: int) -> None:
    """Write the inverse, and other state of the policy."""
    source, known = learner.source, state.matrices
    for name in ("inverse", "covariance", "prior", "diagonals", "goals", "residuals"):
        if name in known:
            source.state(name, known[name])
    period = max(2 * room, LEAST_PERIOD)
    source.counter("n_updates", min(int(known["n_updates"]), period), "int32_t", period + 1)
    source.memory("direction", room)
    if "covariance" in known:
        source.memory("gain", room)
    extra = learner.number(1e-12 if source.dtype == np.float64 else 1e-6)
    learner.fill("inverse", slots=room, period=period, extra=extra)


def write_window(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Write the functions of ridge regression on a window; return the values of its template."""
    arguments, pulled = state.policy.arguments, ""
    learner.fill("solved_values", slots=room)
    if arguments.get("eta", 0.0) > 0:
        pulled = learner.filled("pulled_goals", eta=learner.number(arguments["eta"]))
    return {"reg": learner.number(arguments["reg"]), "pulled": pulled}


def write_tracker(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Write the functions of KRLS-T; return the values of its template."""
    arguments, single = state.policy.arguments, state.single or learner.source.dtype == np.float32
    learner.fill("solved_values", slots=room)
    given = {"lambda": arguments["forgetting"], "noise": arguments["noise"]}
    given["jitter"] = JITTERS[single]
    found = {name: learner.number(value) for name, value in given.items()}
    forget = "    /* nothing is forgotten */"
    if given["lambda"] < 1:
        how = "to_prior" if arguments["back_to_prior"] else "by_uncertainty"
        forget = learner.filled(f"forget_{how}", slots=room, **{"lambda": found["lambda"]})
    return found | {"forget": forget}


# Constants of the core: of `budgets.halving`, and of the systems of `budgets.affine_projection`.
HALVING_RIDGE, LEAST_EXTRA = 5e-4, {np.dtype("f8"): 1e-12, np.dtype("f4"): 1e-6}
Writer: TypeAlias = Callable[[Forms, KernelState, int], dict[str, Any]]


def write_nothing(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Return no values: the policy keeps no state, and its template needs none."""
    return {}


@dataclass(frozen=True)
class Policy:
    """A budget policy in C.

    Attributes
    ----------
    form : str
        Section that admits a sample.
    write : callable
        (learner, state of the support vectors, their largest number) -> values of the template.
        It writes the state of the policy, and the functions that the template calls.
    noted : tuple of str
        Facts about a sample that the policy needs besides its coefficients.
    size : str
        Expression for the size of a support vector, if the smallest one is evicted.
    measures : bool
        Whether it keeps kappa(x, x) of the support vectors, or its square root.
    takes_turns : bool
        Whether support vectors fill the slots in turn.
    draws : bool
        Whether it draws random numbers.
    shrinks : bool
        Whether it multiplies all coefficients.
    """

    form: str
    write: Writer = write_nothing
    noted: tuple[str, ...] = ()
    size: str = "norm_of(slot)"
    measures: bool = False
    takes_turns: bool = False
    draws: bool = False
    shrinks: bool = False


def write_moves(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Write the function that moves the nearest support vector; return the values of templates."""
    place = f"[k * {learner.size.length} + slot]"
    moved = f"        companions{place} += share * coefficients[k] / scale * total;"
    learner.fill("add_at", moved=learner.if_averaged(moved))
    arguments = state.policy.arguments
    found = {"full": full(state), "least": learner.number(LEAST_SHARE)}
    return found | {"similarity": learner.number(arguments.get("similarity", 1.0))}


def full(state: KernelState) -> str:
    """Return the condition that the number of support vectors has reached its bound."""
    bound = state.policy.arguments.get("max_support")
    return f"n_support == {bound}" if bound else "0"


def rescale(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Return the values for an eviction at random that changes all coefficients."""
    bound, lines = state.policy.arguments["max_support"], []
    if state.policy.name == "UniformEviction" and bound > 1:
        lines.append(f"        shrink({learner.number(bound / (bound - 1.0))});")
    limit = state.policy.arguments["max_coefficient"]
    if limit < inf:
        lines.append(learner.filled("clip_coefficients", limit=learner.number(limit)))
    return {"rescale": "\n".join(lines)}


def write_projectron(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Return the values of the Projectron's template."""
    arguments = state.policy.arguments
    price = min(arguments["price"], float(np.finfo(learner.source.dtype).max) / 4)
    return {
        "full": full(state),
        "eta": learner.number(arguments["eta"]),
        "price": learner.number(price),
        "unit": 2 if arguments["joint"] else 1,
    }


def write_merging(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Return the values of the template that merges two support vectors."""
    wide = learner.source.dtype == np.float64
    return {
        "rounded": "(real)(float)" if state.single else "",
        "narrow": learner.number(1e-15 if wide else 1e-7),
        "tiny": learner.number(1e-300 if wide else 1e-37),
    }


def write_dual(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Return the values of the template that merges support vectors into weights of features."""
    own, length = state.beside, learner.size.length
    assert own is not None
    assert own.map is not None
    place = f"companions[k * {length} + {room} + f]"
    absorbed = f"            {place} += companions[k * {length} + slot] * z[f];"
    offset = ""
    if own.offset:
        step = "coefficients[k] / scale * total"
        companion = f"        companions[k * {length} + {length - 1}] += {step};"
        offset = learner.filled("offset_step", companion=learner.if_averaged(companion))
    return {
        "count": own.map.n_features,
        "merged": state.policy.arguments["merge_size"],
        "absorbed": learner.if_averaged(absorbed),
        "offset": offset,
    }


def write_shrinking(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Write the state of the Forgetron; return the values of its template."""
    source, known = learner.source, state.matrices
    learner.corner("margins", known["margins"], learner.size.outputs, room)
    source.scalar("damage", known["damage"])
    source.counter("n_steps", int(known["n_steps"]))
    return {}


def write_halving(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Write the state of Ahpatron; return the values of its template."""
    source, size = learner.source, learner.size
    kept, arguments = state.policy.arguments["max_support"] // 2, state.policy.arguments
    source.scalar("norm_squared", state.matrices["square"])
    for name, count in (("sizes", room), ("margins", size.outputs * room),
                        ("goals", size.outputs * room), ("packed", room),
                        ("factor", max(1, kept * (kept + 1) // 2)), ("half", max(1, kept)),
                        ("solution", max(1, kept))):  # fmt: skip
        source.memory(name, count)
    source.memory("n_kept", 1, "int32_t")
    jitter = learner.number(HALVING_RIDGE)
    learner.fill("factor", jitter=jitter, rows="n_kept[0]")
    ball = size.outputs * arguments["radius"] ** 2
    return {"kept": kept, "jitter": jitter, "largest": learner.largest,
            "ball": learner.number(min(ball, float(np.finfo(source.dtype).max)))}  # fmt: skip


def write_affine(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Write KAPA's memory of the last samples; return the values of its templates."""
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
    """Write the state of least-squares machines; return the values of their template."""
    arguments = state.policy.arguments
    for name in ("sizes", "ones_solved"):
        learner.source.memory(name, room)
    learner.fill("solved_values", slots=room)
    binary = learner.size.outputs == 1
    return {
        "target": "(void)k, noted[0] > 0 ? 1 : -1" if binary else "k == (int32_t)noted[0] ? 1 : -1",
        "largest": learner.largest,
        "most": learner.number(arguments["share"] * arguments["max_support"]),
        "C": learner.number(arguments["C"]),
    }


TARGET = ("y",)
VALUE = "FABS(values[slot]) / inverse[slot * {next}]"
# Loss of the function if a support vector is removed, from the diagonal of the inverse.
BEYOND = "norm_of(slot) * (diagonals[slot] > {ridge} ? SQRT(diagonals[slot] - {ridge}) : 0)"
POLICIES = {
    "Budget": Policy("grow"),
    "RefuseWhenFull": Policy("refuse"),
    "OldestEviction": Policy("oldest", takes_turns=True),
    "NearestWhenFull": Policy("nearest", write_moves, measures=True, takes_turns=True),
    "Quantise": Policy("quantise", write_moves),
    "RandomEviction": Policy("random", draws=True),
    "UniformEviction": Policy("uniform", rescale, draws=True, shrinks=True),
    "NonuniformEviction": Policy("nonuniform", rescale, draws=True),
    "CheapestReplacement": Policy("cheapest", measures=True),
    "Removal": Policy("remove", size="norm_of(slot) * lengths[slot]", measures=True),
    "Merging": Policy("merge", write_merging),
    "FeatureMerging": Policy("dual", write_dual),
    "LinearDependence": Policy(
        "dependence",
        lambda c, own, _: {"nu": c.number(own.policy.arguments["nu"])},
        ("y - current[0]",),
    ),
    "Projectron": Policy("projectron", write_projectron, ("weight",)),
    "SlidingWindow": Policy("window", write_window, TARGET, "(real)ages[slot]"),
    "FixedBudget": Policy("window", write_window, TARGET, VALUE),
    "Tracker": Policy("tracked", write_tracker, TARGET, VALUE),
    "Projection": Policy("project", lambda c, *_: {"ridge": c.number(RIDGE)}, size=BEYOND),
    "ShrinkingEviction": Policy("forgetron", write_shrinking, takes_turns=True, shrinks=True),
    "Halving": Policy("halve", write_halving, size="sizes[slot]", shrinks=True),
    "AffineProjection": Policy("affine", write_affine, TARGET, measures=True),
    "LeastSquaresPolicy": Policy("machine", write_machines, ("y", "weight"), "sizes[slot]"),
}
