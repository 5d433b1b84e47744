"""A race in C: each expert as a separate model with prefixed names, and their vote."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from onlinekern.fitted.export import scoring as parts
from onlinekern.fitted.export.c.fields import Field
from onlinekern.fitted.export.c.forms import Forms, Size
from onlinekern.fitted.export.c.learners import write_learner
from onlinekern.fitted.export.c.reentrant import SIGNATURE, UNIT_END, WORD
from onlinekern.fitted.export.c.source import Source
from onlinekern.fitted.export.states import Learning, RaceState

# These functions have no state, so all experts share them.
SHARED = {"is_finite", "all_finite", "none_infinite", "dot", "square", "absolute", "inverse_norm",
          "squared_distance", "absolute_distance", "power", "single"}  # fmt: skip
TABLE = re.compile(r"^static const \w+ (\w+)\[", re.M)
# The values are those of `core.race`, `core.learning.vote` and `core.learning.combination`.
SEGMENT, TRIAL, REST, ALARM = 256, 1024, 8, 512
NUMBERS = {"single": 0.5**0.5, "least": parts.LEAST_SHARE, "worse": 4.0, "few": 100.0,
           "margin": parts.MARGIN, "prior": 10.0, "lately": 0.98,
           "least_weight": 0.02, "early": 2 / 3, "early_count": 20.0, "swamped": 1e-7}  # fmt: skip
LITTLE = 0.02


class ExpertSource(Source):
    """Source of one expert, whose names get a prefix when they are added to a file."""

    def __init__(self, whole: Source, beginning: str) -> None:
        super().__init__(whole.dtype, whole.names["prefix"])
        self.names = dict(whole.names)
        self.whole, self.beginning = whole, beginning

    def use(self, *names: str) -> None:
        """Add functions; those that all experts share go into the file directly."""
        self.whole.use(*(name for name in names if name in SHARED))
        super().use(*(name for name in names if name not in SHARED))

    def join(self) -> None:
        """Add all code of the expert to the file."""
        units = [unit for block in self.code for unit in UNIT_END.split(block)]
        own = {found[2] for unit in units if (found := SIGNATURE.search(unit))}
        own |= {name for table in self.tables for name in TABLE.findall(table)}
        own |= {each.name for each in self.fields} | {*self.scratch, "target_type"}

        def renamed(text: str) -> str:
            return WORD.sub(
                lambda match: self.beginning + match[0] if match[0] in own else match[0], text
            )

        whole = self.whole
        whole.code += map(renamed, self.code)
        whole.tables += map(renamed, self.tables)
        whole.fields += [self.named(each) for each in self.fields]
        whole.scratch |= {
            self.beginning + name: renamed(text) for name, text in self.scratch.items()
        }
        whole.flash += self.flash
        whole.ram += self.ram
        whole.wide_columns |= self.wide_columns

    def named(self, field: Field) -> Field:
        """Return a field with its name in the file."""
        return field._replace(name=self.beginning + field.name)


class RaceWriter(Forms):
    """Writer of experts that go on learning, and of their vote."""

    def __init__(
        self, source: Source, learning: Learning, state: RaceState, n_features: int
    ) -> None:
        self.state, self.n_features = state, n_features
        outputs = learning.numbers.values.shape[0]
        super().__init__(source, learning, Size(outputs, n_features, 0), False)

    def write(self) -> None:
        """Write all functions that learn, except those declared in the header."""
        source, state, outputs = self.source, self.state, self.size.outputs
        n = len(state.experts)
        source.memory("dry_run", 1, "int32_t")
        source.use("all_finite")
        for k, expert in enumerate(state.experts):
            part = ExpertSource(source, f"e{k}_")
            part.memory("shown", outputs)
            write_learner(part, expert, self.n_features, tries=True)
            part.join()
        self.write_state(n)
        names = ("sharpness", "decay")
        values: dict[str, Any] = {name: self.number(getattr(state, name)) for name in names}
        values |= {name: self.number(value) for name, value in NUMBERS.items()}
        values |= {"experts": n, "relative": int(state.is_mean), "segment": SEGMENT}
        values |= {"trial": TRIAL, "rest": REST, "alarm": ALARM}
        values["left"] = self.number(state.budget - sum(state.costs) / REST)
        values["little"] = self.number(LITTLE * state.budget)
        self.fill("race_targets" if state.is_mean else "race_classes", **values)
        lines = [f"    if (awake[{k}])\n        e{k}_body(x, race_scores + {k * outputs});"
                 for k in range(n)]  # fmt: skip
        self.fill("race_vote", bodies="\n".join(lines), **values)
        tries = [self.trying(k) for k in range(n)]
        learns = [f"    if (fed[{k}])\n        e{k}_learn(x, y, weight);" for k in range(n)]
        noted = "    note_sample(answer, y, weight);"
        if state.is_mean:
            noted = self.filled("race_note_targets")
        more = {"tries": "\n".join(tries), "learns": "\n".join(learns), "noted": noted}
        self.fill("race_learn", **more, **values)

    def trying(self, k: int) -> str:
        """Return the lines that make a dry run of an expert and read its scores."""
        count = self.size.outputs
        return (
            f"    if (status == {self.source.names['PREFIX']}_OK && fed[{k}]) {{\n"
            f"        status = e{k}_learn(x, y, weight);\n"
            f"        memcpy(race_scores + {k * count}, e{k}_shown, {count} * sizeof(real));\n"
            "    }"
        )

    def write_state(self, n: int) -> None:
        """Write the state of the vote, and its working memory."""
        source, state, outputs = self.source, self.state, self.size.outputs
        source.counter("seen", self.learning.seen)
        source.counter("alarm", state.alarm)
        for name in ("losses", "counts", "errors", "met"):
            source.state(name, getattr(state, name))
        source.whole_numbers("awake", state.voting, "int32_t", n, 1)
        if state.is_mean:
            ends = state.range if len(state.range) else np.zeros(2)
            source.scalar("least_seen", ends[0])
            source.scalar("most_seen", ends[1])
            source.counter("n_ranges", int(len(state.range) > 0), "int32_t", 1)
        source.constants("links", state.links)
        source.constants("costs", state.costs)
        patience = np.array([min(each, 1 << 62) for each in state.patience])
        source.integers("patience", patience, "int64_t", 8)
        for name, count in (("race_scores", n * outputs), ("opinions", n * outputs),
                            ("combined", outputs), ("shares", n), ("weights", n),
                            ("mean_errors", n * n)):  # fmt: skip
            source.memory(name, count)
        source.memory("fed", n, "int32_t")
