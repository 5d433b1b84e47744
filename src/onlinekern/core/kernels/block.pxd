# The rows of one look-ahead block. May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.vector cimport ok_sparse_row, ok_vector_ops
from onlinekern.core.kernels.kernels cimport Kernel
from onlinekern.core.samples.rows cimport Rows


cdef class Chunk:
    cdef const ok_vector_ops *ops
    cdef Kernel kernel
    cdef Py_ssize_t capacity, n, d, itemsize
    cdef Py_ssize_t panels_met        # by the rows that are opened next, about
    cdef bint sparse, any_exact, spread_out, multiply_all
    cdef Py_ssize_t asked             # columns, since the chunk was opened
    cdef char *among                  # products of dense rows with one another
    cdef Py_ssize_t among_bytes
    cdef const char *dense            # n x d, when not sparse
    cdef ok_sparse_row *rows          # n, when sparse
    cdef double *squares              # ||x_i||^2
    cdef char *terms                  # kernel terms, element type of the rows
    cdef char *scratch                # OK_PANEL x OK_PANEL elements, or d
    cdef char *gathered
    cdef char *stored_values          # of dense rows taken for sparse
    cdef int32_t *stored_columns
    cdef Py_ssize_t values_bytes, columns_bytes
    cdef char *lanes                  # the rows as panels: n_lanes x (features, OK_PANEL)
    cdef int32_t *place               # column -> feature of the lanes, -1: in no row
    cdef int32_t *vocabulary          # the columns that have a feature
    cdef Py_ssize_t vocabulary_bytes, lane_features, lanes_bytes, gathered_bytes, scratch_bytes

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil
    cdef Status spread(self) noexcept nogil
    cdef char *lane_panel(self, Py_ssize_t index) noexcept nogil
    cdef bint is_exact(self, Py_ssize_t i) noexcept nogil
    cdef const char *as_dense(self, Py_ssize_t i) noexcept nogil
    cdef Status gather(self, const Rows *rows, const Py_ssize_t *order,
                       Py_ssize_t first) noexcept nogil
    cdef Status compress(self) noexcept nogil
    cdef Status number_columns(self) noexcept nogil
    cdef void scatter_row(self, Py_ssize_t i, char *lane) noexcept nogil
    cdef void close(self) noexcept nogil
    cdef void correct_column(self, Py_ssize_t i, char *out) noexcept nogil
    cdef Status multiply(self) noexcept nogil
    cdef void products(self, Py_ssize_t i, char *out) noexcept nogil
    cdef Status column(self, Py_ssize_t i, char *out) noexcept nogil
