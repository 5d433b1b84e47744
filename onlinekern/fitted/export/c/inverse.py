"""Policies in C that keep the inverse of the kernel matrix of the support vectors."""

from __future__ import annotations

import numpy as np

from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.states import KernelState

# Constants of the core: of `linalg.inverse_gram`, `budgets.removal_projection` and
# `budgets.tracker`, the last one for kernel values in double and in single precision.
LEAST_PERIOD, RIDGE, JITTERS = 64, 1e-5, {False: 1e-6, True: 1e-5}
# What makes a support vector small, apart from its coefficients.
BEYOND = "diagonals[slot] > {ridge} ? SQRT(diagonals[slot] - {ridge}) : 0"
SIZES = {
    "SlidingWindow": "(real)ages[slot]",
    "FixedBudget": "FABS(values[slot]) / inverse[slot * {next}]",
    "Tracker": "FABS(values[slot]) / inverse[slot * {next}]",
    "Projection": f"norm_of(slot) * ({BEYOND})",
    "LeastSquaresPolicy": "sizes[slot]",
}


def size_of(learner: Forms, state: KernelState, room: int) -> str:
    """Return the expression for the size of a support vector."""
    return SIZES[state.policy.name].format(next=room + 1, ridge=learner.number(RIDGE))


def write_inverse(learner: Forms, state: KernelState, room: int) -> None:
    """Write the inverse, and other numbers of the policy."""
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


def numbers_of_inverse(learner: Forms, state: KernelState, room: int) -> dict[str, object]:
    """Return what the forms of these policies want; write what they call."""
    if "inverse" not in state.matrices:
        return {}
    arguments, single = state.policy.arguments, state.single or learner.source.dtype == np.float32
    if "goals" in state.matrices:
        learner.fill("solved_values", slots=room)
    given = {
        "lambda": arguments.get("forgetting", 1.0),
        "reg": arguments.get("reg", 1.0),
        "noise": arguments.get("noise", 1.0),
        "jitter": JITTERS[single],
        "ridge": RIDGE,
    }
    found: dict[str, object] = {name: learner.number(value) for name, value in given.items()}
    found |= {"pulled": "", "forget": "    /* nothing is forgotten */"}
    if arguments.get("eta", 0.0) > 0:
        found["pulled"] = learner.filled("pulled_goals", eta=learner.number(arguments["eta"]))
    if given["lambda"] < 1:
        how = "to_prior" if arguments["back_to_prior"] else "by_uncertainty"
        found["forget"] = learner.filled(f"forget_{how}", slots=room, **{"lambda": found["lambda"]})
    return found
