"""SlotNumbers: a number that a policy keeps for each slot of its support set."""
from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport doubles_of_shape, integer_within
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport resize_array, whole_panels


cdef class SlotNumbers:
    """Numbers that can be taken back, all 0 at first."""

    def __cinit__(self):
        self.before = Journal(sizeof(double))

    def __dealloc__(self):
        free(self.values)

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil:
        """Make room for so many slots. Returns a status."""
        cdef double *fresh
        if capacity <= self.capacity:
            return OK
        capacity = whole_panels(capacity)
        fresh = <double *> resize_array(self.values, self.capacity * sizeof(double), capacity,
                                        sizeof(double))
        if fresh == NULL:
            return NO_MEMORY
        self.values = fresh
        self.capacity = capacity
        return OK

    cdef Status set(self, Py_ssize_t slot, double value) noexcept nogil:
        """Set the number of a slot, for which there is room. Returns a status."""
        if self.before.keep(slot, &self.values[slot]) < 0:
            return NO_MEMORY
        self.values[slot] = value
        return OK

    cdef void checkpoint(self, Py_ssize_t n) noexcept nogil:
        """Remember the numbers of the first n slots for `rollback`."""
        self.before.begin(n)

    cdef void rollback(self) noexcept nogil:
        """Return to the numbers of the checkpoint."""
        self.before.restore(self.values, sizeof(double))

    def to_array(self, Py_ssize_t n):
        """The numbers of the first n slots, ndarray of shape (n,)."""
        integer_within("n", n, 0, self.capacity)
        out = np.zeros(n)
        cdef double[::1] view = out
        if n > 0:
            memcpy(&view[0], self.values, n * sizeof(double))
        return out

    def from_array(self, str name, array, Py_ssize_t n):
        """Set the numbers of the first n slots; `name` is for messages.

        Raises
        ------
        TypeError, ValueError
            If they are not n finite numbers.
        """
        cdef const double[::1] numbers = doubles_of_shape(name, array, (n,))
        if self.reserve(numbers.shape[0]) < 0:
            raise MemoryError(f"no memory for {numbers.shape[0]} numbers")
        if numbers.shape[0] > 0:
            memcpy(self.values, &numbers[0], numbers.shape[0] * sizeof(double))
