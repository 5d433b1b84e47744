# Rows that are no samples (layer 2). May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.rows cimport Rows


cdef class Point:
    cdef readonly Py_ssize_t d, itemsize
    cdef readonly bint sparse
    cdef Rows rows              # the one row, as chunks take it
    cdef char *values
    cdef int32_t *columns
    cdef char *unpacked         # d elements of a row that is to become sparse
    cdef int32_t[2] starts
    cdef Py_ssize_t room

    cdef int reserve(self, Py_ssize_t count) noexcept nogil
    cdef void finish(self, Py_ssize_t count) noexcept nogil
    cdef char *open_dense(self) noexcept nogil
    cdef int close_dense(self) noexcept nogil
    cdef int blend(self, Point a, Point b, double h) noexcept nogil
