# A seeded generator that runs without the GIL. May change at minor versions.
from libc.stdint cimport uint64_t


cdef class Generator:
    cdef uint64_t[4] state
    cdef double uniform(self) noexcept nogil
