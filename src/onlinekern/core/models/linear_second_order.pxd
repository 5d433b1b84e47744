# The space of second-order linear learners. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Component
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.models.linear cimport LinearSpace
from onlinekern.core.samples.row_arithmetic cimport Entries, Vector


cdef class Covariance(Component):
    cdef readonly Py_ssize_t n_outputs, length, width
    cdef const ok_vector_ops *ops
    cdef JournaledMatrix blocks
    cdef double *directions      # n_outputs x width: S_k x of the last samples measured
    cdef double measure(self, Py_ssize_t k, const Vector *x) noexcept nogil
    cdef Vector direction(self, Py_ssize_t k, const Vector *x) noexcept nogil
    cdef void contract(self, Py_ssize_t k, const Vector *x, double contraction) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


cdef class Diagonal(Covariance):
    pass


cdef class Full(Covariance):
    cdef char *pending           # whether the direction of an output is still to be taken off
    cdef double product(self, const double *matrix, const Vector *x, double *out) noexcept nogil
    cdef void product_dense(self, const double *matrix, const double *x,
                            double *out) noexcept nogil
    cdef void product_sparse(self, const double *matrix, const Vector *x,
                             double *out) noexcept nogil
    cdef void take_off(self, Py_ssize_t k, double *matrix) noexcept nogil


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
