"""Slots: which places of a support set are occupied, and since when.

The age of a support vector is the number of those added before it.
"""
from libc.stdint cimport int64_t

import numpy as np

from onlinekern.core.base.growing_memory cimport free_grown, grown
from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport count_of, fields_of, integers_within
from onlinekern.core.base.undo cimport Journal

SLOT_FIELDS = ("ages", "free", "added")


cdef class Slots:
    """Slots 0 ... n - 1: which are occupied, and since when. The slot freed last is taken first."""

    def __cinit__(self):
        self.old_ages = Journal(sizeof(int64_t))
        self.old_free = Journal(sizeof(Py_ssize_t))

    def __dealloc__(self):
        free_grown(self.ages)
        free_grown(self.free_slots)

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil:
        """Make room for `capacity` slots in all. Returns a status."""
        cdef void *fresh
        if capacity <= self.capacity:
            return OK
        fresh = grown(self.ages, self.capacity, capacity, sizeof(int64_t))
        if fresh == NULL:
            return NO_MEMORY
        self.ages = <int64_t *> fresh
        fresh = grown(self.free_slots, self.capacity, capacity, sizeof(Py_ssize_t))
        if fresh == NULL:
            return NO_MEMORY
        self.free_slots = <Py_ssize_t *> fresh
        self.capacity = capacity
        return OK

    cdef Py_ssize_t take(self) noexcept nogil:
        """Occupy a slot; there is room. Returns it, or NO_MEMORY when memory ran out."""
        cdef Py_ssize_t slot = self.n
        if self.n_free > 0:
            slot = self.free_slots[self.n_free - 1]
            if self.old_ages.keep(slot, &self.ages[slot]) < 0:
                return NO_MEMORY
            self.n_free -= 1
        else:
            self.n += 1
        self.ages[slot] = self.n_added
        self.n_added += 1
        return slot

    cdef Status release(self, Py_ssize_t slot) noexcept nogil:
        """Free an occupied slot. Returns a status."""
        if self.old_ages.keep(slot, &self.ages[slot]) < 0 \
                or self.old_free.keep(self.n_free, &self.free_slots[self.n_free]) < 0:
            return NO_MEMORY
        self.ages[slot] = -1
        self.free_slots[self.n_free] = slot
        self.n_free += 1
        return OK

    cdef void checkpoint(self) noexcept nogil:
        """Remember the present state for `rollback`."""
        self.old_ages.begin(self.n)
        self.old_free.begin(self.n_free)
        self.saved_n = self.n
        self.saved_n_free = self.n_free
        self.saved_added = self.n_added

    cdef void rollback(self) noexcept nogil:
        """Return to the state of the checkpoint."""
        self.old_ages.restore(self.ages, sizeof(int64_t))
        self.old_free.restore(self.free_slots, sizeof(Py_ssize_t))
        self.n = self.saved_n
        self.n_free = self.saved_n_free
        self.n_added = self.saved_added

    def by_age(self):
        """The occupied slots, the oldest first, as an ndarray of intp."""
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
        return {"ages": ages, "free": free_slots, "added": self.n_added}

    def set_state(self, state):
        """Take over what `get_state` gave; there must be room.

        Raises
        ------
        TypeError, ValueError
            If a field is missing, or is not as `get_state` would give it: ages are -1 in free
            slots, and otherwise differ and are below `added`; `free` lists the free slots.
        """
        fields_of(state, "slots", SLOT_FIELDS)
        cdef Py_ssize_t slot, n = np.size(state["ages"])
        if n > self.capacity:
            raise ValueError(f"ages of {n} slots do not fit into {self.capacity} slots")
        added = count_of("added", state["added"])
        found = integers_within("ages", state["ages"], n, -1, added - 1)
        empty = np.flatnonzero(found < 0)
        unused = integers_within("free", state["free"], len(empty), 0, n - 1)
        if np.unique(found[found >= 0]).size != n - len(empty):
            raise ValueError("ages must differ, got one of them twice")
        if not np.array_equal(np.sort(unused), empty):
            raise ValueError(f"free must list the slots whose age is -1, {empty}, got {unused}")
        cdef const int64_t[::1] ages = found, free_slots = unused
        self.n, self.n_free, self.n_added = n, len(empty), added
        for slot in range(self.n):
            self.ages[slot] = ages[slot]
        for slot in range(self.n_free):
            self.free_slots[slot] = free_slots[slot]
