# Step sizes as a function of time. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Part


cdef class Schedule(Part):
    cdef double eta
    cdef double at(self, int64_t t) noexcept nogil
