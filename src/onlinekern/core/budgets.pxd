# Budget policies (layer 7). May change at minor versions.
from onlinekern.core.parts cimport Part
from onlinekern.core.support cimport SupportSet


cdef enum Verdict:
    OUT_OF_MEMORY = -1
    SKIPPED = 0
    ADDED = 1


cdef class Budget(Part):
    cdef readonly Py_ssize_t refused
    cdef int attach(self, SupportSet support) except -1
    cdef Verdict admit(self, SupportSet support, Py_ssize_t i,
                       const double *coefficients) noexcept nogil
    cdef void observe(self, double y, double weight) noexcept nogil
    cdef void shift(self, double *scores) noexcept nogil
    cdef void checkpoint(self, SupportSet support) noexcept nogil
    cdef void rollback(self, SupportSet support) noexcept nogil
