# Bets that losses grow, by their ranks. May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

cdef enum:
    N_LEVELS = 256
    N_STAKES = 6
    PLAYERS = 12


# State of the bets.
cdef struct Bets:
    int64_t[N_LEVELS] counts      # losses since the last alarm, by level
    int64_t total                 # sum of `counts`
    int64_t n_seen                # losses of the whole stream: counter of the random numbers
    double[PLAYERS] wealth        # for each stake on the first payoff, then on the second


cdef double uniform(uint64_t seed, uint64_t number) noexcept nogil


cdef class RankBets:
    cdef readonly double run_length
    cdef readonly uint64_t seed
    cdef Bets now, saved

    cdef bint see(self, double share) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
