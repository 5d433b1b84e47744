# Random splits of nodes. May change at minor versions.
from libc.stdint cimport int32_t, uint64_t

from onlinekern.core.partitions.boosting cimport Boosting
from onlinekern.core.partitions.loops cimport ok_cut, ok_cutter, ok_forest_table, ok_gains


cdef class Cutter:
    cdef readonly Py_ssize_t n_rows, width, n_axes
    cdef readonly Py_ssize_t n_candidates
    cdef const float[:, ::1] rows          # scaled rows
    cdef const float[:, ::1] slopes        # absolute slopes of the function
    cdef const int32_t[::1] slope_of       # row of `slopes` that belongs to each row
    cdef readonly Boosting boosting        # residuals that score the splits
    cdef int32_t *order                    # numbers of the rows of the present tree, leaf by leaf
    cdef float *columns                    # `rows`, column by column
    cdef float *weights                    # buffer: weights of the columns in a draw
    cdef ok_gains *gains                   # gains of the splits along each axis so far
    cdef double *gained                    # share of each axis in all gains
    cdef float[:, ::1] shares              # factors of differences, see `ok_cutter`
    cdef const int32_t[::1] side_of        # first column for missing values of an axis; 0: none
    cdef ok_cutter cutter                  # pointers to all of this, and the random numbers
    cdef const ok_forest_table *loops
    cdef readonly Py_ssize_t work          # work of the present tree so far, about nanoseconds

    cdef void load(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void begin_draws(self, uint64_t seed) noexcept nogil
    cdef void update_shares(self) noexcept nogil
    cdef double uniform(self) noexcept nogil
    cdef ok_cut best_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef Py_ssize_t divide(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t middle,
                           ok_cut *cut) noexcept nogil
