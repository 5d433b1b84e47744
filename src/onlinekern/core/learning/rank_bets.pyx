"""RankBets: bets that the losses of a stream grow, by their ranks among those before.

Of each loss, p is the share of those since the last alarm that are larger, with a random part of
those that are equal. As long as losses are exchangeable, the p are independent and uniform. Two
payoffs bet that p is small, ``f_1 = 1 - 2 p`` and ``f_2 = 1 / (2 sqrt(p)) - 1``, each with six
stakes s: ``R <- (R + 1) (1 + s f)``. An alarm is raised when the mean of the twelve R reaches the
run length, which is then the least mean number of losses between two false alarms
(`onlinekern.drift.LossDetector` has the proof).
"""
from libc.math cimport rint, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.state cimport (
    count_of, doubles_of_shape, integer_within, integers_within, positive_number)

# Losses are told apart in so many steps.
LEVELS = N_LEVELS
# A bet stakes this share of the wealth. Their mean adapts to payoffs of any size: it reaches a
# threshold when the best of them reaches six times it, or before. One stake of 0.5 is a little
# sooner for the payoffs of a witness (`benchmarks/alarms.py --part stakes`).
STAKES = (0.03, 0.06, 0.125, 0.25, 0.5, 0.9)
cdef double[N_STAKES] SHARES = STAKES
# The constants of SplitMix64 (Steele, Lea, Flood 2014).
cdef uint64_t GAMMA = 0x9E3779B97F4A7C15, FIRST = 0xBF58476D1CE4E5B9, SECOND = 0x94D049BB133111EB


cdef double uniform(uint64_t seed, uint64_t number) noexcept nogil:
    """A random number of (0, 1): the same for the same loss, however calls are cut."""
    cdef uint64_t z = seed + number * GAMMA
    z = (z ^ (z >> 30)) * FIRST
    z = (z ^ (z >> 27)) * SECOND
    return (<double> ((z ^ (z >> 31)) >> 11) + 0.5) * 2.0 ** -53


cdef class RankBets:
    """Bets on losses in [0, 1], which are told apart in 256 levels. Nothing is won yet.

    Parameters
    ----------
    run_length : float > 0
        The mean wealth that raises an alarm.
    seed : int in [0, 2**63)
        Of the ranks of equal losses.
    """

    def __cinit__(self, run_length, seed=0):
        self.run_length = positive_number("run_length", run_length)
        self.seed = integer_within("seed", seed, 0, 2**63 - 1)

    cdef void forget(self) noexcept nogil:
        """Begin anew: only the number of losses stays."""
        cdef int64_t n_seen = self.now.n_seen
        memset(&self.now, 0, sizeof(Bets))
        self.now.n_seen = n_seen

    cdef bint see(self, double share) noexcept nogil:
        """See a loss. Returns whether it raises an alarm, after which all begins anew."""
        cdef Py_ssize_t k, level = <Py_ssize_t> rint(share * (N_LEVELS - 1))
        cdef int64_t larger = 0
        cdef double p, spread, mean = 0
        cdef Bets *now = &self.now
        now.counts[level] += 1
        now.total += 1
        for k in range(level + 1, N_LEVELS):
            larger += now.counts[k]
        p = (larger + uniform(self.seed, now.n_seen) * now.counts[level]) / now.total
        spread = 0.5 / sqrt(p) - 1
        for k in range(PLAYERS):
            now.wealth[k] = (now.wealth[k] + 1) * (
                1 + SHARES[k % N_STAKES] * (1 - 2 * p if k < N_STAKES else spread))
        for k in range(PLAYERS):
            mean += now.wealth[k]
        now.n_seen += 1
        if mean / PLAYERS < self.run_length:
            return False
        self.forget()
        return True

    def see_many(self, const double[::1] shares):
        """See losses up to an alarm. Returns the place of the one that raised it, or None."""
        cdef Py_ssize_t i
        for i in range(shares.shape[0]):
            if not 0 <= shares[i] <= 1:
                raise ValueError(f"losses must be in [0, 1], got {shares[i]}")
            if self.see(shares[i]):
                return i
        return None

    cdef void checkpoint(self) noexcept nogil:
        """Remember the bets as they are."""
        self.saved = self.now

    cdef void rollback(self) noexcept nogil:
        """Return to the last checkpoint."""
        self.now = self.saved

    def get_state(self):
        """Losses of each level, ndarray; the wealth of the players, ndarray; the losses seen."""
        counts, wealth = np.empty(N_LEVELS, dtype=np.int64), np.empty(PLAYERS)
        cdef int64_t[::1] own = counts
        cdef double[::1] won = wealth
        memcpy(&own[0], self.now.counts, sizeof(self.now.counts))
        memcpy(&won[0], self.now.wealth, sizeof(self.now.wealth))
        return counts, wealth, self.now.n_seen

    def set_state(self, counts, wealth, n_seen):
        """Return to what `get_state` gave."""
        n_seen = count_of("n_seen", n_seen)
        counts = integers_within("counts", counts, N_LEVELS, 0, n_seen)
        wealth = doubles_of_shape("wealth", wealth, (PLAYERS,))
        total = sum(counts.tolist())
        if total > n_seen or not wealth.min() >= 0:
            raise ValueError("the losses that bets know must have been seen, and wealth is >= 0")
        cdef const int64_t[::1] own = counts
        cdef const double[::1] won = wealth
        memcpy(self.now.counts, &own[0], sizeof(self.now.counts))
        memcpy(self.now.wealth, &won[0], sizeof(self.now.wealth))
        self.now.n_seen, self.now.total = n_seen, total
        self.checkpoint()

    def __reduce__(self):
        return restore, (self.run_length, self.seed, *self.get_state())


def restore(run_length, seed, counts, wealth, n_seen):
    """Bets that go on from there."""
    bets = RankBets(run_length, seed)
    bets.set_state(counts, wealth, n_seen)
    return bets
