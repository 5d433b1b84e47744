# Hyperplanes over the blocks of a lifted sample. May change at minor versions.
from libc.stdint cimport int32_t, int64_t

from onlinekern.core.base.scaled_average cimport ScaledAverage
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.learning.heads cimport Update


cdef struct Term:             # a block of a lifted sample: factor * features
    Py_ssize_t block          # number of the block
    double factor             # assignment weight of the prototype; 1 for block 0
    double *features          # `count` elements
    double *squared_features  # features[i]^2, for second-order weights
    const int32_t *columns    # columns of the features in the block; NULL: dense, count = width
    Py_ssize_t count
    double squared_norm       # ||features||^2, for first-order weights


cdef class Hyperplanes:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t n_outputs, width
    cdef readonly bint averaged, second_order
    cdef readonly double shared_variance
    cdef JournaledMatrix blocks  # rows of weights, companions, variances: n_outputs x width each
    cdef ScaledAverage average, saved_average

    cdef double prior_variance(self, Py_ssize_t block) noexcept nogil
    cdef double dot(self, const Term *term, const double *features,
                    const double *weights) noexcept nogil
    cdef Py_ssize_t companions_offset(self) noexcept nogil
    cdef Py_ssize_t variances_offset(self) noexcept nogil
    cdef void scores(self, const Term *terms, Py_ssize_t n, double *current,
                     double *averaged) noexcept nogil
    cdef void square_features(self, Term *terms, Py_ssize_t n) noexcept nogil
    cdef void squared_lengths(self, const Term *terms, Py_ssize_t n,
                              Update *update) noexcept nogil
    cdef void update(self, const Term *terms, Py_ssize_t n, const Update *update,
                     double length_unit) noexcept nogil
    cdef void first_order_step(self, const Term *term, Py_ssize_t k,
                               double coefficient) noexcept nogil
    cdef void second_order_step(self, const Term *term, Py_ssize_t k, double coefficient,
                                double contraction) noexcept nogil
    cdef void advance(self, int64_t lead) noexcept nogil
    cdef void total_weights(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
