"""SketchedSpace: linear functions that step once per batch, regularised by sketched scatters.

Layer 9. The rule gives every sample the coefficient of its loss; the space collects
coefficient times sample, follows the statistics of the stream, and at the end of a batch steps
along the mean of the collected and the gradient of the discriminant. A batch ends after
`batch_size` samples, wherever the calls end.

With the quadratic discriminant the weights may grow without bound. They are numbers times
2^exponent, and the numbers are halved as often as it takes to keep them small, which rounds
nothing: only their range is unlimited. The intercepts share the exponent.
"""
from libc.math cimport fabs, frexp, isfinite, ldexp, sqrt
from libc.string cimport memset

from onlinekern.core.guarded cimport Guarded
from onlinekern.core.rowops cimport row_add, row_dots
from onlinekern.core.rows cimport Rows
from onlinekern.core.scatters cimport Scatter
from onlinekern.core.spaces cimport Space

# Weights that give the usual sample a larger score have grown without bound: a margin is 1.
cdef double LARGEST_SCORE = 2.0 ** 30
# Scores are given with at most this exponent, so that they are finite: the sign and the order of
# the outputs are what they would be, the size is not.
cdef int LARGEST_EXPONENT = 300


cdef class SketchedSpace(Space):
    """Linear functions of the samples.

    Parameters
    ----------
    scatter : Scatter
    discriminant : Discriminant
    step_size : Step
    n_outputs : int
        1 for two classes, else the number of classes.
    batch_size : int
    intercept : bool
        Whether there is a constant, which the loss alone moves.
    averaged : bool
        Predict with w_bar <- w_bar + min(1, 4 / (t + 3)) (w - w_bar), t counting batches.
    """

    def __init__(self, Scatter scatter, discriminant, step_size, Py_ssize_t n_outputs,
                 Py_ssize_t batch_size, bint intercept, bint averaged):
        self.scatter = scatter
        self.discriminant = discriminant
        self.step_size = step_size
        self.n_outputs = n_outputs
        self.batch_size = batch_size
        self.intercept = intercept
        self.averaged = averaged
        self.weights = Guarded(n_outputs, scatter.d + 1)
        self.average = Guarded(n_outputs, scatter.d + 1) if averaged else self.weights
        self.collected = Guarded(n_outputs, scatter.d + 1)

    cdef Py_ssize_t size(self) noexcept nogil:
        """Work per sample, in kernel values of a few numbers each."""
        return (self.scatter.sketch.size + self.n_outputs) * (self.scatter.d // 64 + 1)

    cdef double unit(self) noexcept nogil:
        """2^exponent, or the largest power of two that a score is multiplied by."""
        return ldexp(1, <int> min(self.progress.exponent, <int64_t> LARGEST_EXPONENT))

    cdef void score_row(self, const Rows *rows, Py_ssize_t i, double *current,
                        double *averaged) noexcept nogil:
        cdef Py_ssize_t k, d = self.scatter.d
        cdef double[2] sums
        cdef double unit = self.unit()
        for k in range(self.n_outputs):
            row_dots(rows, i, self.weights.row(k), self.average.row(k), sums)
            current[k] = unit * (sums[0] + self.weights.row(k)[d])
            averaged[k] = unit * (sums[1] + self.average.row(k)[d])

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        self.score_row(&self.rows, self.row_number(i), current, averaged)

    cdef void lengths(self, Py_ssize_t i, double *out) noexcept nogil:
        """Not used by a gradient step, and so not computed."""
        memset(out, 0, self.n_outputs * sizeof(double))

    cdef void observe(self, Py_ssize_t i, double y, double weight) noexcept nogil:
        self.label = <Py_ssize_t> y
        self.weight = weight

    cdef int update(self, Py_ssize_t i, double shrink, bint updates,
                    const double *coefficients) noexcept nogil:
        """Take sample i into the statistics and the batch, which may end with it."""
        cdef Py_ssize_t k, row = self.row_number(i)
        cdef double *collected
        cdef int status = self.scatter.add(&self.rows, row, self.label, self.weight)
        if status < 0:
            return status
        for k in range(self.n_outputs if updates else 0):
            if coefficients[k] != 0:
                collected = self.collected.touch(k)
                row_add(&self.rows, row, coefficients[k], collected)
                collected[self.scatter.d] += coefficients[k]
        self.progress.pending += 1
        return self.step() if self.progress.pending == self.batch_size else 0

    cdef int step(self) noexcept nogil:
        """End the batch: w <- w - alpha_t (gradient - mean of the collected). -2: overflow."""
        cdef Py_ssize_t j, length = self.n_outputs * (self.scatter.d + 1)
        cdef double curvature, share
        cdef double *average = self.average.values
        cdef const double *weights = self.weights.values
        self.weights.touch_all()
        self.average.touch_all()
        self.collected.touch_all()
        self.scatter.refresh()
        self.progress.steps += 1
        curvature = self.discriminant.curvature(self.scatter)
        self.descend(self.step_size.at(self.progress.steps, curvature,
                                       self.scatter.mean_square()))
        self.progress.pending = 0
        if self.averaged:
            share = min(1.0, 4.0 / (self.progress.steps + 3))
            for j in range(length):
                average[j] += share * (weights[j] - average[j])
        return self.settle()

    cdef void descend(self, double rate) noexcept nogil:
        """Step, and empty the batch."""
        cdef Py_ssize_t j, k, d = self.scatter.d, length = self.n_outputs * (d + 1)
        cdef double unit = ldexp(1, -<int> min(self.progress.exponent, <int64_t> 5000))
        cdef double *move = self.collected.values
        cdef double *weights = self.weights.values
        for j in range(length):
            move[j] *= -unit / self.progress.pending
        for k in range(0 if self.intercept else self.n_outputs):
            move[k * (d + 1) + d] = 0
        self.discriminant.gradient(self.scatter, self.weights.values, self.n_outputs, unit, move)
        for j in range(length):
            weights[j] -= rate * move[j]
            move[j] = 0

    cdef int settle(self) noexcept nogil:
        """Keep the numbers small. Returns 0, or -2 when they are no longer finite."""
        cdef Py_ssize_t j, length = self.n_outputs * (self.scatter.d + 1)
        cdef double largest = 0
        cdef double *weights = self.weights.values
        cdef double *average = self.average.values
        cdef int exponent
        for j in range(length):
            # Written so that NaN, too, ends as the largest.
            if not fabs(weights[j]) <= largest:
                largest = fabs(weights[j])
        if not isfinite(largest):
            return -2
        if largest * sqrt(self.scatter.mean_square()) <= LARGEST_SCORE:
            return 0
        frexp(largest, &exponent)
        for j in range(length):
            weights[j] = ldexp(weights[j], -exponent)
            if self.averaged:
                average[j] = ldexp(average[j], -exponent)
        self.progress.exponent += exponent
        return 0

    cdef void checkpoint(self) noexcept nogil:
        self.saved = self.progress
        self.scatter.checkpoint()
        self.weights.checkpoint()
        self.average.checkpoint()
        self.collected.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.progress = self.saved
        self.scatter.rollback()
        self.weights.rollback()
        self.average.rollback()
        self.collected.rollback()

    cdef int score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                   double *out) noexcept nogil:
        """Predicting scores of n samples into out (n x n_outputs); nothing is written elsewhere."""
        cdef Py_ssize_t i
        for i in range(n):
            self.score_row(rows, first + i, out + i * self.n_outputs, out + i * self.n_outputs)
        return 0

    def end_batch(self):
        """Step with the samples of the open batch, if there are any, as if they were all of it.

        Raises
        ------
        FloatingPointError
            When the weights overflow; the space is then as it was.
        """
        self.checkpoint()
        if self.progress.pending > 0 and self.step() < 0:
            self.rollback()
            raise FloatingPointError("the weights are no longer finite: scale the features")

    def effective(self):
        """Weights and intercepts of the model that predicts, ndarray (n_outputs, d + 1)."""
        return self.unit() * self.average.to_array()

    def latest(self):
        """The same of the last step, whether or not it predicts."""
        return self.unit() * self.weights.to_array()

    @property
    def n_steps(self):
        """Batches learnt."""
        return self.progress.steps

    @property
    def n_pending(self):
        """Samples of the open batch."""
        return self.progress.pending

    @property
    def is_busy_next(self):
        """Whether the next sample ends the batch or fills the sketch."""
        return self.progress.pending + 1 == self.batch_size \
            or self.scatter.sketch.tally.n + 1 == 2 * self.scatter.sketch.size

    @property
    def exponent(self):
        """The weights are numbers times 2^exponent; > 0 once they have grown without bound."""
        return self.progress.exponent

    def __reduce__(self):
        arguments = (self.scatter, self.discriminant, self.step_size, self.n_outputs,
                     self.batch_size, self.intercept, self.averaged)
        state = (self.weights.to_array(), self.average.to_array(), self.collected.to_array(),
                 self.progress.steps, self.progress.exponent, self.progress.pending)
        return _restore, (arguments, state)


def _restore(arguments, state):
    cdef SketchedSpace space = SketchedSpace(*arguments)
    space.weights.from_array(state[0])
    space.average.from_array(state[1])
    space.collected.from_array(state[2])
    space.progress.steps, space.progress.exponent, space.progress.pending = state[3:]
    space.checkpoint()
    return space
