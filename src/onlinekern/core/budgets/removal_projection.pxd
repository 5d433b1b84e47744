# Budget maintenance of BSGD by removal and by projection. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.budgets.inverse_policy cimport Inverting
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.kernels.support_set cimport Queue, SupportSet


cdef class Removal(Budget):
    cdef readonly Py_ssize_t max_support
    cdef Queue queue
    cdef double *lengths         # sqrt(kappa(s, s)) of the row in each slot
    cdef Journal old_lengths


cdef class Projection(Inverting):
    cdef double *step            # K coefficients
    cdef double *direction
    cdef Py_ssize_t least(self, SupportSet support) noexcept nogil
    cdef Status project(self, SupportSet support, Py_ssize_t slot) noexcept nogil
