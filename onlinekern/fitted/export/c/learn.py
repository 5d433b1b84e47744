"""Learning in C: the state of a model, the parts of its step, and what `learn_one` calls."""

from __future__ import annotations

from math import log, log1p
from typing import Any

import numpy as np

from onlinekern.fitted.export import states
from onlinekern.fitted.export.c import squares, support
from onlinekern.fitted.export.c.forms import Forms, Size
from onlinekern.fitted.export.c.policies import POLICIES
from onlinekern.fitted.export.c.rules import (
    CONTINUED,
    write_confidence,
    write_rule,
    write_variances,
)
from onlinekern.fitted.export.c.source import Source
from onlinekern.fitted.export.c.terms import write_features
from onlinekern.fitted.export.terms import Fourier

TARGETS = ("weight", "mean", "squares", "scale")
DRAWING_SAMPLERS = ("LossProportional", "SlopeProportional")
# The weights start from 1 again above the first; the second is the most that they grow from one
# model to the next. Both are constants of `base.scaled_average`.
LARGEST_WEIGHT, LARGEST_GROWTH = 2.0**256, 1e100
# By which the share of a model that leads the average grows: a constant of `base.scaled_average`.
CATCH_UP = 1.5
# Heads of a single score, and what the rule sees as the target.
SINGLE = {"Head": "y", "Standardized": "y", "Binary": "y > 0 ? 1 : -1"}


