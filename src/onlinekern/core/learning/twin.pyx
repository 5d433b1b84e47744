"""TwinTarget: one expert learns a target y and its twin z on a logarithmic scale, as two outputs.

The twin is z = asinh(y / s). It is about linear near 0, and sign(y) log(2 |y| / s) for large
targets: effects that multiply in y add in z. s is half the median of |y| over the first `FIRST`
targets that are not 0, so the unit of y does not matter.

A prediction of z is converted to one of y, s exp(v / 2) sinh(z). That is the mean of y if z is
normally distributed about its prediction with variance v. v is the discounted mean (0.999) of the
squared errors of z so far. The predictions of y by both outputs are combined by a vote, like those
of experts.
"""
from libc.float cimport DBL_MAX
from libc.math cimport asinh, exp, fabs, sinh
from libc.string cimport memcpy, memmove

import numpy as np

from onlinekern.core.base.state cimport check_kind, doubles_of_shape, not_negative

# s is SHARE times the median |y| of the first FIRST targets that are not 0.
cdef Py_ssize_t FIRST = 256
cdef double SHARE = 0.5
# Arguments of exp and sinh are clipped here.
cdef double MOST = 50
# Both outputs vote, and learn.
cdef unsigned char[2] BOTH = [1, 1]


cdef class TwinTarget(Component):
    """Scale and errors of the twin, and the vote of both outputs, before the first target."""

    def __cinit__(self):
        self.vote = MeanVote((0.0, 0.0), 1)
        self.sizes, self.saved_sizes = np.zeros((2, FIRST))
        self.scale = 1

    def components(self):
        return (self.vote,)

    cdef void take(self, double y, double weight, double *goals) noexcept nogil:
        """Update the scale by y, and write y and its twin to `goals`."""
        cdef double size = fabs(y)
        cdef Py_ssize_t place = self.n_sizes
        if weight > 0 and size > 0 and place < FIRST:
            while place > 0 and self.sizes[place - 1] > size:
                place -= 1
            memmove(&self.sizes[0] + place + 1, &self.sizes[0] + place,
                    (self.n_sizes - place) * sizeof(double))
            self.sizes[place] = size
            self.n_sizes += 1
            self.rescale()
        # y / s may overflow, if s comes from targets below 1e-308.
        goals[0], goals[1] = y, asinh(max(-DBL_MAX, min(DBL_MAX, y / self.scale)))

    cdef void rescale(self) noexcept nogil:
        """Compute the scale from `sizes`."""
        cdef Py_ssize_t n = self.n_sizes
        cdef double median
        if n > 0:
            median = 0.5 * self.sizes[(n - 1) // 2] + 0.5 * self.sizes[n // 2]
            # Half of the smallest number is 0.
            self.scale = SHARE * median if SHARE * median > 0 else median

    cdef double factor(self, double scale) noexcept nogil:
        """s exp(v / 2)."""
        cdef double variance = self.errors / self.met if self.met > 0 else 0
        return scale * exp(min(MOST, variance / 2))

    cdef double said(self, double z, double factor) noexcept nogil:
        """Convert a prediction of z to one of y, within the bounds of the vote."""
        cdef double y = factor * sinh(max(-MOST, min(MOST, z)))
        self.vote.bound(&y)
        return y

    cdef void learn_row(self, const double *scores, const double *goals, double scale,
                        double weight, double *out, bint earns) noexcept nogil:
        """Write the prediction of a target to `out`, then learn from the errors of both outputs.

        `scale` is the scale before the target.
        """
        cdef double[2] given
        cdef double error = goals[1] - scores[1]
        cdef bint blind = self.vote.knows_nothing()
        given[0], given[1] = scores[0], self.said(scores[1], self.factor(scale))
        self.vote.learn_rows(given, 1, goals, &weight, BOTH, BOTH, out, earns)
        # The error of the first target is left out: nothing was learnt before it.
        if earns and weight > 0 and not blind:
            self.errors = self.vote.decay * self.errors + weight * error * error
            self.met = self.vote.decay * self.met + weight

    cdef int check_total(self) except -1:
        """Raise FloatingPointError if a loss has overflowed."""
        return self.vote.check_total()

    cdef Py_ssize_t work_size(self, Py_ssize_t n) noexcept nogil:
        """Numbers in the buffer of n predictions."""
        return 2 * n + self.vote.work_size()

    cdef void answer_rows(self, const double *scores, Py_ssize_t n, double *memory,
                          double *out) noexcept nogil:
        """Predict n targets, with a buffer of `work_size`; several threads may do it at once."""
        cdef Py_ssize_t i
        cdef double factor = self.factor(self.scale)
        for i in range(n):
            memory[i], memory[n + i] = scores[2 * i], self.said(scores[2 * i + 1], factor)
        self.vote.combine_rows(memory, n, BOTH, memory + 2 * n, out)

    def goals(self, const double[::1] y, const double[::1] weight=None):
        """Targets of both outputs, (n, 2), and the scale before each, (n,); updates the scale."""
        cdef Py_ssize_t i
        goals, scales = np.empty((len(y), 2)), np.empty(len(y))
        cdef double[:, ::1] both = goals
        cdef double[::1] before = scales
        for i in range(y.shape[0]):
            before[i] = self.scale
            self.take(y[i], 1 if weight is None else weight[i], &both[i, 0])
        return goals, scales

    def learn(self, const double[:, ::1] scores, const double[:, ::1] goals,
              const double[::1] scales, const double[::1] weight, double[:, ::1] out,
              bint earns=True):
        """Predict targets one after the other, each before its error is learnt from.

        Parameters
        ----------
        scores : ndarray of shape (n, 2)
            Scores of both outputs, from before each sample was learnt.
        goals, scales
            Results of `goals`.
        weight : ndarray of shape (n,), or None
        out : ndarray of shape (n, 1)
            Overwritten with the predictions.
        earns : bool, default=True
            Whether to learn from errors; False if the expert has learnt the samples before.
        """
        cdef Py_ssize_t i, n = scores.shape[0]
        if scores.shape[1] != 2 or goals.shape[0] != n or goals.shape[1] != 2 \
                or scales.shape[0] != n or out.shape[0] != n or out.shape[1] != 1 \
                or (weight is not None and weight.shape[0] != n):
            raise ValueError("scores, goals, scales, weight and out of a twin must fit together")
        for i in range(n):
            self.learn_row(&scores[i, 0], &goals[i, 0], scales[i],
                           1 if weight is None else weight[i], &out[i, 0], earns)
        self.check_total()

    def combine(self, const double[:, ::1] scores, double[:, ::1] out):
        """Predict targets from the scores of both outputs; see `learn`."""
        cdef Py_ssize_t n = scores.shape[0]
        if scores.shape[1] != 2 or out.shape[0] != n or out.shape[1] != 1:
            raise ValueError("scores of a twin must have the shape (n, 2), its answers (n, 1)")
        cdef double[::1] memory = np.empty(self.work_size(n))
        if n > 0:
            self.answer_rows(&scores[0, 0], n, &memory[0], &out[0, 0])

    def formula(self):
        """Weights of both outputs in a prediction, and the factor s exp(v / 2) of sinh(z)."""
        own, twin = self.vote.factors(np.ones(2, dtype=np.uint8))
        return float(own), float(twin), self.factor(self.scale)

    cdef void checkpoint(self) noexcept nogil:
        """Save the state for `rollback`."""
        self.vote.checkpoint()
        if self.n_saved != self.n_sizes:
            memcpy(&self.saved_sizes[0], &self.sizes[0], self.n_sizes * sizeof(double))
        self.n_saved, self.saved_scale = self.n_sizes, self.scale
        self.saved_errors, self.saved_met = self.errors, self.met

    cdef void rollback(self) noexcept nogil:
        """Return to the last checkpoint."""
        self.vote.rollback()
        memcpy(&self.sizes[0], &self.saved_sizes[0], self.n_saved * sizeof(double))
        self.n_sizes, self.scale = self.n_saved, self.saved_scale
        self.errors, self.met = self.saved_errors, self.saved_met

    def __reduce__(self):
        sizes = np.array(self.sizes[:self.n_sizes])
        return restore, (self.vote, sizes, self.errors, self.met)


def restore(vote, sizes, errors, met):
    """A twin with the state of `__reduce__`, checked."""
    cdef TwinTarget twin = TwinTarget()
    check_kind(vote, "the vote of a twin", MeanVote)
    count = min(len(sizes), FIRST)
    known = doubles_of_shape("sizes", sizes, (count,))
    if (<MeanVote> vote).n_experts != 2 or not (known > 0).all() or (np.diff(known) < 0).any():
        raise ValueError("a twin has a vote of two, and sizes > 0 in ascending order")
    twin.vote, twin.n_sizes = vote, count
    np.asarray(twin.sizes)[:count] = known
    twin.errors, twin.met = not_negative("errors", errors), not_negative("met", met)
    twin.rescale()
    twin.checkpoint()
    return twin
