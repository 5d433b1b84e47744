"""What runs on the workers: pure functions of a model, as bytes, and a part of the data.

A task that is run again, because a worker died, gives the same bytes.
"""

from __future__ import annotations

import os
import socket
import sys
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from onlinekern.distributed.arguments import takes_tables
from onlinekern.distributed.engines import dumps, loads, require
from onlinekern.distributed.record import Tally
from onlinekern.distributed.rows import Rows, rows_at
from onlinekern.estimators.atomic import learnt_by
from onlinekern.estimators.blas_threads import ONE_THREAD
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.encoded_tables import encoded
from onlinekern.estimators.features import kernel_part
from onlinekern.estimators.median_width import is_warming_up
from onlinekern.evaluate.errors import losses_of
from onlinekern.preprocessing.steps import does_something, learner_of
from onlinekern.preprocessing.tables.errors import TableError
from onlinekern.streams.blocks import in_blocks

# Samples that the warm-up learns before it looks whether it has enough; and the most.
PIECE = 200
# What a pipeline's scaler or encoder, which learns in the warm-up alone, should have seen.
LEAST = 1000
MOST = 20_000


class State(NamedTuple):
    """A model on its way.

    Attributes
    ----------
    data : bytes
    where : str
        Address of the worker that made it; empty for the client.
    tally : Tally
        The samples that were learnt since the round began.
    learners : tuple of Tally
        The tallies of the learners of a merged model.
    skipped : tuple of (str, int)
        Parts with bad rows, and how many of them were left out.
    known : bool
        Whether it is the merged model of another round, which has the figures of its samples.
    """

    data: bytes
    where: str = ""
    tally: Tally = Tally()
    learners: tuple[Tally, ...] = ()
    skipped: tuple[tuple[str, int], ...] = ()
    known: bool = False

    def with_bytes_moved(self) -> Tally:
        """Return the tally, with the bytes that it took the model to come here."""
        moved = len(self.data) if self.where != worker_address() else 0
        return self.tally.plus(Tally(moved=moved))


class WarmedUp(NamedTuple):
    """A model that has learnt the beginning of a part.

    Attributes
    ----------
    state : State
    used : int
        Samples of the part that were learnt.
    settled : bool
        Whether the model needs no more; else it has learnt the whole part.
    said : list of (type, str)
        The warnings.
    """

    state: State
    used: int
    settled: bool
    said: list[tuple[type[Warning], str]]


@dataclass(frozen=True)
class Learning:
    """The way in which samples are learnt.

    Parameters
    ----------
    classes : ndarray or None
        All labels.
    frozen : bool
        Whether the transformers of a pipeline, and the encoder of a learner, only transform.
    """

    classes: Any = None
    frozen: bool = True

    def learn_rows(self, model: Any, rows: Rows, X: Any, y: Any, weight: Any, numbers: Any) -> Any:
        """Learn the rows of a part that have these numbers; returns their Tally."""
        while X.shape[0]:
            try:
                return Tally(X.shape[0], self.learn(model, X, y, weight))
            except TableError as error:
                if error.row is None:
                    raise ValueError(f"{rows.part.name}: {error}") from error
                rows.reject(int(numbers[error.row]), f"column {error.column!r} {error.what}")
                kept = np.delete(np.arange(X.shape[0]), error.row)
                X, y, weight, numbers = rows_at((X, y, weight, numbers), kept)
            except ValueError as error:
                raise ValueError(f"{rows.part.name}: {error}") from error
        return Tally()

    def learn(self, model: Any, X: Any, y: Any, weight: Any) -> float:
        """Predict samples, then learn them; returns their mistakes, or sum of squared errors."""
        if self.frozen and hasattr(model, "steps"):
            X, model = transform(model, X), learner_of(model)
        elif self.frozen and isinstance(model, Learner):
            X = encoded(model, X, start=False, learn=False)
        given = {"classes": self.classes, "sample_weight": weight}
        given = {name: value for name, value in given.items() if value is not None}
        if y is None:
            model.partial_fit(X, **given)
            return 0.0
        predicted = model.partial_fit_predict(X, y, **given)
        return float(losses_of(y, predicted, is_classifier(model)).sum())


def transforms(model: Any) -> bool:
    """Return whether a model has steps or an encoder in front of what learns."""
    return hasattr(model, "steps") or takes_tables(model)


def transform(pipeline: Any, X: Any) -> Any:
    """Return what the transformers of a pipeline make of X."""
    for _, step in pipeline.steps[:-1]:
        if does_something(step):
            X = step.transform(X)
    return X


