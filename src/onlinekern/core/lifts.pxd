# Scratch memory for one lifted sample (layer 2). May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.rows cimport Rows


cdef struct Term:
    Py_ssize_t block         # of the lifted space
    double gain              # the block of the sample is gain * features
    double *features         # `count` numbers
    double *squares          # features[i]^2, where the weights are of second order
    const int32_t *places    # feature i is the block's number places[i]; NULL: i, count = width
    Py_ssize_t count
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
    cdef int32_t *places     # of the stored elements
    cdef double square       # ||x||^2 of a sparse x
    cdef double spread       # ||f||^2 without the constant

    cdef void own_features(self, Py_ssize_t t) noexcept nogil
    cdef void load(self, const Rows *rows, Py_ssize_t row) noexcept nogil
    cdef void load_stored(self, const Rows *rows, Py_ssize_t row) noexcept nogil
