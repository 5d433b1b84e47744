# The inverse of least squares, made anew while samples come. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.linalg.paced_inverse cimport PacedInverse
from onlinekern.core.linalg.tiled_inverse cimport TiledInverse


cdef class RenewedInverse(PacedInverse):
    cdef TiledInverse fresh                # A^-1, being made
    cdef Py_ssize_t n_paced                # samples of the block for which that has been done
    cdef Py_ssize_t n_multiplied           # panels of it that the first samples are multiplied with
    cdef Py_ssize_t n_strips, saved_strips         # panels of A that the samples before are in
    cdef Py_ssize_t closed_used, saved_closed_used   # numbers that their rows have

    cdef Py_ssize_t closed_panels(self) noexcept nogil
    cdef bint renews(self) noexcept nogil
    cdef bint is_renewal(self) noexcept nogil
    cdef void forget_fresh(self) noexcept nogil
    cdef void renew_ahead(self) noexcept nogil
    cdef void multiply_panel(self, const char *inverse, Py_ssize_t p, Py_ssize_t first,
                             Py_ssize_t last) noexcept nogil
    cdef Status take_fresh(self) noexcept nogil
    cdef void take_weights(self) noexcept nogil
    cdef Status begin_whole(self) noexcept nogil
    cdef Status take_whole(self) noexcept nogil
    cdef void take_samples_anew(self) noexcept nogil
    cdef void substitute(self, const char *products, double *h) noexcept nogil
    cdef double extend_factor(self, const double *h, double square, double weight) noexcept nogil
