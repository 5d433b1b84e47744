# The stream loop. May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.random cimport Generator
from onlinekern.core.base.turn cimport Access, Turn
from onlinekern.core.learning.heads cimport Head, Sample, Update
from onlinekern.core.learning.order cimport Order
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.learning.sampling cimport Gate
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Rows


cdef struct Counters:
    int64_t seen
    int64_t mistakes
    double loss


cdef class Model:
    cdef readonly Space space
    cdef readonly Head head
    cdef Rule present_rule
    cdef Gate present_gate
    cdef readonly Generator rng
    cdef readonly Py_ssize_t d, itemsize
    cdef Counters counters
    cdef double *current
    cdef double *averaged
    cdef Sample sample            # the one that is learnt
    cdef Update update            # what it does to the space
    cdef object window_of_one
    cdef Counters saved
    cdef readonly int64_t calls   # of learning, begun
    cdef uint64_t[4] saved_rng
    cdef object interruption
    cdef readonly Turn turn       # of the writers; several models may share one
    cdef Access access            # of the readers
    cdef int one_is_scored        # whether `window_of_one` is in use
    cdef Status run(self, const Rows *rows, Order order, const double *y,
                    const double *weight, Py_ssize_t n, Py_ssize_t look_ahead,
                    double *predictions, Py_ssize_t *reached) noexcept nogil
    cdef int reserve(self, Py_ssize_t n_outputs) except -1
    cdef int check_space(self) except -1
    cdef bint interrupted(self) noexcept nogil
    cdef void checkpoint(self)
    cdef void rollback(self)
    cdef tuple watched            # components of other packages; None if there are none

    cdef int watch(self) except -1
    cdef int conclude(self, Status status, Py_ssize_t reached) except -1
    cdef int check_scored(self, Status status, Py_ssize_t n) except -1
