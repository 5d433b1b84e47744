# How trees grow. May change at minor versions.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

from onlinekern.core.partitions.exact_cuts cimport ExactCutter
from onlinekern.core.partitions.loops cimport ok_cut
from onlinekern.core.partitions.trees cimport Node, Tree


cdef class Grower(ExactCutter):
    cdef readonly Py_ssize_t most_in_leaf
    # Leaf of each row: by place in `order` until the rows are sorted by leaf, then by row number.
    cdef int32_t *spare
    cdef int32_t *sorted                   # buffer of the sort by leaf
    cdef int32_t *pool                     # all rows; the drawn ones of the present tree come first
    # Where the tree writes the leaf and the upper cell of each row, or NULL.
    cdef uint16_t *cells
    cdef uint8_t *upper
    # The tree that grows:
    cdef int64_t took                      # nanoseconds it has taken
    cdef Node *nodes
    cdef Py_ssize_t n_nodes, most_nodes
    cdef Py_ssize_t room                   # nodes that there is memory for
    cdef int32_t *paths                    # path to each node, see `UPPER_CELLS`
    cdef Py_ssize_t count                  # rows that it grows from
    cdef Py_ssize_t n_chosen               # rows that are drawn
    cdef Py_ssize_t n_walked               # drawn rows whose first leaf is found
    cdef Py_ssize_t n_numbered             # nodes whose leaves are numbered
    cdef Py_ssize_t n_updated              # progress of `update_residuals`; -1: not begun
    cdef Node *copied                      # a copy of the nodes for `grown`
    cdef Py_ssize_t n_copied               # nodes that are copied
    cdef Py_ssize_t n_leaves               # nodes at the beginning; later number of leaves
    cdef Py_ssize_t leaf                   # next of the first nodes; -1: rows are not sorted yet
    cdef int32_t *ends                     # end in `order` of the rows of each of the first nodes
    cdef Py_ssize_t room_of_ends
    cdef Py_ssize_t waiting[4 * 42]        # stack of leaves to split: node, first, last, depth
    cdef Py_ssize_t n_waiting
    # The leaf that is split: its split, rows that are divided, and where the right side begins.
    cdef ok_cut best
    cdef Py_ssize_t n_divided, middle

    cdef int begin(self, Tree before, Py_ssize_t count, uint64_t seed) except -1
    cdef int reserve(self, Py_ssize_t n_nodes, Py_ssize_t n_leaves) except -1
    cdef void write_to(self, uint16_t *cells, uint8_t *upper) noexcept nogil
    cdef bint grow(self, int64_t limit) noexcept nogil
    cdef bint step(self) noexcept nogil
    cdef Tree grown(self)
    cdef void choose(self) noexcept nogil
    cdef void find_leaves(self) noexcept nogil
    cdef void find_leaves_abreast(self, const int32_t *order, Py_ssize_t first, Py_ssize_t n,
                                  bint by_row) noexcept nogil
    cdef void number(self) noexcept nogil
    cdef bint update_residuals(self) noexcept nogil
    cdef bint copy_nodes(self) noexcept nogil
    cdef void write_cells(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void skip(self) noexcept nogil
    cdef void by_leaf(self) noexcept nogil
    cdef bint next_leaf(self) noexcept nogil
    cdef void push_leaf(self, Py_ssize_t node, Py_ssize_t first, Py_ssize_t last,
                        Py_ssize_t depth) noexcept nogil
    cdef void cut_next(self) noexcept nogil
    cdef void end_cut(self) noexcept nogil
    cdef bint may_cut(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t depth) noexcept nogil
    cdef void keep_leaf(self, Py_ssize_t node, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void set_cut(self, Py_ssize_t node, const ok_cut *cut) noexcept nogil
