"""Quantise: samples near a support vector add their coefficients to it (Chen et al. 2012).

The kernel must fall with the distance of two samples: the support vector of the largest kernel
value is then the nearest one, and a distance up to epsilon is a kernel value of at least some
similarity.
"""
from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport finite_number
from onlinekern.core.budgets.policy cimport Bounded, Budget, bound_of
from onlinekern.core.kernels.support_set cimport SupportSet


cdef class Quantise(Bounded):
    """Add a sample that is far from all support vectors while there is room; else move it.

    A sample that is moved adds its coefficients to those of the nearest support vector, the oldest
    of equals.

    Parameters
    ----------
    similarity : float
        Kernel value with a support vector from which on a sample is near.
    max_support : int >= 0
        0: no bound but the one that the similarity implies.
    """

    def __init__(self, double similarity, Py_ssize_t max_support):
        self.similarity = finite_number("similarity", similarity)
        self.max_support = bound_of("max_support", max_support, 0)
        self.arguments = (similarity, max_support)

    cdef int check_support(self, SupportSet support) except -1:
        if self.max_support > 0:
            return Bounded.check_support(self, support)
        Budget.check_support(self, support)
        if support.slots.n_free > 0:
            raise ValueError(f"{self!r} leaves no slot free, but {support.slots.n_free} are")
        return 0

    cdef bint fills_slots(self) noexcept:
        return True

    cdef bint is_full(self) noexcept nogil:
        return self.max_support > 0 and Bounded.is_full(self)

    cdef Py_ssize_t nearest(self, Py_ssize_t i) noexcept nogil:
        """The slot of the largest kernel value with sample i, the oldest of equals; -1: none.

        No slot is ever freed, so slots are in the order of their age.
        """
        cdef Py_ssize_t slot, found = -1
        cdef double value, largest = 0
        for slot in range(self.support.n):
            value = self.support.kernel_value(i, slot)
            if found < 0 or value > largest:
                found = slot
                largest = value
        return found

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot = self.nearest(i)
        if slot < 0 or not (self.is_full()
                            or self.support.kernel_value(i, slot) >= self.similarity):
            return NO_MEMORY if self.support.add(i, coefficients) < 0 else OK
        return self.support.coefficients.add_at(slot, coefficients)


POLICIES = {"quantise": Quantise}
