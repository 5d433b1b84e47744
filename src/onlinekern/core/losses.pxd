# Losses of a score (layer 1). May change at minor versions.
from onlinekern.core.parts cimport Part


cdef class Loss(Part):
    cdef double value(self, double f, double y) noexcept nogil
    cdef double slope(self, double f, double y) noexcept nogil
