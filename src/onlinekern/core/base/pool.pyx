"""A thread pool that calls a function for several items in parallel.

Starting and ending a thread takes about 100 microseconds, so the threads of the pool are kept until
the process ends, as many as ever worked at once. A forked child begins without threads.
"""
from concurrent.futures import ThreadPoolExecutor, wait
import os
import threading

# More threads than any machine has cores: the executor starts a thread only if none is idle.
cdef int MOST_THREADS = 1024

_standing = None
# The innermost call that this thread is working for.
_at_work = threading.local()


cdef class Calls:
    """The items of one call of `run_together`, which threads take one by one."""

    def __cinit__(self, function, items):
        self.function, self.items = function, items
        self.results = [None] * len(items)
        self.around = getattr(_at_work, "calls", None)
        self.lock = threading.Lock()

    cdef Py_ssize_t next_place(self) except? -2:
        """Index of the next item; -1 if none is left."""
        with self.lock:
            if self.error is not None or self.begun >= len(self.items):
                return -1
            self.begun += 1
            return self.begun - 1

    cdef int stop(self, error) except -1:
        """Store an error; no further item is begun."""
        with self.lock:
            if self.error is None:
                self.error = error
        return 0

    def work(self):
        """Call the function for items until none is left, or one has failed."""
        cdef Py_ssize_t place
        outer = getattr(_at_work, "calls", None)
        try:
            _at_work.calls = self
            while True:
                place = self.next_place()
                if place < 0:
                    return
                self.results[place] = self.function(self.items[place])
        except BaseException as error:
            self.stop(error)
        finally:
            _at_work.calls = outer

    def finish(self, helpers):
        """Wait for the items under way; return the results, or raise the first error."""
        try:
            wait([helper for helper in helpers if not helper.cancel()])
        except BaseException as error:
            # Ctrl-C while waiting: threads that use the caller's memory must still end first.
            self.stop(error)
            wait(helpers)
            raise
        if self.error is not None:
            raise self.error
        return self.results


cdef bint is_stopped() except -1:
    """Whether another item of the call, or of a call around it, has failed: this one may stop."""
    cdef Calls calls = getattr(_at_work, "calls", None)
    while calls is not None:
        if calls.error is not None:
            return True
        calls = calls.around
    return False


def run_together(function, items, n_threads):
    """Call a function for each item, in several threads.

    The caller's thread is one of them, so nested calls cannot deadlock. Items are begun in order.
    After one fails, no other is begun, and loops of the core that check for signals end early.

    Parameters
    ----------
    function : callable
        Takes one item.
    items : sequence
    n_threads : int
        Most items at once.

    Returns
    -------
    list
        Results in the order of the items.
    """
    global _standing
    if n_threads < 2 or len(items) < 2:
        return [function(item) for item in items]
    cdef Calls calls = Calls(function, items)
    helpers = []
    try:
        if _standing is None:
            _standing = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="onlinekern")
        for _ in range(min(n_threads, len(items)) - 1):
            helpers.append(_standing.submit(calls.work))
    except RuntimeError:
        # No thread can be started, for example at interpreter exit: use this one only.
        pass
    except BaseException as error:
        calls.stop(error)
    calls.work()
    return calls.finish(helpers)


def _forget():
    global _standing
    _standing = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
