# The budget policy of BPA-S (layer 8). May change at minor versions.
from onlinekern.core.budgets cimport Eviction, Verdict
from onlinekern.core.coefficients cimport Coefficients
from onlinekern.core.support cimport SupportSet


cdef class CheapestEviction(Eviction):
    cdef Coefficients lengths    # kappa(s, s) of each support row: one number a slot

    cdef Verdict exchange(self, SupportSet support, Py_ssize_t slot, Py_ssize_t i, double share,
                          const double *coefficients) noexcept nogil
