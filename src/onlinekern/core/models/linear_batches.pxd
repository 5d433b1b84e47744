# The space of linear learners that step once per batch. May change at minor versions.
from onlinekern.core.models.linear cimport LinearSpace


cdef struct Pending:
    Py_ssize_t count     # samples of the open batch
    double shrink        # product of their shrinks
    double square        # sum of the squared weights of the last model


cdef class BatchSpace(LinearSpace):
    cdef readonly Py_ssize_t batch_size
    cdef public double radius
    cdef LinearSpace gathered    # sum of the coefficients times the samples of the open batch
    cdef Pending pending, saved_pending
    cdef char *marked            # per block of `gathered`: whether it is listed
    cdef Py_ssize_t *listed      # the blocks that are not 0
    cdef Py_ssize_t n_listed

    cdef void mark(self, Py_ssize_t block) noexcept nogil
    cdef void relist(self) noexcept nogil
    cdef void gather(self, Py_ssize_t k, Py_ssize_t row, double coefficient) noexcept nogil
    cdef void step(self) noexcept nogil
    cdef void take(self, Py_ssize_t block) noexcept nogil
    cdef void project(self) noexcept nogil
