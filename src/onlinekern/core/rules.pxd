# Update rules: the scalar mathematics of one step (layer 2). May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.losses cimport Loss
from onlinekern.core.parts cimport Part


cdef class Rule(Part):
    cdef readonly Loss loss
    cdef readonly bint second_order
    cdef readonly bint blind     # no method of it looks at the squared length
    cdef bint idle(self, double f, double y) noexcept nogil
    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil
    cdef double contraction(self, double f, double y, double q, double importance) noexcept nogil
    cdef double shrink(self, int64_t t) noexcept nogil
