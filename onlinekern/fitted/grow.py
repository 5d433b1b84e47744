"""Classes that come later: a model of more outputs that continues one of fewer.

Each output of the new model takes over that of its class; two classes with one output w become -w
and w. The output of a new class begins as if it had seen that no sample so far was of its class: at
the score -1 where there is a constant feature, and where class k against the rest is what an output
learns; else at 0. Least squares with a constant feature are exactly those of a stream that had the
class from the start.

The axes of the fields (`state`) say what belongs to an output; what does not follow from them is
the `begin` of a kind. The core checks the grown state, as it does that of a pickle.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinekern.core.learning.heads import HEADS
from onlinekern.core.models.linear import LinearSpace
from onlinekern.core.stream import Model
from onlinekern.estimators.types import Array
from onlinekern.fitted.merge.averages import Averaging
from onlinekern.fitted.state import State, closed, fields_of, kind_of, opened


@dataclass(frozen=True)
class Growth:
    """Which output of the old model each one of the new model continues.

    Attributes
    ----------
    source : ndarray of shape (n_outputs,)
        Number of the old output, -1 for a new class.
    sign : ndarray of shape (n_outputs,)
        What the old output is multiplied by.
    level : float
        Score at which a new class begins, where there is a constant: -1 or 0.
    """

    source: Array
    sign: Array
    level: float

    @classmethod
    def of(cls, before: Array, after: Array, head: Any) -> Growth:
        """From the sorted labels before to those after, with the head of those after."""
        places = np.searchsorted(before, after)
        known = before[np.minimum(places, len(before) - 1)] == after
        source = np.where(known, places, -1)
        sign = np.ones(len(after))
        if len(before) == 2:
            sign[source == 0] = -1.0
            source[known] = 0
        inner = fields_of(head).get("inner", head)
        return cls(source, sign, 0.0 if type(inner) is HEADS["margin"] else -1.0)

    @property
    def n_outputs(self) -> int:
        """Of the new model."""
        return len(self.source)

    @property
    def new(self) -> Array:
        """Numbers of the outputs of new classes."""
        return np.flatnonzero(self.source < 0)

    def along(self, old: Array, axis: int = 0) -> Array:
        """The rows of the new model, zeros for new classes, from those of the old one."""
        old = np.moveaxis(old, axis, 0)
        rows = old[self.source] * self.sign.reshape(-1, *[1] * (old.ndim - 1))
        rows[self.new] = 0.0
        # -0.0 and 0.0 are one number; the states of models compare bits.
        return np.ascontiguousarray(np.moveaxis(rows + 0.0, 0, axis))

    def unsigned(self, old: Array, axis: int = 0) -> Array:
        """Rows that belong to a class whatever the sign of its weights: variances, or matrices.

        Those of new classes are 1, or unit matrices: the prior.
        """
        rows = np.moveaxis(old, axis, 0)[self.source]
        rows[self.new] = np.eye(old.shape[-1]) if axis == 0 and old.ndim == 3 else 1.0
        return np.ascontiguousarray(np.moveaxis(rows, 0, axis))

    def recent(self, kept: Any) -> tuple[Array, Array, Array]:
        """Scores, class numbers and weights of the new model from the recent ones of the old."""
        n_old, rows = kept.n_outputs, kept.rows()
        rows = np.roll(rows, -(kept.noted % len(rows)) if len(rows) else 0, axis=0)  # oldest first
        scores = rows[:, self.source] * self.sign + 0.0
        scores[:, self.new] = self.level
        # Of two classes with one output, the first has the sign -1.
        old = self.source if n_old > 1 else np.where(self.sign > 0, 1, 0)
        numbers = np.zeros(kept.n_labels)
        numbers[old[self.source >= 0]] = np.flatnonzero(self.source >= 0)
        return scores, numbers[rows[:, n_old].astype(np.intp)], rows[:, n_old + 1]

    def begin(self, state: State, constant: int, averaging: Averaging) -> None:
        """Let the weights of the constant feature of new classes be those of `level`."""
        if self.level:
            value, companion = self.numbers(state, averaging)
            state.values[self.new, constant] = value
            state.companions[self.new, constant] = companion

    def numbers(self, state: State, averaging: Averaging) -> tuple[float, float]:
        """A number whose model, and whose average of all models so far, are at `level`; and its
        companion."""
        value = self.level / state.scale
        if not averaging.present:
            return value, 0.0
        # The average is affine in the two: it is read at (1, 0) and at (0, 1).
        probe = opened(LinearSpace(1, np.float64, 2, averaging.kind, 1.0, averaging.skipped))
        probe.state.values[0, 0] = probe.state.companions[1, 0] = 1.0
        probe.state = probe.state.changed(scale=state.scale, total=state.total, steps=state.steps)
        of_value, of_companion = closed(probe).effective()[:, 0]
        return value, (self.level - of_value * value) / of_companion if of_companion else 0.0


def grow_model(model: Model, before: Array, labels: Array, head: Any) -> Model:
    """A model with this head, of these labels, that continues another one, which stays as it is.

    Raises
    ------
    TypeError
        If the space of the model, or its budget policy, cannot grow.
    """
    growth = Growth.of(before, labels, head)
    own = copy.deepcopy(model)
    kind = kind_of(type(own.space))
    if kind is None or kind.begin is None:
        raise TypeError(f"{type(own.space).__name__} cannot grow")
    # A policy may draw from the random numbers of the model.
    space, rng = opened((own.space, own.rng))
    space, rng = closed((grown(space, growth), rng))
    fresh = Model(space, head, own.rule, own.sampler, rng, own.d, own.dtype)
    fresh.resume_counts(model.n_seen, model.n_mistakes, model.cumulative_loss)
    fresh.recent.replace(*growth.recent(model.recent))
    return fresh


def grown(old: State, growth: Growth) -> State:
    """A state of the outputs of the new model: the same one, if it is of none."""
    values: dict[str, Any] = {}
    for name, value in vars(old).items():
        field = old.kind_.fields[name]
        if isinstance(value, State):
            values[name] = grown(value, growth)
        elif field.counts:
            values[name] = growth.n_outputs
        elif isinstance(value, np.ndarray) and "output" in field.axes:
            values[name] = growth.along(value, field.axes.index("output"))
        elif isinstance(value, np.ndarray) and "class" in field.axes:
            values[name] = growth.unsigned(value, field.axes.index("class"))
    if all(value is getattr(old, name) for name, value in values.items()):
        return old
    new = old.changed(**values)
    if old.kind_.begin:
        old.kind_.begin(new, old, growth)
    return new
