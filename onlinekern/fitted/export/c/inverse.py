"""Policies in C that keep the inverse of the kernel matrix of the support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.states import KernelState

# Constants of the core: of `linalg.inverse_gram`, `budgets.removal_projection` and
# `budgets.tracker`, the last one for kernel values in double and in single precision.
LEAST_PERIOD, RIDGE, JITTERS = 64, 1e-5, {False: 1e-6, True: 1e-5}


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


def write_window(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Return what the form wants that solves ridge regression; write what it calls."""
    arguments, pulled = state.policy.arguments, ""
    learner.fill("solved_values", slots=room)
    if arguments.get("eta", 0.0) > 0:
        pulled = learner.filled("pulled_goals", eta=learner.number(arguments["eta"]))
    return {"reg": learner.number(arguments["reg"]), "pulled": pulled}


def write_tracker(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Return what the form of the tracker wants; write what it calls."""
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


def write_projection(learner: Forms, state: KernelState, room: int) -> dict[str, Any]:
    """Return what the form wants that projects the smallest support vector."""
    return {"ridge": learner.number(RIDGE)}
