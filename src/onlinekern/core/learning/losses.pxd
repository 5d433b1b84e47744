# Losses of a score. May change at minor versions.
from onlinekern.core.base.part cimport Part


cdef class Loss(Part):
    cdef double value(self, double f, double y) noexcept nogil
    cdef double slope(self, double f, double y) noexcept nogil
    cdef double demand(self, double f, double y, double weight) noexcept nogil
