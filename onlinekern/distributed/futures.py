"""An engine that gives futures, Dask or Ray, and rounds on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from onlinekern.distributed import mixing, tasks
from onlinekern.distributed.mixing import MERGED, Shares, tree
from onlinekern.distributed.parts import Part

Call: TypeAlias = Callable[..., Any]
Futures: TypeAlias = list[Any]
# The learner for which a call is, and its step.
Turn: TypeAlias = tuple[int, int] | None


class Tasks(ABC):
    """Calls of functions that run on the workers of an engine."""

    def __init__(self) -> None:
        # Of each future that is waited for: what comes after it, and those it belongs to.
        self._left = dict[Any, tuple[Callable[[Any], Any | None] | None, set[Any]]]()

    @abstractmethod
    def send(self, name: str, function: Call, *arguments: Any, turn: Turn = None) -> Any:
        """Return the future of a call.

        Parameters
        ----------
        name : str
            What it is called.
        function : callable
        *arguments
            Values, or futures of them.
        turn : (int, int) or None
            The learner for which it is, and its step. None: it is for no learner.
        """

    @abstractmethod
    def some_of(self, futures: Futures) -> list[Any]:
        """Wait until some futures are done, and return them."""

    @abstractmethod
    def check(self, future: Any) -> None:
        """Raise the error of a future that is done, if it has one."""

    @abstractmethod
    def give_up(self, futures: Futures, error: BaseException) -> None:
        """Cancel futures because of an error; raise another one if it says more."""

    @abstractmethod
    def value(self, future: Any) -> Any:
        """Return the result of a future that is done."""

    @abstractmethod
    def loss(self, error: Exception) -> str | None:
        """Say what is lost by an error, if the cluster is; None of any other error."""

    def begin(self, futures: Futures, after: Callable[[Any], Any | None] | None = None) -> set[Any]:
        """Look after futures, and those that `after` gives when one is done.

        Returns
        -------
        set
            Those that are not done. `finish` looks after all that were begun.
        """
        group = set(futures)
        self._left.update((future, (after, group)) for future in futures)
        return group

    def finish(self, group: set[Any]) -> None:
        """Wait until nothing is left of what `begin` gave.

        The first future that fails, of these or others, raises its error.
        """
        try:
            while group:
                for future in self.some_of(list(self._left)):
                    self.check(future)
                    self._end(future)
        except BaseException as error:
            left = list(self._left)
            self._left.clear()
            self.give_up(left, error)
            raise

    def _end(self, future: Any) -> None:
        # Futures that are done are let go: the workers keep what others still need.
        after, group = self._left.pop(future)
        more = None if after is None else after(future)
        if more is not None:
            group.add(more)
            self._left[more] = after, group
        group.discard(future)

    def each(self, futures: Futures, after: Callable[[Any], Any | None] | None = None) -> None:
        """Wait for futures, and for those that `after` gives when one is done.

        The first one that fails raises its error.
        """
        self.finish(self.begin(futures, after))

    def result(self, name: str, function: Call, *arguments: Any) -> Any:
        """Return the result of a call."""
        future = self.send(name, function, *arguments)
        self.each([future])
        return self.value(future)

    def tree(self, name: str, function: Call, first: Futures, futures: Futures, width: int) -> Any:
        """Return what a function makes of `first` and all results, at most `width` at a time."""

        def join(place: str, group: list[Any]) -> Any:
            return self.send(f"{name}.{place}", function, *first, *group)

        future = tree(futures, join, width)
        self.each([future])
        return self.value(future)


# Tasks of a learner that are with the engine: the next part is read while one is learnt.
AHEAD = 2
# Labels that are gathered at once.
GATHERED = 32


class Run(mixing.Run):
    """A model on its way through a stream that is spread over a cluster.

    Parameters
    ----------
    engine : Tasks
    show, stream, asked, place
        See `mixing.Run`.
    """

    def once(self, name: str, function: Callable[..., Any], part: Part | None = None) -> Any:
        """Return what a function makes of a part, on a worker."""
        return self.engine.result(name, function, *(part.data if part else ()))

    def labels(self) -> Any:
        """Return all labels, which the workers read."""
        futures = [
            self.engine.send(
                f"classes-{number}", partial(tasks.labels, self.asked.rows(part)), *part.data
            )
            for number, part in enumerate(self.labelled)
        ]
        return self.engine.tree("classes-all", tasks.union, [], futures, GATHERED)

    def send(self, number: int, learner: tasks.State, shares: Shares) -> Any:
        """Return the futures of the model of the round, and of those that learn, and what is left.

        The tasks of a round that began earlier come first.
        """
        text, first = f"round {number}", number * len(self.parts)
        base = self.engine.send(f"model-{number}", partial(tasks.identity, learner))
        shared = [iter(enumerate(share)) for share in shares]
        models, owners = [base] * len(shares), dict[Any, int]()

        def next_of(k: int) -> Any | None:
            step, index = next(shared[k], (0, None))
            if index is None:
                return None
            name, data = f"learn-{number}.{k}.{step}", self.parts[index].data
            function = self.task(number, shares, index)
            models[k] = self.engine.send(name, function, models[k], *data, turn=(k, first + step))
            owners[models[k]] = k
            return models[k]

        def after(future: Any) -> Any | None:
            self._show(text, 1)
            return next_of(owners.pop(future))

        self._show(text, 0)
        begun = [next_of(k) for _ in range(AHEAD) for k in range(len(shares))]
        left = self.engine.begin([future for future in begun if future is not None], after)
        return base, models, left

    def merge(self, number: int, sent: Any, known: tasks.State | None) -> tasks.State:
        """Wait for the models of a round, and merge them by a tree of tasks."""
        base, models, left = sent
        self.engine.finish(left)
        if known is not None:
            models = [self.engine.send(f"known-{number}", partial(tasks.identity, known)), *models]
        return self.engine.tree(f"merge-{number}", tasks.merge, [base], models, MERGED)
