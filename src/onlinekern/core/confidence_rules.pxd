# Update rules of confidence-weighted learning (layer 3). May change at minor versions.
from onlinekern.core.rules cimport Rule


cdef class ConfidenceWeighted(Rule):
    cdef double phi, C
    cdef double alpha(self, double m, double v, double importance) noexcept nogil
    cdef double excess(self, double m, double v) noexcept nogil
