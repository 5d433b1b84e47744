# The budget policy of BPA-S. May change at minor versions.
from onlinekern.core.budgets.policy cimport Bounded
from onlinekern.core.budgets.slot_numbers cimport SlotNumbers


cdef class CheapestReplacement(Bounded):
    cdef SlotNumbers lengths     # kappa(s, s) of each support vector
