# Budget maintenance of BSGD by removal and by projection. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.budgets.inverse_policy cimport InverseGramPolicy
from onlinekern.core.budgets.policy cimport Bounded
from onlinekern.core.budgets.queue cimport Queue
from onlinekern.core.budgets.slot_numbers cimport SlotNumbers


cdef class Removal(Bounded):
    cdef Queue queue
    cdef SlotNumbers lengths     # sqrt(kappa(s, s)) of each support vector


cdef class Projection(InverseGramPolicy):
    cdef Py_ssize_t smallest(self) noexcept nogil
    cdef Status project(self, Py_ssize_t slot) noexcept nogil
