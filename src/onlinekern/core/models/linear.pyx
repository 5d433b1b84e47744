"""LinearSpace: linear functions with one common scale and a running average.

The score of output k is scale * (w_k.x + b_k). The scale and the average are those of
`base.scaled_average`. The average costs one more sparse sum per score, and one more per update.
"""
from cython cimport final
from libc.stdint cimport int64_t

import numpy as np

from onlinekern.core.base.part cimport OK, Status
from onlinekern.core.base.scaled_average cimport (
    averaged_array, averaged_score, averaging_of, begin_average, companion_step, count_model,
    fold_scale, n_averaged, renew_companions, renews, resume_average,
)
from onlinekern.core.base.state cimport (
    MOST_FEATURES, MOST_OUTPUTS, count_of, fields_of, finite_number, float_dtype, integer_within,
    positive_number, shown, subclass_of,
)
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_sparse_row, ops_for
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.row_arithmetic cimport (
    dense_row_dot, row_dots, row_square, sparse_row_add, sparse_row_dot, sparse_row_dot_square,
)
from onlinekern.core.samples.rows cimport Rows, dense_row, is_sparse, sparse_row

# Smallest scale before it is folded into the weights. With an average, a small scale costs
# precision: the averaged score is a difference of two numbers up to 1 / scale times larger, so its
# relative error is about 2^-53 / scale. Without an average, only the range of a double matters.
cdef double SMALLEST_AVERAGED = 1e-3
cdef double SMALLEST = 1e-100
LINEAR_FIELDS = ("blocks", "steps", "scale", "total")


