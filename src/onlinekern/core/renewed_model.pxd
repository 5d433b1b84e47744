# A model that begins anew when its losses grow. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.learning.lesson cimport Lesson
from onlinekern.core.learning.trials cimport Trials
from onlinekern.core.stream cimport Model


cdef class RenewedModel(Model):
    cdef object beginning         # the model before its first sample, frozen; rivals are copies
    cdef readonly Model rival     # the new model of a trial; None without a trial
    cdef readonly Trials trials
    cdef readonly int64_t began   # samples before the first one of the model that answers
    cdef int64_t mistakes         # of the answers that were given; written back after a call
    cdef double total             # the sum of weight times loss of these answers
    # The state before a call, to undo it.
    cdef Model rival_before
    cdef int64_t began_before
    cdef list exchanged           # the rivals of the exchanges in this call
    cdef bint own_is_new          # whether the model that answers was made in this call
    cdef bint rival_is_new        # whether the rival was made in this call

    cdef int exchange(self, Model other) except -1
    cdef int begin_trial(self, int64_t number) except -1
    cdef int end_trial(self) except -1
    cdef int note_exchange(self) except -1
    cdef int take(self, Lesson lesson) except -1
