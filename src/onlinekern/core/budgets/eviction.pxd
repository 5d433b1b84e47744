# Policies that evict a support vector, the oldest or a random one. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.random cimport Generator
from onlinekern.core.budgets.policy cimport Bounded


cdef class OldestEviction(Bounded):
    pass


cdef class RandomEviction(Bounded):
    cdef Generator rng
    cdef Py_ssize_t draw(self) noexcept nogil


cdef class UniformEviction(RandomEviction):
    cdef double max_coefficient
    cdef Status rescale(self) noexcept nogil


cdef class NonuniformEviction(UniformEviction):
    cdef double total            # of the norms of the coefficients of all slots
