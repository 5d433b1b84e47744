"""Classes that come later: a model of more outputs that continues one of fewer.

Each output of the new model takes over that of its class; two classes with one output w become -w
and w. The output of a new class begins as if it had seen that no sample so far was of its class: at
the score -1 where there is a constant feature, and where class k against the rest is what an output
learns; else at 0. Least squares with a constant feature are exactly those of a stream that had the
class from the start.

What the parts of a model have learnt is read and written through the states of their pickles, which
check what they are given.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinekern.core.learning.heads import HEADS, Head
from onlinekern.core.models.dual_sgd import DualSpace
from onlinekern.core.models.least_squares import LeastSquaresSpace
from onlinekern.core.models.linear import LinearSpace
from onlinekern.core.models.linear_batches import BatchSpace
from onlinekern.core.models.linear_second_order import SecondOrderSpace
from onlinekern.core.models.local import LocalSpace
from onlinekern.core.models.mapped import MappedSpace
from onlinekern.core.models.mapped_second_order import MappedSecondOrderSpace
from onlinekern.core.models.nogd import NystroemSpace
from onlinekern.core.models.space import InverseTimeSpace, KernelSpace
from onlinekern.core.stream import Model
from onlinekern.estimators.types import Array

SCALES = ("scale", "total", "steps")


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
        inner = head.arguments[0] if isinstance(head.arguments[0], Head) else head
        return cls(source, sign, 0.0 if type(inner) is HEADS["margin"] else -1.0)

    @property
    def n_outputs(self) -> int:
        """Of the new model."""
        return len(self.source)

    @property
    def new(self) -> Array:
        """Numbers of the outputs of new classes."""
        return np.flatnonzero(self.source < 0)

    def rows(self, old: Array) -> Array:
        """The rows of the new model, zeros for new classes, from those of the old one."""
        rows = old[self.source] * self.sign.reshape(-1, *[1] * (old.ndim - 1))
        rows[self.new] = 0.0
        # -0.0 and 0.0 are one number; the states of models compare bits.
        return rows + 0.0

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

    def unsigned(self, old: Array, fresh: Array) -> Array:
        """Rows that belong to a class whatever the sign of its weights; `fresh` are those of a
        model that has learnt nothing."""
        rows = fresh.copy()
        known = self.source >= 0
        rows[known] = old[self.source[known]]
        return rows

    def weights(
        self, state: dict[str, Any], constant: int, averaging: Any = False, skipped: int = 0
    ) -> dict[str, Any]:
        """Weights under one scale with an average; `constant` is the place of the constant or -1.

        `values` and `companions` are of shape (n_outputs, length), see `base.scaled_average`.
        """
        values, companions = self.rows(state["values"]), self.rows(state["companions"])
        if constant >= 0 and self.level:
            value, companion = self.begin(state, averaging, skipped)
            values[self.new, constant] = value
            companions[self.new, constant] = companion
        return {**state, "values": values, "companions": companions}

    def begin(self, state: dict[str, Any], averaging: Any, skipped: int = 0) -> tuple[float, float]:
        """A number whose model, and whose average of all models so far, are at `level`; and its
        companion."""
        value = self.level / state["scale"]
        if averaging is False:
            return value, 0.0
        # The average is affine in the two: it is read at (1, 0) and at (0, 1).
        probe = LinearSpace(1, np.float64, 2, averaging, 1.0, skipped)
        blocks = probe.get_state()["blocks"]
        numbers = blocks.reshape(2, 2, -1)
        numbers[0, 0, 0] = numbers[1, 1, 0] = 1.0
        scales = {name: state[name] for name in SCALES}
        probe.set_state({**scales, "blocks": blocks})
        of_value, of_companion = probe.effective()[:, 0]
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
    space = SPACES.get(type(own.space))
    if space is None:
        raise TypeError(f"{type(own.space).__name__} cannot grow")
    fresh = Model(space(own.space, growth), head, own.rule, own.gate, own.rng, own.d, own.dtype)
    fresh.resume_counts(model.n_seen, model.n_mistakes, model.cumulative_loss)
    fresh.recent.replace(*growth.recent(model.recent))
    return fresh


def linear(space: Any, growth: Growth, place: int = 2) -> Any:
    """LinearSpace; `place` is that of n_outputs among the arguments."""
    restore, (cls, arguments, state) = space.__reduce__()
    d, _, n_old, averaging, intercept, *_ = arguments[place - 2 :]
    skipped = arguments[place + 3] if cls is not SecondOrderSpace else 0
    arguments = (*arguments[:place], growth.n_outputs, *arguments[place + 1 :])
    parts = 1 + (averaging is not False)
    old = state["blocks"].reshape(parts, n_old, -1)
    both = {"values": old[0], "companions": old[-1]}
    made = growth.weights({**state, **both}, d if intercept else -1, averaging, skipped)
    new = [made["values"], made["companions"]][:parts]
    fresh = cls(*arguments).get_state()
    state = {**state, "blocks": np.reshape(new, fresh["blocks"].shape)}
    if "batch_update" in state:
        waiting = growth.rows(state["batch_update"].reshape(n_old, -1))
        state["batch_update"] = waiting.reshape(fresh["batch_update"].shape)
    if "covariance" in state and arguments[-1] != "shared":
        state["covariance"] = growth.unsigned(state["covariance"], fresh["covariance"])
    return restore(cls, arguments, state)


def batches(space: Any, growth: Growth) -> Any:
    return linear(space, growth, place=4)


def mapped(space: Any, growth: Growth) -> Any:
    restore, (features, _, averaging, state) = space.__reduce__()
    state = growth.weights(state, features.constant, averaging)
    return restore(features, growth.n_outputs, averaging, state)


def mapped_second_order(space: Any, growth: Growth) -> Any:
    restore, (features, averaging, covariance, n_degenerate, state) = space.__reduce__()
    state = growth.weights(state, features.constant, averaging)
    return restore(features, averaging, grown_covariance(covariance, growth), n_degenerate, state)


def grown_covariance(covariance: Any, growth: Growth) -> Any:
    """One matrix for all outputs stays; a new class begins with that of the prior."""
    restore, arguments = covariance.__reduce__()
    if not isinstance(arguments[0], type):  # a sketch, which is shared
        return restore(growth.n_outputs, *arguments[1:])
    cls, _, length, array = arguments
    if not hasattr(cls, "shared"):
        array = growth.unsigned(array, cls(growth.n_outputs, length).to_array())
    return restore(cls, growth.n_outputs, length, array)


def support_vectors(arguments: Any, state: Any, growth: Growth) -> tuple[Any, Any]:
    """Arguments and state of a support set; a new class has coefficients of 0."""
    kernel, d, dtype, _, averaged, is_sparse = arguments
    arguments = kernel, d, dtype, growth.n_outputs, averaged, is_sparse
    return arguments, growth.weights(state, -1)


def kernel(space: Any, growth: Growth) -> Any:
    restore, (cls, arguments, state, budget) = space.__reduce__()
    scales = {name: state[name] for name in SCALES}
    arguments, state = support_vectors(arguments, state, growth)
    restore_budget, (policy, parts, learnt) = budget.__reduce__()
    identity = (*arguments, *learnt["set"][len(arguments) :])
    begin = growth.begin(scales, arguments[4])
    own = grown_policy(learnt["learnt"], parts, begin, growth)
    budget = restore_budget(policy, parts, {**learnt, "set": identity, "learnt": own})
    return restore(cls, arguments, state, budget)


def grown_policy(learnt: Any, parts: Any, begin: Any, growth: Growth) -> Any:
    """What a budget policy knows of each output; that of most belongs to the support vectors.

    `begin` are a constant, and its companion, with which a new class may begin.
    """
    fields = set(learnt)
    if "companions" in fields:  # the margins of a Forgetron
        return growth.weights(learnt, -1)
    if {"targets", "offsets"} <= fields:  # BOLSSVM: the machine of a class that never came
        offsets = growth.rows(learnt["offsets"].T).T
        offsets[:, growth.new] = -1.0
        grown = {**learnt, "offsets": offsets}
        for name in ("targets", "products"):  # whose last row is that of the target 1
            rows = growth.rows(learnt[name][:-1])
            rows[growth.new] = 0.0 - learnt[name][-1]
            grown[name] = np.vstack([rows, learnt[name][-1]])
        return grown
    if fields == {"weights", "offsets"}:  # the features of DualSGD, and their companions
        weights = [growth.rows(half) for half in np.split(learnt["weights"], 2)]
        halves = [growth.rows(half) for half in np.split(learnt["offsets"], 2)]
        if parts[-1] and growth.level:
            for half, number in zip(halves, begin, strict=True):
                half[growth.new] = number
        return {"weights": np.vstack(weights), "offsets": np.concatenate(halves)}
    return learnt


def two_stages(space: Any, growth: Growth) -> Any:
    """NOGD: support vectors, then weights of their features."""
    restore, (arguments, state, n_landmarks, n_components, learnt) = space.__reduce__()
    arguments, state = support_vectors(arguments, state, growth)
    if learnt is not None:
        projection, weights = learnt
        learnt = projection, growth.weights(weights, -1)
    return restore(arguments, state, n_landmarks, n_components, learnt)


def least_squares(space: Any, growth: Growth) -> Any:
    restore, arguments = space.__reduce__()
    features, _, reg, *options, state = arguments
    state = {
        **state,
        "vectors": growth.rows(state["vectors"]),
        "base": growth.rows(state["base"]),
        "innovations": growth.rows(state["innovations"].T).T,
        "targets": growth.rows(state["targets"].T).T,
    }
    if 0 <= features.constant < state["used"]:
        all_others(state, features.constant, reg, growth.new)
    for name in ("innovations", "targets"):
        state[name] = np.ascontiguousarray(state[name])
    return restore(features, growth.n_outputs, reg, *options, state)


def all_others(state: dict[str, Any], constant: int, reg: float, new: Array) -> None:
    """Let new outputs be those of the targets -1 for all samples so far.

    phi has a constant 1, so sum a phi (-1) = -(A - r I) e, with e the unit vector of the constant,
    and the weights are -A^-1 (A - r I) e = r A^-1 e - e. Of the samples that wait, some are in no
    sum yet, and those of the open block in no weight either: see `linalg.open_block`.
    """
    unit = np.zeros(state["used"])
    unit[constant] = 1.0
    rows, weights = state["rows"], state["weights"][:, 0]
    closed = len(rows) - state["count"]
    seen = state["matrix"][:, constant] - reg * unit + weights[:closed] @ rows[:closed]
    state["vectors"][new] = -seen
    state["base"][new] = base = reg * state["inverse"][:, constant] - unit
    errors = -1.0 - rows[closed:] @ base
    state["innovations"][:, new] = np.linalg.solve(state["factor"].T, errors)[:, None]
    state["targets"][:, new] = -weights[closed:, None]


def local(space: Any, growth: Growth) -> Any:
    """LOL: a new class has weights of 0, and the variances of the prior."""
    restore, (options, prototypes, (steps, blocks), mean, totals) = space.__reduce__()
    n_old, averaged, second_order = options[2], options[10] is not False, options[11]
    options = (*options[:2], growth.n_outputs, *options[3:])
    _, (_, _, (_, fresh), _, _) = LocalSpace(*options).__reduce__()
    parts = 1 + averaged + second_order
    old = blocks.reshape(len(blocks), parts, n_old, -1).transpose(1, 2, 0, 3)
    prior = fresh.reshape(len(fresh), parts, growth.n_outputs, -1).transpose(1, 2, 0, 3)
    signed = [growth.rows(part) for part in old[: 1 + averaged]]
    variances = [growth.unsigned(old[-1], prior[-1])] if second_order else []
    new = np.array([*signed, *variances]).transpose(2, 0, 1, 3).reshape(fresh.shape)
    return restore(options, prototypes, (steps, new), mean, totals)


SPACES: dict[type, Callable[[Any, Growth], Any]] = {
    LinearSpace: linear,
    SecondOrderSpace: linear,
    BatchSpace: batches,
    MappedSpace: mapped,
    MappedSecondOrderSpace: mapped_second_order,
    KernelSpace: kernel,
    InverseTimeSpace: kernel,
    DualSpace: kernel,
    NystroemSpace: two_stages,
    LeastSquaresSpace: least_squares,
    LocalSpace: local,
}
