"""Writing the code of a model that learns: its source, its numbers and its sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinekern.estimators.types import Array
from onlinekern.fitted.export import states
from onlinekern.fitted.export.c.source import Source
from onlinekern.fitted.export.states import Learning

# These classes share the C code of another one.
SAME_LOSS = {"Absolute": "EpsilonInsensitive"}


@dataclass(frozen=True)
class Size:
    """Sizes of a model's arrays."""

    outputs: int
    features: int
    length: int


class Forms:
    """Writer of the code of a model that learns.

    Parameters
    ----------
    source : Source
    learning : Learning
    size : Size
    draws : bool
        Whether the sampler or the policy draws random numbers.
    tries : bool, default=False
        Whether `learn` also has a dry run: see `trial`.
    """

    def __init__(
        self, source: Source, learning: Learning, size: Size, draws: bool, tries: bool = False
    ) -> None:
        self.source, self.learning, self.size, self.draws = source, learning, size, draws
        self.tries = tries
        self.averaged = learning.numbers.averaging is not False

    def fill(self, name: str, **values: Any) -> None:
        """Add a template, filled with the sizes of the model and these values."""
        self.source.fill(name, **vars(self.size), **values)

    def filled(self, name: str, **values: Any) -> str:
        return self.source.filled(name, **vars(self.size), **values).rstrip()

    def number(self, value: Any) -> str:
        return self.source.number(value)

    @property
    def largest(self) -> str:
        """The literal of the largest number of the type."""
        return self.number(float(np.finfo(self.source.dtype).max))

    def corner(self, name: str, values: Array, *shape: int) -> None:
        """Add numbers of the state at the beginning of each axis of an array; the rest is 0."""
        padded = np.zeros(shape)
        padded[tuple(map(slice, values.shape))] = values
        self.source.state(name, padded)

    def if_averaged(self, line: str) -> str:
        """Return a line of C if the model keeps an average, else an empty text."""
        return line if self.averaged else ""

    def kept(self) -> tuple[list[str], list[str]]:
        """Return lines that save what a refused sample changes, and lines that restore it."""
        save, restore = [], []
        if self.draws:
            save.append("    uint64_t drawn_from[4];\n    memcpy(drawn_from, generator, 32);")
            restore.append("    memcpy(generator, drawn_from, 32);")
        if self.learning.targets is not None:
            save.insert(0, "    const target_type before = target;")
            restore.append("    target = before;")
        return save, restore

    def trial(self, scores: str, restore: list[str]) -> str:
        """Return the lines that end a dry run of a sample, given the expressions of its scores."""
        if not self.tries:
            return ""
        shown = f"{scores}[k]"
        if self.learning.targets is not None:
            shown = f"target.mean + target.scale * {shown}"
        lines = "\n".join("    " + line for line in restore)
        return self.filled("dry_run", restore=lines, shown=shown)

    def standardising(self) -> tuple[list[str], str]:
        """Return lines that standardise the target, and the test that the result is finite."""
        own = self.learning
        if own.targets is None:
            return [], ""
        lines = ["    y = (y - target.mean) / target.scale;"]
        if not own.targets.fixed:
            forgetting = self.number(own.head.arguments.get("forgetting", 1.0))
            rounding = self.number(1e-15 if self.source.dtype == np.float64 else 1e-7)
            self.fill("target_state", forgetting=forgetting, rounding=rounding)
            lines.insert(0, "    y = take_up(y, weight);")
        return lines, " || !is_finite(target.mean) || !is_finite(target.scale)"

    def write_loss(self, loss: states.Described, *more: str) -> None:
        """Write the functions of a loss, and further ones of it: 'demand', 'travel'."""
        arguments = dict(loss.arguments)
        name = SAME_LOSS.get(loss.name, loss.name)
        if loss.name == "Absolute":
            arguments["epsilon"] = 0.0
        if loss.name == "Exponential":
            arguments["most"] = 700.0 if self.source.dtype == np.float64 else 85.0
        self.part("loss", states.Described(name, arguments))
        for kind in more:
            self.part(kind, states.Described(name, arguments))

    def part(self, kind: str, part: states.Described) -> None:
        """Write the functions of a part, filled with its numbers."""
        values = {
            name: self.number(value) if isinstance(value, int | float) else value
            for name, value in part.arguments.items()
        }
        self.fill(f"{kind}_{part.name}", **values)
