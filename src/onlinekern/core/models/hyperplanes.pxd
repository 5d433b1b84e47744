# Hyperplanes over the blocks of a lifted sample. May change at minor versions.
from libc.stdint cimport int32_t, int64_t

from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.learning.heads cimport Update


cdef struct Term:
    Py_ssize_t block         # of the lifted space
    double gain              # the block of the sample is gain * features
    double *features         # `count` numbers
    double *squares          # features[i]^2, where the weights are of second order
    const int32_t *places    # feature i is the block's number places[i]; NULL: i, count = width
    Py_ssize_t count
    double square            # ||features||^2


cdef class LiftedWeights:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t n_outputs, width
    cdef readonly bint averaged, second_order
    cdef readonly double shared_prior
    cdef JournaledMatrix blocks  # rows of values, companions, variances: n_outputs x width each
    cdef int64_t steps, saved_steps

    cdef double prior(self, Py_ssize_t block) noexcept nogil
    cdef double product(self, const Term *term, const double *features,
                        const double *numbers) noexcept nogil
    cdef Py_ssize_t companions(self) noexcept nogil
    cdef Py_ssize_t variances(self) noexcept nogil
    cdef void scores(self, const Term *terms, Py_ssize_t n, double *current,
                     double *averaged) noexcept nogil
    cdef void measure(self, Term *terms, Py_ssize_t n) noexcept nogil
    cdef void lengths(self, const Term *terms, Py_ssize_t n, Update *update) noexcept nogil
    cdef void update(self, const Term *terms, Py_ssize_t n, const Update *update,
                     double unit) noexcept nogil
    cdef void add_first(self, const Term *term, Py_ssize_t k, double coefficient) noexcept nogil
    cdef void add_second(self, const Term *term, Py_ssize_t k, double coefficient,
                         double contraction) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
