"""Budget policies: what happens to a sample that is to become a support vector.

A policy changes the support set through the set's own methods only, which keep the
look-ahead window true; so no policy needs to know that there is a window. What a policy remembers
of the stream beside the support set it gives back when a call fails, and takes along when the model
is copied.
"""
from libc.stdlib cimport free

from onlinekern.core.base.part cimport NO_MEMORY, OK, Part, Status
from onlinekern.core.base.vector cimport aligned_resize
from onlinekern.core.kernels.support_set cimport SupportSet


cdef class Budget(Part):
    """Base of the policies: every sample is added.

    Attributes
    ----------
    refused : int
        Samples that were not added since the model was made.
    """

    cdef int attach(self, SupportSet support) except -1:
        """Prepare for a support set, the only one that the policy will have; called once."""
        return 0

    cdef Status admit(self, SupportSet support, Py_ssize_t i,
                      const double *coefficients) noexcept nogil:
        """Take sample i of the open window with K coefficients, or not."""
        return NO_MEMORY if support.add(i, coefficients) < 0 else OK

    cdef void observe(self, double y, double weight) noexcept nogil:
        """Label (or target) and weight of the sample that may be admitted next."""
        pass

    cdef void shift(self, double *scores) noexcept nogil:
        """Add the offsets of the K outputs, of a policy that has them, to the scores."""
        pass

    cdef void checkpoint(self, SupportSet support) noexcept nogil:
        """Remember the present state for `rollback`; the support set does so after it."""
        pass

    cdef void rollback(self, SupportSet support) noexcept nogil:
        """Return to the state of the checkpoint; the support set has done so already."""
        pass

    def get_state(self):
        """What was learnt beside the support set, as a dictionary of arrays and numbers."""
        return {}

    def set_state(self, SupportSet support, state):
        """Take over what `get_state` gave, with a support set that has its state already."""


cdef class Bounded(Budget):
    """Base of the policies under which there are at most `max_support` rows.

    Parameters
    ----------
    max_support : int >= 1
    """

    def __init__(self, Py_ssize_t max_support):
        self.max_support = max_support
        self.arguments = (max_support,)

    cdef bint full(self, SupportSet support) noexcept nogil:
        return support.n - support.slots.n_free >= self.max_support


cdef class Cap(Bounded):
    """Add until there are `max_support` rows, then refuse: a bound on memory, not a strategy.

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef Status admit(self, SupportSet support, Py_ssize_t i,
                      const double *coefficients) noexcept nogil:
        if self.full(support):
            self.refused += 1
            return OK
        return Budget.admit(self, support, i, coefficients)


cdef class Eviction(Bounded):
    """Base of the policies that put the sample in the place of a row when the budget is full.

    The row that leaves gives its place to the new one, so a full set has its rows in the places
    0 ... B - 1.

    Parameters
    ----------
    max_support : int >= 1
    """

    def __dealloc__(self):
        free(self.step)
        free(self.work)

    cdef int attach(self, SupportSet support) except -1:
        free(self.step)
        self.step = <double *> aligned_resize(
            NULL, 0, support.coefficients.n_outputs * sizeof(double))
        if self.step == NULL:
            raise MemoryError(f"no memory for {support.coefficients.n_outputs} coefficients")
        return 0

    cdef Status make_room(self, Py_ssize_t rows) noexcept nogil:
        """Let `work` hold a number for each of so many rows. Returns a status."""
        cdef double *fresh
        if rows <= self.room:
            return OK
        fresh = <double *> aligned_resize(self.work, 0, rows * sizeof(double))
        if fresh == NULL:
            return NO_MEMORY
        self.work = fresh
        self.room = rows
        return OK

    cdef void row_squares(self, SupportSet support) noexcept nogil:
        """work[r] = the sum of the K squared coefficients of row r, without the common scale."""
        cdef Py_ssize_t _, r, n = support.n
        cdef double *work = self.work
        cdef const double *values = support.coefficients.values
        for r in range(n):
            work[r] = values[r] * values[r]
        for _ in range(1, support.coefficients.n_outputs):
            values += support.coefficients.capacity
            for r in range(n):
                work[r] += values[r] * values[r]

    cdef Status swap(self, SupportSet support, Py_ssize_t slot, Py_ssize_t i,
                     const double *coefficients) noexcept nogil:
        """Put sample i in the place of a row."""
        if support.drop(slot) < 0:
            return NO_MEMORY
        return Budget.admit(self, support, i, coefficients)


BUDGETS = {"grow": Budget, "cap": Cap}
