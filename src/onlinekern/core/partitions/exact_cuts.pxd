# Exact cuts of nodes. May change at minor versions.
from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint32_t

from onlinekern.core.partitions.cuts cimport Cutter
from onlinekern.core.partitions.loops cimport (
    OK_MOST_SORTED, OK_SOUGHT, ok_counts, ok_cut, ok_exact_cut)


cdef class ExactCutter(Cutter):
    cdef bint is_exact                     # whether the tree that grows is cut so
    cdef Py_ssize_t n_sought               # axes along which cuts are sought
    cdef int32_t[::1] sought
    cdef uint16_t[:, ::1] codes            # of each row, side by side
    cdef float[:, ::1] ascending           # the rows' numbers along each axis, in ascending order
    cdef uint32_t[::1] keys                # of the axis that is ranked, ordered as its numbers are,
    cdef int32_t[:, ::1] turns             # and the rows in two orders
    # What is left of the targets, `width` whole numbers a row, and what a cut must gain.
    cdef int16_t[::1] coded
    cdef float least
    cdef ok_counts *counts                 # of a large node that is to be cut,
    cdef ok_exact_cut found                # the cut of the node that has been looked at last
    cdef Py_ssize_t n_counted              # of whose rows, twice over, so many are in them, and
    cdef bint is_near                      # whether those near the best edges are counted

    cdef void code(self, Py_ssize_t a, const float *column, const int32_t *order) noexcept nogil
    cdef void begin_exact(self) noexcept nogil
    cdef bint seeks(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef ok_cut exact_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef float *least_of(self, Py_ssize_t a, int64_t code) noexcept nogil
    cdef float place(self) noexcept nogil
