# How trees grow. May change at minor versions.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

from onlinekern.core.partitions.exact_cuts cimport ExactCutter
from onlinekern.core.partitions.loops cimport ok_cut
from onlinekern.core.partitions.trees cimport Node, Tree


cdef class Grower(ExactCutter):
    cdef readonly Py_ssize_t most_in_leaf
    cdef int32_t *spare                    # leaves: of the rows in `order` until these are sorted,
    cdef int32_t *sorted                   # then of all rows
    cdef int32_t *pool                     # all rows, in the order of the last draw
    # Where the cells of all rows are written, or NULL.
    cdef uint16_t *cells
    cdef uint8_t *upper
    # The tree that grows, and nanoseconds that it has taken.
    cdef int64_t took
    cdef Node *nodes
    cdef Py_ssize_t n_nodes, most_nodes
    cdef Py_ssize_t room                   # nodes that there is memory for
    cdef int32_t *paths                    # of its nodes, once it is whole
    cdef Py_ssize_t count                  # rows that it grows from,
    cdef Py_ssize_t n_chosen               # those that have been drawn
    cdef Py_ssize_t n_walked               # rows whose leaf has been found
    cdef Py_ssize_t n_numbered             # nodes behind which leaves have no numbers
    cdef Py_ssize_t n_told                 # steps of `tell` that are done,
    cdef Node *copied                      # and a copy of the nodes, of which so many are there
    cdef Py_ssize_t n_copied
    cdef Py_ssize_t n_leaves               # nodes at first, of which leaves are cut
    cdef Py_ssize_t leaf                   # the next of these; -1 before the rows are sorted
    cdef int32_t *ends                     # where the rows of each of these end
    cdef Py_ssize_t room_of_ends
    cdef Py_ssize_t waiting[4 * 42]        # leaves to be cut: node, first and last row, depth
    cdef Py_ssize_t n_waiting
    # The leaf that is cut: how, how many of its rows are on a side, and where the right one begins.
    cdef ok_cut best
    cdef Py_ssize_t n_divided, middle

    cdef int begin(self, Tree before, Py_ssize_t count, uint64_t seed) except -1
    cdef int reserve(self, Py_ssize_t n_nodes, Py_ssize_t n_leaves) except -1
    cdef void write_to(self, uint16_t *cells, uint8_t *upper) noexcept nogil
    cdef bint grow(self, int64_t due) noexcept nogil
    cdef bint step(self) noexcept nogil
    cdef Tree grown(self)
    cdef void choose(self) noexcept nogil
    cdef void find_leaves(self) noexcept nogil
    cdef void find_leaves_abreast(self, const int32_t *order, Py_ssize_t first, Py_ssize_t n,
                                  bint by_row) noexcept nogil
    cdef void number(self) noexcept nogil
    cdef bint tell(self) noexcept nogil
    cdef bint copy_nodes(self) noexcept nogil
    cdef void write_cells(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void skip(self) noexcept nogil
    cdef void by_leaf(self) noexcept nogil
    cdef bint next_leaf(self) noexcept nogil
    cdef void wait(self, Py_ssize_t node, Py_ssize_t first, Py_ssize_t last,
                   Py_ssize_t depth) noexcept nogil
    cdef void cut_next(self) noexcept nogil
    cdef void end_cut(self) noexcept nogil
    cdef bint may_cut(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t depth) noexcept nogil
    cdef void keep_leaf(self, Py_ssize_t node, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void set_cut(self, Py_ssize_t node, const ok_cut *cut) noexcept nogil
