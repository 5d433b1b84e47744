"""NOGD: a kernel expansion whose support vectors become the landmarks of explicit features."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.core.models.nogd import NystroemSpace
from onlinekern.core.models.union import take_in
from onlinekern.fitted.export.states import CannotLearn, MappedState, Numbers
from onlinekern.fitted.export.taught import Taught
from onlinekern.fitted.export.terms import Terms
from onlinekern.fitted.families import mapped
from onlinekern.fitted.families.features import SUPPORT_VECTORS, expansion
from onlinekern.fitted.grow import Growth
from onlinekern.fitted.merge import expansions
from onlinekern.fitted.merge.mix import Averaging, Mix
from onlinekern.fitted.state import State, closed, describe, kinds, opened, same


def merged_nystroem(mix: Mix, parts: list[State], base: State | None) -> State:
    """Average the weights if the landmarks are common, else merge the expansions anew."""
    space = parts[0]
    expansions.check_sets(parts)
    averaging, learnt = Averaging(space.arguments.averaged), space.learnt
    steps = mix.count([steps_of(part) for part in parts], steps_of(base) if base else 0)
    if learnt and all(same_landmarks(space, other) for other in parts):
        pairs = [averaging.pair(part.learnt.weights) for part in parts]
        halves = [mix.blend(half) for half in zip(*pairs, strict=True)]
        weights = learnt.weights.with_learnt(**averaging.fields(halves[0], halves[1], steps))
        moved = learnt.with_learnt(projection=learnt.projection, weights=weights)
        return space.with_learnt(state=space.state, learnt=moved)
    whole = expansions.union(mix, [landmark_expansion(part, averaging) for part in parts])
    # The first support vectors become the landmarks, and f is projected onto their span.
    first = expansions.nearest_places(space, whole, space.n_landmarks)
    whole = whole.part(np.concatenate([first, np.setdiff1d(np.arange(len(whole)), first)]))
    support = expansions.doubled(space.arguments, whole)
    made = NystroemSpace(support, space.n_landmarks, space.n_components)
    take_in(made, whole.rows, np.ascontiguousarray(whole.coefficients.T))
    fresh = opened(made)
    n_outputs, moved = space.arguments.n_outputs, fresh.learnt
    before = space.state.with_learnt(
        **vars(averaged_state(averaging, fresh.state, n_outputs, steps))
    )
    if moved:
        weights = averaged_state(averaging, moved.weights, n_outputs, steps)
        moved = moved.with_learnt(projection=moved.projection, weights=weights)
    return space.with_learnt(state=before, learnt=moved)


def averaged_state(averaging: Averaging, state: State, n_outputs: int, steps: int) -> State:
    """Turn a state with twice the outputs into one with an average."""
    rows = state.scale * state.values
    return state.changed(**averaging.fields(rows[:n_outputs], rows[-n_outputs:], steps))


def same_landmarks(one: State, other: State) -> bool:
    """Return whether both models have reached the second stage with the same features."""
    return (
        other.learnt is not None
        and same(one.learnt.projection, other.learnt.projection)
        and same(one.state.rows, other.state.rows)
    )


def steps_of(part: State) -> int:
    """Return how many models the average has counted, in the second stage if it has begun."""
    return (part.learnt.weights if part.learnt else part.state).steps


def landmark_expansion(part: State, averaging: Averaging) -> expansions.Expansion:
    """Return the model as a kernel expansion over its landmarks, in either stage."""
    whole, learnt = expansions.expansion_of(part), part.learnt
    if learnt is None:
        return whole
    pair = averaging.pair(learnt.weights)
    features = np.concatenate(pair[: 1 + averaging.present])[:, : len(learnt.projection)]
    coefficients = (features @ learnt.projection)[:, whole.slots]
    return expansions.Expansion(whole.rows, coefficients, whole.places, whole.slots)


def second_stage(space: State) -> State:
    """Return the second stage of a model, a space of weights of features."""
    support, weights = space.arguments, space.learnt.weights
    given = {"arguments": support, "state": space.state, "projection": space.learnt.projection}
    inner, kind = kinds()["Nystroem"], kinds()["MappedSpace"]
    fields = {"map": State(inner, inner.restorer, given), "n_outputs": support.n_outputs}
    fields |= {"averaged": support.averaged, "state": weights}
    return State(kind, kind.restorer, fields)


def begin(space: State, old: State, growth: Growth) -> None:
    """Leave the weights of new classes at 0, because there is no constant feature."""


def terms(space: Any) -> Terms:
    if not space.moved:
        return (expansion(space.support),)
    return mapped.terms(closed(second_stage(opened(space))))


def learning(space: State) -> tuple[MappedState, Numbers]:
    """Return the description with which the second stage learns."""
    if space.learnt is None:
        raise CannotLearn(
            f"it has {len(space.state.ages)} of the {space.n_landmarks} support vectors that "
            "become landmarks"
        )
    return mapped.learning(second_stage(space))


def taught(space: State, found: Taught) -> State:
    """Return the space with the weights of a device."""
    weights = mapped.taught(second_stage(space), found).state
    return space.changed(learnt=space.learnt.changed(weights=weights))


describe(
    "models.nogd.NystroemSpace",
    f"{SUPPORT_VECTORS} n_landmarks= n_components= "
    f"learnt(projection[component slot] weights({mapped.WEIGHTS}))",
    merge=merged_nystroem,
    begin=begin,
    terms=terms,
    learning=learning,
    taught=taught,
)
