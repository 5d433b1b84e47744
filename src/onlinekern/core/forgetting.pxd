# The budget policy of the Forgetron (layer 8). May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.budgets cimport Eviction
from onlinekern.core.coefficients cimport Coefficients
from onlinekern.core.support cimport SupportSet


cdef class OldestEviction(Eviction):
    cdef Coefficients margins
    cdef int64_t n_steps, saved_steps
    cdef double damage, saved_damage      # M and Q of the paper, and at the checkpoint

    cdef double largest_factor(self, double size, double alignment) noexcept nogil
    cdef double factor(self, SupportSet support, Py_ssize_t oldest) noexcept nogil
