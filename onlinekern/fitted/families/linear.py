"""Linear models, which have a weight for each feature."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from onlinekern.estimators.types import Floats
from onlinekern.fitted.export.states import CannotLearn, ConfidentState, LinearState, Numbers
from onlinekern.fitted.export.taught import Taught
from onlinekern.fitted.export.terms import Constant, Linear, Terms
from onlinekern.fitted.grow import Growth
from onlinekern.fitted.merge.gaussians import merged_gaussians, repeats_of
from onlinekern.fitted.merge.mix import Averaging, Mix, merged_steps, of, scaled_average
from onlinekern.fitted.state import State, describe, fields

# A block of the core's linear weights has this many numbers.
LINE = 8
PLAIN = "d= dtype= n_outputs# averaging= intercept= skipped= in_length="
WEIGHTS = scaled_average("output feature")


def linear(name: str, module: str, arguments: str, more: str = "") -> None:
    """Describe a space whose state has further fields besides the weights."""
    names = list(fields(arguments))

    def read(stored: dict[str, Any]) -> dict[str, Any]:
        """Split one array, whose rows are blocks of cache lines, into weights and companions."""
        own = dict(zip(names, stored["arguments"], strict=True))
        shape = -1, own["n_outputs"], (own["d"] + LINE) // LINE * LINE
        state = dict(stored["state"])
        rows = state.pop("blocks").reshape(shape)
        if "batch_update" in state:
            state["batch_update"] = state["batch_update"].reshape(shape[1:])
        return {**stored, "state": {"values": rows[0], "companions": rows[-1], **state}}

    def write(named: dict[str, Any]) -> dict[str, Any]:
        state = dict(named["state"])
        averaging = dict(zip(names, named["arguments"], strict=True))["averaging"]
        rows = [state.pop("values"), state.pop("companions")][: 1 + (averaging is not False)]
        state["blocks"] = np.stack(rows).reshape(-1, LINE)
        if "batch_update" in state:
            state["batch_update"] = state["batch_update"].reshape(-1, LINE)
        return {**named, "state": state}

    describe(
        f"models.{module}.{name}",
        f"cls= arguments({arguments}) state({WEIGHTS} {more})",
        by_function=name == "LinearSpace",
        read=read,
        write=write,
        merge=merged_linear,
        begin=begin,
        terms=terms,
        learning=learning,
        taught=taught,
    )


def averaging_of(space: State) -> Averaging:
    """Return the kind of average that a space keeps."""
    own = space.arguments
    return Averaging(own.averaging, getattr(own, "skipped", 0))


def latest_of(space: State) -> tuple[Floats, Floats]:
    """Return the weights and their average as they are after the open batch is closed."""
    latest, averaged = averaging_of(space).pair(space.state)
    if hasattr(space.state, "batch_update"):
        latest = space.state.shrink * latest + space.state.batch_update
    return latest, averaged


def blended(
    mix: Mix, parts: list[State], base: State | None, pairs: list[tuple[Floats, Floats]]
) -> Iterator[Floats]:
    """Yield the merged weights, and their merged average.

    Each weight is averaged over the models that have moved it (Ding et al. 2022): samples without
    its feature leave a weight where it was. If the weights are confined to a ball, all models count
    for each weight, because only their mean is certain to lie in the ball.
    """
    start = latest_of(base)[0] if base else 0.0
    known = base.state.companions if base else 0.0
    # A weight may have moved and returned to its start. Its companions still show the movement.
    moved = [
        (latest != start) | (part.state.companions != known)
        for part, (latest, _) in zip(parts, pairs, strict=True)
    ]
    in_ball = getattr(parts[0].arguments, "radius", 0.0) > 0
    for half in zip(*pairs, strict=True):
        yield mix.blend(half) if in_ball else mix.blend_of_movers(half, moved)


def merged_linear(mix: Mix, parts: list[State], base: State | None) -> State:
    """Average the weights; models with a covariance are multiplied as Gaussians."""
    space, averaging = parts[0], averaging_of(parts[0])
    states, before = of(parts, base, "state")
    pairs = [latest_of(part) for part in parts]
    latest, averaged = blended(mix, parts, base, pairs)
    more: dict[str, Any] = {}
    if hasattr(space.state, "covariance"):
        width = space.arguments.d + bool(space.arguments.intercept)
        old = latest_of(base)[0][:, :width] if base else np.zeros_like(latest[:, :width])
        means = [pair[0][:, :width] for pair in pairs]
        covariances, prior = of(states, before, "covariance")
        repeats = repeats_of(width) if space.arguments.kind == "diagonal" else 1.0
        latest[:, :width], covariance = merged_gaussians(
            mix, means, covariances, old, prior, repeats
        )
        degenerate = mix.count(*of(states, before, "n_degenerate"))
        more = {"covariance": covariance, "n_degenerate": degenerate}
    if hasattr(space.state, "batch_update"):
        norm = float(np.square(latest).sum())
        empty = np.zeros_like(space.state.batch_update)
        more = {"batch_update": empty, "count": 0, "shrink": 1.0, "squared_norm": norm}
    averaged = averaged if averaging.present or not more else latest
    weights = averaging.fields(latest, averaged, merged_steps(mix, states, before))
    return space.with_learnt(state=space.state.with_learnt(**weights, **more))


def begin(space: State, old: State, growth: Growth) -> None:
    """Set the constant feature of new classes; a matrix shared by all outputs is not changed."""
    own = space.arguments
    if own.intercept:
        growth.begin(space.state, own.d, averaging_of(space))
    if getattr(own, "kind", "") == "shared":
        space.state.covariance = old.state.covariance


def terms(space: Any) -> Terms:
    effective = space.effective()
    weights = Linear(np.ascontiguousarray(effective[:, :-1]))
    return (weights, Constant(effective[:, -1])) if np.any(effective[:, -1]) else (weights,)


def learning(space: State) -> tuple[LinearState | ConfidentState, Numbers]:
    """Return the weights, with variances if the model is of second order."""
    own, state = space.arguments, space.state
    if getattr(own, "batch_size", 1) > 1 or getattr(own, "radius", 0.0) > 0:
        raise CannotLearn("it learns in batches, or projects its weights")
    width, averaging = own.d + 1, averaging_of(space)
    numbers = Numbers.of(state, own.averaging, slice(width), averaging.skipped)
    variances = None
    if hasattr(state, "covariance"):
        if own.kind != "diagonal":
            return confident(space)
        variances = np.ones((own.n_outputs, width))
        variances[:, : own.d + own.intercept] = state.covariance
    in_length = float(own.intercept) if getattr(own, "in_length", True) else 0.0
    return LinearState(float(own.intercept), in_length, variances), numbers


def confident(space: State) -> tuple[ConfidentState, Numbers]:
    """Return the weights with one covariance matrix per output, or with one shared matrix."""
    own, state = space.arguments, space.state
    columns = slice(own.d + bool(own.intercept))
    numbers = Numbers.of(state, own.averaging, columns, averaging_of(space).skipped)
    covariance = np.ascontiguousarray(state.covariance)
    return ConfidentState(1.0, bool(own.intercept), None, None, covariance, True), numbers


def taught(space: State, found: Taught) -> State:
    """Return the space with the weights of a device."""
    own, state = space.arguments, space.state
    width = own.d + 1 if "covariance" not in found else state.covariance.shape[-1]
    more = found.average(state, slice(width))
    if "covariance" in found:
        more["covariance"] = found.covariance(state.covariance, np.arange(width))
    if "variances" in found:
        variances = found.matrix("variances", own.n_outputs)[:, : own.d + own.intercept]
        more["covariance"] = variances.reshape(state.covariance.shape)
    if hasattr(state, "squared_norm"):
        more["squared_norm"] = float(np.square(more["scale"] * more["values"]).sum())
    return space.changed(state=state.changed(**more))


linear("LinearSpace", "linear", PLAIN)
linear(
    "BatchSpace",
    "linear_batches",
    f"batch_size= radius= {PLAIN}",
    "batch_update~[output feature] count~ shrink~ squared_norm~",
)
linear(
    "SecondOrderSpace",
    "linear_second_order",
    "d= dtype= n_outputs# averaging= intercept= kind=",
    "covariance[class weight ...] n_degenerate~",
)
