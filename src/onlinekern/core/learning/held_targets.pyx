"""HeldTargets: targets that are outliers are learnt as less far ones.

A target y is far if it is `FAR` deviations of all targets from their mean, and `LONGEST` mean
errors from the answer f. Far targets may be outliers, or rare events that the features tell of. So
two things are asked before a target is doubted, from what came before it:

- Whether the targets are mostly explained: the mean absolute error is less than `EXPLAINED` of the
  mean absolute deviation of the targets.
- Whether the answers knew nothing of the far targets so far. The sum of the answers, each with the
  sign of its far target, is that of chance, up to `TRUSTED` standard deviations. Answers that know
  of rare events lean to the side where these are.

A target that is doubted is learnt as f + `LONGEST` mean errors, or f minus as many: as a gradient
step on the loss of Huber (1964) sees it. The means are of the last 200 or so samples, and of far
targets hold what is near only.
"""
from libc.math cimport copysign, fabs, isfinite

import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape

# See above. Targets are not doubted before so many samples.
cdef double FAR = 5
cdef double LONGEST = 10
cdef double EXPLAINED = 0.6
cdef double TRUSTED = 2
cdef double FEWEST = 50
# The means remember so many samples; of the agreement this is left at the next far target.
cdef double WINDOW = 200
cdef double KEEP = 0.99
# Answers are no farther from the mean, in deviations. Targets beyond `FARTHEST` are errors, which
# the learner refuses.
cdef double MOST = 1e6
cdef double FARTHEST = 1e30

# Samples, up to `WINDOW`; mean absolute error, and deviation; the sum of the answers to far targets
# with the signs of these, and the sum of their squares, which is its variance by chance.
cdef enum: N, ERROR, SPREAD, AGREEMENT, CHANCE, FIELDS


cdef class HeldTargets:
    """What is known of the targets of so many outputs: nothing at first."""

    def __cinit__(self, Py_ssize_t n_outputs):
        self.n_outputs = n_outputs
        self.numbers, self.saved = np.zeros((2, n_outputs, FIELDS))

    def __len__(self):
        return self.n_outputs

    cdef double hold(self, Py_ssize_t k, double y, double score, double offset,
                     double unit) noexcept nogil:
        """Return what is learnt in the place of target k, and learn of the target.

        `score` is the answer before, in units of the targets from their mean, `offset`.
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
        """What is known, ndarray of shape (n_outputs, 5)."""
        return np.array(self.numbers)

    def set_numbers(self, numbers):
        """Go on from what `get_numbers` gave."""
        numbers = doubles_of_shape("held", numbers, (self.n_outputs, FIELDS))
        if (np.delete(numbers, AGREEMENT, axis=1) < 0).any() or (numbers[:, N] > WINDOW).any():
            raise ValueError("what is known of targets must be >= 0, but for how they agree")
        cdef const double[:, ::1] given = numbers
        self.numbers[:] = given
        self.checkpoint()
