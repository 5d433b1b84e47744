"""Rows of coefficients: where they are, how they are undone, and their state.

K numbers for each row, in arrays of one for each output, or listed while most of them are 0 (see
entries), as where a step changes two of a thousand classes.
"""
from libc.limits cimport INT_MAX
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memmove, memset

import numpy as np

from onlinekern.core.base.growing_memory cimport free_grown, grown
from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.scaled_average cimport (
    averaged_array, averaging_of, begin_average, resume_average,
)
from onlinekern.core.base.state cimport (
    MOST_OUTPUTS, count_of, doubles_of_shape, fields_of, finite_number, integer_within,
    positive_number,
)
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport ops_for
from onlinekern.core.kernels.cost_model cimport begins_listed, stays_listed
from onlinekern.core.kernels.entries cimport Entries

FIELDS = ("values", "companions", "scale", "total", "steps")


cdef class CoefficientRows:
    """Coefficients of rows in numbered slots.

    Parameters
    ----------
    n_outputs : int
    averaged : bool, 'uniform', 'decay' or float in (0, 1)
        Keep the companions from which an average of f_1 ... f_t is scored, and which one; see
        `base.scaled_average`.
    itemsize : int
        4 or 8, the element size of the kernel values that are scored.
    """

    def __cinit__(self, Py_ssize_t n_outputs, averaged, Py_ssize_t itemsize):
        integer_within("n_outputs", n_outputs, 1, MOST_OUTPUTS)
        self.n_outputs = n_outputs
        self.averaging = averaging_of(averaged)
        self.averaged = self.averaging is not False
        self.ops = ops_for(itemsize)
        begin_average(&self.average, self.averaging)
        self.journal = Journal(0)
        self.listed = begins_listed(n_outputs)
        self.entries = Entries(n_outputs, self.averaged) if self.listed else None

    def __dealloc__(self):
        free_grown(self.values)

    cdef Py_ssize_t n_vectors(self) noexcept nogil:
        """Rows of `values`, the companions included."""
        return (1 + self.averaged) * self.n_outputs

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil:
        """Make room for `capacity` rows, in whole panels. Returns a status."""
        cdef Py_ssize_t j, old
        cdef double *fresh
        if capacity <= self.capacity:
            return OK
        if self.listed and capacity <= INT_MAX:  # the slots of a list are such numbers
            self.capacity = capacity
            return OK
        if self.write_out() < 0:
            return NO_MEMORY
        old = self.capacity if self.values != NULL else 0
        fresh = <double *> grown(self.values, old, capacity, self.n_vectors() * sizeof(double))
        if fresh == NULL:
            return NO_MEMORY
        # The last row moves first: what it moves to is none of the others.
        for j in range(self.n_vectors() - 1 if old > 0 else 0, 0, -1):
            memmove(fresh + j * capacity, fresh + j * old, self.n * sizeof(double))
            memset(fresh + j * capacity + self.n, 0, (capacity - self.n) * sizeof(double))
        if old > 0:
            memset(fresh + self.n, 0, (capacity - self.n) * sizeof(double))
        self.values = fresh
        self.companions = fresh + self.n_outputs * capacity if self.averaged else NULL
        self.capacity = capacity
        return OK

    cdef Status write_out(self) noexcept nogil:
        """Write coefficients that are listed into arrays. Returns a status.

        The entries stay until the next checkpoint, to be rolled back.
        """
        if not self.listed:
            return OK
        cdef double *fresh = <double *> grown(
            NULL, 0, self.capacity, self.n_vectors() * sizeof(double))
        if fresh == NULL:
            return NO_MEMORY
        free_grown(self.values)
        self.values = fresh
        self.companions = fresh + self.n_outputs * self.capacity if self.averaged else NULL
        self.entries.write(self.values, self.companions, self.capacity)
        self.listed = False
        self.journal.begin(0)
        return OK

    cdef void checkpoint(self) noexcept nogil:
        """Remember the present state for `rollback`; nothing is copied until it changes."""
        if self.entries is not None and not self.listed:
            with gil:
                self.entries = None
        if self.listed:
            self.entries.checkpoint(self.n)
        self.journal.begin_sized(self.n_vectors() if self.n > 0 else 0, self.n * sizeof(double))
        self.saved_n = self.n
        self.saved_average = self.average

    cdef Status preserve(self) noexcept nogil:
        """Copy the numbers of the checkpoint, once, before they are changed in place."""
        cdef Py_ssize_t k
        if self.listed:
            self.least_changed = 0
            return self.entries.keep_all()
        for k in range(self.n_outputs):
            if self.preserve_output(k) < 0:
                return NO_MEMORY
        return OK

    cdef Status preserve_output(self, Py_ssize_t k) noexcept nogil:
        """The same for the numbers of one output: all of them are about to change."""
        self.least_changed = 0
        cdef Status status = self.journal.keep(k, self.values + k * self.capacity)
        if status == OK and self.averaged:
            status = self.journal.keep(self.n_outputs + k, self.companions + k * self.capacity)
        return status

    cdef void rollback(self) noexcept nogil:
        """Return to the state of the checkpoint."""
        cdef Py_ssize_t j
        if self.entries is not None:
            self.entries.rollback()
            self.listed = True
            free_grown(self.values)
            self.values = self.companions = NULL
        else:
            for j in range(self.n_vectors()):
                memset(self.values + j * self.capacity + self.saved_n, 0,
                       (self.n - self.saved_n) * sizeof(double))
            self.journal.restore(self.values, self.capacity * sizeof(double))
        self.n = self.saved_n
        self.average = self.saved_average

    def effective(self):
        """Coefficients of the model that predicts, ndarray of shape (n_outputs, n)."""
        values = self.matrix(False)
        if not self.averaged:
            return self.average.scale * values
        return averaged_array(&self.average, values, self.matrix(True))

    cdef object matrix(self, bint companions):
        """The values, or the companions, as an ndarray of shape (n_outputs, n)."""
        out = np.zeros((self.n_outputs, self.n))
        cdef double[:, ::1] view = out
        cdef Py_ssize_t k
        cdef double *values = self.companions if companions else self.values
        if self.listed and self.n > 0 and (self.averaged or not companions):
            self.entries.write(NULL if companions else &view[0, 0],
                               &view[0, 0] if companions else NULL, self.n)
            return out
        for k in range(self.n_outputs if self.n > 0 and values != NULL else 0):
            memcpy(&view[k, 0], values + k * self.capacity, self.n * sizeof(double))
        return out

    def get_state(self):
        """All of it, as a dictionary of arrays and numbers."""
        return {
            "values": self.matrix(False), "companions": self.matrix(True),
            "scale": self.average.scale, "total": self.average.total, "steps": self.average.steps,
        }

    def set_state(self, state):
        """Take over what `get_state` gave; there must be room.

        Raises
        ------
        TypeError, ValueError
            If a field is missing, or is not as `get_state` would give it.
        """
        fields_of(state, "coefficients", FIELDS)
        cdef Py_ssize_t n = np.size(state["values"]) // self.n_outputs
        cdef const double[:, ::1] values = doubles_of_shape(
            "coefficients", state["values"], (self.n_outputs, n))
        cdef const double[:, ::1] companions = doubles_of_shape(
            "companions of the coefficients", state["companions"], (self.n_outputs, n))
        if n > self.capacity:
            raise ValueError(f"coefficients of {n} rows do not fit into {self.capacity} slots")
        cdef double scale = positive_number("scale of the coefficients", state["scale"])
        cdef double total = finite_number("total of the scales", state["total"])
        cdef int64_t steps = count_of("steps of the coefficients", state["steps"])
        self.take_numbers(values, companions)
        self.n = n
        resume_average(&self.average, scale, total, steps)

    cdef int take_numbers(self, const double[:, ::1] values,
                          const double[:, ::1] companions) except -1:
        """Take over values and companions, of a model that has learnt nothing yet."""
        cdef Py_ssize_t k, n = values.shape[1]
        entries = np.count_nonzero(values) + np.count_nonzero(companions)
        if not stays_listed(entries, self.n_outputs, n) and self.write_out() < 0:
            raise MemoryError(f"no memory for coefficients of {n} rows, {self.n_outputs} outputs")
        if self.listed:
            return self.entries.read(values, companions)
        for k in range(self.n_outputs if n > 0 else 0):
            memcpy(self.values + k * self.capacity, &values[k, 0], n * sizeof(double))
            if self.averaged:
                memcpy(self.companions + k * self.capacity, &companions[k, 0], n * sizeof(double))
        return 0
