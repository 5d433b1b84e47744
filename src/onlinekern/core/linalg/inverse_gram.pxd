# The inverse of a Gram matrix of changing rows. May change at minor versions.
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_vector_ops


cdef class InverseGram:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t size, ld
    cdef readonly Py_ssize_t n_updates   # since the inverse was made afresh
    cdef Py_ssize_t saved_updates
    cdef bint broken                     # an update met a pivot out of its bounds
    cdef bint saved_broken
    cdef JournaledMatrix inverse         # size x ld; rows and columns of empty slots are 0
    cdef JournaledMatrix diagonal        # 1 x ld: kappa_ii + ridge_i; 0 in empty slots
    cdef double *direction               # ld numbers to work with

    cdef const double *row(self, Py_ssize_t slot) noexcept nogil
    cdef bint occupied(self, Py_ssize_t slot) noexcept nogil
    cdef double project(self, const double *k, double diagonal) noexcept nogil
    cdef void join(self, Py_ssize_t slot, double pivot, double kappa, double ridge) noexcept nogil
    cdef void border(self, Py_ssize_t slot, const double *k, double kappa,
                     double ridge) noexcept nogil
    cdef void deflate(self, Py_ssize_t slot) noexcept nogil
    cdef bint needs_refresh(self) noexcept nogil
    cdef double *fresh_row(self, Py_ssize_t slot) noexcept nogil
    cdef void invert(self) noexcept nogil
    cdef void mirror(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
