# Penalties on the coefficient of a training point (layer 1). May change at minor versions.
from onlinekern.core.parts cimport Part


cdef class Penalty(Part):
    cdef double change(self, double coefficient, double step, double decay) noexcept nogil
