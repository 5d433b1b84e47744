# Exact cuts of nodes. May change at minor versions.
from libc.stdint cimport int32_t, uint64_t

from onlinekern.core.partitions.boosting cimport LANES
from onlinekern.core.partitions.cuts cimport Cut, Cutter


cdef class ExactCutter(Cutter):
    cdef bint is_exact                     # whether the tree that grows is cut so
    cdef Py_ssize_t n_sought               # axes along which cuts are sought
    cdef int32_t[::1] sought
    cdef int32_t[:, ::1] by_rank           # along each of them the rows in ascending order,
    cdef int32_t[:, ::1] ranks             # and the rank of each row
    cdef float[::1] left                   # of the targets of rows, `width` numbers each
    cdef double[::1] inverses              # 1 / k
    cdef int32_t *node                     # the rows of a node, in ascending order
    cdef uint64_t *marked                  # the ranks of these, a bit each
    # A cut that is sought: axes that have been, the best so far, what all rows sum to.
    cdef Py_ssize_t n_seen
    cdef Cut best
    cdef double least
    cdef double total[LANES]

    cdef bint seeks(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void begin_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef Cut exact_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void sort_node(self, Py_ssize_t a, Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef void seek(self, Py_ssize_t a, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t place_of_one(self, const float *column, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t place(self, const float *column, Py_ssize_t n) noexcept nogil