cdef class LinearSpace(Space):
    """Linear functions, 0 at first.

    Parameters
    ----------
    d : int
        Features of a sample.
    dtype : numpy.float32 or numpy.float64
        Type of the samples. Weights are always float64.
    n_outputs : int
        Number of linear functions.
    averaged : bool, 'uniform', 'decay' or float in (0, 1)
        Whether to predict with an average of all models instead of the last one, and which average;
        see `base.scaled_average`.
    intercept : float >= 0, default=1
        Step of the intercept b: a coefficient a changes b by a * intercept. 0 for no intercept.
        b shrinks with the weights.
    skipped : int >= 0, default=0
        Number of first models that the average leaves out. After t samples it is the mean of
        f_{skipped + 1} ... f_{t + 1}, where f_1 = 0. Before f_{skipped + 1} it is the last model.
    intercept_in_length : bool, default=False
        Add `intercept` to the squared length of a sample. A coefficient a then changes the score
        of its own sample by a times the squared length. May change between calls.
    """

    def __cinit__(self, *arguments, **options):
        # Subclasses have arguments of their own. Without `__init__`, a space has no weights.
        self.ops = ops_for(sizeof(double))
        self.blocks = JournaledMatrix("linear weights", 0, LINE)
        begin_average(&self.average, False)

    def __init__(self, Py_ssize_t d, dtype, Py_ssize_t n_outputs, averaged,
                 double intercept=1.0, int64_t skipped=0, bint intercept_in_length=False):
        self.d = integer_within("d", d, 0, MOST_FEATURES)
        self.ops = ops_for(float_dtype(dtype).itemsize)
        self.n_outputs = integer_within("n_outputs", n_outputs, 1, MOST_OUTPUTS)
        self.averaging = averaging_of(averaged)
        self.averaged = self.averaging is not False
        self.intercept = finite_number("intercept", intercept)
        self.intercept_in_length = intercept_in_length
        self.width = (d + LINE) // LINE * LINE
        self.blocks = JournaledMatrix(
            "linear weights", (1 + self.averaged) * n_outputs * self.width // LINE, LINE)
        self.average.skipped = count_of("skipped", skipped)
        begin_average(&self.average, self.averaging)

    cdef tuple sample_form(self):
        return self.d, self.ops.itemsize

    cdef Py_ssize_t size(self) noexcept nogil:
        """Work per sample, in units of a kernel value of about 16 features."""
        return self.n_outputs * (1 + self.d // 16)

    @final
    cdef void score_row(self, const Rows *rows, Py_ssize_t i, double *current,
                        double *averaged) noexcept nogil:
        """Scores of the last model and of the predicting model."""
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
    cdef void score_last(self, const Rows *rows, Py_ssize_t i, double *current,
                         double *averaged) noexcept nogil:
        """Write the scores of the last model to both arrays: it is the predicting model."""
        cdef Py_ssize_t k
        if not is_sparse(rows):
            self.score_dense(rows, i, current, averaged)
            return
        for k in range(self.n_outputs):
            current[k] = averaged[k] = self.affine(k, sparse_row_dot(rows, i, self.weights(k)))

    # Not final, so that it is not inlined: its calls would take registers from the sparse case.
    cdef void score_dense(self, const Rows *rows, Py_ssize_t i, double *current,
                          double *averaged) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            current[k] = averaged[k] = self.affine(k, dense_row_dot(rows, i, self.weights(k)))

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        if self.averaged:
            self.score_row(&self.rows, self.row_number(i), current, averaged)
        else:
            self.score_last(&self.rows, self.row_number(i), current, averaged)

    cdef bint has_single_score(self, const Rows *rows, bint wants_length) noexcept nogil:
        """True for one output and no average. `single_score` of sparse samples sets the length."""
        cdef bint single = self.n_outputs == 1 and not self.averaged \
            and <void *> self.scores == <void *> LinearSpace.scores
        self.has_length = single and wants_length and is_sparse(rows) \
            and <void *> self.squared_lengths == <void *> LinearSpace.squared_lengths
        self.added_length = self.intercept if self.intercept_in_length else 0
        self.beside = self.intercept - self.added_length
        return single

    cdef double single_score(self, Py_ssize_t i) noexcept nogil:
        """The score; computes the squared length of a sparse row in the same pass, if needed."""
        cdef double square, product
        if self.has_length:
            product = sparse_row_dot_square(
                &self.rows, self.row_number(i), self.weights(0), &square)
            self.length = square + self.added_length
        elif is_sparse(&self.rows):
            product = sparse_row_dot(&self.rows, self.row_number(i), self.weights(0))
        else:
            return self.single_dense(i)
        return self.affine(0, product)

    # Not final, so that it is not inlined: see `score_dense`.
    cdef double single_dense(self, Py_ssize_t i) noexcept nogil:
        return self.affine(0, dense_row_dot(&self.rows, self.row_number(i), self.weights(0)))

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """||x||^2, plus `intercept` if `intercept_in_length`; else `update.beside` is set to it."""
        cdef Py_ssize_t k
        cdef double square = row_square(&self.rows, self.row_number(i))
        if self.intercept_in_length:
            square += self.intercept
        else:
            update.beside = self.intercept
        for k in range(self.n_outputs):
            if update.needs_length[k]:
                update.lengths[k] = square

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Count the step, shrink, and add sample i times its coefficients.

        Rare cases are in `update_rarely`: calls in this function would cost saved registers.
        """
        cdef double scale = self.average.scale
        if self.average.growth != 1:
            return self.update_rarely(i, update)
        if update.shrink != 1:
            scale *= update.shrink
            if scale < self.least_scale():
                return self.update_rarely(i, update)
        count_model(&self.average, 0)
        self.average.scale = scale
        if not update.updates:
            return OK
        if self.n_outputs == 1:
            return self.add_single(i, update.coefficients[0])
        return self.add_sample(i, update.coefficients)

    cdef Status update_rarely(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """`update` for every kind of average, and for a scale that may have to be folded."""
        self.advance(update.lead)
        if update.shrink != 1:
            self.shrink(update.shrink)
        return self.add_sample(i, update.coefficients) if update.updates else OK

    # Not final, so that it is not inlined: see `update`.
    cdef Status add_single(self, Py_ssize_t i, double coefficient) noexcept nogil:
        """Add sample i times its coefficient to the single output."""
        self.add(0, &self.rows, self.row_number(i), coefficient)
        return OK

    # Not final, so that it is not inlined: see `update`.
    cdef Status add_sample(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        """Add sample i times the coefficient of each output to that output."""
        cdef Py_ssize_t k, row = self.row_number(i)
        for k in range(self.n_outputs):
            if coefficients[k] != 0:
                self.add(k, &self.rows, row, coefficients[k])
        return OK

    @final
    cdef void advance(self, int64_t lead) noexcept nogil:
        """Add the last model to the average. Call before `shrink` and `add`."""
        if renews(&self.average, lead):
            self.blocks.touch_all()
            renew_companions(&self.average, lead, self.companions(0), self.n_outputs * self.width)
        count_model(&self.average, lead)

    @final
    cdef double least_scale(self) noexcept nogil:
        """A scale below this threshold is folded into the weights."""
        return SMALLEST_AVERAGED if self.averaged else SMALLEST

    @final
    cdef void shrink(self, double factor) noexcept nogil:
        """f <- factor * f. Costs O(1), except for a rare `fold`."""
        if self.average.scale * factor < self.least_scale():
            self.fold(factor)
        else:
            self.average.scale *= factor

    @final
    cdef void fold(self, double factor) noexcept nogil:
        """Multiply the weights by scale * factor and reset the scale to 1.

        The sum of the models does not change.
        """
        self.blocks.touch_all()
        fold_scale(&self.average, factor, self.weights(0),
                   self.companions(0) if self.averaged else NULL, self.n_outputs * self.width)

    @final
    cdef inline void add(self, Py_ssize_t k, const Rows *rows, Py_ssize_t row,
                         double coefficient) noexcept nogil:
        """f_k(x) += coefficient * (x.row + intercept)"""
        cdef double step = coefficient / self.average.scale
        cdef double *numbers = self.weights(k)
        if is_sparse(rows) and not self.averaged and self.blocks.count == self.blocks.n_rows:
            # All weights have been journaled already: only the sum remains.
            sparse_row_add(rows, row, step, numbers)
            if self.intercept != 0:
                numbers[self.d] += step * self.intercept
        else:
            self.add_journaled(k, rows, row, step)

    # Not final, so that it is not inlined: see `update`.
    cdef void add_journaled(self, Py_ssize_t k, const Rows *rows, Py_ssize_t row,
                            double step) noexcept nogil:
        """f_k(x) += scale * step * (x.row + intercept); journals weights before they change."""
        self.add_row(k, rows, row, step)
        if self.averaged:
            self.add_row(self.n_outputs + k, rows, row, companion_step(&self.average, step))
        if self.intercept != 0:
            self.add_to_weight(k, self.d, step * self.intercept)

    @final
    cdef void add_row(self, Py_ssize_t target, const Rows *rows, Py_ssize_t row,
                      double step) noexcept nogil:
        """Add `step` times a sample to a row of weights or companions."""
        cdef double *numbers = self.blocks.values + target * self.width
        if not self.blocks.all_touched():
            self.journal_features(target, rows, row)
        if is_sparse(rows):
            sparse_row_add(rows, row, step, numbers)
        else:
            self.ops.add(dense_row(rows, row), step, numbers, self.d)

    @final
    cdef void journal_features(self, Py_ssize_t target, const Rows *rows,
                               Py_ssize_t row) noexcept nogil:
        """Save the weights of the features that a sample stores, before they change."""
        cdef ok_sparse_row x
        cdef Py_ssize_t j
        if not is_sparse(rows):
            self.journal_row(target)
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
        """Write the scores of n samples to `out` (n x n_outputs); does not change the space."""
        cdef Py_ssize_t i
        for i in range(n):
            self.score_row(rows, first + i, out + i * self.n_outputs, out + i * self.n_outputs)
        return OK

    def latest(self):
        """Weights and intercepts of the last model, ndarray of shape (n_outputs, d + 1)."""
        return self.average.scale * self.numbers(0)

    def effective(self):
        """Weights and intercepts of the predicting model, ndarray of shape (n_outputs, d + 1)."""
        if not self.averaged or n_averaged(&self.average) <= 1:
            return self.latest()
        return averaged_array(&self.average, self.numbers(0), self.numbers(1))

    def numbers(self, Py_ssize_t part):
        """Weights (part 0) or companions (part 1), without the scale, (n_outputs, d + 1)."""
        rows = self.blocks.to_array().reshape(-1, self.n_outputs, self.width)
        return np.ascontiguousarray(rows[part, :, :self.d + 1])

    def resume(self, latest, predicting=None, int64_t steps=0):
        """Continue from the models of another run.

        Parameters
        ----------
        latest : ndarray of shape (n_outputs, d + 1)
            Weights and intercepts of the last model.
        predicting : ndarray of the same shape, optional
            Weights and intercepts of the average. None: start a new average.
        steps : int
            Number of samples learnt so far.
        """
        resume_average(&self.average, 1, 0, steps)
        self.average.total = self.average.weights - self.average.weight
        rows = np.zeros((1 + self.averaged, self.n_outputs, self.width))
        rows[0, :, :self.d + 1] = latest
        if self.averaged and predicting is not None:
            rows[1, :, :self.d + 1] = self.average.weights * (np.asarray(latest) - predicting)
        self.blocks.set_array(rows.reshape(-1, LINE))

    @property
    def steps(self):
        """Number of samples learnt."""
        return self.average.steps

    def arguments(self):
        """Arguments that construct an empty space like this one."""
        dtype = np.float32 if self.ops.itemsize == 4 else np.float64
        return (self.d, dtype, self.n_outputs, self.averaging, self.intercept,
                self.average.skipped, self.intercept_in_length)

    def get_state(self):
        """Learnt state, as a dictionary."""
        return {
            "blocks": self.blocks.to_array(), "steps": self.average.steps,
            "scale": self.average.scale, "total": self.average.total,
        }

    def set_state(self, state):
        """Restore the result of `get_state`.

        Raises
        ------
        TypeError, ValueError
            If a field is missing, or has a wrong type, shape or value.
        """
        fields_of(state, "linear weights", LINEAR_FIELDS)
        steps = count_of("steps", state["steps"])
        scale = positive_number("scale", state["scale"])
        total = finite_number("total", state["total"])
        self.blocks.set_array(state["blocks"])
        resume_average(&self.average, scale, total, steps)
        self.saved_average = self.average

    @staticmethod
    def size_arguments(arguments):
        """d and n_outputs among the arguments of the constructor."""
        d, _, n_outputs, *_ = arguments
        return d, n_outputs

    def __reduce__(self):
        return restore, (type(self), self.arguments(), self.get_state())


def restore(cls, arguments, state):
    """Rebuild a space from its arguments and state (for pickling)."""
    subclass_of(cls, "the class of a space", LinearSpace)
    if not isinstance(state, dict) or not isinstance(state.get("blocks"), np.ndarray):
        raise TypeError(f"the state of {cls.__name__} must be a dictionary with an array 'blocks', "
                        f"got {shown(state)}")
    if not isinstance(arguments, tuple):
        raise TypeError(f"arguments must be those of {cls.__name__}, got {shown(arguments)}")
    # Compare d and n_outputs with the array before memory is allocated.
    d, n_outputs = cls.size_arguments(arguments)
    most = state["blocks"].size
    if integer_within("d", d, 0, most) * integer_within("n_outputs", n_outputs, 1, most) > most:
        raise ValueError(f"{n_outputs} outputs of {d} features do not agree with {most} weights")
    space = cls(*arguments)
    space.set_state(state)
    return space
