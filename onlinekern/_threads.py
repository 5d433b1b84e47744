"""One BLAS thread while a model is learnt whose core calls BLAS.

The blocks are small: more threads cost more than they bring, several times more on a busy machine,
and a model should not depend on their number. threadpoolctl's own context would do, but takes
longer than learning one sample.
"""

import functools
import os
import threading

from threadpoolctl import ThreadpoolController


class OneThread:
    """A context in which BLAS has one thread; contexts may nest, and overlap in several threads.

    A fork waits until no thread is changing the number of BLAS threads. In the child only the
    contexts of the thread that forked go on; without any, BLAS has its threads again.
    """

    def __init__(self):
        # Reentrant: a signal handler may learn, or fork, while its own thread holds the lock.
        self._lock = threading.RLock()
        # The threads that are inside, once for each context.
        self._inside = []
        self._before = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before_fork,
                after_in_parent=self._after_fork_in_parent,
                after_in_child=self._after_fork_in_child,
            )

    @functools.cached_property
    def _libraries(self):
        return ThreadpoolController().select(user_api="blas").lib_controllers

    def __enter__(self):
        with self._lock:
            if not self._inside:
                self._before = [library.get_num_threads() for library in self._libraries]
                self._limit([1] * len(self._before))
            self._inside.append(threading.get_ident())

    def __exit__(self, *_):
        with self._lock:
            self._inside.remove(threading.get_ident())
            if not self._inside:
                self._limit(self._before)

    def _limit(self, counts):
        for library, before, count in zip(self._libraries, self._before, counts, strict=True):
            if before != 1:
                library.set_num_threads(count)

    def _before_fork(self):
        self._lock.acquire()

    def _after_fork_in_parent(self):
        self._lock.release()

    def _after_fork_in_child(self):
        self._lock = threading.RLock()
        others = any(thread != threading.get_ident() for thread in self._inside)
        self._inside = [thread for thread in self._inside if thread == threading.get_ident()]
        if others and not self._inside:
            self._limit(self._before)


ONE_THREAD = OneThread()


def one_blas_thread(method):
    """A method that runs with one BLAS thread."""

    @functools.wraps(method)
    def limited(self, *args, **kwargs):
        with ONE_THREAD:
            return method(self, *args, **kwargs)

    return limited
