"""LinearSpace: linear functions of the samples, under one scale, with their running average.

The score of output k is scale * (w_k.x + b_k). The scale and the average are those of
`base.scaled_average`. The average costs one more sparse sum per score, and one more per update.
"""
from cython cimport final
from libc.stdint cimport int64_t

import numpy as np

from onlinekern.core.base.part cimport OK, Status
from onlinekern.core.base.scaled_average cimport (
    averaged_array, averaged_score, companion_step, count_model, fold_scale, n_averaged,
)
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_sparse_row, ops_for
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.row_arithmetic cimport (
    dense_row_dot, row_dots, row_square, sparse_row_add, sparse_row_dot,
)
from onlinekern.core.samples.rows cimport Rows, dense_row, is_sparse, sparse_row

# The score of the average is a difference of numbers that are larger than it by a factor of up to
# 1 / scale: its relative error is about 2^-53 / scale. Without an average, only the range of a
# double is a limit.
cdef double SMALLEST_AVERAGED = 1e-3
cdef double SMALLEST = 1e-100


cdef class LinearSpace(Space):
    """Linear functions, all 0.

    Parameters
    ----------
    d : int
        Features of a sample.
    dtype : numpy.float32 or numpy.float64
        Of the samples; weights are double.
    n_outputs : int
    averaged : bool
        Predict with the average of the models instead of the last one.
    intercept : float >= 0, default=1
        The step of the constant b in units of the coefficient; 0 for none. b shrinks as the
        weights do.
    skipped : int >= 0, default=0
        Models that the average leaves out: it is that of f_{skipped + 1} ... f_{t + 1} after t
        samples, f_1 = 0, and the last model as long as there is none.
    counted : bool, default=False
        Whether the length of a sample is that with its constant: coefficient a then moves the score
        of its own sample by a times the length. It may change between calls.
    """

    def __init__(self, Py_ssize_t d, dtype, Py_ssize_t n_outputs, bint averaged,
                 double intercept=1.0, int64_t skipped=0, bint counted=False):
        self.d = d
        self.ops = ops_for(np.dtype(dtype).itemsize)
        self.n_outputs = n_outputs
        self.averaged = averaged
        self.intercept = intercept
        self.counted = counted
        self.width = (d + LINE) // LINE * LINE
        self.blocks = JournaledMatrix(
            "linear weights", (1 + averaged) * n_outputs * self.width // LINE, LINE)
        self.average.scale = 1
        self.average.skipped = skipped

    cdef Py_ssize_t size(self) noexcept nogil:
        """Work per sample, in kernel values of some sixteen features."""
        return self.n_outputs * (1 + self.d // 16)

    @final
    cdef void score_row(self, const Rows *rows, Py_ssize_t i, double *current,
                        double *averaged) noexcept nogil:
        """Scores of the last model, and of the one that predicts, which shared memory holds."""
        cdef Py_ssize_t k
        cdef double scale = self.average.scale
        cdef double[2] sums
        if not self.averaged or n_averaged(&self.average) <= 1:
            self.score_last(rows, i, current, averaged)
            return
        for k in range(self.n_outputs):
            row_dots(rows, i, self.weights(k), self.companions(k), sums)
            sums[0] += self.weights(k)[self.d]
            sums[1] += self.companions(k)[self.d]
            current[k] = scale * sums[0]
            averaged[k] = averaged_score(&self.average, sums[0], sums[1])

    @final
    cdef void score_last(self, const Rows *rows, Py_ssize_t i, double *one,
                         double *other) noexcept nogil:
        """Scores of the last model, twice."""
        cdef Py_ssize_t k
        if not is_sparse(rows):
            self.score_dense(rows, i, one, other)
            return
        for k in range(self.n_outputs):
            one[k] = other[k] = self.affine(k, sparse_row_dot(rows, i, self.weights(k)))

    # Not final, and so never inlined: the registers that its calls need would burden sparse rows.
    cdef void score_dense(self, const Rows *rows, Py_ssize_t i, double *one,
                          double *other) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            one[k] = other[k] = self.affine(k, dense_row_dot(rows, i, self.weights(k)))

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        if self.averaged:
            self.score_row(&self.rows, self.row_number(i), current, averaged)
        else:
            self.score_last(&self.rows, self.row_number(i), current, averaged)

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """||x||^2, with the constant if it is counted."""
        cdef Py_ssize_t k
        cdef double square = row_square(&self.rows, self.row_number(i))
        if self.counted:
            square += self.intercept
        for k in range(self.n_outputs):
            if update.needs_length[k]:
                update.lengths[k] = square

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        self.advance()
        if update.shrink != 1:
            self.shrink(update.shrink)
        if update.updates:
            self.add_sample(i, update.coefficients)
        return OK

    @final
    cdef void add_sample(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        """Give sample i its coefficients."""
        cdef Py_ssize_t k, row = self.row_number(i)
        for k in range(self.n_outputs):
            if coefficients[k] != 0:
                self.add(k, &self.rows, row, coefficients[k])

    @final
    cdef void advance(self) noexcept nogil:
        """Count one step: f_t has been scored and enters the average. Before `shrink`, `add`."""
        count_model(&self.average)

    @final
    cdef void shrink(self, double factor) noexcept nogil:
        """f <- factor f, in O(1) but for a rare fold."""
        cdef double least = SMALLEST_AVERAGED if self.averaged else SMALLEST
        if self.average.scale * factor < least:
            self.fold(factor)
        else:
            self.average.scale *= factor

    @final
    cdef void fold(self, double factor) noexcept nogil:
        """Multiply scale * factor into the weights. The sum of the models does not change."""
        self.blocks.touch_all()
        fold_scale(&self.average, factor, self.weights(0),
                   self.companions(0) if self.averaged else NULL, self.n_outputs * self.width)

    @final
    cdef void add(self, Py_ssize_t k, const Rows *rows, Py_ssize_t row,
                  double coefficient) noexcept nogil:
        """f_k += coefficient (x.row + intercept)"""
        cdef double step = coefficient / self.average.scale
        self.add_row(k, rows, row, step)
        if self.averaged:
            self.add_row(self.n_outputs + k, rows, row, companion_step(&self.average, step))
        if self.intercept != 0:
            self.move(k, self.d, step * self.intercept)

    @final
    cdef void add_row(self, Py_ssize_t target, const Rows *rows, Py_ssize_t row,
                      double step) noexcept nogil:
        """Add a sample to a row of the numbers."""
        cdef double *numbers = self.blocks.values + target * self.width
        if not self.blocks.all_touched():
            self.touch_features(target, rows, row)
        if is_sparse(rows):
            sparse_row_add(rows, row, step, numbers)
        else:
            self.ops.add(dense_row(rows, row), step, numbers, self.d)

    @final
    cdef void touch_features(self, Py_ssize_t target, const Rows *rows,
                             Py_ssize_t row) noexcept nogil:
        """Let the weights of the features that a sample stores be changed."""
        cdef ok_sparse_row x
        cdef Py_ssize_t j
        if not is_sparse(rows):
            self.touch(target)
            return
        x = sparse_row(rows, row)
        for j in range(x.count):
            self.blocks.touch((target * self.width + x.columns[j]) // LINE)

    cdef void checkpoint(self) noexcept nogil:
        self.saved_average = self.average
        self.blocks.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.average = self.saved_average
        self.blocks.rollback()

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        """Predicting scores of n samples into out (n x n_outputs); nothing is written elsewhere."""
        cdef Py_ssize_t i
        for i in range(n):
            self.score_row(rows, first + i, out + i * self.n_outputs, out + i * self.n_outputs)
        return OK

    def latest(self):
        """Weights and constants of the last model, ndarray of shape (n_outputs, d + 1)."""
        return self.average.scale * self.numbers(0)

    def effective(self):
        """The same of the model that predicts."""
        if not self.averaged or n_averaged(&self.average) <= 1:
            return self.latest()
        return averaged_array(&self.average, self.numbers(0), self.numbers(1))

    def numbers(self, Py_ssize_t part):
        """The weights (part 0) or their companions (1) without the scale, (n_outputs, d + 1)."""
        rows = self.blocks.to_array().reshape(-1, self.n_outputs, self.width)
        return np.ascontiguousarray(rows[part, :, :self.d + 1])

    def resume(self, latest, predicting=None, int64_t steps=0):
        """Take over the models of another run.

        Parameters
        ----------
        latest : ndarray of shape (n_outputs, d + 1)
            Weights and constants of the last model.
        predicting : ndarray of the same shape, optional
            Their average; by default there is none yet.
        steps : int
            Samples that they have learnt.
        """
        count = max(steps + 1 - self.average.skipped, 1)
        rows = np.zeros((1 + self.averaged, self.n_outputs, self.width))
        rows[0, :, :self.d + 1] = latest
        if self.averaged and predicting is not None:
            rows[1, :, :self.d + 1] = count * (np.asarray(latest) - predicting)
        self.blocks.set_array(rows.reshape(-1, LINE))
        self.average.steps, self.average.scale, self.average.total = steps, 1, count - 1

    @property
    def steps(self):
        """Samples learnt."""
        return self.average.steps

    def arguments(self):
        """What makes an empty space like this one."""
        dtype = np.float32 if self.ops.itemsize == 4 else np.float64
        return (self.d, dtype, self.n_outputs, self.averaged, self.intercept,
                self.average.skipped, self.counted)

    def get_state(self):
        """All that was learnt, as a dictionary."""
        return {
            "blocks": self.blocks.to_array(), "steps": self.average.steps,
            "scale": self.average.scale, "total": self.average.total,
        }

    def set_state(self, state):
        """Take over what `get_state` gave."""
        self.blocks.set_array(state["blocks"])
        self.average.steps, self.average.scale = state["steps"], state["scale"]
        self.average.total = state["total"]
        self.saved_average = self.average

    def __reduce__(self):
        return restore, (type(self), self.arguments(), self.get_state())


def restore(cls, arguments, state):
    """A space of the class with what it had learnt (for pickling)."""
    space = cls(*arguments)
    space.set_state(state)
    return space
