"""Races that add classes: which are new, which experts remain, and how the race began."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import numpy as np

from onlinekern.core.models.forest import ForestSpace
from onlinekern.estimators.savable import require
from onlinekern.estimators.types import Array
from onlinekern.estimators.validation import NUMBERS
from onlinekern.learners.race.kinds import Expert, bytes_of_moments, decoded_rows

MEGABYTE = 2**20


def grown_race(
    race: Any, ladder: list[Expert], stay: list[int], before: Array, labels: Array, head: Any
) -> Any:
    """Return a race with more classes that goes on from one, and shares nothing with it.

    Parameters
    ----------
    race : RenewedRace
    ladder : list of Expert
        Descriptions of its models.
    stay : list of int
        Indices of the experts that remain, ascending; at least one.
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
    """Return the vote of the remaining experts, on scores of `n_outputs` outputs."""
    links = tuple(vote.links[k] for k in stay)
    new = type(vote)(links, n_outputs, vote.decay, vote.sharpness)
    state, own = vote.get_state(), [*stay, vote.n_experts, vote.n_experts + 1]
    places = {"losses": own, "counts": own, "errors": np.ix_(stay, stay), "met": stay}
    new.set_state({k: v[places[k]] if k in places else v for k, v in state.items()})
    return new


def kept_rows(race: Any, least: float) -> Any:
    """Return rows, labels and weights of the forest that keeps most; None if fewer than `least`.

    The rows are in the form of the samples.
    """
    kept = [one.space.get_state() for one in race.experts if isinstance(one.space, ForestSpace)]
    if not kept:
        return None
    told = max(kept, key=lambda each: len(each["targets"]))
    rows, y, weight = (told[name] for name in ("rows", "targets", "weights"))
    if len(y) < least:
        return None
    known = decoded_rows(rows, race.layout, race.moments) if race.layout else rows
    return filled(known, race.moments), y, weight


def filled(rows: Any, moments: Any) -> Any:
    """Return rows with sentinels again, where a race replaced them by NaN."""
    if moments.sentinels is None or not np.isnan(rows).any():
        return rows
    numbers, mean = moments.missing_values(), moments.mean()
    # Features without a sentinel by now get the mean.
    return np.where(np.isnan(rows), np.where(np.isnan(numbers), mean, numbers), rows).astype(
        rows.dtype, copy=False
    )


def draws_after(race: Any, n_labels: int) -> np.random.RandomState:
    """Return the random generator of a race that replaces one with a forest.

    Its seed follows from that of the first race, and so from `random_state`.
    """
    forests = [one.space for one in race.experts if isinstance(one.space, ForestSpace)]
    seed = forests[0].settings[-1]
    return np.random.RandomState([seed & 0xFFFFFFFF, seed >> 32, n_labels])


def form_of(race: Any, n_outputs: int) -> tuple[int, int, bool]:
    """Return features, outputs and sparsity of rows, for estimates of the memory of experts."""
    return race.d, n_outputs, not race.moments.centred


def megabytes(experts: list[Expert], form: tuple[int, int, bool]) -> float:
    """Return the memory of all experts in megabytes; `form` is a result of `form_of`."""
    return sum(expert.n_bytes(*form) for expert in experts) / MEGABYTE


def bytes_of_race(experts: list[Expert], form: tuple[int, int, bool], is_taught: bool) -> int:
    """Return the memory of a race of these experts in bytes, with its moments."""
    of_experts = sum(expert.n_bytes(*form, is_taught=is_taught) for expert in experts)
    return of_experts + bytes_of_moments(form[0], form[2])


def check_kind(y: Array, known: Any) -> None:
    """Raise ValueError if y holds text and the labels known are numbers, or the other way round."""
    kinds = {labels.dtype.kind in NUMBERS for labels in (y, np.asarray(known)) if len(labels)}
    if len(kinds) > 1:
        raise ValueError(
            f"y holds labels, {y[:3]} for example, that are not among the classes {known} and of "
            "another kind"
        )


def first_places(y: Array, known: Any) -> Any:
    """Return the index of the first occurrence in y of each unknown label, ascending."""
    labels, places = np.unique(y, return_index=True)
    return np.sort(places[~np.isin(labels, known)]).tolist()


def check_beginning(learner: Any) -> None:
    """Raise ValueError unless a learner's attributes of the beginning of its race are valid."""
    budgets, stayed = learner._budgets_at_first, learner._stayed
    numbers = type(budgets) is tuple and all(type(one) is float for one in budgets)
    fits = numbers and len(budgets) in (0, 2) and all(0 < one < np.inf for one in budgets)
    require(fits, "the budgets that it began with are none")
    counts = learner._outputs_at_first, learner._empty_at_first
    known = all(isinstance(one, int | np.integer) and one >= 0 for one in counts)
    require(known, "its first outputs and features are no numbers of these")
    known = type(stayed) is tuple and all(
        isinstance(k, int | np.integer) and k >= 0 for k in stayed
    )
    ascends = known and all(one < other for one, other in pairwise([-1, *stayed]))
    require(ascends, "the experts that stayed are none")


def check_waiting(waiting: Any) -> None:
    """Raise ValueError unless these are rows, labels and weights that wait for a second class."""
    arrays = type(waiting) is tuple and all(hasattr(one, "shape") for one in waiting)
    ranks = tuple(len(one.shape) for one in waiting) if arrays else ()
    fits = ranks == (2, 1, 1) and len({one.shape[0] for one in waiting}) == 1
    require(fits and len(waiting[1]) > 0, "no samples wait for a second class")
