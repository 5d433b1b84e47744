# How trees grow. May change at minor versions.
from libc.stdint cimport int32_t, uint64_t

from onlinekern.core.partitions.trees cimport Forest, Node, Scale


cdef enum:
    LANES = 8                # weights that are summed side by side
    MOST_SCORED = 255        # rows of a node that tell what a cut gains: counts fit into bytes
    PACKED = 8               # classes that are counted in the bytes of one number


# The rows that one tree grows from, and the random numbers of the tree.
cdef struct Sprout:
    Node *nodes              # of the tree
    Py_ssize_t n_nodes
    Py_ssize_t most_nodes
    uint64_t seed
    uint64_t drawn           # random numbers drawn so far


# A cut, and what it gains.
cdef struct Cut:
    double gain              # < 0: there is none
    Py_ssize_t feature
    float at


cdef class Grower:
    cdef readonly Py_ssize_t n_rows, width, n_axes, n_classes
    cdef readonly Py_ssize_t n_candidates, most_in_leaf
    cdef const float[:, ::1] rows          # scaled
    cdef const float[:, ::1] slopes        # their gradients' absolute values
    cdef const int32_t[::1] slope_of       # the row of `slopes` that belongs to each row
    cdef const int32_t[::1] labels         # class numbers; of no length with targets
    cdef const double[::1] targets
    cdef int32_t *order                    # the rows of the tree that grows, leaf by leaf
    cdef int32_t *spare
    cdef int32_t *sorted
    cdef int32_t *pool                     # all rows, in the order of the last draw
    cdef float *columns                    # the rows, column by column
    cdef float *weights                    # of the columns, for a draw
    cdef double lanes[LANES]               # their sums in each lane
    cdef double *counts                    # of the classes, in a node and left of a cut
    # Of the rows of a node that tell what cuts gain: their labels, also packed, or targets.
    cdef const int32_t *scored
    cdef Py_ssize_t n_scored
    cdef int32_t kinds[MOST_SCORED]
    cdef uint64_t units[MOST_SCORED]
    cdef double numbers[MOST_SCORED]

    cdef double uniform(self, Sprout *sprout) noexcept nogil
    cdef void grow_leaf(self, Sprout *sprout, Py_ssize_t leaf, Py_ssize_t first,
                        Py_ssize_t last) noexcept nogil
    cdef Cut best_cut(self, Sprout *sprout, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef bint draw(self, Sprout *sprout, int kind, Py_ssize_t first, Py_ssize_t last,
                   Cut *cut) noexcept nogil
    cdef double weigh(self, int32_t one, int32_t other, int kind) noexcept nogil
    cdef Py_ssize_t column_at(self, double left, Py_ssize_t n) noexcept nogil
    cdef void sum_up(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef double gain(self, const Cut *cut) noexcept nogil
    cdef Py_ssize_t sum_left(self, const Cut *cut, double *left) noexcept nogil
    cdef Py_ssize_t divide(self, Py_ssize_t first, Py_ssize_t last, const Cut *cut) noexcept nogil
    cdef void by_leaf(self, const Sprout *sprout, Py_ssize_t count, int32_t *ends) noexcept nogil
    cdef void choose(self, Sprout *sprout, Py_ssize_t count) noexcept nogil
    cdef int grow_tree(self, Sprout *sprout, Py_ssize_t count) except -1
    cdef Forest grown(self, Forest before, Py_ssize_t n_trees, Scale scale, Py_ssize_t count,
                      uint64_t seed)
