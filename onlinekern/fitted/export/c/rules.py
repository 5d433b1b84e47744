"""Rules in C: the coefficient of a sample, and the contraction of second-order rules."""

from __future__ import annotations

from math import inf
from statistics import NormalDist

import numpy as np

from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.states import Described

# These classes share the C code of another one.
SAME_RULE = {"Pegasos": "Gradient"}
# A weight above 1 is a step of weight 1, followed by one for the rest (`Rule.continues`).
CONTINUED = ("Gradient", "Pegasos", "BatchPegasos", "InverseTime")
# A variance below this share of ||x||^2 counts as 0, as in `models.confidence`.
NEGLIGIBLE = 1e-15


def write_rule(
    learner: Forms, rule: Described, second_order: bool, continues: bool = False
) -> None:
    """Write the functions of a rule; with `continues`, also the step for weights above 1."""
    if second_order:
        write_second_order_rule(learner, rule)
        return
    arguments = {k: v for k, v in rule.arguments.items() if isinstance(v, int | float)}
    name = SAME_RULE.get(rule.name, rule.name)
    if continues:
        learner.fill("travelled")
    if rule.name == "InverseTime":
        bounded, cap = "    (void)t;\n    return step;", arguments.get("max_step", inf)
        if cap < inf:
            bounded = learner.filled("bounded_step", most=learner.number(cap))
        regularisation = learner.number(arguments["regularisation"])
        for kind in ("rule", "further")[: 1 + continues]:
            learner.fill(f"{kind}_InverseTime", bounded=bounded, regularisation=regularisation)
        return
    if rule.name == "MarginPerceptron":
        # A step on a margin error is less than 1; the policy scales it.
        bounded = "y * (loss_value(f, y) < 1 ? loss_value(f, y) : 1)"
        coefficient = bounded if rule.arguments["margins"] else "loss_slope(f, y)"
        learner.fill("rule_MarginPerceptron", coefficient=coefficient)
        return
    if rule.name == "ScaledPassiveAggressive1":
        C = arguments.pop("C", 1.0)
        most = "step"
        if inf > C:
            most = f"(step < {learner.number(C)} ? step : {learner.number(C)})"
        learner.fill("rule_ScaledPassiveAggressive1", least=most)
        return
    if arguments.get("C") == inf:
        arguments["C"] = float(np.finfo(learner.source.dtype).max) / 4
    for kind in ("rule", "further")[: 1 + continues]:
        learner.part(kind, Described(name, arguments))


def write_second_order_rule(learner: Forms, rule: Described) -> None:
    """Write the functions for coefficient and contraction of a second-order rule."""
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
