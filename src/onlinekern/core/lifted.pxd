# Hyperplanes over the blocks of a lifted sample (layer 3). May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.blocks cimport Blocks
from onlinekern.core.lifts cimport Term
from onlinekern.core.vector cimport ok_vector_ops


cdef class LiftedWeights:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t n_outputs, width
    cdef readonly bint averaged, second_order
    cdef readonly double shared_prior
    cdef Blocks blocks       # each: values, companions, variances; n_outputs x width numbers each
    cdef int64_t steps, saved_steps

    cdef double prior(self, Py_ssize_t block) noexcept nogil
    cdef double product(self, const Term *term, const double *features,
                        const double *numbers) noexcept nogil
    cdef Py_ssize_t companions(self) noexcept nogil
    cdef Py_ssize_t variances(self) noexcept nogil
    cdef void scores(self, const Term *terms, Py_ssize_t n, double *current,
                     double *averaged) noexcept nogil
    cdef void measure(self, Term *terms, Py_ssize_t n) noexcept nogil
    cdef void lengths(self, const Term *terms, Py_ssize_t n, double *out) noexcept nogil
    cdef void update(self, const Term *terms, Py_ssize_t n, const double *coefficients,
                     double unit) noexcept nogil
    cdef void add_first(self, const Term *term, Py_ssize_t k, double coefficient) noexcept nogil
    cdef void add_second(self, const Term *term, Py_ssize_t k, double coefficient,
                         double contraction) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
