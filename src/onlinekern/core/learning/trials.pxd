# When a race begins anew, and which of two answers. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.learning.rank_bets cimport RankBets


# What changes along the stream, but for the bets.
cdef struct Trial:
    int64_t left                  # samples that two will still learn; 0 where one is alone
    bint due                      # whether there was an alarm meanwhile
    double own_sum, rival_sum     # discounted sums of the losses of who answers, and of the other
    double own_longer, rival_longer    # the same of a longer time
    int64_t n_errors              # errors that have told the scale, at most `SCALED`
    double errors                 # the sum of the logarithms of their squares
    int64_t offered               # samples ever
    double largest                # weight lately
    int64_t pause                 # samples between the last trial and the next one, from 1,000 on
    int64_t resting               # of these, those to come
    bint is_new                   # whether the one that answers began with the trial


cdef class Trials:
    cdef readonly RankBets bets
    cdef readonly bint of_targets
    cdef readonly tuple alarms    # numbers of the samples with which a rival began, from 1
    cdef Trial now, saved
    cdef tuple saved_alarms

    cdef bint see(self, double loss, double weight) noexcept nogil
    cdef bint goes_to_rival(self, double own, double rival) noexcept nogil
    cdef int begin(self, int64_t number) except -1
    cdef void end(self) noexcept nogil
    cdef void checkpoint(self) noexcept
    cdef void rollback(self) noexcept
