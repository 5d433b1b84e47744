"""An engine that runs functions elsewhere, and gives futures of their results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from onlinekern.distributed.mixing import tree


class Tasks(ABC):
    """Calls of functions that run on the workers of an engine."""

    @abstractmethod
    def send(
        self,
        name: str,
        function: Callable[..., Any],
        *arguments: Any,
        turn: tuple[int, int] | None = None,
    ) -> Any:
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
    def each(self, futures: list[Any], after: Callable[[Any], Any | None] | None = None) -> None:
        """Wait for futures, and for those that `after` gives when one is done.

        The first one that fails raises its error.
        """

    @abstractmethod
    def value(self, future: Any) -> Any:
        """Return the result of a future that is done."""

    @abstractmethod
    def loss(self, error: Exception) -> str | None:
        """Say what is lost by an error, if the cluster is; None of any other error."""

    def result(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a call."""
        future = self.send(name, function, *arguments)
        self.each([future])
        return self.value(future)

    def tree(
        self,
        name: str,
        function: Callable[..., Any],
        first: list[Any],
        futures: list[Any],
        width: int,
    ) -> Any:
        """Return what a function makes of `first` and all results, at most `width` at a time."""

        def join(place: str, group: list[Any]) -> Any:
            return self.send(f"{name}.{place}", function, *first, *group)

        future = tree(futures, join, width)
        self.each([future])
        return self.value(future)
