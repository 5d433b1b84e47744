# A Gaussian process that tracks a function: KRLS-T. May change at minor versions.
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.budgets.recursive cimport RecursivePolicy


cdef class Tracker(RecursivePolicy):
    cdef double noise, forgetting, jitter
    cdef bint back_to_prior
    cdef JournaledMatrix covariance  # S: size x ld; rows and columns of free slots are 0
    cdef JournaledMatrix prior       # K + jitter I, in the same form
    cdef JournaledMatrix residuals   # K x 2: sums of e^2 / (v + s), and of 1
    cdef double *means               # q'mu of each output, K numbers
    cdef double *gain                # p, ld numbers

    cdef void forget(self) noexcept nogil
    cdef bint is_most_uncertain(self) noexcept nogil
    cdef void extend(self, Py_ssize_t slot, double kappa, double pivot,
                     double variance) noexcept nogil
    cdef double error(self, Py_ssize_t k) noexcept nogil
    cdef void absorb(self, double total) noexcept nogil
    cdef void count_residuals(self, double total) noexcept nogil
    cdef double variance(self, double kappa, const double *k, double *q,
                         double *masked) noexcept nogil
