# A model that begins anew when its losses grow. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.learning.lesson cimport Lesson
from onlinekern.core.learning.trials cimport Trials
from onlinekern.core.stream cimport Model


cdef class RenewedModel(Model):
    cdef object beginning         # one that has learnt nothing, frozen: its copies are the rivals
    cdef readonly Model rival     # the one that learns beside, during a trial; else None
    cdef readonly Trials trials
    cdef readonly int64_t began   # samples before the one that answers had been given any
    cdef int64_t mistakes         # of the answers that were given, along a call
    cdef double total             # of weight times their losses
    # What a call that fails returns to: the rival, and who answered.
    cdef Model rival_before
    cdef int64_t began_before
    cdef list exchanged           # the rivals that have been exchanged since
    cdef bint own_is_new          # whether what this holds now was not there before the call
    cdef bint rival_is_new        # the same of the rival

    cdef int exchange(self, Model other) except -1
    cdef int begin_trial(self, int64_t number) except -1
    cdef int end_trial(self) except -1
    cdef int note_exchange(self) except -1
    cdef int take(self, Lesson lesson) except -1
