# Orders: which row is learnt next. May change at minor versions.
from onlinekern.core.learning.heads cimport Head


cdef class Order:
    cdef const Py_ssize_t *rows    # row numbers; NULL: 0, 1, ...
    cdef readonly Py_ssize_t n     # how many rows; -1: all
    cdef readonly Py_ssize_t most  # most rows of a block
    cdef object owner
    cdef int check_rows(self, Py_ssize_t n) except -1
    cdef void choose(self, Py_ssize_t first) noexcept nogil


cdef Order AS_THEY_STAND
cdef Order order_of(object order)
cdef int check_targets(Head head, Order order, const double[::1] y, const double[::1] weight,
                       Py_ssize_t n) except -1
cdef int check_outputs(Head head, const double[:, ::1] scores, Py_ssize_t n) except -1


cdef inline void fill(double *numbers, Py_ssize_t n, double value) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        numbers[i] = value
