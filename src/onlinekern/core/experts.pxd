# Experts and their vote, as those who ask them see them. May change at minor versions.
from onlinekern.core.base.lock cimport Access, Lock
from onlinekern.core.learning.heads cimport Head
from onlinekern.core.learning.vote cimport Vote
from onlinekern.core.linalg.running_moments cimport Scaling
from onlinekern.core.samples.rows cimport Rows


# Memory of a single row.
cdef struct Row:
    Py_ssize_t count     # elements stored
    char *given          # the scaled values, in the dtype of the race
    Rows scaled          # these in float32
    Rows known           # as forests get it: NaN where a number stands for a missing value,
    char *missed         # in a copy, where these are looked for; else NULL
    double *scores       # of the experts
    double *work         # of the vote


cdef void narrow(Row *row) noexcept nogil


cdef class Experts:
    cdef readonly object moments, dtype
    cdef readonly tuple experts, costs
    cdef readonly tuple raw               # bool of each expert: whether it gets rows as they come
    cdef readonly tuple layout            # of the rows that forests get; () are rows as they come
    cdef readonly tuple patience          # samples before which each does not sleep
    cdef readonly tuple twins             # `TwinTarget` of each expert that learns one, or None
    cdef readonly Vote vote
    cdef readonly Head head
    cdef readonly double budget, limit, forgetting
    cdef readonly object voting           # ndarray of uint8: who is awake
    cdef readonly Lock lock
    cdef Access access
    cdef Scaling scaling

    cdef bint fits(self, const Rows *rows)
    cdef object room_for(self, const Rows *rows, Row *row)
    cdef object copy_for_forests(self, object X)
    cdef double winner(self, const double *answer)
    cdef int score_row(self, const Rows *rows, double *out) except -1
    cdef object _matrix_of(self, Rows rows)
