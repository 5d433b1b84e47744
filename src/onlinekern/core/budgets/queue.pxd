# Support vectors by size. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.kernels.support_set cimport SupportSet


cdef struct Entry:
    double size
    int64_t age
    Py_ssize_t slot


cdef class Queue:
    cdef Entry *heap
    cdef readonly Py_ssize_t n, capacity
    cdef void put(self, SupportSet support, Py_ssize_t slot, double length) noexcept nogil
    cdef void push(self, double size, int64_t age, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t pop(self) noexcept nogil
    cdef void refill(self, SupportSet support, const double *lengths) noexcept nogil
