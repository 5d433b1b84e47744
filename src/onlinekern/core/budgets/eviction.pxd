# Budgets kept by drawing a row that leaves. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.random cimport Generator
from onlinekern.core.budgets.policy cimport Eviction
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.support_set cimport SupportSet


cdef class RandomEviction(Eviction):
    cdef Generator rng
    cdef Py_ssize_t draw(self, SupportSet support) noexcept nogil


cdef class UniformEviction(RandomEviction):
    cdef double max_coefficient
    cdef Status rescale(self, SupportSet support) noexcept nogil


cdef class NonuniformEviction(UniformEviction):
    cdef double total            # of the sizes of the rows
    cdef void row_sizes(self, SupportSet support) noexcept nogil


cdef class CheapestEviction(Eviction):
    cdef Coefficients lengths    # kappa(s, s) of each support row: one number a slot

    cdef Status exchange(self, SupportSet support, Py_ssize_t slot, Py_ssize_t i, double share,
                         const double *coefficients) noexcept nogil


cdef class OldestEviction(Eviction):
    cdef Coefficients margins
    cdef int64_t n_steps, saved_steps
    cdef double damage, saved_damage      # M and Q of the paper, and at the checkpoint

    cdef double largest_factor(self, double size, double alignment) noexcept nogil
    cdef double factor(self, SupportSet support, Py_ssize_t oldest) noexcept nogil
