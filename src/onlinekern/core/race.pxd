# Several models that learn one stream, and the vote of them. May change at minor versions.
cimport numpy as cnp
from libc.stdint cimport int64_t

from onlinekern.core.experts cimport Experts, Row
from onlinekern.core.learning.recent_scores cimport RecentScores
from onlinekern.core.samples.rows cimport Rows

# Marks of the history: when there are more, every second one goes.
cdef enum:
    MOST_MARKS = 512


cdef class Race(Experts):
    cdef list dearest                     # numbers of the experts, those that cost most first
    cdef readonly int64_t calls, n_seen
    cdef readonly int64_t noted           # samples that might have been kept in `recent`
    cdef readonly int64_t began           # samples before these experts had been given any
    cdef readonly int64_t alarm           # until when all experts are awake
    cdef readonly int64_t stride          # samples between two marks of the history
    cdef readonly object learnt           # ndarray of int64: samples of each expert
    cdef readonly list history            # (samples, weights of the experts)
    cdef public int n_threads
    cdef readonly RecentScores recent     # None of targets
    cdef public object calibration        # fitted to `recent`; None after each call of learning
    cdef public object checked            # what parameters its estimator had at the last check
    cdef tuple saved
    cdef list begun               # calls of the experts and the moments before this one

    cdef cnp.ndarray learn_row(self, const Rows *rows, double y, double weight, bint noted)
    cdef int learn_alone(self, const Rows *rows, double y, double weight, double *answer,
                         bint noted) except -1
    cdef int teach(self, const Rows *rows, Row *row, double y, double weight, double *answer,
                   bint noted) except -1
    cdef int64_t age(self) noexcept
    cdef void note(self, const double *answer, double y, double weight) noexcept
    cdef tuple arguments(self)
