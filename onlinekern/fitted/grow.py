"""Growing: when new classes come, a model with more outputs continues one with fewer.

Each output of the new model continues the old output of its class. A binary model has one output w
for two classes; growing turns it into the outputs -w and w. The output of a new class begins as if
no sample so far had been of this class. If there is a constant feature and each output learns one
class against the rest, its score begins at -1, otherwise at 0. For least squares with a constant
feature, the result is exactly that of a stream that knew the class from the start.

The axes of the fields (`state`) say which values belong to an output. The rule `begin` of a kind
sets values that do not follow from the axes. The core checks the grown state as it checks the state
of a pickle.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinekern.core import HEADS
from onlinekern.core.models.linear import LinearSpace
from onlinekern.core.renewed_model import RenewedModel
from onlinekern.core.stream import Model
from onlinekern.estimators.types import Array
from onlinekern.fitted.merge.mix import Averaging
from onlinekern.fitted.state import State, closed, fields_of, kind_of, opened


@dataclass(frozen=True)
class Growth:
    """Map from the outputs of a new model to those of the old one that they continue.

    Attributes
    ----------
    source : ndarray of shape (n_outputs,)
        Index of the old output, or -1 for a new class.
    sign : ndarray of shape (n_outputs,)
        Factor of the old output.
    level : float
        Score at which a new class begins if there is a constant feature: -1 or 0.
    """

    source: Array
    sign: Array
    level: float

    @classmethod
    def of(cls, before: Array, after: Array, head: Any) -> Growth:
        """Return the growth from sorted labels to later ones; `head` is that of the later ones."""
        places = np.searchsorted(before, after)
        known = before[np.minimum(places, len(before) - 1)] == after
        source = np.where(known, places, -1)
        sign = np.ones(len(after))
        if len(before) == 2:
            sign[source == 0] = -1.0
            source[known] = 0
        inner = fields_of(head).get("inner", head)
        if type(inner) is HEADS["softmax"]:
            # The old score is the difference of the scores of its two classes: the log odds.
            sign = sign / 2 if len(before) == 2 else sign
            return cls(source, sign, 0.0)
        return cls(source, sign, 0.0 if type(inner) is HEADS["margin"] else -1.0)

    @property
    def n_outputs(self) -> int:
        """Number of outputs of the new model."""
        return len(self.source)

    @property
    def new(self) -> Array:
        """Indices of the outputs of new classes."""
        return np.flatnonzero(self.source < 0)

    def along(self, old: Array, axis: int = 0) -> Array:
        """Return the rows of the new model; those of new classes are 0."""
        old = np.moveaxis(old, axis, 0)
        rows = old[self.source] * self.sign.reshape(-1, *[1] * (old.ndim - 1))
        rows[self.new] = 0.0
        # -0.0 becomes 0.0, because states of models are compared bit by bit.
        return np.ascontiguousarray(np.moveaxis(rows + 0.0, 0, axis))

    def unsigned(self, old: Array, axis: int = 0) -> Array:
        """Return rows that do not depend on the sign of the weights, such as variances or matrices.

        New classes get those of the prior, which are ones or unit matrices.
        """
        rows = np.moveaxis(old, axis, 0)[self.source]
        rows[self.new] = np.eye(old.shape[-1]) if axis == 0 and old.ndim == 3 else 1.0
        return np.ascontiguousarray(np.moveaxis(rows, 0, axis))

    def recent(self, kept: Any) -> tuple[Array, Array, Array]:
        """Return recent scores, class numbers and weights, converted to those of the new model."""
        n_old, rows = kept.n_outputs, kept.rows()
        rows = np.roll(rows, -(kept.noted % len(rows)) if len(rows) else 0, axis=0)  # oldest first
        scores = rows[:, self.source] * self.sign + 0.0
        scores[:, self.new] = self.level
        numbers = self.class_numbers(n_old, kept.n_labels)
        return scores, numbers[rows[:, n_old].astype(np.intp)], rows[:, n_old + 1]

    def class_numbers(self, n_outputs: int, n_labels: int) -> Array:
        """Return the new number of each old class, given numbers of old outputs and classes."""
        # If two classes share an output, the first one has the sign -1.
        old = self.source if n_outputs > 1 else np.where(self.sign > 0, 1, 0)
        numbers = np.zeros(n_labels)
        numbers[old[self.source >= 0]] = np.flatnonzero(self.source >= 0)
        return numbers

    def begin(self, state: State, constant: int, averaging: Averaging) -> None:
        """Set the constant feature's weights of new classes, so that their scores are `level`."""
        if self.level:
            value, companion = self.numbers(state, averaging)
            state.values[self.new, constant] = value
            state.companions[self.new, constant] = companion

    def numbers(self, state: State, averaging: Averaging) -> tuple[float, float]:
        """Return a number and its companion that make the model and its average `level`."""
        value = self.level / state.scale
        if not averaging.present:
            return value, 0.0
        # The average is affine in the two, so its coefficients follow from (1, 0) and (0, 1).
        probe = opened(LinearSpace(1, np.float64, 2, averaging.kind, 1.0, averaging.skipped))
        probe.state.values[0, 0] = probe.state.companions[1, 0] = 1.0
        probe.state = probe.state.changed(scale=state.scale, total=state.total, steps=state.steps)
        of_value, of_companion = closed(probe).effective()[:, 0]
        return value, (self.level - of_value * value) / of_companion if of_companion else 0.0


def grow_model(model: Model, before: Array, labels: Array, head: Any) -> Model:
    """Return a model with these labels and this head that continues another one, left unchanged.

    Raises
    ------
    TypeError
        If the space of the model, or its budget policy, cannot grow.
    """
    if isinstance(model, RenewedModel):
        return model.grown(lambda one: grow_model(one, before, labels, head))
    growth = Growth.of(before, labels, head)
    kind = kind_of(type(model.space))
    if kind is None or kind.begin is None:
        raise TypeError(f"{type(model.space).__name__} cannot grow")
    rule, sampler = copy.deepcopy((model.rule, model.sampler))
    # A policy may draw from the random numbers of the model.
    space, rng = opened((model.space, model.rng))
    space, rng = closed((grown(space, growth), rng))
    fresh = Model(space, head, rule, sampler, rng, model.d, model.dtype)
    fresh.resume_counts(model.n_seen, model.n_mistakes, model.cumulative_loss)
    fresh.recent.replace(*growth.recent(model.recent))
    return fresh


def grown(old: State, growth: Growth) -> State:
    """Return a state with the outputs of the new model, or the same state if it has no outputs."""
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
