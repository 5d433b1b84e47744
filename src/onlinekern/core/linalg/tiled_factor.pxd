# Cholesky factor of the sums of least squares, in small steps. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.vector cimport OK_PANEL
from onlinekern.core.linalg.information cimport Information

cdef enum:
    TILE = OK_PANEL * OK_PANEL


cdef inline Py_ssize_t factor_steps(Py_ssize_t panels) noexcept nogil:
    """Number of steps of L with this many panels: tile (i, j) takes j + 1."""
    return panels * (panels + 1) * (panels + 2) // 6


cdef void multiply(char *trans_a, char *trans_b, double alpha, double *a, double *b, double beta,
                   double *out) noexcept nogil


cdef class TiledFactor:
    cdef Information sums
    cdef Py_ssize_t panels                   # panels of A that are factored; 0: no factor is begun
    cdef Py_ssize_t i, j, m                  # the next step is product m of tile (i, j)
    cdef double reg                          # r of A
    cdef Status status
    cdef double *tiles                       # tile (i, j) is number i (i + 1) / 2 + j
    cdef double *spare                       # a buffer of one tile, and more numbers

    cdef Status begin_factor(self, Py_ssize_t panels, double reg, Py_ssize_t more) noexcept nogil
    cdef void end(self) noexcept nogil
    cdef double *tile(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil
    cdef void load(self) noexcept nogil
    cdef bint is_factor(self) noexcept nogil
    cdef void factor_step(self) noexcept nogil
    cdef double log_determinant(self) noexcept nogil
    cdef double explained(self, const double *vector, double *solved) noexcept nogil