class Learner(Forms):
    """Writer of the code that learns.

    Parameters
    ----------
    source : Source
    learning : Learning
    n_features : int
        Number of features of a row that is scored.
    capacity : int, optional
        Room for support vectors.
    tries : bool, default=False
        Whether `learn` can also be tried, without learning anything, for the scores in `shown`.
    """

    def __init__(
        self,
        source: Source,
        learning: states.Learning,
        n_features: int,
        capacity: int | None,
        tries: bool = False,
    ) -> None:
        self.state = state = learning.state
        outputs, length = learning.numbers.values.shape
        self.room = 0
        if isinstance(state, states.KernelState):
            self.room = support.capacity_of(state, capacity)
            length = length if state.beside else self.room
        if isinstance(state, states.JointState):
            length += squares.room_to_grow(state)
        policy = POLICIES[state.policy.name] if isinstance(state, states.KernelState) else None
        draws = learning.sampler.name in DRAWING_SAMPLERS or (policy is not None and policy.draws)
        super().__init__(source, learning, Size(outputs, n_features, length), draws, tries)
        self.shrinks = rule_shrinks(learning.rule)
        mean = isinstance(state, states.MappedState) and state.mean is not None
        self.scales = self.shrinks or mean or (policy is not None and policy.shrinks)
        has_variances = isinstance(state, states.LinearState) and state.variances is not None
        self.second_order = has_variances or isinstance(state, states.ConfidentState)
        # The scale is 1 / t.
        self.inverse_time = learning.rule.name == "InverseTime"
        self.catches_up = learning.numbers.averaging == "decay"
        # Classes have weights above 1, and the rule takes them as steps that follow each other.
        heavy = learning.factors is not None and max(learning.factors) > 1
        self.continues = heavy and learning.rule.name in CONTINUED

    def write(self) -> None:
        """Write all that learns but the functions of the header."""
        self.write_state()
        self.write_row()
        self.write_average()
        if isinstance(self.state, states.KernelState):
            support.write_admission(self, self.state, self.room)
        self.write_step()
        if isinstance(self.state, states.SquaresState):
            squares.write_squares(self, self.state)
        else:
            self.write_learn()
        units = ""
        if self.learning.targets is not None:
            units = "    scores[0] = target.mean + target.scale * scores[0];"
        if self.learning.recent is not None:
            units = "    scores[0] -= offset;"
        room = f"    real current[{self.size.outputs}];"
        self.fill("learner_body", units=units, room=room)

    def write_state(self) -> None:
        """Write the state, which learning changes."""
        own, size, source = self.learning, self.size, self.source
        numbers = own.numbers
        self.corner("values", numbers.values, size.outputs, size.length)
        if self.averaged:
            self.corner("companions", numbers.companions, size.outputs, size.length)
        source.scalar("scale", numbers.scale)
        source.counter("seen", own.seen)
        if self.averaged or self.inverse_time:
            source.counter("steps", numbers.steps)
        if self.averaged:
            source.scalar("total", numbers.total)
        if self.catches_up:
            source.counter("lead", own.lead)
        source.memory("coefficients", size.outputs)
        if not isinstance(self.state, states.SquaresState):
            source.memory("squared_lengths", size.outputs)
        if self.draws:
            source.words("generator", own.generator)
        if own.targets is not None:
            source.structure("target", {name: getattr(own.targets, name) for name in TARGETS})

    def write_row(self) -> None:
        """Write the functions `look`, `product` and `length_of`."""
        state, size, source = self.state, self.size, self.source
        if isinstance(state, states.LinearState):
            length = self.number(state.intercept if self.continues else state.in_length)
            self.fill("linear_product")
            self.fill("linear_look")
            if state.variances is not None:
                write_variances(self, state)
                return
            self.fill("linear_length", intercept=length)
            constant = f"    numbers[{size.features}] += step * {self.number(state.intercept)};"
            self.fill("add_row", constant=constant)
            return
        source.memory("features", size.length)
        if isinstance(state, states.JointState):
            squares.write_joint_features(self, state)
            if isinstance(state, states.ConfidentState):
                write_confidence(self, state)
            return
        if isinstance(state, states.MappedState):
            write_features(source, "map", state.map)
            constant = f"    features[{size.length - 1}] = 1;" if state.constant else ""
            self.fill("mapped_look", id="map", constant=constant)
            square = "1"
            if isinstance(state.map, Fourier):
                square = f"(void)phi, {1 + state.constant}"
            else:
                source.use("square")
                square = "square(phi)"
            self.fill("mapped_length", square=square)
            self.fill("add_row", constant="")
            return
        assert isinstance(state, states.KernelState)
        support.write_support(self, state, self.room)

    def write_average(self) -> None:
        """Write the functions `advance`, `shrink`, `model_scores` and `add`."""
        own, kind = self.learning.numbers, "averaged" if self.averaged else "plain"
        solves = isinstance(self.state, states.KernelState | states.SquaresState)
        values: dict[str, Any] = {"skipped": own.skipped, "renew": "", "restart": "", "led": "void"}
        if self.averaged:
            self.write_shares(values)
            self.fill("averaged_state", **values)
        if self.scales:
            self.fill(f"{kind}_fold")
            ends = scale_ends(isinstance(self.state, states.LinearState), self.averaged)
            smallest, largest = (self.number(end) for end in ends)
            self.fill("shrink", smallest=smallest, largest=largest)
        if isinstance(self.state, states.SquaresState) and self.state.leverage:
            squares.write_leverage(self, self.state)
            return
        joint = isinstance(self.state, states.ConfidentState) and self.state.linear
        linear = joint or isinstance(self.state, states.LinearState)
        first = f"steps - {own.skipped} < 1" if linear else "0"
        self.fill(f"{kind}_scores", first=first)
        if not solves and not self.second_order:
            self.fill(f"{kind}_add")

    def write_shares(self, values: dict[str, Any]) -> None:
        """Write the weights of models in the average; complete the values of `averaged_state`."""
        averaging = self.learning.numbers.averaging
        if averaging is True or averaging == "decay":
            self.fill("shares_uniform" if averaging is True else "shares_decay")
            if self.catches_up:
                growth = self.number(CATCH_UP)
                values.update(renew=self.filled("catch_up", growth=growth), led="int64_t led")
            return
        growth = min(1 / averaging, LARGEST_GROWTH)
        period = max(1, int(log(LARGEST_WEIGHT) / log1p(growth - 1)))
        if self.source.dtype == np.float32:
            period = max(1, min(period, int(log(1e18) / log1p(growth - 1))))
        given = {"growth": self.number(growth), "period": period}
        self.fill("shares_exponential", **given)
        given["skipped"] = self.learning.numbers.skipped
        values["renew"] = self.filled("renew_companions", **given)
        values["restart"] = self.filled("restart_weights", **given)

    def write_step(self) -> None:
        """Write the loss, the schedule, the rule, the sampler and the head."""
        own = self.learning
        loss = own.rule.arguments["loss"]
        demanded = own.rule.name == "PassiveAggressive"
        self.write_loss(loss, *["demand"] * demanded, *["travel"] * self.continues)
        if "schedule" in own.rule.arguments:
            self.part("schedule", own.rule.arguments["schedule"])
        squares = isinstance(self.state, states.SquaresState)
        if not squares:
            write_rule(self, own.rule, self.second_order, self.continues)
        sampler = dict(own.sampler.arguments)
        if own.sampler.name == "LossProportional":
            weighted = sampler.pop("weighted", True)
            sampler["suffered"] = "weight * loss_value(f, y)" if weighted else "loss_value(f, y)"
            sampler["importance"] = "1 / probability" if weighted else "1"
        self.part("sampler", states.Described(own.sampler.name, sampler))
        if squares:
            return
        if not self.second_order:
            self.fill("measure")
        solved, rival = solutions(self.second_order)
        self.fill("solve_further" if self.continues else "solve", contraction=solved)
        if own.head.name in SINGLE:
            self.fill("head_single", target=SINGLE[own.head.name])
        else:
            self.fill(f"head_{own.head.name}", contraction=rival)

    def write_learn(self) -> None:
        """Write the functions `learn` and `body`."""
        size = self.size
        save, restore = self.kept()
        targets, more = self.standardising()
        state, full = self.state, ""
        if isinstance(state, states.KernelState) and support.may_overflow(state, self.room):
            full = self.when_full(restore)
        lead, of = [self.leading()], "x"
        if isinstance(state, states.MappedState | states.ConfidentState):
            of = "&phi"
        if isinstance(state, states.ConfidentState) and (grow := squares.growing(self, state)):
            save.append("    const int32_t known = n_landmarks;")
            restore.append("    n_landmarks = known;")
            lead.append(grow)
        shrink, update = self.updating()
        self.source.use("all_finite")
        if self.second_order:
            more += f" || !all_finite(contractions, {size.outputs})"
        self.fill(
            "learn",
            rooms=f"    real current[{size.outputs}], predicting[{size.outputs}];",
            save="\n".join(save),
            targets="\n".join(targets),
            of=of,
            factors=self.factors(),
            more=more,
            restore="\n".join("    " + line for line in restore),
            dry=self.trial("predicting", restore),
            full=full,
            lead="\n".join(lead),
            advance=self.advancing(),
            shrink=shrink,
            update=update,
        )

    def updating(self) -> tuple[str, str]:
        """Return the lines that shrink the model, and those that move it."""
        state, shrink = self.state, shrinking(self.source, self.learning.rule)
        step = "move(k, x)" if self.second_order else "add(k, &phi, coefficients[k])"
        moved = "            if (coefficients[k] < 0 || coefficients[k] > 0)"
        each = f"        for (int32_t k = 0; k < {self.size.outputs}; k++)"
        update = f"{each}\n{moved}\n                {step};"
        if isinstance(state, states.KernelState):
            update = "        admit(x, &phi);"
            shrink = "\n".join(filter(None, (shrink, support.noting(state))))
        elif isinstance(state, states.ConfidentState):
            update = "        move_along(&phi);"
        elif isinstance(state, states.MappedState) and state.mean is not None:
            shrink, update = squares.mean_steps(self, state.mean)
        if self.inverse_time:
            update += "\n    scale = 1 / (real)steps;"
        if noted := squares.write_recent(self):
            update += "\n" + noted.format("predicting[0]")
        return shrink, update

    def leading(self) -> str:
        """Return the line that compares the present model and the average; write its functions."""
        if not self.catches_up:
            return ""
        head = self.learning.head.name
        if head not in SINGLE:
            self.fill("wrong_class")
        else:
            self.fill("wrong_sign" if head == "Binary" else "wrong_target")
        self.fill("lead_after")
        return "    const int64_t led = lead_after(current, predicting, y);"

    def advancing(self) -> str:
        """Return the lines that count the present model in the average, if there is one."""
        lines = "    advance();" if self.averaged else ""
        if self.catches_up:
            lines = "    advance(led > lead ? led : 0);\n    lead = led;"
        if self.inverse_time:
            # Coefficients enter in units of the scale.
            lines += ("\n" if self.averaged else "    steps += 1;\n") + "    scale = 1;"
        return lines

    def factors(self) -> str:
        """Return lines that multiply the coefficients by the factors of the classes."""
        own = self.learning
        if own.step_factors is None:
            return ""
        self.source.constants("class_factors", own.step_factors)
        which = "k == (int32_t)y" if own.head.name == "OneVsRest" else "1"
        return self.filled("class_factors", which=which)

    def when_full(self, restore: list[str]) -> str:
        assert isinstance(self.state, states.KernelState)
        more = " && is_added(&phi)" if self.state.policy.name == "Quantise" else ""
        lines = [
            f"    if (moves && n_support == {self.room}{more}) {{",
            *("        " + line.strip() for line in restore),
            f"        return {self.source.names['PREFIX']}_FULL;",
            "    }",
        ]
        return "\n".join(lines)


