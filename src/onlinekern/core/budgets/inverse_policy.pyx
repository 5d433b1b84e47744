"""Inverting: the base of the policies that hold the inverse of their support vectors' Gram matrix.

The place of a row in the inverse is its slot in the support set. Kernel values come out of
the window when a row enters; when the inverse is worn, it is made afresh from the support rows.
"""
from libc.stdlib cimport free

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport aligned_resize
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.linalg.inverse_gram cimport InverseGram


cdef class Inverting(Budget):
    """Base of the policies.

    Parameters
    ----------
    max_support : int >= 1
        There may be one more row for the time of a step.
    """

    def __init__(self, Py_ssize_t max_support):
        self.max_support = max_support
        self.arguments = (max_support,)

    def __dealloc__(self):
        free(self.kernel)

    cdef int attach(self, SupportSet support) except -1:
        self.gram = InverseGram(self.max_support + 1)
        self.kernel = <double *> aligned_resize(self.kernel, 0, self.gram.ld * sizeof(double))
        if self.kernel == NULL:
            raise MemoryError(f"no memory for {self.max_support} support vectors")
        return support.prepare_kernel_rows()

    cdef Py_ssize_t enter(self, SupportSet support, Py_ssize_t i, const double *coefficients,
                          double ridge) noexcept nogil:
        """Sample i becomes a support row. Returns its slot, or NO_MEMORY."""
        cdef Py_ssize_t slot
        support.as_doubles(support.window.row(i), self.kernel)
        slot = support.add(i, coefficients)
        if slot >= 0:
            self.gram.border(slot, self.kernel, support.diagonal(i), ridge)
        return slot

    cdef Status leave(self, SupportSet support, Py_ssize_t slot) noexcept nogil:
        """The support row in a slot leaves. Returns a status."""
        self.gram.deflate(slot)
        if support.drop(slot) < 0:
            return NO_MEMORY
        return self.renew(support) if self.gram.worn() else OK

    cdef Status renew(self, SupportSet support) noexcept nogil:
        """Make the inverse afresh. Returns a status."""
        cdef Py_ssize_t slot
        cdef const char *g
        for slot in range(support.n):
            if self.gram.present(slot):
                g = support.kernel_row(slot)
                if g == NULL:
                    return NO_MEMORY
                support.as_doubles(g, self.gram.fresh_row(slot))
        self.gram.invert()
        return OK

    cdef void checkpoint(self, SupportSet support) noexcept nogil:
        self.gram.checkpoint()

    cdef void rollback(self, SupportSet support) noexcept nogil:
        self.gram.rollback()

    def get_state(self):
        return self.gram.get_state()

    def set_state(self, SupportSet support, state):
        self.gram.set_state(state)
