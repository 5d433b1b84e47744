# The stream loop. May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.learning.heads cimport Sample, Update
from onlinekern.core.learning.order cimport Order
from onlinekern.core.models.composed cimport Composed, Counters
from onlinekern.core.samples.rows cimport Rows


cdef class Model(Composed):
    cdef double *current          # n_outputs scores of a sample by the last model
    cdef double *averaged         # the same by the predicting model; follows `current` in memory
    cdef Sample sample            # the present sample
    cdef Update update            # its update of the space
    cdef bint scores_single       # `Space.has_single_score` for the present rows
    cdef Counters saved           # at the checkpoint
    cdef int64_t next_noted       # number of the next sample that `recent` stores, or NEVER
    cdef readonly int64_t calls   # number of checkpoints, that is of learning calls begun
    cdef uint64_t[4] saved_rng
    cdef double *losses           # output: loss of each row; NULL if not wanted

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
