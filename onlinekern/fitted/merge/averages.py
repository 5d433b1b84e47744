"""Parameters under one scale, with their running average (`core.base.scaled_average`), merged.

A state holds values v, a scale s and companions k. The parameters are s v; their average is
``((S + c s) v - k) / C``, where c and C are the weights of the last model and of all models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from onlinekern.core.models.union import average_weights
from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.mix import Mix, of


def scaled_average(axes: str) -> str:
    """Return the fields of a state whose parameters have these axes."""
    return f"values[{axes}] companions[{axes}] scale total steps"


@dataclass(frozen=True)
class Averaging:
    """Average that a model keeps.

    Parameters
    ----------
    kind : False, True, 'decay' or float
    skipped : int
        Number of first models that it leaves out.
    """

    kind: Any
    skipped: int = 0

    @property
    def present(self) -> bool:
        """Whether there is an average."""
        return self.kind is not False

    def weights(self, steps: int) -> tuple[float, float]:
        """Return c and C after so many models."""
        return average_weights(self.kind, steps, self.skipped)

    def pair(self, state: Any) -> tuple[Floats, Floats]:
        """Return the parameters and their average; without an average they are the same."""
        latest = state.scale * state.values
        if not self.present or state.steps + 1 - self.skipped <= 1:
            return latest, latest
        last, everyone = self.weights(state.steps)
        product = (state.total + last * state.scale) * state.values
        return latest, (product - state.companions) / everyone

    def fields(
        self, latest: Floats, averaged: Floats, steps: int, scale: float = 1.0
    ) -> dict[str, Any]:
        """Return values, companions, scale, total and steps of a state with these parameters."""
        last, everyone = self.weights(steps)
        companions = everyone * (latest - averaged) if self.present else 0 * latest
        total = (everyone - last) * scale
        named = {"values": latest / scale, "companions": companions, "scale": scale}
        return {**named, "total": total, "steps": steps}


def merged_steps(mix: Mix, states: list[Any], before: Any) -> int:
    """Return how many models the average of the merged one has counted."""
    return mix.count(*of(states, before, "steps"))
