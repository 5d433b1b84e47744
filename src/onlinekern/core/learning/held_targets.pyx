"""HeldTargets: clips targets that are outliers.

A target y is far if it is more than `FAR` standard deviations of the targets from their mean, and
more than `LONGEST` mean absolute errors from the prediction f. Far targets may be outliers, or rare
events that the features explain. So a far target is clipped only if two things hold for the samples
before it:

- The model explains most of the targets: the mean absolute error is less than `EXPLAINED` times the
  mean absolute deviation of the targets.
- The predictions did not foresee the far targets so far. Sum the predictions for them, each with
  the sign of its target: the sum is below `TRUSTED` standard deviations of what chance gives.
  Predictions that foresee rare events have the same sign as these.

A clipped target is learnt as f plus or minus `LONGEST` mean errors, as in a gradient step on the
loss of Huber (1964). The means are of the last 200 or so samples; far targets enter them clipped.
"""
from libc.math cimport copysign, fabs, isfinite

import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape

# See above. No target is clipped before FEWEST samples.
cdef double FAR = 5
cdef double LONGEST = 10
cdef double EXPLAINED = 0.6
cdef double TRUSTED = 2
cdef double FEWEST = 50
# The means remember WINDOW samples. KEEP discounts the sum of predictions at each far target.
cdef double WINDOW = 200
cdef double KEEP = 0.99
# Predictions are clipped at MOST deviations in that sum. Targets beyond FARTHEST deviations are not
# clipped: the learner refuses them as errors.
cdef double MOST = 1e6
cdef double FARTHEST = 1e30

# Numbers of an output: samples, up to `WINDOW`; mean absolute error; mean absolute deviation; sum
# of the predictions for far targets, each with the sign of its target; and the variance of that sum
# by chance, the sum of the squared predictions.
cdef enum: N, ERROR, SPREAD, AGREEMENT, CHANCE, FIELDS


cdef class HeldTargets:
    """Statistics of the targets of n_outputs outputs; all 0 at first."""

    def __cinit__(self, Py_ssize_t n_outputs):
        self.n_outputs = n_outputs
        self.numbers, self.saved = np.zeros((2, n_outputs, FIELDS))

    def __len__(self):
        return self.n_outputs

    cdef double hold(self, Py_ssize_t k, double y, double score, double offset,
                     double unit) noexcept nogil:
        """Return target k, clipped if it is an outlier; update the statistics.

        The prediction is f = offset + unit * score.
        """
        cdef double *own = &self.numbers[k, 0]
        cdef double f = offset + unit * score, error = y - f, size = fabs(error), near = size
        cdef double goal = (y - offset) / unit, held = y, said, limit = LONGEST * own[ERROR]
        if not (isfinite(size) and fabs(goal) <= FARTHEST):
            return y
        if own[N] >= FEWEST and size > limit and fabs(goal) > FAR:
            near = limit
            if own[ERROR] < EXPLAINED * own[SPREAD] and not (
                    own[AGREEMENT] > 0 and own[AGREEMENT] * own[AGREEMENT]
                    > TRUSTED * TRUSTED * own[CHANCE]):
                held = f + copysign(limit, error)
            said = max(-MOST, min(MOST, score))
            own[AGREEMENT] = KEEP * own[AGREEMENT] + copysign(said, said * goal)
            own[CHANCE] = KEEP * KEEP * own[CHANCE] + said * said
        own[N] = min(own[N] + 1, WINDOW)
        own[ERROR] += (near - own[ERROR]) / own[N]
        own[SPREAD] += (fabs(f + copysign(near, error) - offset) - own[SPREAD]) / own[N]
        return held

    cdef void checkpoint(self) noexcept nogil:
        self.saved[:] = self.numbers

    cdef void rollback(self) noexcept nogil:
        self.numbers[:] = self.saved

    def get_numbers(self):
        """The statistics, ndarray of shape (n_outputs, 5)."""
        return np.array(self.numbers)

    def set_numbers(self, numbers):
        """Set the statistics from an array of `get_numbers`."""
        numbers = doubles_of_shape("held", numbers, (self.n_outputs, FIELDS))
        if (np.delete(numbers, AGREEMENT, axis=1) < 0).any() or (numbers[:, N] > WINDOW).any():
            raise ValueError("held must be >= 0 but for the agreement, and count at most "
                             f"{WINDOW:g} samples")
        cdef const double[:, ::1] given = numbers
        self.numbers[:] = given
        self.checkpoint()
