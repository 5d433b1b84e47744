# Hyperplanes over the blocks of a lifted sample (layer 2). May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.blocks cimport Blocks
from onlinekern.core.rows cimport Rows
from onlinekern.core.vector cimport ok_vector_ops


cdef struct Term:
    Py_ssize_t block         # of the lifted space
    double gain              # the block of the sample is gain * features
    double *features         # `width` numbers
    double *squares          # features[i]^2, where the weights are of second order
    double square            # ||features||^2


cdef class Lift:
    cdef Py_ssize_t n_terms
    cdef Term *terms
    cdef Py_ssize_t *chosen  # the nearest prototypes
    cdef double *gains
    cdef double *unused      # scores that nobody asked for
    cdef char *products
    cdef double *numbers
    cdef double *distances   # to the prototypes, squared
    cdef double *sample      # x in double
    cdef double *planes      # features of the terms, and their squares
    cdef Py_ssize_t plane, width
    cdef double square       # ||x||^2 of a sparse x
    cdef double spread       # ||f||^2 without the constant

    cdef void own_features(self, Py_ssize_t t) noexcept nogil
    cdef void load(self, const Rows *rows, Py_ssize_t row) noexcept nogil


cdef class LiftedWeights:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t n_outputs, width
    cdef readonly bint averaged, second_order
    cdef readonly double shared_prior
    cdef Blocks blocks       # each: values, companions, variances; n_outputs x width numbers each
    cdef int64_t steps, saved_steps

    cdef double prior(self, Py_ssize_t block) noexcept nogil
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
