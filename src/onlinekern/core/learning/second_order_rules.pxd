# Update rules of second order. May change at minor versions.
from onlinekern.core.learning.rules cimport Rule


cdef class ConfidenceWeighted(Rule):
    cdef double phi, C
    cdef double quantile(self, double importance) noexcept nogil
    cdef double bound(self, double v, double importance) noexcept nogil
    cdef double contraction_of(self, double alpha, double v, double importance) noexcept nogil
    cdef double alpha(self, double m, double v, double importance) noexcept nogil
    cdef double excess(self, double m, double v, double phi) noexcept nogil
