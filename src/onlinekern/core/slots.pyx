"""Slots: which places of a support set are occupied, and since when; and a queue of them by size.

Layer 2. A row keeps its place while it is in the set: leaving frees the place for a later row, and
nothing moves. The age of a row is the number of rows that came in before it.
"""
from libc.stdint cimport int64_t
from libc.stdlib cimport free

import numpy as np

from onlinekern.core.journals cimport Journal
from onlinekern.core.vector cimport aligned_resize


cdef class Slots:
    """Places 0 ... n - 1, of which the last freed one is taken first."""

    def __init__(self):
        self.old_ages = Journal(sizeof(int64_t))
        self.old_free = Journal(sizeof(Py_ssize_t))

    def __dealloc__(self):
        free(self.ages)
        free(self.free_slots)

    cdef int reserve(self, Py_ssize_t capacity) noexcept nogil:
        """Make room for `capacity` places in all. Returns 0, or -1 when memory ran out."""
        cdef void *fresh
        if capacity <= self.capacity:
            return 0
        fresh = aligned_resize(self.ages, self.capacity * sizeof(int64_t),
                               capacity * sizeof(int64_t))
        if fresh == NULL:
            return -1
        self.ages = <int64_t *> fresh
        fresh = aligned_resize(self.free_slots, self.capacity * sizeof(Py_ssize_t),
                               capacity * sizeof(Py_ssize_t))
        if fresh == NULL:
            return -1
        self.free_slots = <Py_ssize_t *> fresh
        self.capacity = capacity
        return 0

    cdef Py_ssize_t take(self) noexcept nogil:
        """A place for the next row; there is room. -1 when memory ran out."""
        cdef Py_ssize_t slot = self.n
        if self.n_free > 0:
            slot = self.free_slots[self.n_free - 1]
            if self.old_ages.keep(slot, <char *> self.ages) < 0:
                return -1
            self.n_free -= 1
        else:
            self.n += 1
        self.ages[slot] = self.added
        self.added += 1
        return slot

    cdef int release(self, Py_ssize_t slot) noexcept nogil:
        """The row of an occupied place leaves. Returns 0, or -1 when memory ran out."""
        if self.old_ages.keep(slot, <char *> self.ages) < 0 \
                or self.old_free.keep(self.n_free, <char *> self.free_slots) < 0:
            return -1
        self.ages[slot] = -1
        self.free_slots[self.n_free] = slot
        self.n_free += 1
        return 0

    cdef void checkpoint(self) noexcept nogil:
        """Remember the present state for `rollback`."""
        self.old_ages.open(self.n)
        self.old_free.open(self.n_free)
        self.saved_n = self.n
        self.saved_n_free = self.n_free
        self.saved_added = self.added

    cdef void rollback(self) noexcept nogil:
        """Return to the state of the checkpoint."""
        self.old_ages.put_back(<char *> self.ages)
        self.old_free.put_back(<char *> self.free_slots)
        self.n = self.saved_n
        self.n_free = self.saved_n_free
        self.added = self.saved_added

    def by_age(self):
        """The occupied places, the oldest row first, as an ndarray of intp."""
        ages = self.get_state()["ages"]
        order = np.argsort(ages, kind="stable")
        return order[np.count_nonzero(ages < 0):]

    def get_state(self):
        """All of it, as a dictionary of arrays and numbers."""
        ages, free_slots = np.empty(self.n, np.int64), np.empty(self.n_free, np.intp)
        cdef Py_ssize_t slot
        for slot in range(self.n):
            ages[slot] = self.ages[slot]
        for slot in range(self.n_free):
            free_slots[slot] = self.free_slots[slot]
        return {"ages": ages, "free": free_slots, "added": self.added}

    def set_state(self, state):
        """Take over what `get_state` gave; there must be room."""
        cdef Py_ssize_t slot
        self.n, self.n_free, self.added = len(state["ages"]), len(state["free"]), state["added"]
        for slot in range(self.n):
            self.ages[slot] = state["ages"][slot]
        for slot in range(self.n_free):
            self.free_slots[slot] = state["free"][slot]


cdef inline bint before(const Entry *a, const Entry *b) noexcept nogil:
    return a.key < b.key or (a.key == b.key and a.age < b.age)


cdef class Queue:
    """A binary heap of places by key, the older row first among equal keys.

    Taking the smallest costs the logarithm of their number, so does adding; adding a row of the
    same key as all others, as the hinge does, costs one comparison.

    Parameters
    ----------
    capacity : int
    """

    def __init__(self, Py_ssize_t capacity):
        self.heap = <Entry *> aligned_resize(NULL, 0, capacity * sizeof(Entry))
        if self.heap == NULL:
            raise MemoryError(f"no memory for a queue of {capacity} support vectors")
        self.capacity = capacity

    def __dealloc__(self):
        free(self.heap)

    cdef void push(self, double key, int64_t age, Py_ssize_t slot) noexcept nogil:
        """Add a place; there is room."""
        cdef Py_ssize_t j = self.n
        cdef Entry fresh
        fresh.key, fresh.age, fresh.slot = key, age, slot
        self.n += 1
        while j > 0 and before(&fresh, &self.heap[(j - 1) // 2]):
            self.heap[j] = self.heap[(j - 1) // 2]
            j = (j - 1) // 2
        self.heap[j] = fresh

    cdef Py_ssize_t pop(self) noexcept nogil:
        """Take out the place that comes first; there is one."""
        cdef Py_ssize_t first = self.heap[0].slot, j = 0, child = 1
        cdef Entry last
        self.n -= 1
        last = self.heap[self.n]
        while child < self.n:
            if child + 1 < self.n and before(&self.heap[child + 1], &self.heap[child]):
                child += 1
            if not before(&self.heap[child], &last):
                break
            self.heap[j] = self.heap[child]
            j = child
            child = 2 * j + 1
        self.heap[j] = last
        return first
