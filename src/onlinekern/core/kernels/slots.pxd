# The slots of a support set. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport Journal


cdef class Slots:
    cdef readonly Py_ssize_t n         # slots ever used: 0 ... n - 1
    cdef readonly Py_ssize_t n_free
    cdef int64_t n_added                 # support vectors ever added
    cdef int64_t *ages                 # n_added when each slot was taken; -1: free
    cdef Py_ssize_t *free_slots        # a stack
    cdef Py_ssize_t capacity
    cdef Journal old_ages, old_free
    cdef Py_ssize_t saved_n, saved_n_free
    cdef int64_t saved_added

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil
    cdef Py_ssize_t take(self) noexcept nogil
    cdef Status release(self, Py_ssize_t slot) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
