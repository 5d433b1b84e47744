# Support vectors that stand for the samples near them. May change at minor versions.
from onlinekern.core.budgets.policy cimport Bounded


cdef class Quantise(Bounded):
    cdef double similarity

    cdef Py_ssize_t nearest(self, Py_ssize_t i) noexcept nogil
