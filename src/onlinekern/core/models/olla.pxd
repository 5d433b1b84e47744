# Training points with coefficients of their own, and their outputs. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.learning.heads cimport Head
from onlinekern.core.learning.order cimport Order
from onlinekern.core.learning.point_rules cimport Penalty
from onlinekern.core.models.space cimport KernelSpace
from onlinekern.core.samples.rows cimport Rows


cdef class RowCache:
    cdef readonly Py_ssize_t n, row_bytes, capacity, used
    cdef readonly long long hits, misses
    cdef char *memory
    cdef Py_ssize_t *place       # of each row; -1: not kept
    cdef Py_ssize_t *owner       # the row in each place
    cdef Py_ssize_t *older       # neighbours of each place, by last use; -1: none
    cdef Py_ssize_t *newer
    cdef Py_ssize_t oldest, newest

    cdef char *find(self, Py_ssize_t row) noexcept nogil
    cdef char *make(self, Py_ssize_t row) noexcept nogil
    cdef void unlink(self, Py_ssize_t place) noexcept nogil
    cdef void link(self, Py_ssize_t place) noexcept nogil


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
    cdef Status move(self, Py_ssize_t i) noexcept nogil


cdef class AllOutputs(PointSpace):
    cdef readonly RowCache cache
    cdef double cache_bytes
    cdef double[:, ::1] values         # n_outputs x points in whole panels, without the offset
    cdef double output(self, Py_ssize_t point, Py_ssize_t k) noexcept nogil
    cdef const char *kernel_row(self, Py_ssize_t point) noexcept nogil


cdef class SupportOutputs(PointSpace):
    cdef double tolerance
    cdef Py_ssize_t[::1] slot_of       # of each point; -1: none


cdef class WorstFirst(Order):
    cdef AllOutputs space
    cdef Head head
    cdef const double[::1] y, weight
    cdef Py_ssize_t[::1] chosen
    cdef double[::1] scores
