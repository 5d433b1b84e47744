# Support vectors that stand for the samples near them. May change at minor versions.
from onlinekern.core.budgets.eviction cimport OldestEviction
from onlinekern.core.budgets.policy cimport Bounded
from onlinekern.core.budgets.slot_numbers cimport SlotNumbers


cdef class Quantise(Bounded):
    cdef double similarity


cdef class NearestWhenFull(OldestEviction):
    cdef SlotNumbers lengths     # kappa(s, s) of each support vector
