# What trees leave of the targets. May change at minor versions.
from libc.stdint cimport int32_t


# Outputs that are added up together, where there are several.
cdef enum:
    LANES = 8


cdef class Boosting:
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t width         # numbers of a row: 1 output, or `LANES`
    cdef bint has_margin
    cdef float *goals                      # n_rows x width
    cdef float *scores                     # what the trees so far say of them,
    cdef float *left                       # and what they leave
    cdef float *sums                       # of the leaves of a tree: residuals,
    cdef int32_t *sizes                    # and how many rows
    cdef Py_ssize_t room                   # nodes that there is memory for

    cdef int reserve(self, Py_ssize_t n_nodes) except -1
    cdef void read(self, const int32_t *rows, Py_ssize_t n, float *out) noexcept nogil
    cdef void begin(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void add_up(self, const int32_t *leaves, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void learn(self, const int32_t *leaves, Py_ssize_t first, Py_ssize_t last) noexcept nogil

    cdef inline float residual(self, Py_ssize_t at) noexcept nogil:
        """What is left of one number; of a goal of 1 or -1 nothing beyond the margin."""
        return self.left[at]
