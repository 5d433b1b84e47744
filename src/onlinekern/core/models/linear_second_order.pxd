# The space of second-order linear learners. May change at minor versions.
from onlinekern.core.models.confidence cimport Confidence
from onlinekern.core.models.covariances cimport Covariance
from onlinekern.core.models.linear cimport LinearSpace
from onlinekern.core.samples.row_arithmetic cimport Entries, Vector


cdef class SecondOrderSpace(LinearSpace):
    cdef readonly Covariance covariance
    cdef Confidence confidence
    cdef readonly str kind
    cdef Entries sample          # the measured sample
    cdef Py_ssize_t relative_work  # work per sample, relative to a first-order learner
    cdef void step(self, Py_ssize_t k, const Vector *direction, double coefficient) noexcept nogil
    cdef void add_along(self, Py_ssize_t target, const Vector *direction,
                        double factor) noexcept nogil
