# A number for each slot of a support set. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport Journal


cdef class SlotNumbers:
    cdef double *values
    cdef Py_ssize_t capacity
    cdef Journal before

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil
    cdef Status set(self, Py_ssize_t slot, double value) noexcept nogil
    cdef void checkpoint(self, Py_ssize_t n) noexcept nogil
    cdef void rollback(self) noexcept nogil
