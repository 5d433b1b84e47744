# Losses of a score. May change at minor versions.
from onlinekern.core.base.part cimport Part


cdef class Loss(Part):
    cdef bint hinge      # whether it is the hinge: rules then call `hinge` instead of its methods
    cdef double value(self, double f, double y) noexcept nogil
    cdef double slope(self, double f, double y) noexcept nogil
    cdef double demand(self, double f, double y, double weight) noexcept nogil
    cdef double travel(self, double f, double y, double size) noexcept nogil


cdef inline double hinge(double f, double y, double *slope) noexcept nogil:
    """max(0, 1 - y f), and its negative derivative in `slope`."""
    slope[0] = y if y * f < 1 else 0
    return max(0.0, 1 - y * f)
