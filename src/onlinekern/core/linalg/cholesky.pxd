# A growing Cholesky factor. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.vector cimport ok_vector_ops


cdef class Cholesky:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t n, capacity
    cdef readonly double jitter
    cdef double **rows           # row i: i + 1 numbers, then zeros up to whole panels
    cdef double *half            # L^-1 k of the last `solve_lower`
    cdef double *solution
    cdef Py_ssize_t saved_n

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil
    cdef double solve_lower(self, const double *k) noexcept nogil
    cdef const double *solve_upper(self) noexcept nogil
    cdef Status append(self, double diagonal) noexcept nogil
    cdef void truncate(self, Py_ssize_t n) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
