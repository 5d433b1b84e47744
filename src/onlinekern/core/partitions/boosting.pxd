# Residuals that the next tree of a forest fits. May change at minor versions.
from libc.stdint cimport int32_t


# Numbers of a row with several outputs, padded to one vector register.
cdef enum:
    LANES = 8


cdef class Boosting:
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t width         # numbers of a row: 1 with one output, else `LANES`
    cdef bint has_margin
    cdef float *goals                      # targets, n_rows x width
    cdef float *scores                     # sum of the trees so far, n_rows x width
    cdef float *left                       # residuals, n_rows x width
    cdef float *sums                       # sum of the residuals in each node, x width
    cdef int32_t *sizes                    # rows in each node
    cdef Py_ssize_t room                   # nodes that `sums` and `sizes` have memory for

    cdef int reserve(self, Py_ssize_t n_nodes) except -1
    cdef void read(self, const int32_t *rows, Py_ssize_t n, float *out) noexcept nogil
    cdef void begin(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void add_up(self, const int32_t *leaves, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void learn(self, const int32_t *leaves, Py_ssize_t first, Py_ssize_t last) noexcept nogil

    cdef inline float residual(self, Py_ssize_t at) noexcept nogil:
        """Residual number `at`; for goals 1 and -1 it is 0 where the score is beyond the goal."""
        return self.left[at]
