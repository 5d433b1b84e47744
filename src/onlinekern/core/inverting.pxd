# Policies that hold the inverse of their support vectors' Gram matrix (layer 8). May change at
# minor versions.
from onlinekern.core.budgets cimport Budget
from onlinekern.core.inverses cimport InverseGram
from onlinekern.core.support cimport SupportSet


cdef class Inverting(Budget):
    cdef readonly Py_ssize_t max_support
    cdef readonly InverseGram gram
    cdef double *kernel                  # a kernel row in double

    cdef Py_ssize_t enter(self, SupportSet support, Py_ssize_t i, const double *coefficients,
                          double ridge) noexcept nogil
    cdef int leave(self, SupportSet support, Py_ssize_t slot) noexcept nogil
    cdef int renew(self, SupportSet support) noexcept nogil
