# Budgets kept by drawing a row that leaves (layer 8). May change at minor versions.
from onlinekern.core.budgets cimport Eviction
from onlinekern.core.rng cimport Generator
from onlinekern.core.support cimport SupportSet


cdef class RandomEviction(Eviction):
    cdef Generator rng
    cdef Py_ssize_t draw(self, SupportSet support) noexcept nogil


cdef class UniformEviction(RandomEviction):
    cdef double max_coefficient
    cdef int rescale(self, SupportSet support) noexcept nogil


cdef class NonuniformEviction(UniformEviction):
    cdef double total            # of the sizes of the rows
    cdef void row_sizes(self, SupportSet support) noexcept nogil
