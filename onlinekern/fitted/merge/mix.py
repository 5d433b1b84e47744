"""Weights of the models that are merged, and merging of running averages.

A state under one scale (`core.base.scaled_average`) holds values v, a scale s and companions k. Its
parameters are s v. Their average is ``((S + c s) v - k) / C``, where c is the weight of the last
model in the average, and C that of all models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from onlinekern.core.models.union import average_weights
from onlinekern.estimators.types import Array, Floats


@dataclass(frozen=True)
class Mix:
    """Weights of the models that are merged, and how many samples each has learnt since the base.

    Parameters
    ----------
    weights : tuple of float > 0
        How much a sample of each model counts.
    counts : tuple of int >= 0
        Number of samples that each model has learnt since the base.
    units : tuple of float > 0, or of ndarrays (n_targets,)
        For each model, and for the base: the value that a score of 1 has in the merged model.
        They differ if the models have standardised their targets by different scales.
    shifts : tuple of float, or of ndarrays (n_targets,)
        For each of them: the value that a score of 0 has in the merged model.
    adds : bool
        Whether each sample adds to the precisions of weights. It does not under rules of
        confidence: there the precisions grow until a margin is reached, in each model by itself.
    """

    weights: tuple[float, ...]
    counts: tuple[int, ...] = ()
    units: tuple[Any, ...] = ()
    shifts: tuple[Any, ...] = ()
    adds: bool = True

    def counting(self, seen: Sequence[int], before: int | None) -> Mix:
        """Return the mix for other sample counts; ValueError if one is below the base's."""
        known = before or 0
        counts = tuple(number - known for number in seen)
        if min(counts) < 0:
            raise ValueError(
                f"base has learnt {known} samples, a model only {min(seen)}: all models must have "
                "begun with base"
            )
        ones, zeros = (1.0,) * (len(counts) + 1), (0.0,) * (len(counts) + 1)
        return replace(self, counts=counts, units=ones, shifts=zeros)

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """Weights of the models in an average; they sum to 1."""
        own = [weight * count for weight, count in zip(self.weights, self.counts, strict=True)]
        own = own if sum(own) > 0 else list(self.weights)
        return tuple(number / sum(own) for number in own)

    def mean(self, values: Sequence[Any]) -> Any:
        """Average numbers or arrays."""
        return sum(share * value for share, value in zip(self.shares, values, strict=True))

    def terms(self, values: Sequence[Any]) -> list[Any]:
        """Return each function's term of the average, in the units of the merged model."""
        # Each target has a unit, and a row of the values.
        units = [np.reshape(unit, (-1, 1)) if np.ndim(unit) else unit for unit in self.units]
        return [a * (u * v) for a, u, v in zip(self.shares, units, values, strict=False)]

    def blend(self, values: Sequence[Any]) -> Any:
        """Average functions in the units of the merged model."""
        return sum(self.terms(values))

    def blend_of_movers(self, values: Sequence[Any], moved: Sequence[Any]) -> Any:
        """Average functions; of each weight, over the models that have moved it, if there are any.

        The other models have seen no sample with this feature, so they must not pull the weight
        back.
        """
        found = self.blend(values)
        some = np.any(moved, axis=0) & ~np.all(moved, axis=0)
        if some.any():
            movers = [own[some] for own in moved]
            known = sum(share * own for share, own in zip(self.shares, movers, strict=True))
            terms = zip(movers, self.terms(values), strict=True)
            found[some] = sum(own * term[some] for own, term in terms) / known
        return found

    def total(self, values: Sequence[Any], before: Any = 0.0, forgetting: float = 1.0) -> Any:
        """Return `before`, which fades with each sample, plus the sum of the models' increases."""
        kept = [forgetting**count if forgetting < 1 else 1.0 for count in self.counts]
        added = [
            weight * (value - factor * before)
            for weight, value, factor in zip(self.weights, values, kept, strict=True)
        ]
        return self.mean(kept) * before + sum(added)

    def evidence(self, values: Sequence[Any], before: Any = 0.0) -> Any:
        """Merge precisions, or precisions times weights: add the increases, or average."""
        return self.total(values, before) if self.adds else self.mean(values)

    def count(self, numbers: Sequence[int], before: int | None) -> int:
        """Add counts, without weighting."""
        known = before or 0
        return int(known + sum(number - known for number in numbers))

    def latest(self, rows: Sequence[Any], most: int) -> Array:
        """Return at most `most` rows: the last ones of each array, in proportion to the shares."""
        taken = self.numbers_of_latest([len(part) for part in rows], most)
        return np.concatenate([last(part, n) for part, n in zip(rows, taken, strict=True)])

    def numbers_of_latest(self, lengths: Sequence[int], most: int) -> Array:
        """Return how many rows `latest` takes from each array."""
        held = np.array(lengths)
        wanted = min(most, int(held.sum()))
        taken = np.minimum(held, np.floor(np.array(self.shares) * wanted).astype(int))
        while taken.sum() < wanted:
            taken[np.argmax(held - taken)] += 1
        return taken


def last(rows: Array, n: int) -> Array:
    """Return the last n rows."""
    return rows[len(rows) - n :]


def in_turns(numbers: Sequence[int] | Array) -> Array:
    """Return an order that interleaves the rows of the models, as in one stream.

    `numbers` has the number of rows of each model.
    """
    turns = np.concatenate([(np.arange(n) + 0.5) / max(n, 1) for n in numbers])
    return np.argsort(turns, kind="stable")


def every(parts: Sequence[Any], base: Any) -> list[Any]:
    """Return the parts, followed by the base if there is one."""
    return [*parts] if base is None else [*parts, base]


def of(parts: Sequence[Any], base: Any, name: str) -> tuple[list[Any], Any]:
    """Return a field, say `state.steps`, of several states and of the base (None without one)."""
    get = attrgetter(name)
    return [get(part) for part in parts], None if base is None else get(base)


def scaled_average(axes: str) -> str:
    """Return the fields of a state whose parameters have these axes."""
    return f"values[{axes}] companions[{axes}] scale total steps"


@dataclass(frozen=True)
class Averaging:
    """Running average of the parameters that a model keeps.

    Parameters
    ----------
    kind : False, True, 'decay' or float
    skipped : int
        Number of models at the beginning that the average leaves out.
    """

    kind: Any
    skipped: int = 0

    @property
    def present(self) -> bool:
        """Whether the model keeps an average."""
        return self.kind is not False

    def weights(self, steps: int) -> tuple[float, float]:
        """Return c and C after `steps` models."""
        return average_weights(self.kind, steps, self.skipped)

    def pair(self, state: Any) -> tuple[Floats, Floats]:
        """Return the parameters and their average; without an average, the parameters twice."""
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
    """Return the number of models in the average of the merged model."""
    return mix.count(*of(states, before, "steps"))
