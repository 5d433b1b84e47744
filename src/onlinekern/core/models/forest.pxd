# Models on the cells of a forest. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.models.cell_experts cimport CellExperts, Cells, Generation, Leaving, Walked
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
    cdef Generation before           # at the checkpoint, if it is another one,
    cdef bint is_changed
    cdef Py_ssize_t n_replaced
    cdef list replaced               # and which trees, with their cells, have been replaced in it
    cdef Leaving leaving             # what was kept for an undo, and is not any more
    cdef readonly Renewal renewal    # that has begun, or None
    cdef readonly int64_t entered    # samples learnt,
    cdef readonly int64_t renewed    # and when the last renewal that is done began,
    cdef readonly Py_ssize_t n_grown     # and trees that the present one has cut further
    cdef int64_t saved_entered, saved_renewed
    cdef Py_ssize_t saved_grown
    cdef Py_ssize_t memory
    cdef Py_ssize_t n_exact, exact_from
    cdef double exact_share
    cdef bint anew
    cdef object is_light             # a bool, as it is told
    cdef Walked walked
    cdef Py_ssize_t together         # samples that are walked together, at most
    cdef Py_ssize_t opened           # samples of the open block,
    cdef bint is_walked              # whether its cells are known in the present forest,
    cdef Py_ssize_t walked_from      # of which sample on,
    cdef Py_ssize_t learnt           # and how many of these have been learnt
    cdef double[::1] y               # targets of the sample that was observed last,
    cdef double weight               # and its weight

    cdef int64_t last_due(self, int64_t entered) noexcept nogil
    cdef bint is_due(self, int64_t entered) noexcept nogil
    cdef Status renew_at_times(self) noexcept nogil
    cdef Status advance(self) noexcept nogil
