# Equal blocks of numbers with a cheap checkpoint (layer 1). May change at minor versions.
from libc.stdint cimport uint64_t


cdef class Blocks:
    cdef readonly Py_ssize_t n, stride
    cdef double *allocated
    cdef double *data           # the same, from a cache line on
    cdef double *saved          # block b at the checkpoint, where stamps[b] == stamp
    cdef uint64_t *stamps
    cdef uint64_t stamp

    cdef double *at(self, Py_ssize_t b) noexcept nogil
    cdef double *touch(self, Py_ssize_t b) noexcept nogil
    cdef bint touched(self, Py_ssize_t b) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
