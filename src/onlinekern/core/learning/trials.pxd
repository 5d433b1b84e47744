# When a new model begins, and which of two models predicts. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.learning.rank_bets cimport RankBets


# State of the trials, without the bets.
cdef struct Trial:
    int64_t left                  # samples that both models will still learn; 0: no trial
    bint due                      # whether an alarm asks for the next trial
    double own_sum, rival_sum     # discounted losses of the predicting model, and of its rival
    double own_longer, rival_longer    # the same with a longer memory
    int64_t n_errors              # errors that the scale is computed from, at most `SCALED`
    double errors                 # sum of the logarithms of their squares
    int64_t offered               # samples so far
    double largest                # largest weight lately, with decay
    int64_t pause                 # pause after the last trial; below 1,000: none yet
    int64_t resting               # samples of the pause that are left
    bint is_new                   # whether the predicting model began with the trial


cdef class Trials:
    cdef readonly RankBets bets
    cdef readonly bint of_targets
    cdef readonly tuple alarms    # numbers of the samples at which a rival began, from 1 on
    cdef Trial now, saved
    cdef tuple saved_alarms

    cdef bint see(self, double loss, double weight) noexcept nogil
    cdef bint goes_to_rival(self, double own, double rival) noexcept nogil
    cdef int begin(self, int64_t number) except -1
    cdef void end(self) noexcept nogil
    cdef void checkpoint(self) noexcept
    cdef void rollback(self) noexcept
