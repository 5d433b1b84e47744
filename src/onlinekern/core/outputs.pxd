# Training points with coefficients of their own, and their outputs (layer 9). May change at minor
# versions.
from onlinekern.core.penalties cimport Penalty
from onlinekern.core.rowcache cimport RowCache
from onlinekern.core.rows cimport Rows
from onlinekern.core.spaces cimport KernelSpace
from onlinekern.core.support cimport SupportSet


cdef class PointSpace(KernelSpace):
    cdef readonly Penalty penalty
    cdef readonly bint fit_intercept
    cdef readonly SupportSet held      # what the outputs are computed from; None once learnt
    cdef double[::1] offset            # of each output
    cdef double[:, ::1] alpha          # n_points x n_outputs
    cdef double[:, ::1] seen           # outputs of each point at its last turn
    cdef double[::1] diagonal          # kappa(x_i, x_i)
    cdef double[::1] change            # of the coefficients of one point
    cdef const Rows *rows
    cdef const Py_ssize_t *order
    cdef Py_ssize_t first

    cdef Py_ssize_t point(self, Py_ssize_t i) noexcept nogil
    cdef int move(self, Py_ssize_t i) noexcept nogil


cdef class AllOutputs(PointSpace):
    cdef readonly RowCache cache
    cdef double cache_bytes
    cdef double[:, ::1] values         # n_outputs x points in whole panels, without the offset
    cdef double output(self, Py_ssize_t point, Py_ssize_t k) noexcept nogil
    cdef const char *kernel_row(self, Py_ssize_t point) noexcept nogil


cdef class SupportOutputs(PointSpace):
    cdef double tolerance
    cdef Py_ssize_t[::1] slot_of       # of each point; -1: none
