# The space of second-order linear learners. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.models.covariances cimport Covariance
from onlinekern.core.models.linear cimport LinearSpace
from onlinekern.core.samples.row_arithmetic cimport Entries, Vector


cdef class SecondOrderSpace(LinearSpace):
    cdef readonly Covariance covariance
    cdef readonly str kind
    cdef Entries sample          # the one that was measured last
    cdef Py_ssize_t factor       # the work of a sample against that of a first-order one
    cdef int64_t spent, spent_before
    cdef bint overflow           # a variance of it is not finite
    cdef bint loaded             # it is the one that was scored last
    cdef void measure_all(self, Py_ssize_t i) noexcept nogil
    cdef void step(self, Py_ssize_t k, const Vector *direction, double coefficient) noexcept nogil
    cdef void add_along(self, Py_ssize_t target, const Vector *direction,
                        double factor) noexcept nogil
