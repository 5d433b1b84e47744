# The space of linear learners. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.scaled_average cimport ScaledAverage, companion_step
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Rows

# Doubles in a block of the weights: one cache line.
cdef enum:
    LINE = 8


cdef class LinearSpace(Space):
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t d, width
    cdef readonly bint averaged
    cdef readonly object averaging   # False, True (uniform), 'decay' or a float
    cdef readonly double intercept
    cdef public bint intercept_in_length
    cdef double added_length         # `single_score` adds it to the squared length
    # Weights of all outputs, then their companions if averaged. A row is one cache line.
    cdef readonly JournaledMatrix blocks
    cdef ScaledAverage average, saved_average

    cdef inline double *weights(self, Py_ssize_t k) noexcept nogil:
        """The d weights of output k, then its intercept; none includes the scale."""
        return self.blocks.values + k * self.width

    cdef inline double *companions(self, Py_ssize_t k) noexcept nogil:
        return self.blocks.values + (self.n_outputs + k) * self.width

    cdef inline void add_to_weight(self, Py_ssize_t k, Py_ssize_t j, double step) noexcept nogil:
        """Increase weight j of output k by `step` times the scale."""
        cdef size_t place = k * self.width + j
        cdef double *numbers = self.blocks.values
        self.blocks.touch(place // LINE)
        numbers[place] += step
        if self.averaged:
            place += self.n_outputs * self.width
            self.blocks.touch(place // LINE)
            numbers[place] += companion_step(&self.average, step)

    cdef inline double affine(self, Py_ssize_t k, double product) noexcept nogil:
        """Score of output k from its product with a sample."""
        return self.average.scale * (product + self.weights(k)[self.d])

    cdef inline void journal_row(self, Py_ssize_t row) noexcept nogil:
        """Save a row of weights or companions for `rollback`, before it changes."""
        cdef Py_ssize_t b
        if not self.blocks.all_touched():
            for b in range(row * self.width // LINE, (row + 1) * self.width // LINE):
                self.blocks.touch(b)

    cdef double single_dense(self, Py_ssize_t i) noexcept nogil
    cdef void score_row(self, const Rows *rows, Py_ssize_t i, double *current,
                        double *averaged) noexcept nogil
    cdef void score_last(self, const Rows *rows, Py_ssize_t i, double *current,
                         double *averaged) noexcept nogil
    cdef void score_dense(self, const Rows *rows, Py_ssize_t i, double *current,
                          double *averaged) noexcept nogil
    cdef void journal_features(self, Py_ssize_t target, const Rows *rows,
                               Py_ssize_t row) noexcept nogil
    cdef Status update_rarely(self, Py_ssize_t i, const Update *update) noexcept nogil
    cdef Status add_single(self, Py_ssize_t i, double coefficient) noexcept nogil
    cdef Status add_sample(self, Py_ssize_t i, const double *coefficients) noexcept nogil
    cdef void advance(self, int64_t lead) noexcept nogil
    cdef double least_scale(self) noexcept nogil
    cdef void shrink(self, double factor) noexcept nogil
    cdef void fold(self, double factor) noexcept nogil
    cdef inline void add(self, Py_ssize_t k, const Rows *rows, Py_ssize_t row,
                         double coefficient) noexcept nogil
    cdef void add_journaled(self, Py_ssize_t k, const Rows *rows, Py_ssize_t row,
                            double step) noexcept nogil
    cdef void add_row(self, Py_ssize_t target, const Rows *rows, Py_ssize_t row,
                      double step) noexcept nogil
