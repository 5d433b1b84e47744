"""Rounds: learners learn their shares of the stream, and their models are merged."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from onlinekern.distributed import tasks
from onlinekern.distributed.cluster import ClusterLost, Tasks, is_lost
from onlinekern.distributed.dask import dumps, loads
from onlinekern.distributed.parts import Part, Stream
from onlinekern.distributed.record import DistributedFit, Round, Tally
from onlinekern.distributed.resuming import Place, save_at
from onlinekern.distributed.rows import Rows

# Tasks of a learner that are with the scheduler: the next part is read while one is learnt.
AHEAD = 2
# Models that are merged at once, and labels: few enough for one worker's memory.
MERGED = 8
GATHERED = 32


@dataclass(frozen=True)
class Plan:
    """The plan by which a stream is shared.

    Parameters
    ----------
    rounds, passes, learners : int
    least : int or None
        Samples of the warm-up.
    checkpoint : path or None
        File to which the merged model goes after each round.
    skips : bool
        Whether bad rows are left out.
    as_tables : bool
        Whether the learner begins with an encoder of tables.
    takes_missing : bool
        Whether the learner takes NaN as a missing value.
    storage_options : mapping or None
        What the store of the checkpoint is told.
    """

    rounds: int
    passes: int
    learners: int
    least: int | None
    checkpoint: Any
    skips: bool = False
    as_tables: bool = False
    takes_missing: bool = False
    storage_options: Any = None

    def rows(self, part: Part) -> Rows:
        """Return the rows of a part, which go to a task."""
        return Rows(replace(part, data=()), self.skips, self.as_tables, self.takes_missing)

    def shares(self, n_parts: int, first: int) -> Iterator[list[list[int]]]:
        """Yield the parts of each learner, for every round; those before the `first` are learnt.

        Learner k of K takes each K-th part: at any time all learn of the same stretch.
        """
        for number in range(self.passes):
            there = range(first if number == 0 else 0, n_parts)
            for stretch in np.array_split(np.array(there), self.rounds):
                some = [stretch[k :: self.learners].tolist() for k in range(self.learners)]
                if len(stretch):
                    yield [share for share in some if share]


class Run:
    """A model on its way through a stream that is spread over a cluster.

    Parameters
    ----------
    tasks : Tasks
    stream : Stream
    plan : Plan
    show : callable
        Takes (done, total, text), in parts.
    place : Place
        How far it has come.
    """

    def __init__(self, tasks: Tasks, stream: Stream, plan: Plan, show: Any, place: Place) -> None:
        self.tasks, self.client, self.plan, self.show = tasks, tasks.client, plan, show
        self.parts, self.labelled = stream
        self.place = place
        self.fit = DistributedFit(None, place.rounds, place.skipped)
        self._done = place.first

    def learn(self, estimator: Any, classes: Any, is_begun: bool) -> DistributedFit:
        """Learn the stream; ClusterLost, with the model of the last round, if the cluster goes."""
        try:
            self._learn(estimator, classes, is_begun)
        except Exception as error:
            if not isinstance(error, ClusterLost) and not is_lost(self.client, error):
                raise
            raise ClusterLost(self._explain_loss(error), self.fit.model, self.fit.rounds) from error
        return self.fit

    def _learn(self, estimator: Any, classes: Any, is_begun: bool) -> None:
        learning = tasks.Learning(self._classes(estimator, classes))
        data = dumps(estimator)
        if is_begun:
            self.fit.model = estimator
        resumed = bool(self.place.rounds)
        if not resumed and (not is_begun or has_new_labels(estimator, learning.classes)):
            data = self._warm_up(data, learning, is_begun)
        self.tasks.result("merge-check", partial(tasks.check_merge, tasks.State(data)))
        first, skip = self.place.first, self.place.skip
        for number, shares in enumerate(self.plan.shares(len(self.parts), first), start=1):
            if number > self.place.number:
                began = time.perf_counter()
                state = self._round(number, data, learning, shares, skip if number == 1 else 0)
                data = state.data
                self._end(number, state, time.perf_counter() - began)
            else:
                self._done += sum(map(len, shares))

    def _classes(self, estimator: Any, classes: Any) -> Any:
        """Return all labels: those given, or those that there are."""
        known = getattr(estimator, "classes_", None)
        if not is_classifier(estimator):
            return None
        if classes is not None:
            return np.unique(classes) if known is None else np.union1d(known, classes)
        if known is not None:
            return None
        self.show(0, None, "looking for the classes")
        futures = [
            self.tasks.send(
                f"classes-{number}", partial(tasks.labels, self.plan.rows(part)), *part.data
            )
            for number, part in enumerate(self.labelled)
        ]
        found = self.tasks.tree("classes-all", tasks.union, [], futures, GATHERED)
        if found is None or len(found) < 2:
            what = "no labels" if found is None else f"one class only ({found.tolist()[0]!r})"
            raise ValueError(f"y holds {what}; at least two classes are needed")
        return found

    def _warm_up(self, data: bytes, learning: Any, is_begun: bool) -> bytes:
        """Learn the beginning; return the model, and note the first part and sample left."""
        began, found = time.perf_counter(), tasks.WarmedUp(tasks.State(data), 0, False, [])
        warming = tasks.Learning(learning.classes, frozen=is_begun)
        least = 1 if is_begun else self.plan.least
        first, skip = 0, 0
        for first, part in enumerate(self.parts):
            self._show("warm-up", 0)
            function = partial(tasks.warm_up, warming, least, self.plan.rows(part), found.state)
            found = self.tasks.result(f"warm-up-{first}", function, *part.data)
            for category, text in found.said:
                warnings.warn(text, category, stacklevel=2)
            skip = found.used
            if found.settled:
                break
            self._show("warm-up", 1)
            first, skip = first + 1, 0
        if found.state.tally.samples == 0:
            raise ValueError("X holds no samples")
        self.place = replace(self.place, first=first, skip=skip)
        self._end(0, found.state, time.perf_counter() - began)
        return found.state.data

    def _round(
        self, number: int, data: bytes, learning: Any, shares: list[list[int]], skip: int
    ) -> tasks.State:
        """The model that all learners made of one, and of their shares; `skip` samples are
        learnt already."""
        text = f"round {number}"
        base = self.tasks.send(f"model-{number}", partial(tasks.identity, tasks.State(data)))
        left = [iter(enumerate(share)) for share in shares]
        models, owners = [base] * len(shares), dict[str, int]()
        first = shares[0][0]

        def next_of(k: int) -> Any | None:
            step, index = next(left[k], (0, None))
            if index is None:
                return None
            part = self.parts[index]
            done = skip if index == first else 0
            function = partial(tasks.learn, learning, done, self.plan.rows(part))
            models[k] = self.tasks.send(
                f"learn-{number}.{k}.{step}", function, models[k], *part.data, priority=-step
            )
            owners[models[k].key] = k
            return models[k]

        def after(future: Any) -> Any | None:
            self._show(text, 1)
            return next_of(owners.pop(future.key))

        self._show(text, 0)
        begun = [next_of(k) for _ in range(AHEAD) for k in range(len(shares))]
        self.tasks.each([future for future in begun if future is not None], after)
        state: tasks.State = self.tasks.tree(f"merge-{number}", tasks.merge, [base], models, MERGED)
        return state

    def _end(self, number: int, state: tasks.State, seconds: float) -> None:
        """Note a round, and keep its model."""
        model = loads(state.data)
        learners = state.learners or (state.tally,)
        total = state.tally.plus(Tally(moved=len(state.data)))
        self.fit.model = model
        self.fit.skipped.update(state.skipped)
        self.fit.rounds.append(Round(
            number, len(learners), total.samples,
            int(total.loss) if is_classifier(model) else None,
            total.loss if is_regressor(model) else None,
            seconds, total.moved, [(one.samples, one.loss) for one in learners],
        ))  # fmt: skip
        self.place = replace(
            self.place, number=number, rounds=self.fit.rounds, skipped=self.fit.skipped
        )
        if self.plan.checkpoint is not None:
            save_at(self.place, model, self.plan.checkpoint, self.plan.storage_options)

    def _show(self, text: str, amount: int) -> None:
        self._done += amount
        self.show(self._done, self.plan.passes * len(self.parts), text)

    def _explain_loss(self, error: BaseException) -> str:
        """Say what happened, and where the model is."""
        if isinstance(error, ClusterLost):
            what = str(error)
        else:
            address = getattr(self.client.scheduler, "address", "of the client")
            gone = f"the scheduler {address} is gone"
            what = "the tasks were cancelled" if self.client.status == "running" else gone
            what += f" ({type(error).__name__}: {error})"
        if not self.fit.rounds:
            return f"{what}; nothing was merged before"
        last = self.fit.rounds[-1].number
        where = "the attribute model of this error"
        if self.plan.checkpoint is not None:
            where += f" and in {self.plan.checkpoint}"
        return (
            f"{what}; the model after {f'round {last}' if last else 'the warm-up'}, of "
            f"{self.fit.samples:,} samples, is in {where}"
        )


def has_new_labels(estimator: Any, classes: Any) -> bool:
    """Return whether there are labels that a classifier does not know yet."""
    return classes is not None and not np.isin(classes, estimator.classes_).all()
