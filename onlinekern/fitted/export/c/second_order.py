"""Linear models of second order in C: the variances of the weights, and the rules."""

from __future__ import annotations

import numpy as np

from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.states import ConfidentState, LinearState

# A variance below this share of ||x||^2 counts as 0: `models.confidence`.
NEGLIGIBLE = 1e-15


def write_variances(learner: Forms, state: LinearState) -> None:
    """Write the functions `measure` and `move`."""
    source, size = learner.source, learner.size
    source.state("variances", state.variances)
    source.memory("directions", size.outputs * size.length)
    source.memory("contractions", size.outputs)
    intercept = learner.number(state.intercept)
    negligible = learner.number(NEGLIGIBLE)
    learner.fill("variances", intercept=intercept, negligible=negligible)
    learner.fill("measure_outputs", intercept=intercept)
    step = "        companions[place] += coefficients[k] * direction[j] / scale * total;"
    learner.fill("move", companion=learner.if_averaged(step))


def write_confidence(learner: Forms, state: ConfidentState) -> None:
    """Write the covariance of weights of joint features, `measure` and `move_along`."""
    source, length, own = learner.source, learner.size.length, state.covariance
    matrices, width = own.shape[:2]
    # A feature that comes later has the variance 1.
    padded = np.ones((matrices, length))
    if own.ndim == 3:
        padded = np.tile(np.eye(length), (matrices, 1, 1))
        padded[:, :width, :width] = own
    else:
        padded[:, :width] = own
    source.state("covariance", padded)
    source.memory("directions", matrices * length)
    source.memory("contractions", learner.size.outputs)
    learner.fill("direction_matrix" if own.ndim == 3 else "direction_diagonal")
    step = "coefficients[k] * direction[f] / scale * total"
    companion = learner.if_averaged(f"            companions[k * {length} + f] += {step};")
    negligible = learner.number(NEGLIGIBLE)
    learner.fill("confidence", matrices=matrices, companion=companion, negligible=negligible)
