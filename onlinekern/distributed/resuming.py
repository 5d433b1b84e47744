"""The checkpoint of a run: the model, and which parts of the stream it has learnt."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from typing import Any

from onlinekern.distributed.record import Round
from onlinekern.fitted.save import load

# The attribute of a saved model that holds the place: one file, written whole or not at all.
PLACE = "_learnt_on_cluster"


@dataclass(frozen=True)
class Place:
    """How far a run has come.

    Parameters
    ----------
    number : int
        The last round that ended.
    first, skip : int
        The first part that the warm-up did not learn whole, and the samples of it that it did.
    run : dict
        What the run does, to recognise another run.
    rounds : list of Round
    skipped : dict of str to int
        Rows of each part that were left out.
    earlier : list of estimator
        The merged models with which the next rounds begin, but the newest, which is saved.
    """

    number: int
    first: int
    skip: int
    run: dict[str, Any] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    earlier: list[Any] = field(default_factory=list)


def run_of(estimator: Any, asked: Any, stream: Any) -> dict[str, Any]:
    """Return what a run does: its estimator and parts, and how these are shared."""
    names = "\n".join(part.name for part in stream.parts)
    parameters = {name: repr(value) for name, value in estimator.get_params(deep=True).items()}
    return {
        "estimator": type(estimator).__name__, "parameters": parameters,
        "rounds": asked.rounds, "passes": asked.passes, "n_learners": asked.n_learners,
        "warm_up": asked.warm_up, "on_error": asked.on_error,
        "number of parts": len(stream.parts),
        "staleness": asked.staleness,
        "names of parts": hashlib.sha256(names.encode()).hexdigest(),
    }  # fmt: skip


def save_at(place: Place, model: Any, path: Any, storage_options: Any) -> None:
    """Save a model with its place."""
    vars(model)[PLACE] = {**vars(place), "rounds": [vars(one) for one in place.rounds]}
    try:
        model.save(path, storage_options=storage_options)
    finally:
        del vars(model)[PLACE]


def without_place(model: Any) -> Any:
    """Return a model, which may come from a checkpoint, as it is without one."""
    vars(model).pop(PLACE, None)
    return model


def load_at(path: Any, storage_options: Any) -> tuple[Any, Place] | None:
    """Return the model of a checkpoint and its place; None if there is no file.

    Raises
    ------
    ValueError
        If the file has a model without a place.
    """
    try:
        model = load(path, storage_options=storage_options)
    except FileNotFoundError:
        return None
    kept = vars(model).pop(PLACE, None)
    if kept is None:
        raise ValueError(f"checkpoint {os.fspath(path)}: a model, but not of a run on a cluster "
                         "that can be resumed")  # fmt: skip
    rounds = [
        Round(**{**one, "by_learner": [tuple(pair) for pair in one["by_learner"]]})
        for one in kept["rounds"]
    ]
    return model, Place(**{**kept, "rounds": rounds})


def check_same_run(path: Any, place: Place, run: dict[str, Any]) -> None:
    """Raise ValueError if a checkpoint is that of another run."""
    for name, value in run.items():
        # What older checkpoints do not know was 0.
        kept = place.run.get(name, 0)
        if kept == value:
            continue
        raise ValueError(
            f"checkpoint {os.fspath(path)}: it is of a run with {name} {kept!r}, this "
            f"one has {value!r}"
        )
