# Samplers: which samples may update. May change at minor versions.
from onlinekern.core.base.part cimport Part
from onlinekern.core.base.random cimport Generator
from onlinekern.core.learning.losses cimport Loss


cdef class Sampler(Part):
    cdef readonly bint always    # the importance is 1 for every sample
    cdef double importance(self, Loss loss, double f, double y, double suffered, double weight,
                           Generator rng, double *uniform) noexcept nogil
