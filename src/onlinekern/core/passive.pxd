# The Passive-Aggressive rules (layer 3). May change at minor versions.
from onlinekern.core.rules cimport Rule


cdef class PassiveAggressive(Rule):
    cdef double C
    cdef double tau(self, double loss, double q, double C) noexcept nogil
