# Scores of samples from before they were learnt. May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

from onlinekern.core.base.undo cimport JournaledMatrix

cdef enum:
    KEPT = 512
    # Once KEPT samples are kept, every EVERY-th sample replaces the oldest.
    EVERY = 4


cdef class RecentScores:
    cdef JournaledMatrix ring        # ring buffer; a row: scores, class number, weight
    cdef readonly Py_ssize_t n_outputs, n_labels
    cdef readonly int64_t noted
    cdef int64_t saved_noted

    cdef inline int64_t next_number(self, int64_t seen) noexcept nogil:
        """Number of the next sample that is kept after `seen` samples."""
        return seen + 1 if self.noted < KEPT \
            else seen + EVERY - <int64_t> (<uint64_t> seen % EVERY)

    cdef inline void keep(self, const double *scores, double y, double weight) noexcept nogil:
        """Keep the scores of a sample."""
        cdef Py_ssize_t k
        cdef double *row = self.ring.touch(<uint64_t> self.noted % KEPT)
        for k in range(self.n_outputs):
            row[k] = scores[k]
        row[self.n_outputs] = y
        row[self.n_outputs + 1] = weight
        self.noted += 1

    cdef inline void checkpoint(self) noexcept nogil:
        self.ring.checkpoint()
        self.saved_noted = self.noted

    cdef void rollback(self) noexcept nogil
    cdef Py_ssize_t held(self) noexcept nogil
    cdef int set_rows(self, object noted, object rows) except -1
