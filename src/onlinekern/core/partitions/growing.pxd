# How trees grow. May change at minor versions.
from libc.stdint cimport int32_t, uint64_t

from onlinekern.core.partitions.boosting cimport LANES, Boosting
from onlinekern.core.partitions.trees cimport Node, Tree


cdef enum:
    MOST_SCORED = 255        # rows of a node that tell what a cut gains


# A cut, and what it gains.
cdef struct Cut:
    double gain              # < 0: there is none
    Py_ssize_t feature
    float at


cdef class Grower:
    cdef readonly Py_ssize_t n_rows, width, n_axes
    cdef readonly Py_ssize_t n_candidates, most_in_leaf
    cdef const float[:, ::1] rows          # scaled
    cdef const float[:, ::1] slopes        # their gradients' absolute values
    cdef const int32_t[::1] slope_of       # the row of `slopes` that belongs to each row
    cdef readonly Boosting boosting        # what is left of the targets
    cdef int32_t *order                    # the rows of the tree that grows, leaf by leaf
    cdef int32_t *spare
    cdef int32_t *sorted
    cdef int32_t *pool                     # all rows, in the order of the last draw
    cdef float *columns                    # the rows, column by column
    cdef float *weights                    # of the columns, for a draw
    cdef double lanes[LANES]               # their sums in each lane
    # The rows of a node that tell what cuts gain, what is left of their targets, and its sums.
    cdef Py_ssize_t n_scored
    cdef int32_t scored[MOST_SCORED + LANES]
    cdef float numbers[(MOST_SCORED + LANES) * LANES]
    cdef float ones[MOST_SCORED + LANES]
    cdef double sums[LANES]

    # The tree that grows.
    cdef Node *nodes
    cdef Py_ssize_t n_nodes, most_nodes
    cdef Py_ssize_t room                   # nodes that there is memory for
    cdef uint64_t seed
    cdef uint64_t drawn                    # random numbers drawn so far
    cdef readonly Py_ssize_t work          # done so far
    cdef Py_ssize_t count                  # rows that it grows from
    cdef Py_ssize_t n_walked               # rows whose leaf has been found
    cdef Py_ssize_t n_absorbed             # rows whose goals know of it, counted twice
    cdef Py_ssize_t n_leaves               # nodes at first, of which leaves are cut
    cdef Py_ssize_t leaf                   # the next of these; -1 before the rows are sorted
    cdef int32_t *ends                     # where the rows of each of these end
    cdef Py_ssize_t room_of_ends
    cdef Py_ssize_t waiting[4 * 42]        # leaves to be cut: node, first and last row, depth
    cdef Py_ssize_t n_waiting

    cdef void load(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef double uniform(self) noexcept nogil
    cdef int begin(self, Tree before, Py_ssize_t count, uint64_t seed) except -1
    cdef int reserve(self, Py_ssize_t n_nodes, Py_ssize_t n_leaves) except -1
    cdef bint grow(self, Py_ssize_t work) noexcept nogil
    cdef Tree grown(self)
    cdef void choose(self, Py_ssize_t count) noexcept nogil
    cdef void find_leaves(self) noexcept nogil
    cdef void find_leaves_abreast(self, const int32_t *order, Py_ssize_t first,
                                  Py_ssize_t n) noexcept nogil
    cdef void absorb(self) noexcept nogil
    cdef void skip(self) noexcept nogil
    cdef void by_leaf(self) noexcept nogil
    cdef bint next_leaf(self) noexcept nogil
    cdef void wait(self, Py_ssize_t node, Py_ssize_t first, Py_ssize_t last,
                   Py_ssize_t depth) noexcept nogil
    cdef void cut_next(self) noexcept nogil
    cdef void set_cut(self, Py_ssize_t node, const Cut *cut) noexcept nogil
    cdef Cut best_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef bint draw(self, int kind, Py_ssize_t first, Py_ssize_t last, Cut *cut) noexcept nogil
    cdef double weigh(self, int32_t one, int32_t other, int kind) noexcept nogil
    cdef Py_ssize_t column_at(self, double left, Py_ssize_t n) noexcept nogil
    cdef void sum_up(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef double gain(self, const Cut *cut) noexcept nogil
    cdef Py_ssize_t sum_left(self, const Cut *cut, double *left) noexcept nogil
    cdef Py_ssize_t divide(self, Py_ssize_t first, Py_ssize_t last, const Cut *cut) noexcept nogil
