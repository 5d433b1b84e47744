# The inverse of least squares, which is made while samples come. May change at minor versions.
from onlinekern.core.linalg.block_memory cimport BlockMemory


cdef class PacedInverse(BlockMemory):
    cdef Py_ssize_t n_early                # samples of the block that N takes up first
    cdef Py_ssize_t n_ahead                # panels of N after the block that lack the others only
    cdef bint grown                        # whether rows have become longer in this block

    cdef void prepare(self) noexcept nogil
    cdef void downdate(self) noexcept nogil
    cdef void keep_inverse(self) noexcept nogil
    cdef void forget_ahead(self) noexcept nogil
    cdef void copy_panel(self, const char *of, char *to, Py_ssize_t p) noexcept nogil
    cdef void subtract(self, char *inverse, Py_ssize_t p, Py_ssize_t first,
                       Py_ssize_t last) noexcept nogil
    cdef void mirror(self, Py_ssize_t p) noexcept nogil
    cdef void invert_factor(self, Py_ssize_t n) noexcept nogil
    cdef void solve_products(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
