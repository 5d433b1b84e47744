"""Learning in C: the state of a model, the parts of its step, and the functions of `learn_one`."""

from __future__ import annotations

from math import log, log1p
from typing import Any, ClassVar

import numpy as np

from onlinekern.estimators.outliers import FAR, LEAST, MOST, TAIL, TREND_FROM
from onlinekern.fitted.export import states
from onlinekern.fitted.export.c.forms import Forms, Size
from onlinekern.fitted.export.c.rules import CONTINUED, write_rule
from onlinekern.fitted.export.c.source import Source

DRAWING_SAMPLERS = ("LossProportional", "SlopeProportional")
# Above the first number, the weights of models start from 1 again. The second is the largest factor
# from one model's weight to the next. Both are those of `base.scaled_average`.
LARGEST_WEIGHT, LARGEST_GROWTH = 2.0**256, 1e100
# Growth of the present model's share while it leads the average, as in `base.scaled_average`.
CATCH_UP = 1.5
# Heads with a single score, and the expression for the target that the rule gets.
SINGLE = {"Head": "y", "Standardized": "y", "Binary": "y > 0 ? 1 : -1"}


class LearningWriter(Forms):
    """Writer of the code that learns; each kind of space has a subclass.

    Parameters
    ----------
    source : Source
    learning : Learning
    n_features : int
        Number of features of a row that is scored.
    capacity : int, optional
        Largest number of support vectors.
    tries : bool, default=False
        Whether `learn` also has a dry run, which writes the scores to `shown` and learns nothing.
    """

    # False for least squares, whose steps do not come from a rule.
    follows_rule: ClassVar[bool] = True
    # The argument of `add` and `move`: the row, or its features.
    row: ClassVar[str] = "x"
    # The largest number of support vectors.
    room = 0
    state: Any

    def __init__(
        self,
        source: Source,
        learning: states.Learning,
        n_features: int,
        capacity: int | None,
        tries: bool = False,
    ) -> None:
        self.state = learning.state
        outputs, length = learning.numbers.values.shape
        size = Size(outputs, n_features, self.length_of(length, capacity))
        super().__init__(source, learning, size, self.draws_numbers(learning), tries)
        # The scale is 1 / t.
        self.inverse_time = learning.rule.name == "InverseTime"
        self.catches_up = learning.numbers.averaging == "decay"
        # A class weight above 1 becomes a step of weight 1 and further ones, if the rule does so.
        heavy = learning.factors is not None and max(learning.factors) > 1
        self.continues = heavy and learning.rule.name in CONTINUED

    def length_of(self, length: int, capacity: int | None) -> int:
        """Return the size of an output's array, given the current length."""
        return length

    def draws_numbers(self, learning: states.Learning) -> bool:
        """Return whether learning draws random numbers."""
        return learning.sampler.name in DRAWING_SAMPLERS

    @property
    def scales(self) -> bool:
        """Whether some step multiplies the whole model by a factor."""
        return rule_shrinks(self.learning.rule)

    @property
    def second_order(self) -> bool:
        """Whether a step reduces a covariance."""
        return False

    def write(self) -> None:
        """Write all functions that learn, except those declared in the header."""
        self.write_state()
        self.write_row()
        self.write_average()
        self.write_step()
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
        if self.follows_rule:
            source.memory("squared_lengths", size.outputs)
        if self.draws:
            source.words("generator", own.generator)
        if own.targets is not None:
            source.structure(
                "target", {name: getattr(own.targets, name) for name in states.TARGETS}
            )

    def write_row(self) -> None:
        """Write the functions `look`, `product` and `length_of`, and the tables that they read."""
        raise NotImplementedError(f"{type(self).__name__}.write_row")

    def write_average(self) -> None:
        """Write `advance`, `shrink` and `model_scores`, and the functions that add a sample."""
        own, kind = self.learning.numbers, "averaged" if self.averaged else "plain"
        values: dict[str, Any] = {"skipped": own.skipped, "renew": "", "restart": "", "led": "void"}
        if self.averaged:
            self.write_shares(values)
            self.fill("averaged_state", **values)
        if self.scales:
            self.fill(f"{kind}_fold")
            smallest, largest = (self.number(end) for end in self.scale_ends())
            self.fill("shrink", smallest=smallest, largest=largest)
        self.write_scores(kind)
        self.write_addition(kind)

    def scale_ends(self) -> tuple[float, float]:
        """Return the scales below and above which the scale is multiplied into the numbers."""
        return 1e-3, 1e3

    def write_scores(self, kind: str) -> None:
        """Write the function `model_scores`."""
        first = f"steps - {self.learning.numbers.skipped} < 1" if self.is_linear else "0"
        self.fill(f"{kind}_scores", first=first)

    @property
    def is_linear(self) -> bool:
        """Whether the learner is a linear one, whose average leaves out the first model."""
        return False

    def write_addition(self, kind: str) -> None:
        """Write the functions that add a sample to the model."""

    def write_shares(self, values: dict[str, Any]) -> None:
        """Write the weights of models in the average; add the values of `averaged_state`."""
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
        if self.follows_rule:
            write_rule(self, own.rule, self.second_order, self.continues)
        sampler = dict(own.sampler.arguments)
        if own.sampler.name == "LossProportional":
            weighted = sampler.pop("weighted", True)
            sampler["suffered"] = "weight * loss_value(f, y)" if weighted else "loss_value(f, y)"
            sampler["importance"] = "1 / probability" if weighted else "1"
        self.part("sampler", states.Described(own.sampler.name, sampler))
        if not self.follows_rule:
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
        full = self.when_full(restore)
        lead = [self.leading()]
        self.write_growth(save, restore, lead)
        shrink, update = self.updating()
        self.source.use("all_finite")
        if self.second_order:
            more += f" || !all_finite(contractions, {size.outputs})"
        self.fill(
            "learn",
            rooms=f"    real current[{size.outputs}], predicting[{size.outputs}];",
            save="\n".join(save),
            targets="\n".join(targets),
            of=self.row,
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

    def when_full(self, restore: list[str]) -> str:
        """Return lines that refuse a sample if there is no room for it."""
        return ""

    def write_growth(self, save: list[str], restore: list[str], lead: list[str]) -> None:
        """Write the functions that let the model grow, and add their calls to those of `learn`."""

    def updating(self) -> tuple[str, str]:
        """Return the lines that shrink the model, and those that make its step."""
        shrink, update = self.shrinking(), self.moving()
        if self.inverse_time:
            update += "\n    scale = 1 / (real)steps;"
        if noted := self.write_recent():
            update += "\n" + noted.format("predicting[0]")
        return shrink, update

    def shrinking(self) -> str:
        """Return the line that shrinks the model before sample number `seen`."""
        rule = self.learning.rule
        if rule.name in ("Pegasos", "BatchPegasos"):
            return "    shrink((real)(seen - 1) / (real)seen);"
        if not rule_shrinks(rule):
            return ""
        factor = f"1 - step_size(seen) * {self.number(rule.arguments['regularisation'])}"
        return f"    shrink({factor} > 0 ? {factor} : 0);"

    def moving(self) -> str:
        """Return the lines that make the step of the model."""
        step = "move(k, x)" if self.second_order else "add(k, &phi, coefficients[k])"
        moved = "            if (coefficients[k] < 0 || coefficients[k] > 0)"
        each = f"        for (int32_t k = 0; k < {self.size.outputs}; k++)"
        return f"{each}\n{moved}\n                {step};"

    def write_recent(self) -> str:
        """Write the memory of recent scores; return the line that adds a score to it."""
        recent = self.learning.recent
        if recent is None:
            return ""
        source, kept = self.source, len(recent.values)
        source.state("recent", recent.values)
        source.counter("recent_count", recent.noted)
        source.scalar("offset", recent.quantile)
        fraction = self.number(recent.fraction)
        source.memory("rests", kept)
        linked, unlinked = "    return score;", "    return found;"
        if recent.odds:
            linked = self.filled("odds_of_score", least=self.number(LEAST), most=self.number(MOST))
            unlinked = "    return 1 / (1 + EXP(-found));"
        self.fill(
            "recent_scores",
            kept=kept,
            every=recent.every,
            fraction=fraction,
            trend_from=TREND_FROM,
            tail=self.number(TAIL),
            far=FAR,
            time="LOG1P(age / number)" if recent.odds else "age / number",
            linked=linked,
            unlinked=unlinked,
        )
        return "    note_score({});"

    def leading(self) -> str:
        """Write the function that compares the present model and the average; return its call."""
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
            # Coefficients are stored in units of the scale.
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


def solutions(second_order: bool) -> tuple[str, str]:
    """Return lines that set the contraction of an output, and that of the rival of a class."""
    if not second_order:
        return "", ""
    value = "rule_contraction(f, y, q, importance)"
    return (
        f"    contractions[k] = importance > 0 ? {value} : 0;",
        "    contractions[rival] = contractions[label];",
    )


def rule_shrinks(rule: states.Described) -> bool:
    """Return whether a rule multiplies the earlier model by a factor."""
    if rule.name in ("Pegasos", "BatchPegasos"):
        return True
    return rule.name == "Gradient" and bool(rule.arguments.get("regularisation", 0.0))
