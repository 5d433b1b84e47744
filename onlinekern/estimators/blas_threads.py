"""One BLAS thread for the learners whose model calls BLAS or LAPACK.

The matrices are small: with more threads, a call takes longer, several times longer on a busy
machine, and the model would depend on their number. threadpoolctl's own context manager is not used
because it takes longer than learning one sample.
"""

from __future__ import annotations

import functools
import os
import threading
from typing import Any, Self, cast

from threadpoolctl import ThreadpoolController

from onlinekern.estimators.types import Function


class OneThread:
    """Contexts in which BLAS has one thread. They may nest, and overlap in several threads.

    ``with ONE_THREAD():`` is such a context. A fork waits until no thread is changing the number of
    BLAS threads. In the child only the contexts of the thread that forked go on; without any, BLAS
    has its threads again.
    """

    def __init__(self) -> None:
        # It is reentrant: a signal handler may learn, or fork, while its own thread holds the lock.
        self._lock = threading.RLock()
        # This maps the address of each context to its thread.
        self._inside: dict[int, int] = {}
        self._before: list[int] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before_fork,
                after_in_parent=self._after_fork_in_parent,
                after_in_child=self._after_fork_in_child,
            )

    def __call__(self) -> Context:
        """Make a context."""
        return Context(self)

    @functools.cached_property
    def _libraries(self) -> Any:
        return ThreadpoolController().select(user_api="blas").lib_controllers

    def _begin(self, context: int) -> None:
        with self._lock:
            if self._inside:
                self._inside[context] = threading.get_ident()
                return
            self._before = [library.get_num_threads() for library in self._libraries]
            # This comes first: a signal may arrive while the number changes; `_end` restores it.
            self._inside[context] = threading.get_ident()
            self._limit([1] * len(self._before))

    def _end(self, context: int) -> None:
        if context not in self._inside:
            return
        with self._lock:
            # It is the only one, or there is none: a signal handler may have ended it meanwhile.
            if len(self._inside) <= (context in self._inside):
                self._limit(self._before)
            self._inside.pop(context, None)

    def _limit(self, counts: list[int]) -> None:
        # Where BLAS has one thread already, this is half of what a context takes.
        if self._before.count(1) == len(self._before):
            return
        for library, before, count in zip(self._libraries, self._before, counts, strict=True):
            if before != 1:
                release(library)
                library.set_num_threads(count)
                release(library)

    def _before_fork(self) -> None:
        self._lock.acquire()

    def _after_fork_in_parent(self) -> None:
        self._lock.release()

    def _after_fork_in_child(self) -> None:
        self._lock = threading.RLock()
        own = threading.get_ident()
        others = any(thread != own for thread in self._inside.values())
        self._inside = {key: thread for key, thread in self._inside.items() if thread == own}
        if others and not self._inside:
            self._limit(self._before)


def release(library: Any) -> None:
    """Let any thread set the number of BLAS threads.

    Since threadpoolctl 3.8 the first thread that does so is the only one: the calls of others are
    ignored without a word. Here a lock and a count of contexts do what that is for.
    """
    clear = getattr(library, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


class Context:
    """One context of `OneThread`.

    It ends when it is left, or when it is no longer held: Ctrl-C may arrive when it is about to be
    left.
    """

    __slots__ = ("_owner",)

    def __init__(self, owner: OneThread) -> None:
        self._owner = owner

    def __enter__(self) -> Self:
        self._owner._begin(id(self))
        return self

    def __exit__(self, *_: Any) -> None:
        self._owner._end(id(self))

    def __del__(self) -> None:
        self._owner._end(id(self))


ONE_THREAD = OneThread()


def one_blas_thread(method: Function) -> Function:
    """Make a method run with one BLAS thread."""

    @functools.wraps(method)
    def limited(self: Any, *args: Any, **kwargs: Any) -> Any:
        with ONE_THREAD():
            return method(self, *args, **kwargs)

    return cast("Function", limited)