def worker_address() -> str:
    """Return the address of this worker: Dask's, or that of the process."""
    if "distributed" in sys.modules:
        with suppress(ValueError):
            return str(require("distributed").get_worker().address)
    return f"{socket.gethostname()}:{os.getpid()}"


def identity(value: Any) -> Any:
    """Return a value, such as the model of a round, which the scheduler can then make again."""
    return value


def warm_up(
    learning: Learning, least: int | None, rows: Rows, state: State, *data: Any
) -> WarmedUp:
    """Learn the samples of a part until the model is settled.

    `least` is how many samples it must have seen; None: what it needs.
    """
    model, tally, used, settled = loads(state.data), state.with_bytes_moved(), 0, False
    # An encoder decides by what its first call brings.
    piece = least or (LEAST if transforms(model) else PIECE)
    with ONE_THREAD(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for block in in_blocks(rows.blocks(*data), piece):
            tally = tally.plus(learning.learn_rows(model, rows, *block))
            used += block[0].shape[0]
            settled = is_settled(model, least)
            if settled:
                break
    said = [(one.category, str(one.message)) for one in caught]
    return WarmedUp(after(state, model, tally, rows), used, settled, said)


def after(state: State, model: Any, tally: Tally, rows: Rows) -> State:
    """Return the state of a model that has learnt rows after another state."""
    skipped = dict(state.skipped)
    if rows.skipped:
        skipped[rows.part.name] = rows.skipped
    return State(dumps(model), worker_address(), tally, (), tuple(skipped.items()))


def learn(learning: Learning, skip: int, rows: Rows, state: State, *data: Any) -> State:
    """Learn the samples of a part after the first `skip`, in their order."""
    model, tally = loads(state.data), state.with_bytes_moved()
    with ONE_THREAD(), warnings.catch_warnings():
        # The warm-up has said it.
        warnings.simplefilter("ignore")
        for block in in_blocks(rows.blocks(*data), sys.maxsize, skip=skip):
            tally = tally.plus(learning.learn_rows(model, rows, *block))
    return after(state, model, tally, rows)


def merge(base: State, *states: State) -> State:
    """Merge the models that have learnt since `base`."""
    began, models = loads(base.data), [loads(state.data) for state in states]
    tally, learners = State(base.data, base.where).with_bytes_moved(), list[Tally]()
    for state in states:
        tally = tally.plus(state.with_bytes_moved())
        if not state.known:
            learners += state.learners or [state.tally]
    skipped = tuple({name: n for state in states for name, n in state.skipped}.items())
    with ONE_THREAD():
        merged = dumps(merge_all(models, began))
    return State(merged, worker_address(), tally, tuple(learners), skipped)


def check_merge(state: State) -> None:
    """Raise now, not after an hour, if models like this one cannot be merged."""
    merge_all([loads(state.data), loads(state.data)], loads(state.data))


def merge_all(models: list[Any], base: Any) -> Any:
    """Return the merged model; the transformers of a pipeline are those of `base`."""
    from onlinekern.fitted.merge.merging import merge as merge_models

    if len(models) == 1:
        return models[0]
    if not hasattr(base, "steps"):
        return merge_models(models, base=base)
    learners = [learner_of(model) for model in models]
    name, before = base.steps[-1]
    base.steps[-1] = (name, merge_models(learners, base=before))
    return base


def labels(rows: Rows, *data: Any) -> Any:
    """Return the labels of a part."""
    return union(*map(np.unique, rows.labels(*data)))


def union(*found: Any) -> Any:
    """Return all labels of several parts."""
    there = [some for some in found if some is not None]
    return np.unique(np.concatenate(there)) if there else None


def is_settled(model: Any, least: int | None) -> bool:
    """Return whether a model has all that its copies must share, after `least` samples at least."""
    learner = learner_of(model)
    learnt = learnt_by(learner)
    # Transformers count in their own way, and share nothing but what their first call decides.
    count = getattr(learnt, "n_seen", MOST)
    if least is not None:
        return bool(count >= least)
    if count < (LEAST if transforms(model) else PIECE) or is_warming_up(learner):
        return False
    return bool(count >= MOST or not lacks_landmarks(learner, learnt))


def lacks_landmarks(learner: Any, model: Any) -> bool:
    """Return whether features of a kernel still wait for landmarks."""
    space: Any = getattr(model, "space", None)
    if hasattr(space, "moved"):
        return not space.moved
    landmarks = getattr(kernel_part(getattr(space, "map", None)), "landmarks", None)
    return landmarks is not None and landmarks.n < learner.n_components
