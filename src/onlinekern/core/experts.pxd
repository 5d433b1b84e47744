# Experts and their vote, without learning. May change at minor versions.
from onlinekern.core.base.lock cimport Access, Lock
from onlinekern.core.learning.heads cimport Head
from onlinekern.core.learning.vote cimport Vote
from onlinekern.core.linalg.running_moments cimport Scaling
from onlinekern.core.samples.rows cimport Rows


# Buffers for a single row.
cdef struct Row:
    Py_ssize_t count     # stored elements
    char *given          # standardised values, in the dtype of the race
    Rows scaled          # the same in float32
    Rows known           # the raw row for forests, with NaN for codes of missing values
    char *missed         # its values: a copy, if such codes are detected; else NULL
    double *scores       # (n_experts, n_outputs) scores of the experts
    double *work         # workspace of the vote


cdef void narrow(Row *row) noexcept nogil


cdef class Experts:
    cdef readonly object moments, dtype
    cdef readonly tuple experts, costs
    cdef readonly tuple raw               # for each expert whether it gets raw rows (forests)
    cdef readonly tuple layout            # of the rows that forests get; (): raw rows
    cdef readonly tuple patience          # samples that each expert learns before it may sleep
    cdef readonly tuple twins             # for each expert its `TwinTarget`, or None
    cdef readonly Vote vote
    cdef readonly Head head
    cdef readonly double budget, limit, forgetting
    cdef readonly object voting           # uint8 array: whether each expert is awake
    cdef readonly Lock lock
    cdef Access access
    cdef Scaling scaling

    cdef bint fits(self, const Rows *rows)
    cdef object room_for(self, const Rows *rows, Row *row)
    cdef object copy_for_forests(self, object X)
    cdef double winner(self, const double *answer)
    cdef int score_row(self, const Rows *rows, double *out) except -1
    cdef object _matrix_of(self, Rows rows)
