# A race that begins anew when its losses grow. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.learning.lesson cimport Lesson
from onlinekern.core.learning.trials cimport Trials
from onlinekern.core.race cimport Race


cdef class RenewedRace(Race):
    cdef object beginning         # a frozen race that has learnt nothing; rivals are its copies
    cdef readonly Race rival      # the race that learns beside this one in a trial; else None
    cdef readonly Trials trials
    cdef tuple before             # the rival and the contents of both at the checkpoint
    cdef int64_t mistakes         # mistakes of the predictions that were output
    cdef double total             # sum of weight times their losses

    cdef int exchange(self, Race other) except -1
    cdef int begin_trial(self, int64_t number) except -1
    cdef int end_trial(self) except -1
    cdef int take(self, Lesson lesson) except -1
    cdef int64_t before_thinning(self)
    cdef int settle(self) except -1
