"""Threads that stand ready: one function for several items at once.

To start a thread and to end it takes about 100 microseconds. The threads of this pool stay, as many
as were ever at work at once, until the process ends. A child of a fork begins without any.
"""
from concurrent.futures import ThreadPoolExecutor, wait
import os
import threading

# More threads than anyone's cores: the executor starts one only where none is idle.
cdef int MOST_THREADS = 1024

_standing = None
# The innermost call whose items this thread is working on.
_at_work = threading.local()


cdef class Calls:
    """The items of one call, which its threads take one by one."""

    def __cinit__(self, function, items):
        self.function, self.items = function, items
        self.results = [None] * len(items)
        self.around = getattr(_at_work, "calls", None)
        self.lock = threading.Lock()

    cdef Py_ssize_t next_place(self) except? -2:
        """The place of the next item, -1 when there is none left."""
        with self.lock:
            if self.error is not None or self.begun >= len(self.items):
                return -1
            self.begun += 1
            return self.begun - 1

    cdef int stop(self, error) except -1:
        """Let no item be begun any more."""
        with self.lock:
            if self.error is None:
                self.error = error
        return 0

    def work(self):
        """Take items until there are none, or one has failed."""
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
        """Wait for the items that were begun; return the results, or raise the first error."""
        try:
            wait([helper for helper in helpers if not helper.cancel()])
        except BaseException as error:
            # Ctrl-C while waiting: what works on the caller's memory must end all the same.
            self.stop(error)
            wait(helpers)
            raise
        if self.error is not None:
            raise self.error
        return self.results


cdef bint is_stopped() except -1:
    """Whether what this thread is working on is not wanted any more: another item has failed."""
    cdef Calls calls = getattr(_at_work, "calls", None)
    while calls is not None:
        if calls.error is not None:
            return True
        calls = calls.around
    return False


def run_together(function, items, n_threads):
    """Call a function for each item, in several threads.

    The caller's thread is one of them: a call within a call never waits for a thread that is not
    there. Items are begun in their order; the first one that fails lets no other one begin, and
    loops of the core that look for signals end early.

    Parameters
    ----------
    function : callable
        Of one argument.
    items : sequence
    n_threads : int
        At most so many items at once.

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
        # No thread can be started, as when the interpreter ends: there is still this one.
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
