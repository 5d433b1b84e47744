# Variances and contractions for second-order spaces. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.covariances cimport Covariance
from onlinekern.core.samples.row_arithmetic cimport Vector


cdef class Confidence:
    cdef readonly Covariance covariance
    # Number of samples that were skipped because their variance is negligible.
    cdef readonly int64_t n_degenerate
    cdef int64_t saved_n_degenerate
    cdef bint overflow           # a variance of the measured sample is not finite
    cdef bint measured           # the sample that was measured last is the one scored last
    cdef void measure(self, const Vector *x, double square, Update *update) noexcept nogil
    cdef double variance(self, Py_ssize_t matrix, const Vector *x, double square) noexcept nogil
    cdef Status check(self, const Update *update) noexcept nogil
    cdef void measure_all(self, const Vector *x) noexcept nogil
    cdef Vector direction(self, Py_ssize_t k, const Vector *x) noexcept nogil
    cdef Status contract(self, const Vector *x, const Update *update) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
    cdef int restore_count(self, object n_degenerate) except -1
