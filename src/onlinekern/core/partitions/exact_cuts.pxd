# Exact splits of nodes. May change at minor versions.
from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint32_t

from onlinekern.core.partitions.cuts cimport Cutter
from onlinekern.core.partitions.loops cimport (
    OK_MOST_SORTED, OK_SOUGHT, ok_counts, ok_cut, ok_exact_cut)


cdef class ExactCutter(Cutter):
    cdef bint is_exact                     # whether the present tree has exact splits
    cdef Py_ssize_t n_sought               # number of axes that are searched
    cdef int32_t[::1] sought               # these axes
    cdef uint16_t[:, ::1] codes            # code of each row along each of them, n x OK_SOUGHT
    cdef float[:, ::1] ascending           # sorted values along each of them, n_sought x n
    # Radix sort of the axis that is ranked: keys ordered like the values, and two buffers of rows.
    cdef uint32_t[::1] keys
    cdef int32_t[:, ::1] turns
    cdef int16_t[::1] coded                # residuals as integers, n x width
    cdef float least                       # a split must gain more than this
    cdef ok_exact_cut found                # split of the last node
    # Of a large node: histograms of its rows, rows counted so far (each is counted twice), and
    # whether the second count, near the best edges, has begun.
    cdef ok_counts *counts
    cdef Py_ssize_t n_counted
    cdef bint is_near

    cdef void code(self, Py_ssize_t a, const float *column, const int32_t *order) noexcept nogil
    cdef void begin_exact(self) noexcept nogil
    cdef bint count_some(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef ok_cut exact_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef float *lowest_of(self, Py_ssize_t a, int64_t code) noexcept nogil
    cdef float threshold(self) noexcept nogil
