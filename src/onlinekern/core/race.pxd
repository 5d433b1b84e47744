# Several models that learn one stream, and the vote of them. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.lock cimport Access, Lock
from onlinekern.core.learning.heads cimport Head
from onlinekern.core.learning.recent_scores cimport RecentScores
from onlinekern.core.learning.vote cimport Vote


cdef class Race:
    cdef readonly object moments, dtype
    cdef readonly tuple experts, costs
    cdef readonly tuple raw               # bool of each expert: whether it gets rows as they come
    cdef list dearest                     # numbers of the experts, those that cost most first
    cdef readonly Vote vote
    cdef readonly Head head
    cdef readonly double budget, limit, forgetting
    cdef readonly int64_t calls, n_seen
    cdef readonly int64_t noted           # samples that might have been kept in `recent`
    cdef readonly int64_t alarm           # until when all experts are awake
    cdef readonly int64_t stride          # samples between two marks of the history
    cdef readonly object voting           # ndarray of uint8: who is awake
    cdef readonly object learnt           # ndarray of int64: samples of each expert
    cdef readonly list history            # (samples, weights of the experts)
    cdef public int n_threads
    cdef readonly RecentScores recent     # None of targets
    cdef public object calibration        # fitted to `recent`; None after each call of learning
    cdef public object checked            # what parameters its estimator had at the last check
    cdef readonly Lock lock
    cdef Access access
    cdef tuple saved
    cdef list begun               # calls of the experts and the moments before this one
