# Policies that hold the inverse of their support vectors' Gram matrix. May change at minor
# versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.linalg.inverse_gram cimport InverseGram


cdef class Inverting(Budget):
    cdef readonly Py_ssize_t max_support
    cdef readonly InverseGram gram
    cdef double *kernel                  # a kernel row in double

    cdef Py_ssize_t enter(self, SupportSet support, Py_ssize_t i, const double *coefficients,
                          double ridge) noexcept nogil
    cdef Status leave(self, SupportSet support, Py_ssize_t slot) noexcept nogil
    cdef Status renew(self, SupportSet support) noexcept nogil
