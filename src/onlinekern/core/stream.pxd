# The stream loop (layer 9). May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

from onlinekern.core.gates cimport Gate
from onlinekern.core.heads cimport Head
from onlinekern.core.orders cimport Order
from onlinekern.core.rng cimport Generator
from onlinekern.core.rows cimport Rows
from onlinekern.core.rules cimport Rule
from onlinekern.core.spaces cimport Space


# What an update returns below 0 is one of these, negated.
cdef enum Failure:
    NONE = 0
    NO_MEMORY = 1
    NOT_FINITE = 2
    INTERRUPTED = 3


cdef struct Counters:
    int64_t seen
    int64_t mistakes
    double loss


cdef class Model:
    cdef readonly Space space
    cdef readonly Head head
    cdef public Rule rule
    cdef public Gate gate
    cdef readonly Generator rng
    cdef readonly Py_ssize_t d, itemsize
    cdef Counters counters
    cdef double *current
    cdef double *averaged
    cdef double *lengths
    cdef double *coefficients
    cdef object window_of_one
    cdef Counters saved
    cdef readonly int64_t calls   # of learning, begun
    cdef uint64_t[4] saved_rng
    cdef object interruption

    cdef Failure run(self, const Rows *rows, Order order, const double *y,
                     const double *weight, Py_ssize_t n, Py_ssize_t look_ahead,
                     double *predictions, Py_ssize_t *reached) noexcept nogil
    cdef bint interrupted(self) noexcept nogil
    cdef void checkpoint(self)
    cdef int fail(self, Failure failure, Py_ssize_t reached) except -1
