# Inverse of the sums of least squares, in small steps. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.linalg.tiled_factor cimport TiledFactor

# Stages of the computation: L, V = L^-1, V'V; finished.
ctypedef enum Stage:
    FACTOR
    INVERT
    SQUARE
    WHOLE


cdef class TiledInverse(TiledFactor):
    cdef const ok_vector_ops *ops
    cdef Py_ssize_t itemsize
    cdef Stage stage                         # stage of the next step
    cdef Py_ssize_t left                     # steps that are left in all
    cdef double *solved                      # V b, 64 panels numbers for each output
    cdef double *weights                     # A^-1 b, as many

    cdef Status begin(self, Py_ssize_t panels) noexcept nogil
    cdef bint waits(self, Py_ssize_t n_strips) noexcept nogil
    cdef void step(self, char *inverse) noexcept nogil
    cdef void invert_step(self) noexcept nogil
    cdef void next_of_row(self) noexcept nogil
    cdef void square_step(self, char *inverse) noexcept nogil
    cdef void solve_row(self) noexcept nogil
    cdef void write(self, char *inverse) noexcept nogil
    cdef void write_priors(self, char *inverse) noexcept nogil
