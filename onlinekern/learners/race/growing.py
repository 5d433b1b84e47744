"""Races that go on with more classes, all of their experts or some of them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from onlinekern.estimators.types import Array
from onlinekern.learners.race.kinds import Expert


def grown_race(
    race: Any, ladder: list[Expert], stay: list[int], before: Array, labels: Array, head: Any
) -> Any:
    """Return a race of more classes that goes on from one, and shares nothing with it.

    Parameters
    ----------
    race : RenewedRace
    ladder : list of Expert
        What its models are.
    stay : list of int
        Numbers of the experts that stay, ascending; at least one.
    before, labels : ndarray
        The classes so far, and all.
    head : Head
        For all.
    """

    def grow(arguments: Any, progress: Any) -> Any:
        models, costs, vote, moments, _, *form, patience, twins = arguments
        experts = [ladder[k].grown(models[k], before, labels) for k in stay]
        kept = [copy.deepcopy(twins[k]) for k in stay] if twins else ()
        own = (
            experts, [costs[k] for k in stay], grown_vote(vote, stay, head.n_outputs),
            copy.deepcopy(moments), head, *form, [patience[k] for k in stay], kept,
        )  # fmt: skip
        n_seen, noted, alarm, stride, voting, learnt, history, began = progress
        awake = voting[stay]
        if not awake.any():
            awake[:] = 1
        marks = [(count, weights[stay]) for count, weights in history]
        return own, (n_seen, noted, alarm, stride, awake, learnt[stay], marks, began)

    return race.grown(grow)


def grown_vote(vote: Any, stay: list[int], n_outputs: int) -> Any:
    """Return the vote of the experts that stay, on answers of so many outputs."""
    links = tuple(vote.links[k] for k in stay)
    new = type(vote)(links, n_outputs, vote.decay, vote.sharpness)
    state, own = vote.get_state(), [*stay, vote.n_experts, vote.n_experts + 1]
    pairs = np.ix_(stay, stay)
    places = {"losses": own, "counts": own, "errors": pairs, "met": pairs}
    new.set_state({k: v[places[k]] if k in places else v for k, v in state.items()})
    return new
