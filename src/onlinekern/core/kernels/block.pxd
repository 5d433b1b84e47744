# The rows of one look-ahead block. May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.vector cimport ok_sparse_row, ok_vector_ops
from onlinekern.core.kernels.kernels cimport Kernel
from onlinekern.core.samples.rows cimport Rows


cdef class Block:
    cdef const ok_vector_ops *ops
    cdef Py_ssize_t capacity, n, d, itemsize
    cdef bint sparse                  # whether the rows are in `rows`, not in `dense`
    cdef const char *dense            # n x d
    cdef ok_sparse_row *rows          # n
    cdef char *scratch                # OK_PANEL x OK_PANEL elements, or d
    cdef char *memory                 # that holds the scratch memory, aligned to 64 bytes
    # Copies of the rows: in stream order, or compressed.
    cdef char *gathered
    cdef char *packed_values
    cdef int32_t *packed_columns
    cdef Py_ssize_t gathered_bytes, values_bytes, columns_bytes
    cdef Py_ssize_t expected_panels   # that the rows will be multiplied with, for the cost model
    # The rows as panels of OK_PANEL rows, (panel_features, OK_PANEL) each.
    cdef bint has_panels
    cdef char *panels
    cdef int32_t *local_column        # column -> feature of the panels; -1: in no row
    cdef const int32_t *place         # the same; NULL: every column is a feature of the panels
    cdef int32_t *used_columns        # the columns that are a feature of the panels
    cdef Py_ssize_t n_numbered        # of them
    cdef Py_ssize_t panel_features, panels_bytes, used_columns_bytes

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil
    cdef Status point_at_rows(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                              Py_ssize_t n) noexcept nogil
    cdef Status point_at_dense(self, const Rows *rows, const Py_ssize_t *order,
                               Py_ssize_t first) noexcept nogil
    cdef Status compress_rows(self) noexcept nogil
    cdef const char *as_dense(self, Py_ssize_t i) noexcept nogil
    cdef Status make_panels(self) noexcept nogil
    cdef char *panel(self, Py_ssize_t index) noexcept nogil
    cdef Status number_columns(self) noexcept nogil
    cdef Py_ssize_t stored(self) noexcept nogil
    cdef void forget_columns(self) noexcept nogil
    cdef void write_lane(self, Py_ssize_t i, char *lane) noexcept nogil


cdef class KernelBlock(Block):
    cdef Kernel kernel
    cdef double *squares              # ||x_i||^2; of a Python function kappa(x_i, x_i)
    cdef char *norm_terms             # of the kernel, element type of the rows
    cdef bint any_exact               # whether is_exact(i) for any row,
    cdef bint any_wide                # and is_wide(i)
    cdef double *wide_squares         # of rows that are: ||x_i||^2 in one sum; of others < 0
    cdef bint all_pairs               # whether the first column makes `pair_products`
    cdef Py_ssize_t columns_made      # since the block was opened
    cdef char *pair_products          # of the dense rows with one another; or their kernel values
    cdef Py_ssize_t pair_products_bytes

    cdef void measure_rows(self) noexcept nogil
    cdef object dense_rows(self)
    cdef Status take_pairs(self, const double[:, ::1] values, Py_ssize_t first) noexcept
    cdef bint is_exact(self, Py_ssize_t i) noexcept nogil
    cdef bint is_wide(self, Py_ssize_t i) noexcept nogil
    cdef bint is_sifted(self, Py_ssize_t i) noexcept nogil
    cdef Status multiply_pairs(self) noexcept nogil
    cdef void multiply_row(self, Py_ssize_t i, char *out) noexcept nogil
    cdef Status kernel_column(self, Py_ssize_t i, bint transformed, char *out) noexcept nogil
    cdef void recompute_exact(self, Py_ssize_t i, char *out) noexcept nogil
