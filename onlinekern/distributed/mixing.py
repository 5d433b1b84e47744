"""Learning in rounds, whoever carries it out: learners learn their shares, and are merged.

    for each round:   learner = merge(send(learner, shares of the parts))

With a staleness s, round r begins with the merged model of round r - 1 - s, before the s rounds
between them have ended: who is slow holds nobody. What is merged then is what has learnt since that
model: the models of round r, and the merged model of round r - 1.

What a learner does with a part is a pure function of a model, as bytes, and of the part (`tasks`).
An engine (Dask, Ray, Spark, Flink) says where it runs: `Run` has what is the same for all of them.
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from onlinekern.distributed import tasks
from onlinekern.distributed.engines import dumps, loads
from onlinekern.distributed.parts import Part, Stream
from onlinekern.distributed.record import ClusterLost, DistributedFit, Round, Tally
from onlinekern.distributed.resuming import Place, save_at

if TYPE_CHECKING:
    from onlinekern.distributed.starting import Asked

# Models that are merged at once: few enough for one worker's memory.
MERGED = 8
Shares = list[list[int]]


def rounds(
    parts: Iterable[tuple[int, Shares]],
    learners: Iterable[tasks.State],
    send: Callable[[int, tasks.State, Shares], Any],
    merge: Callable[[int, Any, tasks.State | None], tasks.State],
) -> Iterator[tuple[int, tasks.State]]:
    """Yield the number of each round and the model that is merged in it.

    Parameters
    ----------
    parts : iterable of (int, list of lists of int)
        The number of each round, and of each learner the parts that it learns in their order.
    learners : iterable of State
        The models with which the next rounds begin, one a round; the last one is the newest. There
        are staleness + 1 of them: so many rounds are on their way at a time.
    send : callable
        (number, learner, shares) -> what stands for the models that learn their shares.
    merge : callable
        (number, what `send` gave, the newest merged model) -> State. The newest model is None if it
        is the one with which the round began. It waits for the models of the round.
    """
    bases, sent = deque(learners), deque[tuple[int, tasks.State, Any]]()
    newest = bases[-1]

    def end() -> tuple[int, tasks.State]:
        nonlocal newest
        number, base, models = sent.popleft()
        # Each round has figures of its own.
        known = None if newest.data is base.data else tasks.State(newest.data, known=True)
        newest = merge(number, models, known)
        bases.append(newest)
        return number, newest

    for number, shares in parts:
        base = bases.popleft()
        sent.append((number, base, send(number, tasks.State(base.data), shares)))
        if not bases:
            yield end()
    while sent:
        yield end()


def tree(models: list[Any], join: Callable[[str, list[Any]], Any], width: int = MERGED) -> Any:
    """Join models, at most `width` at a time, until one is left; a name says level and place."""
    level = 0
    while len(models) > 1 or level == 0:
        groups = [models[first : first + width] for first in range(0, len(models), width)]
        models = [join(f"{level}.{number}", group) for number, group in enumerate(groups)]
        level += 1
    return models[0]


class Run(ABC):
    """A model on its way through a stream; an engine carries out what is abstract.

    Parameters
    ----------
    engine : object
        Carries out calls. Its `loss` says what is lost by an error, if the cluster is; None of any
        other error.
    show : callable
        Takes (done, total, text), in parts.
    stream : Stream
    asked : Asked
    place : Place
        How far it has come.
    """

    def __init__(self, engine: Any, show: Any, stream: Stream, asked: Asked, place: Place) -> None:
        self.engine, self.asked, self.show = engine, asked, show
        self.parts, self.labelled = stream
        self.place = place
        self.fit = DistributedFit(None, place.rounds, place.skipped)
        self._done = place.first
        # The models with which the next rounds begin; the last one is the newest.
        self._bases = deque[tasks.State](maxlen=asked.staleness + 1)

    @abstractmethod
    def once(self, name: str, function: Callable[..., Any], part: Part | None = None) -> Any:
        """Return what a function makes of a part, on a worker."""

    @abstractmethod
    def labels(self) -> Any:
        """Return all labels of the stream, sorted; None if there are none."""

    @abstractmethod
    def send(self, number: int, learner: tasks.State, shares: Shares) -> Any:
        """Let learners that begin with a model learn their shares: see `rounds`.

        It may return before they have learnt; with a staleness it must.
        """

    @abstractmethod
    def merge(self, number: int, sent: Any, known: tasks.State | None) -> tasks.State:
        """Merge what `send` gave, and what is known, by a tree of eights, on the workers."""

    def learn(self, estimator: Any, classes: Any, is_begun: bool) -> DistributedFit:
        """Learn the stream; ClusterLost, with the model of the last round, if the cluster goes."""
        try:
            return self._learn(estimator, classes, is_begun)
        except Exception as error:
            what = str(error) if isinstance(error, ClusterLost) else self.engine.loss(error)
            if what is None:
                raise
            raise ClusterLost(self._explain(what), self.fit.model, self.fit.rounds) from error

    def _learn(self, estimator: Any, classes: Any, is_begun: bool) -> DistributedFit:
        self.learning = tasks.Learning(self._classes(estimator, classes))
        data = dumps(estimator)
        if is_begun:
            self.fit.model = estimator
        resumed = bool(self.place.rounds)
        if not resumed and (not is_begun or has_new_labels(estimator, self.learning.classes)):
            data = self._warm_up(data, is_begun)
        self.once("merge-check", partial(tasks.check_merge, tasks.State(data)))
        self._bases.extend(self._begin(data))
        began = time.perf_counter()
        for number, state in rounds(self._left(), list(self._bases), self.send, self.merge):
            self._bases.append(state)
            self._end(number, state, time.perf_counter() - began)
            began = time.perf_counter()
        return self.fit

    def _begin(self, data: bytes) -> list[tasks.State]:
        """Return the models with which the next rounds begin, of which `data` is the newest."""
        newest = tasks.State(data)
        kept = [tasks.State(dumps(model)) for model in self.place.earlier]
        earlier = kept or [newest] * self.asked.staleness
        return [*earlier, newest]

    def _left(self) -> Iterator[tuple[int, Shares]]:
        """Yield the rounds that have not ended yet."""
        shares = self.asked.shares(len(self.parts), self.place.first)
        for number, own in enumerate(shares, start=1):
            if number > self.place.number:
                yield number, own
            else:
                self._done += sum(map(len, own))

    def task(self, number: int, shares: Shares, index: int) -> Callable[..., tasks.State]:
        """Return the function that learns a part in a round: (State, *data) -> State."""
        # What the warm-up has learnt of the first part of all.
        done = self.place.skip if number == 1 and index == shares[0][0] else 0
        return partial(tasks.learn, self.learning, done, self.asked.rows(self.parts[index]))

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
        found = self.labels()
        if found is None or len(found) < 2:
            what = "no labels" if found is None else f"one class only ({found.tolist()[0]!r})"
            raise ValueError(f"y holds {what}; at least two classes are needed")
        return found

    def _warm_up(self, data: bytes, is_begun: bool) -> bytes:
        """Learn the beginning; return the model, and note the first part and sample left."""
        began, found = time.perf_counter(), tasks.WarmedUp(tasks.State(data), 0, False, [])
        warming = tasks.Learning(self.learning.classes, frozen=is_begun)
        least = 1 if is_begun else self.asked.warm_up
        first, skip = 0, 0
        for first, part in enumerate(self.parts):
            self._show("warm-up", 0)
            function = partial(tasks.warm_up, warming, least, self.asked.rows(part), found.state)
            found = self.once(f"warm-up-{first}", function, part)
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
        if self.asked.checkpoint is not None:
            earlier = [loads(base.data) for base in list(self._bases)[:-1]]
            self.place = replace(self.place, earlier=earlier)
            save_at(self.place, model, self.asked.checkpoint, self.asked.storage_options)

    def _explain(self, what: str) -> str:
        """Say what happened, and where the model is."""
        if not self.fit.rounds:
            return f"{what}; nothing was merged before"
        last = self.fit.rounds[-1].number
        where = "the attribute model of this error"
        if self.asked.checkpoint is not None:
            where += f" and in {self.asked.checkpoint}"
        return (
            f"{what}; the model after {f'round {last}' if last else 'the warm-up'}, of "
            f"{self.fit.samples:,} samples, is in {where}"
        )

    def _show(self, text: str, amount: int) -> None:
        self._done += amount
        self.show(self._done, self.asked.passes * len(self.parts), text)


def has_new_labels(estimator: Any, classes: Any) -> bool:
    """Return whether there are labels that a classifier does not know yet."""
    return classes is not None and not np.isin(classes, estimator.classes_).all()
