"""Residuals: prediction intervals from the last residuals, by adaptive conformal inference.

A residual e = y - f of a prediction with variance v (in units of the noise) is scaled to
s = |e| / sqrt(1 + v). The interval f +- q sqrt(1 + v) covers y if s <= q, where q is the quantile
1 - a of the last scaled residuals. After each sample a <- a + rate (wanted - missed), where missed
is 1 if the interval did not cover y, else 0 (Gibbs and Candes 2021, eq. 2). In the long run the
share of samples not covered is `wanted` for any stream.
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

# KEPT residuals: enough for the quantile of 99 %, and few enough to follow a changing stream.
cdef enum:
    KEPT = 512
    LINE = 8
# Shares of samples not to be covered (`wanted`) for which a is kept; others are interpolated.
LEVELS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
cdef Py_ssize_t N_LEVELS = len(LEVELS)
cdef double[::1] WANTED = np.array(LEVELS)
# Tolerance for the rounding of 1 - coverage.
cdef double ROUNDING = 1e-9
# Rates of a: the paper's 0.005 for shares below 5 %; larger shares are estimated faster.
cdef double[::1] RATES = np.array([0.005] * 3 + [0.01] * 11)


cdef class Residuals(Component):
    """The last residuals of a stream; none at first.

    Parameters
    ----------
    n_outputs : int, default=1
        Each output has its own residuals and levels.
    """

    def __cinit__(self, Py_ssize_t n_outputs=1):
        cdef Py_ssize_t level
        self.n_outputs = integer_within("n_outputs", n_outputs, 1, MOST_OUTPUTS)
        self.recent = JournaledMatrix("recent residuals", n_outputs * (KEPT // LINE), LINE)
        self.levels = JournaledMatrix("levels of residuals", n_outputs, N_LEVELS)
        for level in range(n_outputs * N_LEVELS):
            self.levels.values[level] = WANTED[level % N_LEVELS]

    cdef Py_ssize_t held(self) noexcept nogil:
        """Number of residuals in the ring buffer of an output."""
        return <Py_ssize_t> min(self.seen, <int64_t> KEPT)

    cdef Py_ssize_t rank(self, double miscoverage) noexcept nogil:
        """Rank of the quantile 1 - miscoverage among the residuals, from 1 on; 0: q is 0."""
        cdef Py_ssize_t n = self.held()
        return min(n, <Py_ssize_t> ceil((n + 1) * (1 - miscoverage)))

    cdef void add(self, const double *steps, double weight, double variance) noexcept nogil:
        """Add the residuals steps / weight of a prediction with this variance."""
        cdef Py_ssize_t k
        if self.is_closed:
            return
        for k in range(self.n_outputs):
            self.take_up(k, fabs(steps[k] / weight) / sqrt(1 + variance))
        self.seen += 1

    cdef void take_up(self, Py_ssize_t k, double size) noexcept nogil:
        """Add a scaled residual of output k, and update its levels."""
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
        """Half width q of intervals that cover this share of the samples, in (0, 1).

        A float, or an ndarray of shape (n_outputs,) with several outputs, as that of `scale`. It is
        infinite as long as there are too few residuals: n of them bound a coverage of n / (n + 1).
        The first residual is not counted here, because the model had learnt nothing before it.
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
        """Root mean square of the scaled residuals: the standard deviation of the noise."""
        found = [float(np.sqrt(np.mean(held**2))) if len(held) > 0 else 0.0
                 for held in self.rings()]
        return found[0] if self.n_outputs == 1 else np.array(found)

    def rings(self):
        """The residuals in the ring buffers, ndarray of shape (n_outputs, n)."""
        whole = self.recent.to_array().reshape(self.n_outputs, KEPT)
        return np.ascontiguousarray(whole[:, :self.held()])

    def __reduce__(self):
        # In files: shape (n,) with one output, (n, n_outputs) with several.
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
