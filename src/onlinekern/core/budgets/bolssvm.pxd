# The least-squares support vector machine on a budget. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.budgets.inverse_policy cimport Inverting
from onlinekern.core.kernels.support_set cimport SupportSet


cdef class LeastSquares(Inverting):
    cdef double C
    cdef Py_ssize_t n_outputs
    cdef double label, weight
    cdef JournaledMatrix targets  # (K + 1) x ld: y of the support rows, and 1; 0 in free places
    cdef JournaledMatrix offsets  # 1 x K
    cdef double *solutions       # K + 1 times ld numbers: alpha of each output, and H 1

    cdef double target(self, Py_ssize_t k) noexcept nogil
    cdef double *alpha(self, Py_ssize_t k) noexcept nogil
    cdef void solve(self) noexcept nogil
    cdef Py_ssize_t least(self, SupportSet support) noexcept nogil
    cdef Status publish(self, SupportSet support) noexcept nogil
