# Numbered places, occupied and free, and queues of them (layer 2). May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.journals cimport Journal


cdef class Slots:
    cdef readonly Py_ssize_t n         # places ever used: 0 ... n - 1
    cdef readonly Py_ssize_t n_free
    cdef int64_t added                 # rows that ever came in
    cdef int64_t *ages                 # the number of the row in each place; -1: free
    cdef Py_ssize_t *free_slots        # a stack
    cdef Py_ssize_t capacity
    cdef Journal old_ages, old_free
    cdef Py_ssize_t saved_n, saved_n_free
    cdef int64_t saved_added

    cdef int reserve(self, Py_ssize_t capacity) noexcept nogil
    cdef Py_ssize_t take(self) noexcept nogil
    cdef int release(self, Py_ssize_t slot) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


cdef struct Entry:
    double key
    int64_t age
    Py_ssize_t slot


cdef class Queue:
    cdef Entry *heap
    cdef readonly Py_ssize_t n, capacity
    cdef void push(self, double key, int64_t age, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t pop(self) noexcept nogil
