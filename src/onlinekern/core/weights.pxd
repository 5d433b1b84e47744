# Weights over explicit features, under the scale of a support set (layer 2). May change at minor
# versions.
from onlinekern.core.coefficients cimport Coefficients
from onlinekern.core.vector cimport ok_vector_ops


cdef class Weights:
    cdef const ok_vector_ops *ops
    cdef Coefficients shared               # scale, total and steps are its
    cdef readonly Py_ssize_t n_outputs, length
    cdef readonly bint averaged
    cdef double *values                    # n_outputs x length, then as many companions
    cdef double *offsets                   # n_outputs, then as many companions
    cdef double *saved
    cdef double *saved_offsets
    cdef bint watched
    cdef void scores(self, const char *z, double *current, double *averaged) noexcept nogil
    cdef void absorb(self, Py_ssize_t slot, const char *z) noexcept nogil
    cdef void shift(self, const double *step) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
