"""RankBets: a sequential test whether the losses of a stream grow, by betting on their ranks.

For each loss, p is the share of the losses since the last alarm that are larger, plus a random part
of those that are equal. While losses are exchangeable, the p are independent and uniform. Two
payoffs bet that p is small, ``f_1 = 1 - 2 p`` and ``f_2 = 1 / (2 sqrt(p)) - 1``, each with six
stakes s: ``R <- (R + 1) (1 + s f)``. An alarm is raised when the mean of the twelve R reaches the
run length. The mean number of losses between two false alarms is then at least the run length
(`onlinekern.drift.LossDetector` has the proof).
"""
from libc.math cimport rint, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.state cimport (
    count_of, doubles_of_shape, integer_within, integers_within, positive_number)

# Losses are rounded to this many levels.
LEVELS = N_LEVELS
# Shares of the wealth that are staked. The mean of the bets adapts to payoffs of any size: it
# reaches a threshold at the latest when the best stake reaches six times the threshold. A single
# stake of 0.5 is a little faster for the payoffs of a witness
# (`benchmarks/alarms.py --part stakes`).
STAKES = (0.03, 0.06, 0.125, 0.25, 0.5, 0.9)
cdef double[N_STAKES] SHARES = STAKES
# The constants of SplitMix64 (Steele, Lea, Flood 2014).
cdef uint64_t GAMMA = 0x9E3779B97F4A7C15, FIRST = 0xBF58476D1CE4E5B9, SECOND = 0x94D049BB133111EB


cdef double uniform(uint64_t seed, uint64_t number) noexcept nogil:
    """Random number in (0, 1) for a loss, by its number: independent of how calls are divided."""
    cdef uint64_t z = seed + number * GAMMA
    z = (z ^ (z >> 30)) * FIRST
    z = (z ^ (z >> 27)) * SECOND
    return (<double> ((z ^ (z >> 31)) >> 11) + 0.5) * 2.0 ** -53


cdef class RankBets:
    """Bets on losses in [0, 1], rounded to 256 levels, at the beginning of a stream.

    Parameters
    ----------
    run_length : float > 0
        The mean wealth that raises an alarm.
    seed : int in [0, 2**63)
        Seed of the random ranks of equal losses.
    """

    def __cinit__(self, run_length, seed=0):
        self.run_length = positive_number("run_length", run_length)
        self.seed = integer_within("seed", seed, 0, 2**63 - 1)

    cdef void forget(self) noexcept nogil:
        """Reset all but the number of losses."""
        cdef int64_t n_seen = self.now.n_seen
        memset(&self.now, 0, sizeof(Bets))
        self.now.n_seen = n_seen

    cdef bint see(self, double share) noexcept nogil:
        """Bet on a loss. Returns whether it raises an alarm; the bets are then reset."""
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
        """Bet on losses up to an alarm. Returns the index of the loss that raised it, or None."""
        cdef Py_ssize_t i
        for i in range(shares.shape[0]):
            if not 0 <= shares[i] <= 1:
                raise ValueError(f"losses must be in [0, 1], got {shares[i]}")
            if self.see(shares[i]):
                return i
        return None

    cdef void checkpoint(self) noexcept nogil:
        """Save the state for `rollback`."""
        self.saved = self.now

    cdef void rollback(self) noexcept nogil:
        """Return to the last checkpoint."""
        self.now = self.saved

    def get_state(self):
        """Counts of the losses by level, ndarray; the twelve wealths, ndarray; the losses seen."""
        counts, wealth = np.empty(N_LEVELS, dtype=np.int64), np.empty(PLAYERS)
        cdef int64_t[::1] own = counts
        cdef double[::1] won = wealth
        memcpy(&own[0], self.now.counts, sizeof(self.now.counts))
        memcpy(&won[0], self.now.wealth, sizeof(self.now.wealth))
        return counts, wealth, self.now.n_seen

    def set_state(self, counts, wealth, n_seen):
        """Restore the result of `get_state`, which is checked."""
        n_seen = count_of("n_seen", n_seen)
        counts = integers_within("counts", counts, N_LEVELS, 0, n_seen)
        wealth = doubles_of_shape("wealth", wealth, (PLAYERS,))
        total = sum(counts.tolist())
        if total > n_seen or not wealth.min() >= 0:
            raise ValueError("counts must sum to at most n_seen, and wealth must be >= 0")
        cdef const int64_t[::1] own = counts
        cdef const double[::1] won = wealth
        memcpy(self.now.counts, &own[0], sizeof(self.now.counts))
        memcpy(self.now.wealth, &won[0], sizeof(self.now.wealth))
        self.now.n_seen, self.now.total = n_seen, total
        self.checkpoint()

    def __reduce__(self):
        return restore, (self.run_length, self.seed, *self.get_state())


def restore(run_length, seed, counts, wealth, n_seen):
    """Bets with the state of `get_state`."""
    bets = RankBets(run_length, seed)
    bets.set_state(counts, wealth, n_seen)
    return bets
