# Several models that learn one stream, and their vote. May change at minor versions.
cimport numpy as cnp
from libc.stdint cimport int64_t

from onlinekern.core.experts cimport Experts, Row
from onlinekern.core.learning.recent_scores cimport RecentScores
from onlinekern.core.samples.rows cimport Rows

# Most marks in the history: if there are more, every second one is deleted.
cdef enum:
    MOST_MARKS = 512


cdef class Race(Experts):
    cdef list dearest                     # indices of the experts, by descending cost
    cdef readonly int64_t calls, n_seen
    cdef readonly int64_t noted           # samples counted for `recent`, of which it keeps some
    cdef readonly int64_t began           # samples of the stream before these experts began
    cdef readonly int64_t alarm           # all experts are awake up to this sample
    cdef readonly int64_t stride          # samples between two marks of the history
    cdef readonly object learnt           # int64 array: samples that each expert has learnt
    cdef readonly list history            # marks: (n_seen, weights of the experts)
    cdef public int n_threads
    cdef readonly RecentScores recent     # None in regression
    cdef public object calibration        # fitted to `recent`; reset to None by learning
    cdef public object checked            # parameters of its estimator at their last check
    cdef tuple saved              # progress at the checkpoint
    cdef list begun               # `calls` of the experts and the moments at the checkpoint

    cdef cnp.ndarray learn_row(self, const Rows *rows, double y, double weight, bint noted)
    cdef int learn_alone(self, const Rows *rows, double y, double weight, double *answer,
                         bint noted) except -1
    cdef int teach(self, const Rows *rows, Row *row, double y, double weight, double *answer,
                   bint noted) except -1
    cdef int64_t age(self) noexcept
    cdef void note(self, const double *answer, double y, double weight) noexcept
    cdef tuple arguments(self)
