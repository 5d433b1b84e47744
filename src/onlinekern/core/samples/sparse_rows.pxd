# Elementary work on sparse rows. May change at minor versions.
from libc.math cimport fabs
from libc.stdint cimport int32_t, uint64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.vector cimport OK_ABSOLUTE, OK_DOT, OK_SQUARED, ok_sparse_row
from onlinekern.core.samples.rows cimport Rows

cdef extern from *:
    int lowest_bit "__builtin_ctzll"(uint64_t bits) noexcept nogil

cdef enum:
    MARKS = 64      # bits of a word

cdef void scatter(char *lane, const char *values, const int32_t *columns, const int32_t *place,
                  Py_ssize_t count, Py_ssize_t itemsize) noexcept nogil
cdef Py_ssize_t nonzeros(const char *x, Py_ssize_t n, Py_ssize_t itemsize) noexcept nogil
cdef Py_ssize_t pack(const char *row, Py_ssize_t d, Py_ssize_t itemsize, char *values,
                     int32_t *columns) noexcept nogil
cdef inline int of_sparse_rows(int accumulate) noexcept nogil:
    """How sparse rows are accumulated: there are no squared distances of them, see vector.h."""
    return OK_DOT if accumulate == OK_SQUARED else accumulate


cdef inline double distance_term(double difference, int accumulate) noexcept nogil:
    """What a feature adds to an l1 distance, or to a squared one."""
    return fabs(difference) if accumulate == OK_ABSOLUTE else difference * difference


cdef inline bint vanishes(double value) noexcept nogil:
    """Whether a kernel value is nothing beside 1 in float: below 2^-24."""
    return value < 5.9604644775390625e-8


cdef double sparse_distance(const ok_sparse_row *x, const ok_sparse_row *z, Py_ssize_t itemsize,
                            int accumulate) noexcept nogil
cdef double sparse_square(const ok_sparse_row *x, Py_ssize_t itemsize) noexcept nogil


cdef class Point:
    cdef readonly Py_ssize_t d, itemsize
    cdef readonly bint sparse
    cdef Rows rows              # the one row, as blocks take it
    cdef char *values
    cdef int32_t *columns
    cdef char *unpacked         # d elements of a row that is to become sparse
    cdef int32_t[2] starts
    cdef Py_ssize_t room

    cdef Status reserve(self, Py_ssize_t count) noexcept nogil
    cdef void finish(self, Py_ssize_t count) noexcept nogil
    cdef char *dense_values(self) noexcept nogil
    cdef Status finish_dense(self) noexcept nogil
    cdef Status interpolate(self, Point a, Point b, double h) noexcept nogil
