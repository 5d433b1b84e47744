# The stream loop. May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.learning.heads cimport Sample, Update
from onlinekern.core.learning.order cimport Order
from onlinekern.core.models.composed cimport Composed, Counters
from onlinekern.core.samples.rows cimport Rows


cdef class Model(Composed):
    cdef double *current
    cdef double *averaged
    cdef Sample sample            # the one that is learnt
    cdef Update update            # what it does to the space
    cdef bint scores_single       # `Space.has_single_score` of the rows that are learnt
    cdef Counters saved
    cdef int64_t next_noted       # number of the next sample whose scores `recent` gets, or NEVER
    cdef readonly int64_t calls   # of learning, begun
    cdef uint64_t[4] saved_rng
    cdef double *losses           # gets that of each row; NULL where nobody asks

    cdef Status run(self, const Rows *rows, Order order, const double *y, const double *weight,
                    Py_ssize_t first, Py_ssize_t n, Py_ssize_t look_ahead, double *predictions,
                    double *scores, Py_ssize_t *reached) noexcept nogil
    cdef int learn_rows(self, const Rows *rows, Order order, const double *y, const double *weight,
                        Py_ssize_t first, Py_ssize_t n, Py_ssize_t look_ahead, double *predictions,
                        double *scores, bint noted) except -1
    cdef int learn_only(self, const Rows *rows, const double *y, double weight,
                        double *predictions, double *scores, bint noted) except -1
    cdef double learn_row(self, const Rows *rows, double y, double weight) except? -1
    cdef int learn_targets(self, const Rows *rows, const double *y, double weight,
                           double *predictions, double *scores, bint noted) except -1
    cdef void checkpoint(self)
    cdef int64_t next_number(self)
