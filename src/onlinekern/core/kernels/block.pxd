# The rows of one look-ahead block. May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.vector cimport ok_sparse_row, ok_vector_ops
from onlinekern.core.kernels.kernels cimport Kernel
from onlinekern.core.samples.rows cimport Rows


cdef class Block:
    cdef const ok_vector_ops *ops
    cdef Kernel kernel
    cdef Py_ssize_t capacity, n, d, itemsize
    cdef Py_ssize_t expected_panels        # by the rows that are opened next, about
    cdef bint sparse, any_exact, has_panels, all_pairs
    cdef Py_ssize_t columns_made             # columns, since the block was opened
    cdef char *pair_products                  # products of dense rows with one another
    cdef Py_ssize_t pair_products_bytes
    cdef const char *dense            # n x d, when not sparse
    cdef ok_sparse_row *rows          # n, when sparse
    cdef double *squares              # ||x_i||^2
    cdef char *norm_terms                  # kernel norm_terms, element type of the rows
    cdef char *scratch                # OK_PANEL x OK_PANEL elements, or d
    cdef char *gathered
    cdef char *packed_values          # of dense rows taken for sparse
    cdef int32_t *packed_columns
    cdef Py_ssize_t values_bytes, columns_bytes
    cdef char *panels                  # the rows as panels: n_lanes x (features, OK_PANEL)
    cdef int32_t *local_column               # column -> feature of the lanes, -1: in no row
    cdef int32_t *used_columns          # the columns that have a feature
    cdef Py_ssize_t used_columns_bytes, panel_features, panels_bytes, gathered_bytes, scratch_bytes

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil
    cdef Status make_panels(self) noexcept nogil
    cdef char *panel(self, Py_ssize_t index) noexcept nogil
    cdef bint is_exact(self, Py_ssize_t i) noexcept nogil
    cdef const char *as_dense(self, Py_ssize_t i) noexcept nogil
    cdef Status gather_rows(self, const Rows *rows, const Py_ssize_t *order,
                            Py_ssize_t first) noexcept nogil
    cdef Status compress_rows(self) noexcept nogil
    cdef Status number_columns(self) noexcept nogil
    cdef void write_lane(self, Py_ssize_t i, char *lane) noexcept nogil
    cdef void forget_columns(self) noexcept nogil
    cdef void recompute_exact(self, Py_ssize_t i, char *out) noexcept nogil
    cdef Status multiply_pairs(self) noexcept nogil
    cdef void multiply_row(self, Py_ssize_t i, char *out) noexcept nogil
    cdef Status kernel_column(self, Py_ssize_t i, char *out) noexcept nogil
