# The budget policy of the Forgetron. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.budgets.policy cimport Bounded
from onlinekern.core.kernels.coefficients cimport Coefficients

cdef double largest_factor(double size, double alignment, double spare) noexcept nogil


cdef class ShrinkingEviction(Bounded):
    cdef Coefficients margins    # f(s_r) over the support vectors no older than s_r
    cdef int64_t n_steps, saved_steps
    cdef double damage, saved_damage      # Q of the paper

    cdef double factor(self, Py_ssize_t oldest) noexcept nogil
