# Gates: which samples may update (layer 2). May change at minor versions.
from onlinekern.core.losses cimport Loss
from onlinekern.core.parts cimport Part
from onlinekern.core.rng cimport Generator


cdef class Gate(Part):
    cdef readonly bint open      # the importance is always 1, and need not be asked for
    cdef double importance(self, Loss loss, double f, double y, double suffered, Generator rng,
                           double *uniform) noexcept nogil
