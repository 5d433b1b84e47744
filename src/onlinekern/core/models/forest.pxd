# Models on the cells of a forest. May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.models.cell_experts cimport CellExperts, Cells, Generation, Walked
from onlinekern.core.models.space cimport Space
from onlinekern.core.partitions.recent_rows cimport RecentRows


cdef class ForestSpace(Space):
    cdef readonly Py_ssize_t d, itemsize, n_labels
    cdef readonly tuple settings
    cdef readonly Rule rule
    cdef readonly CellExperts experts
    cdef readonly RecentRows recent
    cdef readonly Generation now
    cdef Generation before           # at the checkpoint, if it has been renewed since
    cdef bint renewed
    cdef readonly int64_t entered
    cdef int64_t saved_entered
    cdef uint64_t seed
    cdef Walked walked
    cdef bint is_walked              # whether the open block has been, by the present forest
    cdef double y, weight            # of the sample that was observed last

    cdef Status renew_at_times(self) noexcept nogil
    cdef int replay(self, Generation fresh, const float[:, ::1] rows, const double[::1] y,
                    const double[::1] weight) except -1
