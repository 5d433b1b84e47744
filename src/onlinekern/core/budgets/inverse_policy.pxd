# Policies that keep the inverse Gram matrix of their support vectors. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.budgets.policy cimport Bounded
from onlinekern.core.linalg.inverse_gram cimport InverseGram


cdef class InverseGramPolicy(Bounded):
    cdef readonly InverseGram gram

    cdef void read_kernel_values(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t enter(self, Py_ssize_t i, const double *coefficients,
                          double ridge) noexcept nogil
    cdef Status leave(self, Py_ssize_t slot) noexcept nogil
    cdef Status renew(self) noexcept nogil
    cdef object set_inverse(self, object learnt)
