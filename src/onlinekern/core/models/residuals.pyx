"""Residuals: how far the last predictions were off, and which intervals would have covered them.

A residual e = y - f of a prediction of variance v (in units of the noise) counts as
s = |e| / sqrt(1 + v). An interval f +- q sqrt(1 + v) covers y if s <= q. q is the quantile 1 - a of
the last residuals, where a is moved after each sample by what it has covered (adaptive conformal
inference, Gibbs and Candes 2021, eq. 2): a <- a + rate (wanted - missed). In the long run the share
of samples that are missed is the one wanted, whatever the stream does.
"""
from libc.math cimport ceil, fabs, sqrt
from libc.stdint cimport int64_t

import numpy as np

from onlinekern.core.base.part cimport Component
from onlinekern.core.base.state cimport count_of, doubles_of_shape, fields_of
from onlinekern.core.base.undo cimport JournaledMatrix

# Residuals that are kept: enough for the quantile of 99 %, few enough to follow a stream.
cdef enum:
    KEPT = 512
    LINE = 8
# The shares to be missed that are followed; those between are interpolated.
LEVELS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
cdef Py_ssize_t N_LEVELS = len(LEVELS)
cdef double[::1] WANTED = np.array(LEVELS)
# Of the step of a: the paper's 0.005.
cdef double RATE = 0.005


cdef class Residuals(Component):
    """The last residuals of a stream, none at first."""

    def __cinit__(self):
        cdef Py_ssize_t level
        self.recent = JournaledMatrix("recent residuals", KEPT // LINE, LINE)
        self.levels = JournaledMatrix("levels of residuals", 1, N_LEVELS)
        for level in range(N_LEVELS):
            self.levels.values[level] = WANTED[level]

    cdef Py_ssize_t held(self) noexcept nogil:
        """How many residuals there are."""
        return <Py_ssize_t> min(self.seen, <int64_t> KEPT)

    cdef Py_ssize_t rank(self, double miscoverage) noexcept nogil:
        """Which of the residuals in ascending order is the quantile, from 1 on; 0: none, q = 0."""
        cdef Py_ssize_t n = self.held()
        return min(n, <Py_ssize_t> ceil((n + 1) * (1 - miscoverage)))

    cdef void add(self, double residual, double variance) noexcept nogil:
        """Take up the residual of a prediction of this variance."""
        cdef double size = fabs(residual) / sqrt(1 + variance)
        cdef double *levels = self.levels.touch(0)
        cdef Py_ssize_t i, level, smaller = 0, place = <Py_ssize_t> (self.seen % KEPT)
        for i in range(self.held()):
            smaller += self.recent.values[i] < size
        for level in range(N_LEVELS if self.seen > 0 else 0):
            levels[level] += RATE * (WANTED[level] - (smaller >= self.rank(levels[level])))
            levels[level] = min(max(levels[level], 0.0), 1.0)
        self.recent.touch(place // LINE)[place % LINE] = size
        self.seen += 1

    cdef void checkpoint(self) noexcept nogil:
        self.recent.checkpoint()
        self.levels.checkpoint()
        self.saved_seen = self.seen

    cdef void rollback(self) noexcept nogil:
        self.recent.rollback()
        self.levels.rollback()
        self.seen = self.saved_seen

    def quantile(self, double coverage):
        """q of the intervals that cover such a share of the samples, in (0, 1)."""
        wanted = (0.0, *LEVELS, 1.0)
        present = (0.0, *self.levels.to_array()[0], 1.0)
        rank = self.rank(np.interp(1 - coverage, wanted, present))
        held = np.sort(self.recent.to_array().ravel()[:self.held()])
        return float(held[rank - 1]) if rank > 0 else 0.0

    def scale(self):
        """Root of the mean square of the residuals: the standard deviation of the noise."""
        held = self.recent.to_array().ravel()[:self.held()]
        return float(np.sqrt(np.mean(held**2))) if len(held) > 0 else 0.0

    def __reduce__(self):
        recent = self.recent.to_array().ravel()[:self.held()].copy()
        return _restore, ({"seen": self.seen, "recent": recent,
                           "levels": self.levels.to_array()},)


def _restore(state):
    fields_of(state, "residuals", ("seen", "recent", "levels"))
    cdef Residuals residuals = Residuals()
    seen = count_of("seen", state["seen"])
    recent = doubles_of_shape("recent residuals", state["recent"], (min(seen, <Py_ssize_t> KEPT),))
    residuals.levels.set_array(state["levels"])
    if (recent < 0).any() or not ((state["levels"] >= 0) & (state["levels"] <= 1)).all():
        raise ValueError("residuals must be >= 0, and their levels in [0, 1]")
    whole = np.pad(recent, (0, KEPT - len(recent))).reshape(KEPT // LINE, LINE)
    residuals.recent.set_array(whole)
    residuals.seen = residuals.saved_seen = seen
    return residuals
