"""An engine that runs functions elsewhere, and gives futures of their results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

from onlinekern.distributed.mixing import tree

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
