# How nodes are cut. May change at minor versions.
from libc.stdint cimport int32_t, uint64_t

from onlinekern.core.partitions.boosting cimport Boosting
from onlinekern.core.partitions.loops cimport ok_cut, ok_cutter, ok_forest_table, ok_gains


cdef class Cutter:
    cdef readonly Py_ssize_t n_rows, width, n_axes
    cdef readonly Py_ssize_t n_candidates
    cdef const float[:, ::1] rows          # scaled
    cdef const float[:, ::1] slopes        # their gradients' absolute values
    cdef const int32_t[::1] slope_of       # the row of `slopes` that belongs to each row
    cdef readonly Boosting boosting        # what is left of the targets
    cdef int32_t *order                    # the rows of the tree that grows, leaf by leaf
    cdef float *columns                    # the rows, column by column
    cdef float *weights                    # of the columns, for a draw
    cdef ok_gains *gains                   # of each axis, in the trees that have grown,
    cdef double *gained                    # what they say of it,
    cdef float[:, ::1] shares              # and factors of differences: see `ok_cutter`
    cdef const int32_t[::1] side_of        # the first side of each axis; 0: it has no gaps
    cdef ok_cutter cutter                  # all of this, and the random numbers of the tree
    cdef const ok_forest_table *loops
    cdef readonly Py_ssize_t work          # done so far

    cdef void load(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void begin_draws(self, uint64_t seed) noexcept nogil
    cdef void follow(self) noexcept nogil
    cdef double uniform(self) noexcept nogil
    cdef ok_cut best_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef Py_ssize_t divide(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t middle,
                           ok_cut *cut) noexcept nogil
