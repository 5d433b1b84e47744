# Grows a new forest in the background of a stream. May change at minor versions.
from libc.stdint cimport int64_t, uint8_t, uint16_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.models.cell_experts cimport CellExperts, Generation, Walked
from onlinekern.core.models.cells cimport CellWeights
from onlinekern.core.models.forest_look cimport ForestLook
from onlinekern.core.models.inheritance cimport Inheritance
from onlinekern.core.partitions.trees cimport Tree


cdef class Renewal(ForestLook):
    cdef readonly bint is_done
    cdef readonly bint has_tree      # whether a grown tree waits for `take_tree`
    cdef CellExperts experts
    cdef Inheritance heir
    cdef int64_t entered             # samples learnt so far
    cdef Py_ssize_t replays, n_grown
    cdef double looked, grown        # shares of the lag at which the look, and growth, are done
    # Costs in the replay. Unit: learning a row that the trees grew from. `late`: a late row, which
    # came after the renewal began; `cold`: factor of the first n_cold late rows (cache misses);
    # `all_late`: all late rows together.
    cdef double late, cold, all_late
    cdef Py_ssize_t n_cold
    # Growth: number of finished trees, and the estimated work on the next one. If all trees are
    # new, the estimate is that of a tree without exact cuts.
    cdef Py_ssize_t tree
    cdef double estimate
    cdef Py_ssize_t work_of_node     # per node, to put a grown tree into a forest
    cdef Py_ssize_t work_of_cell     # per leaf of that tree
    cdef double since                # share of the growth at which the present tree began
    cdef double times                # work of an exact tree over that of another one
    cdef double[2] took              # nanoseconds taken by other trees, and by exact ones
    cdef double exact_share          # largest share of the rows that an exact tree grows from
    cdef bint is_growing, is_inheriting
    # If all trees are new: the grown tree, and its leaves, n_begun of which are initialised.
    cdef Tree whole
    cdef CellWeights fresh_leaves
    cdef Py_ssize_t n_begun
    # The replay of samples, `replays` times.
    cdef uint16_t[:, ::1] leaves     # (n_trees, n): leaf of each sample, written by growth
    cdef uint8_t[:, ::1] upper       # the same for upper cells
    cdef Walked walked               # buffer of the cells of a step
    cdef Py_ssize_t held             # first sample in this buffer; -1: late samples
    cdef double[:, ::1] targets      # (n + lag, n_targets)
    cdef double[::1] weights         # n + lag
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
