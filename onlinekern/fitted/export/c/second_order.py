"""Linear models of second order in C: the variances of the weights, and the rules."""

from __future__ import annotations

from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.states import LinearState

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
    companion = ""
    if learner.averaged:
        step = "coefficients[k] * direction[j] / scale * total"
        companion = f"        companions[place] += {step};"
    learner.fill("move", companion=companion)
