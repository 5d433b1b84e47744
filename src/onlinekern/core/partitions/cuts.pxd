# How nodes are cut. May change at minor versions.
from libc.stdint cimport int32_t, uint64_t

from onlinekern.core.partitions.boosting cimport LANES, Boosting
from onlinekern.core.partitions.loops cimport OK_CUTS, ok_forest_table


cdef enum:
    MOST_SCORED = 255        # rows of a node that tell what a cut gains
    WORK_OF_DRAW = 10        # the work on a tree is measured by: about a nanosecond


# A cut, and what it gains.
cdef struct Cut:
    double gain              # < 0: there is none
    Py_ssize_t feature
    float at


cdef class Cutter:
    cdef readonly Py_ssize_t n_rows, width, n_axes, n_drawn_from
    cdef readonly Py_ssize_t n_candidates
    cdef const float[:, ::1] rows          # scaled
    cdef const float[:, ::1] slopes        # their gradients' absolute values
    cdef const int32_t[::1] slope_of       # the row of `slopes` that belongs to each row
    cdef readonly Boosting boosting        # what is left of the targets
    cdef int32_t *order                    # the rows of the tree that grows, leaf by leaf
    cdef float *columns                    # the rows, column by column
    cdef bint has_gaps
    cdef const int32_t[::1] side_of        # the first side of each axis; 0: it has no gaps
    cdef float *weights                    # of the columns, for a draw
    cdef double lanes[LANES]               # their sums in each lane
    # The rows of a node that tell what cuts gain, what is left of their targets, and its sums.
    cdef Py_ssize_t n_scored
    cdef int32_t scored[MOST_SCORED + LANES]    # where each begins
    cdef float numbers[(MOST_SCORED + LANES) * LANES]
    cdef double sums[LANES]
    cdef const ok_forest_table *loops
    # Of the present tree.
    cdef uint64_t seed
    cdef uint64_t drawn                    # random numbers drawn so far
    cdef readonly Py_ssize_t work          # done so far

    cdef Py_ssize_t side(self, Py_ssize_t j, int32_t one, int32_t other) noexcept nogil
    cdef void load(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef double uniform(self) noexcept nogil
    cdef Cut best_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef bint draw(self, int kind, Py_ssize_t first, Py_ssize_t last, Cut *cut) noexcept nogil
    cdef double weigh(self, int32_t one, int32_t other, int kind) noexcept nogil
    cdef Py_ssize_t column_at(self, double left, Py_ssize_t n) noexcept nogil
    cdef void sum_up(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef void fetch(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t n_drawn) noexcept nogil
    cdef void score(self, Cut *cuts, Py_ssize_t n_cuts) noexcept nogil
    cdef double total(self, const double *sums) noexcept nogil
    cdef double gain(self, double *left, Py_ssize_t n_left) noexcept nogil
    cdef Py_ssize_t divide(self, Py_ssize_t first, Py_ssize_t last, const Cut *cut) noexcept nogil
