# Local linear models: prototypes, each with hyperplanes of its own (layer 9). May change at minor
# versions.
from libc.stdint cimport int64_t

from onlinekern.core.blocks cimport Blocks
from onlinekern.core.lifted cimport LiftedWeights
from onlinekern.core.lifts cimport Lift, Term
from onlinekern.core.prototypes cimport Prototypes
from onlinekern.core.rows cimport Rows
from onlinekern.core.spaces cimport Space


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
    cdef Blocks mean
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
