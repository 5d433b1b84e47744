# Orders: which row is learnt next. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.learning.heads cimport Head


cdef class Order:
    cdef const Py_ssize_t *rows    # their numbers; NULL: as they stand
    cdef readonly Py_ssize_t n     # rows in all; -1: all
    cdef readonly Py_ssize_t most  # rows of a block at most
    cdef object owner
    cdef int check_rows(self, Py_ssize_t n) except -1
    cdef void choose(self, Py_ssize_t first) noexcept nogil


cdef int check_targets(Head head, Order order, const double[::1] y, const double[::1] weight,
                       Py_ssize_t n) except -1
cdef int check_outputs(Head head, const double[:, ::1] scores, Py_ssize_t n) except -1


cdef inline void fill(double *numbers, Py_ssize_t n, double value) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        numbers[i] = value


cdef inline int64_t mistakes_of(const Py_ssize_t *order, Py_ssize_t first, Py_ssize_t width,
                                const double *y, const double *weight,
                                const double *predictions) noexcept nogil:
    """How many of the samples of a block were predicted wrong, those of weight 0 not counted."""
    cdef Py_ssize_t i, row
    cdef int64_t count = 0
    for i in range(first, first + width):
        row = order[i] if order else i
        count += (predictions[row] != y[row]) & (weight == NULL or weight[row] != 0)
    return count
