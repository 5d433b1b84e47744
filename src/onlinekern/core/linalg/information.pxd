# Sums of least squares in double. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport JournaledMatrix

# OpenBLAS uses one thread for products of at most this many multiplications. With more threads the
# bits would depend on their number, and calls with single samples do not limit BLAS to one thread.
cdef enum:
    MOST_OF_ONE_THREAD = 1 << 18


cdef inline int at_once(Py_ssize_t first, Py_ssize_t last, Py_ssize_t each) noexcept nogil:
    """Number of the columns first ... last - 1, of `each` multiplications, for one product."""
    return <int> min(last - first, max(1, MOST_OF_ONE_THREAD // max(1, each)))


cdef class Information:
    cdef readonly Py_ssize_t length, n_outputs
    cdef readonly double reg                 # r
    cdef double saved_reg
    cdef readonly JournaledMatrix matrix     # A: the upper triangle, in C order
    cdef readonly JournaledMatrix vectors    # b', one row for each output

    cdef void border(self, Py_ssize_t place, double diagonal) noexcept nogil
    cdef void add(self, Py_ssize_t used, Py_ssize_t n, double *rows) noexcept nogil
    cdef void add_strip(self, Py_ssize_t strip, Py_ssize_t used, Py_ssize_t n, double *rows,
                        double *matrix) noexcept nogil
    cdef void decay(self, Py_ssize_t used, double factor) noexcept nogil
    cdef void set_reg(self, double reg) noexcept nogil
    cdef void fill(self, Py_ssize_t used, double *matrix, double *solutions) noexcept nogil
    cdef Status invert(self, Py_ssize_t used, double *inverse, double *solutions) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
