# Recursive least squares in the span of the support vectors. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.budgets.policy cimport Bounded
from onlinekern.core.linalg.cholesky cimport Cholesky


cdef class LinearDependence(Bounded):
    cdef double nu
    cdef Cholesky factor             # of K
    cdef JournaledMatrix covariance  # P: max_support x ld
    cdef double *span                # a, ld numbers
    cdef double *gain                # P a, ld numbers
    cdef double *errors              # of each output, and what the last model scores: 2 K numbers

    cdef void find_errors(self, Py_ssize_t i) noexcept nogil
    cdef Status add_new(self, Py_ssize_t i, double kappa, double distance) noexcept nogil
    cdef Status learn_dependent(self) noexcept nogil
