"""One BLAS thread while a model is learnt whose core calls BLAS.

The blocks are small: more threads cost more than they bring, several times more on a busy machine,
and a model should not depend on their number. threadpoolctl's own context would do, but takes
longer than learning one sample.
"""

import functools
import threading

from threadpoolctl import ThreadpoolController


class OneThread:
    """A context in which BLAS has one thread; contexts may nest, and overlap in several threads."""

    def __init__(self):
        self._lock = threading.Lock()
        self._entered = 0
        self._before = []

    @functools.cached_property
    def _libraries(self):
        return ThreadpoolController().select(user_api="blas").lib_controllers

    def __enter__(self):
        with self._lock:
            if self._entered == 0:
                self._before = [library.get_num_threads() for library in self._libraries]
                self._limit([1] * len(self._before))
            self._entered += 1

    def __exit__(self, *_):
        with self._lock:
            self._entered -= 1
            if self._entered == 0:
                self._limit(self._before)

    def _limit(self, counts):
        for library, before, count in zip(self._libraries, self._before, counts, strict=True):
            if before != 1:
                library.set_num_threads(count)


ONE_THREAD = OneThread()


def one_blas_thread(method):
    """A method that runs with one BLAS thread."""

    @functools.wraps(method)
    def limited(self, *args, **kwargs):
        with ONE_THREAD:
            return method(self, *args, **kwargs)

    return limited
