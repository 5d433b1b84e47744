# The renewal of a forest while samples come. May change at minor versions.
from libc.stdint cimport int64_t, uint8_t, uint16_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.models.cell_experts cimport CellExperts, Generation, Walked
from onlinekern.core.models.cells cimport CellWeights
from onlinekern.core.models.forest_look cimport ForestLook
from onlinekern.core.models.inheritance cimport Inheritance
from onlinekern.core.partitions.trees cimport Tree


cdef class Renewal(ForestLook):
    cdef readonly bint is_done
    cdef readonly bint has_tree      # whether a tree waits to be taken
    cdef CellExperts experts
    cdef Inheritance heir
    cdef int64_t entered             # samples learnt now
    cdef Py_ssize_t replays, n_grown
    cdef double looked, grown        # shares after which the look is done, and the trees are whole
    # Work in the replay, where a row takes 1 that the trees have grown from: of a late one, of the
    # first ones in its units, and of all; and how many are the first.
    cdef double late, cold, all_late
    cdef Py_ssize_t n_cold
    # The trees: how many are whole, and what the next one takes, where it is not cut exactly if all
    # are new.
    cdef Py_ssize_t tree
    cdef double estimate
    cdef Py_ssize_t work_of_node     # where it becomes part of a forest,
    cdef Py_ssize_t work_of_cell     # and of a leaf there
    cdef double since                # share of the growth at which the present one began
    cdef double times                # the work of one that is cut exactly, where others are 1,
    cdef double[2] took              # the nanoseconds that others and exact ones took
    cdef double exact_share          # and the share of the rows that it grows from at most
    cdef bint is_growing, is_inheriting
    # The tree that is whole, if all are new, and its leaves, of which so many are there.
    cdef Tree whole
    cdef CellWeights fresh_leaves
    cdef Py_ssize_t n_begun
    # The replay: samples learnt, again if there are several.
    cdef uint16_t[:, ::1] leaves     # of each tree and sample, while it grows
    cdef uint8_t[:, ::1] upper
    cdef Walked walked               # room for the cells of a step,
    cdef Py_ssize_t held             # and the first sample that these are of; -1: of late ones
    cdef double[:, ::1] targets      # n_targets of each
    cdef double[::1] weights
    cdef int64_t n_replayed

    cdef Status advance(self, int64_t entered) noexcept nogil
    cdef double share_of(self, int64_t entered) noexcept nogil
    cdef double share_of_look(self, int64_t entered) noexcept nogil
    cdef bint looks_after(self, int64_t entered) noexcept nogil
    cdef bint goes_on(self, double share) noexcept nogil
    cdef bint begin_cells(self) noexcept nogil
    cdef double work_left(self) noexcept nogil
    cdef double exact_times(self) noexcept nogil
    cdef Py_ssize_t due(self, double share) noexcept nogil
    cdef double share_to(self, Py_ssize_t n) noexcept nogil
    cdef Status grow_until(self, double share) noexcept nogil
    cdef Status replay_until(self, double share) noexcept nogil
    cdef void find_cells(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef Status learn_rows(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t at) noexcept nogil
    cdef Py_ssize_t count_of(self, bint is_exact) except -1
    cdef int take_tree(self, Generation now) except -1
