"""Residuals: how far the last predictions were off, and which intervals would have covered them.

A residual e = y - f of a prediction of variance v (in units of the noise) counts as
s = |e| / sqrt(1 + v). An interval f +- q sqrt(1 + v) covers y if s <= q. q is the quantile 1 - a of
the last residuals, where a is moved after each sample by what it has covered (adaptive conformal
inference, Gibbs and Candes 2021, eq. 2): a <- a + rate (wanted - missed). In the long run the share
of samples that are missed is the one wanted, whatever the stream does.
"""
from libc.math cimport ceil, fabs, sqrt
from libc.stdint cimport int64_t

from math import inf

import numpy as np

from onlinekern.core.base.part cimport Component
from onlinekern.core.base.state cimport (
    MOST_OUTPUTS, count_of, doubles_of_shape, fields_of, integer_within,
)
from onlinekern.core.base.undo cimport JournaledMatrix

# Residuals that are kept: enough for the quantile of 99 %, few enough to follow a stream.
cdef enum:
    KEPT = 512
    LINE = 8
# The shares to be missed that are followed; those between are interpolated.
LEVELS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
cdef Py_ssize_t N_LEVELS = len(LEVELS)
cdef double[::1] WANTED = np.array(LEVELS)
# 1 - coverage may be rounded.
cdef double ROUNDING = 1e-9
# The steps of a: the paper's 0.005 where less than 5 % are missed; other shares are known sooner.
cdef double[::1] RATES = np.array([0.005] * 3 + [0.01] * 11)


cdef class Residuals(Component):
    """The last residuals of a stream, none at first.

    Parameters
    ----------
    n_outputs : int, default=1
        Each output has its own.
    """

    def __cinit__(self, Py_ssize_t n_outputs=1):
        cdef Py_ssize_t level
        self.n_outputs = integer_within("n_outputs", n_outputs, 1, MOST_OUTPUTS)
        self.recent = JournaledMatrix("recent residuals", n_outputs * (KEPT // LINE), LINE)
        self.levels = JournaledMatrix("levels of residuals", n_outputs, N_LEVELS)
        for level in range(n_outputs * N_LEVELS):
            self.levels.values[level] = WANTED[level % N_LEVELS]

    cdef Py_ssize_t held(self) noexcept nogil:
        """How many residuals there are."""
        return <Py_ssize_t> min(self.seen, <int64_t> KEPT)

    cdef Py_ssize_t rank(self, double miscoverage) noexcept nogil:
        """Which of the residuals in ascending order is the quantile, from 1 on; 0: none, q = 0."""
        cdef Py_ssize_t n = self.held()
        return min(n, <Py_ssize_t> ceil((n + 1) * (1 - miscoverage)))

    cdef void add(self, const double *steps, double weight, double variance) noexcept nogil:
        """Take up the residuals, steps over weight, of a prediction of this variance."""
        cdef Py_ssize_t k
        if self.is_closed:
            return
        for k in range(self.n_outputs):
            self.take_up(k, fabs(steps[k] / weight) / sqrt(1 + variance))
        self.seen += 1

    cdef void take_up(self, Py_ssize_t k, double size) noexcept nogil:
        """Take up a residual of output k, over the root of its variance."""
        cdef double *levels = self.levels.touch(k)
        cdef const double *held = self.recent.values + k * KEPT
        cdef Py_ssize_t i, level, smaller = 0, place = <Py_ssize_t> (self.seen % KEPT)
        for i in range(self.held()):
            smaller += held[i] < size
        for level in range(N_LEVELS if self.seen > 0 else 0):
            levels[level] += RATES[level] * (WANTED[level]
                                             - (smaller >= self.rank(levels[level])))
            levels[level] = min(max(levels[level], 0.0), 1.0)
        self.recent.touch((k * KEPT + place) // LINE)[place % LINE] = size

    cdef void checkpoint(self) noexcept nogil:
        self.recent.checkpoint()
        self.levels.checkpoint()
        self.saved_seen = self.seen

    cdef void rollback(self) noexcept nogil:
        self.recent.rollback()
        self.levels.rollback()
        self.seen = self.saved_seen

    def quantile(self, double coverage):
        """q of the intervals that cover such a share of the samples, in (0, 1).

        A float; of several outputs an ndarray of shape (n_outputs,), as of `scale`. It is infinite
        as long as the residuals are too few: of n, the share n / (n + 1) is below the largest. The
        first one tells nothing, as the model had learnt nothing.
        """
        cdef Py_ssize_t rank
        wanted, found = (0.0, *LEVELS, 1.0), []
        if self.seen <= KEPT and self.seen * (1 - coverage) < 1 - ROUNDING:
            return inf if self.n_outputs == 1 else np.full(self.n_outputs, inf)
        for held, levels in zip(self.rings(), self.levels.to_array(), strict=True):
            rank = self.rank(np.interp(1 - coverage, wanted, (0.0, *levels, 1.0)))
            found.append(float(np.sort(held)[rank - 1]) if rank > 0 else 0.0)
        return found[0] if self.n_outputs == 1 else np.array(found)

    def scale(self):
        """Root of the mean square of the residuals: the standard deviation of the noise."""
        found = [float(np.sqrt(np.mean(held**2))) if len(held) > 0 else 0.0
                 for held in self.rings()]
        return found[0] if self.n_outputs == 1 else np.array(found)

    def rings(self):
        """The residuals that are held, ndarray of shape (n_outputs, n)."""
        whole = self.recent.to_array().reshape(self.n_outputs, KEPT)
        return np.ascontiguousarray(whole[:, :self.held()])

    def __reduce__(self):
        # The residuals of a sample are a row; those of the only output are numbers.
        recent = self.rings()[0] if self.n_outputs == 1 else np.ascontiguousarray(self.rings().T)
        return _restore, ({"seen": self.seen, "recent": recent,
                           "levels": self.levels.to_array()},)


def _restore(state):
    fields_of(state, "residuals", ("seen", "recent", "levels"))
    seen = count_of("seen", state["seen"])
    n = min(seen, <Py_ssize_t> KEPT)
    n_outputs = state["recent"].shape[1] if getattr(state["recent"], "ndim", 1) == 2 else 1
    cdef Residuals residuals = Residuals(n_outputs)
    recent = doubles_of_shape("recent residuals", state["recent"],
                              (n,) if n_outputs == 1 else (n, n_outputs))
    residuals.levels.set_array(state["levels"])
    if (recent < 0).any() or not ((state["levels"] >= 0) & (state["levels"] <= 1)).all():
        raise ValueError("residuals must be >= 0, and their levels in [0, 1]")
    whole = np.zeros((n_outputs, KEPT))
    whole[:, :n] = recent.reshape(n, n_outputs).T
    residuals.recent.set_array(whole.reshape(-1, LINE))
    residuals.seen = residuals.saved_seen = seen
    return residuals
