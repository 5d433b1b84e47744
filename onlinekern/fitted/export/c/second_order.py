"""Linear models of second order in C: the variances of the weights, and the rules."""

from __future__ import annotations

from statistics import NormalDist

from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.states import Described, LinearState

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


def write_second_order_rule(learner: Forms, rule: Described) -> None:
    """Write the functions for the coefficient and the contraction of a rule."""
    if rule.name == "AROW":
        learner.fill("rule_AROW", r=learner.number(rule.arguments["r"]))
        return
    phi = learner.number(NormalDist().inv_cdf(rule.arguments["confidence"]))
    C = learner.number(rule.arguments.get("C", 1.0))
    soft = rule.name.startswith("Soft")
    learner.fill("quantile_soft" if soft else f"quantile_{rule.name}", phi=phi)
    learner.fill(f"alpha_{rule.name}", phi=phi, C=C)
    learner.fill("bound_variance" if rule.name.startswith("Variance") else "bound_deviation")
    learner.fill("rule_confidence")
