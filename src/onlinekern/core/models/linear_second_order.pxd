# The space of second-order linear learners. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.models.covariances cimport Covariance
from onlinekern.core.models.linear cimport LinearSpace
from onlinekern.core.samples.row_arithmetic cimport Entries, Vector


cdef class SecondOrderSpace(LinearSpace):
    cdef readonly Covariance covariance
    cdef readonly str kind
    cdef Entries sample          # the measured sample
    cdef Py_ssize_t relative_work  # work per sample, relative to a first-order learner
    # How often a sample was skipped because no variance was left along it.
    cdef readonly int64_t n_degenerate
    cdef int64_t saved_n_degenerate
    cdef bint overflow           # a variance of `sample` is not finite
    cdef bint loaded             # `sample` is the one scored last
    cdef void measure_all(self, Py_ssize_t i) noexcept nogil
    cdef void step(self, Py_ssize_t k, const Vector *direction, double coefficient) noexcept nogil
    cdef void add_along(self, Py_ssize_t target, const Vector *direction,
                        double factor) noexcept nogil
