"""Budget maintenance of BSGD by removal and by projection (Wang, Crammer and Vucetic 2012).

Of one support vector too many, that of the smallest contribution to the model,
||alpha|| sqrt(kappa(s, s)), goes; the oldest of those that tie, as the steps of the hinge do.
"""
from libc.math cimport INFINITY, sqrt
from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport aligned_resize
from onlinekern.core.budgets.inverse_policy cimport Inverting
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.kernels.support_set cimport Queue, SupportSet

# Kernel values of float32 samples are off by about 1e-7, so less tells no sample from a duplicate;
# and the drift of the inverse between two fresh ones grows with 1 / RIDGE^2: about 1e-5 here, 1e-3
# with 1e-6 (benchmarks/drift.py).
cdef double RIDGE = 1e-5


cdef class Removal(Budget):
    """The smallest support vector leaves.

    Parameters
    ----------
    max_support : int >= 1
    """

    def __init__(self, Py_ssize_t max_support):
        self.max_support = max_support
        self.arguments = (max_support,)
        self.queue = Queue(max_support + 1)
        self.lengths = <double *> aligned_resize(NULL, 0, (max_support + 1) * sizeof(double))
        if self.lengths == NULL:
            raise MemoryError(f"no memory for {max_support} support vectors")
        self.old_lengths = Journal(sizeof(double))

    def __dealloc__(self):
        free(self.lengths)

    cdef Status admit(self, SupportSet support, Py_ssize_t i,
                      const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot = support.add(i, coefficients)
        if slot < 0 or self.old_lengths.keep(slot, &self.lengths[slot]) < 0:
            return NO_MEMORY
        self.lengths[slot] = sqrt(support.diagonal(i))
        self.queue.push(support.coefficients.norm(slot) * self.lengths[slot],
                        support.slots.ages[slot], slot)
        if self.queue.n > self.max_support and support.drop(self.queue.pop()) < 0:
            return NO_MEMORY
        return OK

    cdef void checkpoint(self, SupportSet support) noexcept nogil:
        self.old_lengths.begin(support.n)

    cdef void rollback(self, SupportSet support) noexcept nogil:
        cdef Py_ssize_t slot
        self.old_lengths.restore(self.lengths, sizeof(double))
        self.queue.n = 0
        for slot in range(support.n):
            if support.slots.ages[slot] >= 0:
                self.queue.push(support.coefficients.norm(slot) * self.lengths[slot],
                                support.slots.ages[slot], slot)

    def get_state(self):
        lengths = np.zeros(self.max_support + 1)
        cdef double[::1] view = lengths
        memcpy(&view[0], self.lengths, lengths.nbytes)
        return {"lengths": lengths}

    def set_state(self, SupportSet support, state):
        cdef const double[::1] lengths = state["lengths"]
        memcpy(self.lengths, &lengths[0], (self.max_support + 1) * sizeof(double))
        self.rollback(support)


cdef class Projection(Inverting):
    """The smallest support vector is projected onto the span of the others.

    With H the inverse Gram matrix of all of them, its projection is sum_j -H_jr / H_rr phi(s_j).

    Parameters
    ----------
    max_support : int >= 1
    """

    def __dealloc__(self):
        free(self.step)
        free(self.direction)

    cdef int attach(self, SupportSet support) except -1:
        Inverting.attach(self, support)
        self.step = <double *> aligned_resize(
            self.step, 0, support.coefficients.n_outputs * sizeof(double))
        self.direction = <double *> aligned_resize(
            self.direction, 0, self.gram.ld * sizeof(double))
        if self.step == NULL or self.direction == NULL:
            raise MemoryError(f"no memory for {self.max_support} support vectors")
        return 0

    cdef Status admit(self, SupportSet support, Py_ssize_t i,
                      const double *coefficients) noexcept nogil:
        if self.enter(support, i, coefficients, RIDGE) < 0:
            return NO_MEMORY
        if support.n - support.slots.n_free > self.max_support \
                and self.project(support, self.least(support)) < 0:
            return NO_MEMORY
        return OK

    cdef Py_ssize_t least(self, SupportSet support) noexcept nogil:
        cdef Py_ssize_t slot, found = -1
        cdef double size, smallest = INFINITY
        for slot in range(support.n):
            if support.slots.ages[slot] < 0:
                continue
            size = support.coefficients.norm(slot) \
                * sqrt(max(0.0, self.gram.diagonal.values[slot] - RIDGE))
            if found < 0 or size < smallest or (
                    size == smallest and support.slots.ages[slot] < support.slots.ages[found]):
                found, smallest = slot, size
        return found

    cdef Status project(self, SupportSet support, Py_ssize_t slot) noexcept nogil:
        """Give the coefficients of a row to the others. Returns a status."""
        cdef Py_ssize_t j, k
        cdef const double *row = self.gram.row(slot)
        for k in range(support.coefficients.n_outputs):
            self.step[k] = support.coefficients.scale \
                * support.coefficients.values[k * support.coefficients.capacity + slot]
        for j in range(support.n):
            self.direction[j] = -row[j] / row[slot]
        self.direction[slot] = 0
        if support.coefficients.add_multiples_double(self.direction, self.step) < 0:
            return NO_MEMORY
        return self.leave(support, slot)
