# The inverse of the sums of least squares, a few tiles at a time. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.vector cimport OK_PANEL, ok_vector_ops
from onlinekern.core.linalg.information cimport Information

cdef enum:
    TILE = OK_PANEL * OK_PANEL

# What a step belongs to.
ctypedef enum Stage:
    FACTOR
    INVERT
    SQUARE
    WHOLE


cdef class TiledInverse:
    cdef Information sums
    cdef const ok_vector_ops *ops
    cdef Py_ssize_t itemsize
    cdef Py_ssize_t panels                   # of A, of those that count; 0 when none is begun
    cdef Stage stage                         # the next step is of this stage, tile (i, j), place m
    cdef Py_ssize_t i, j, m, left            # and so many are left
    cdef Status status
    cdef double *tiles                       # tile (i, j) at i (i + 1) / 2 + j: L, then V, then M
    cdef double *spare                       # one more, and memory for narrow numbers
    cdef double *solved                      # V b, panels x 64 numbers for each output
    cdef double *weights                     # A^-1 b, the same

    cdef Status begin(self, Py_ssize_t panels) noexcept nogil
    cdef void end(self) noexcept nogil
    cdef bint waits(self, Py_ssize_t n_strips) noexcept nogil
    cdef void step(self, char *inverse) noexcept nogil
    cdef double *tile(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil
    cdef void load(self) noexcept nogil
    cdef void factor_step(self) noexcept nogil
    cdef void invert_step(self) noexcept nogil
    cdef void next_of_row(self) noexcept nogil
    cdef void square_step(self, char *inverse) noexcept nogil
    cdef void solve_row(self) noexcept nogil
    cdef void write(self, char *inverse) noexcept nogil
    cdef void write_priors(self, char *inverse) noexcept nogil
