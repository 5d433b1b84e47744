# The renewal of a forest while samples come. May change at minor versions.
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.models.cell_experts cimport CellExperts, Generation, Walked
from onlinekern.core.partitions.growing cimport Grower
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.partitions.scale cimport Scale
from onlinekern.core.partitions.trees cimport Tree


cdef class Renewal:
    cdef readonly int64_t begun      # samples learnt when it began
    cdef readonly bint is_whole      # whether all trees are replaced; if not, their leaves are cut
    cdef readonly bint is_done
    cdef readonly bint has_tree      # whether a tree waits to be taken
    cdef readonly Generation fresh   # what replaces the forest, or tells of its growth
    cdef readonly object interruption
    cdef Generation before
    cdef CellExperts experts
    cdef RecentRows recent
    cdef Grower grower
    cdef tuple settings
    cdef uint64_t seed
    cdef Py_ssize_t d, n_labels, n_outputs, n_trees, replays, n_grown
    cdef Py_ssize_t n_exact          # trees that are cut exactly, the first ones
    cdef Py_ssize_t n                # samples that it grows from,
    cdef Py_ssize_t lag              # and those that it is spread over
    cdef double looked, grown        # shares of these after which the look is done, and the trees
    cdef double late                 # work on one of these in the replay, where others are 1
    # The look: what is to be done, and how much of it has been.
    cdef list units
    cdef double[::1] costs           # of each unit and those before
    cdef Py_ssize_t n_units, n_looked
    cdef object X, y, weight, spread, tables, seen, teacher, along, mean, slopes, told, scaled
    cdef object sought
    cdef Scale axes                  # what the kernel machine sees
    # The trees: how many are whole, the work on all of them and on the one before.
    cdef Py_ssize_t tree, worked, estimate
    cdef double times                # the work of one that is cut exactly, where others are 1
    cdef bint is_growing
    # The replay: samples learnt, again if there are several.
    cdef uint16_t[:, ::1] leaves     # of each tree and sample, while it grows
    cdef uint8_t[:, ::1] upper
    cdef Walked walked               # room for the cells of a step,
    cdef Py_ssize_t held             # and the first sample that these are of; -1: of late ones
    cdef double[:, ::1] targets      # n_targets of each
    cdef double[::1] weights
    cdef float[:, ::1] rows
    cdef int64_t n_replayed

    cdef Status advance(self, int64_t entered) noexcept nogil
    cdef bint looks(self) noexcept nogil
    cdef double share_of(self, int64_t entered) noexcept nogil
    cdef bint has_unit(self, double share) noexcept nogil
    cdef bint looks_after(self, int64_t entered) noexcept nogil
    cdef Status look_until(self, double share) noexcept nogil
    cdef Py_ssize_t due(self, double share) noexcept nogil
    cdef double share_to(self, Py_ssize_t n) noexcept nogil
    cdef Status grow_until(self, double share) noexcept nogil
    cdef Status replay_until(self, double share) noexcept nogil
    cdef void find_cells(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef Status learn_rows(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t at) noexcept nogil
    cdef int take_tree(self, Generation now) except -1
