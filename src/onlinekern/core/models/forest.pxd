# Models on the cells of a forest. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.models.cell_experts cimport CellExperts, Cells, Discarded, Generation, Walked
from onlinekern.core.models.forest_renewal cimport Renewal
from onlinekern.core.models.space cimport Space
from onlinekern.core.partitions.recent_rows cimport RecentRows


cdef class ForestSpace(Space):
    cdef readonly Py_ssize_t d, itemsize, n_labels, most_columns
    cdef readonly tuple settings, categories, cut_weights, n_seen, exact_variances
    cdef readonly Rule rule
    cdef readonly CellExperts experts
    cdef readonly RecentRows recent
    cdef readonly Generation now
    # Undo: the generation at the checkpoint if another one replaced it, and trees replaced in it.
    cdef Generation before
    cdef bint is_changed
    cdef Py_ssize_t n_replaced
    cdef list replaced               # (t, tree, leaves, upper cells) of each replaced tree
    cdef Discarded discarded         # parts that no undo needs any more, to be freed
    cdef readonly Renewal renewal    # the renewal under way, or None
    cdef readonly int64_t entered    # samples learnt
    cdef readonly int64_t renewed    # samples learnt when the last finished renewal began
    cdef readonly Py_ssize_t n_grown     # trees whose leaves the renewal under way has split
    cdef int64_t saved_entered, saved_renewed
    cdef Py_ssize_t saved_grown
    cdef Py_ssize_t memory
    cdef Py_ssize_t n_exact, exact_from
    cdef double exact_share
    cdef bint anew
    cdef object is_light             # a bool
    cdef Walked walked
    cdef Py_ssize_t together         # most rows of a block
    # The open block:
    cdef Py_ssize_t opened           # its samples
    cdef bint is_walked              # whether `walked` has their cells in the present forest
    cdef Py_ssize_t walked_from      # first sample that `walked` has
    cdef Py_ssize_t learnt           # how many samples of `walked` have been learnt
    cdef double[::1] y               # targets of the sample observed last
    cdef double weight               # its weight

    cdef int64_t last_due(self, int64_t entered) noexcept nogil
    cdef bint is_due(self, int64_t entered) noexcept nogil
    cdef Status renew_at_times(self) noexcept nogil
    cdef Status advance(self) noexcept nogil
