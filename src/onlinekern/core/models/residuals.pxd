# Recent residuals of a regression, for intervals. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Component
from onlinekern.core.base.undo cimport JournaledMatrix


cdef class Residuals(Component):
    cdef readonly Py_ssize_t n_outputs
    cdef JournaledMatrix recent      # a ring buffer for each output, in rows of 8 numbers
    cdef JournaledMatrix levels      # present miscoverage a of each of LEVELS, a row per output
    cdef readonly int64_t seen
    cdef int64_t saved_seen
    cdef public bint is_closed       # whether further residuals are ignored

    cdef Py_ssize_t held(self) noexcept nogil
    cdef Py_ssize_t rank(self, double miscoverage) noexcept nogil
    cdef void add(self, const double *steps, double weight, double variance) noexcept nogil
    cdef void take_up(self, Py_ssize_t k, double size) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