def solutions(second_order: bool) -> tuple[str, str]:
    """Return lines that set the contraction of an output, and that of the rival of a class."""
    if not second_order:
        return "", ""
    value = "rule_contraction(f, y, q, importance)"
    return (
        f"    contractions[k] = importance > 0 ? {value} : 0;",
        "    contractions[rival] = contractions[label];",
    )


def shrinking(source: Source, rule: states.Described) -> str:
    """Return the line that shrinks the model before sample number `seen`."""
    regularisation = rule.arguments.get("regularisation", 0.0)
    if rule.name in ("Pegasos", "BatchPegasos"):
        return "    shrink((real)(seen - 1) / (real)seen);"
    if not rule_shrinks(rule):
        return ""
    factor = f"1 - step_size(seen) * {source.number(regularisation)}"
    return f"    shrink({factor} > 0 ? {factor} : 0);"


def rule_shrinks(rule: states.Described) -> bool:
    """Return whether a rule multiplies what was learnt before."""
    if rule.name in ("Pegasos", "BatchPegasos"):
        return True
    return rule.name == "Gradient" and bool(rule.arguments.get("regularisation", 0.0))


def scale_ends(linear: bool, averaged: bool) -> tuple[float, float]:
    """Return the least and the largest scale before it is multiplied into the numbers."""
    if linear:
        return (1e-3 if averaged else 1e-30), 1e30
    return 1e-3, 1e3
