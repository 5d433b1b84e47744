# Local linear models: prototypes, each with hyperplanes of its own. May change at minor versions.
from libc.stdint cimport int32_t, int64_t

from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.models.hyperplanes cimport LiftedWeights, Term
from onlinekern.core.models.prototypes cimport Prototypes
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Rows


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
    cdef void read(self, const Rows *rows, Py_ssize_t row) noexcept nogil
    cdef void read_stored(self, const Rows *rows, Py_ssize_t row) noexcept nogil


cdef struct Totals:
    int64_t samples
    double squares           # sum of ||f||^2, f the sample as the shared hyperplane sees it
    double gaps              # sum of the smallest distances that are not 0, squared
    int64_t n_gaps


cdef class LocalSpace(Space):
    cdef readonly Prototypes prototypes
    cdef readonly LiftedWeights weights
    cdef readonly tuple options
    cdef Py_ssize_t d, n_assign
    cdef Py_ssize_t skipped  # terms: 1 without a shared hyperplane
    cdef readonly bint intercept
    cdef bint center, offsets, unitless
    cdef JournaledMatrix mean
    cdef Totals totals, saved
    cdef Lift lift

    cdef void load(self, Lift lift, const Rows *rows, Py_ssize_t row) noexcept nogil
    cdef void raise_stored(self, Lift lift) noexcept nogil
    cdef void raise_shared(self, Lift lift) noexcept nogil
    cdef void raise_local(self, Lift lift, bint as_prototype) noexcept nogil
    cdef void local_features(self, Lift lift, Py_ssize_t t) noexcept nogil
    cdef void score_terms(self, Lift lift, double *current, double *averaged) noexcept nogil
    cdef double unit(self) noexcept nogil
    cdef void follow(self, Py_ssize_t row) noexcept nogil
