# Samples as plain pointers, dense or CSR, float32 or float64. May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.base.vector cimport ok_sparse_row


cdef struct Rows:
    const char *values       # dense: n x d elements; CSR: the stored elements
    const int32_t *columns   # CSR only; NULL for dense rows
    const int32_t *starts    # CSR only: row i is stored at starts[i] ... starts[i + 1]
    Py_ssize_t n
    Py_ssize_t d
    Py_ssize_t itemsize


cdef inline bint is_sparse(const Rows *rows) noexcept nogil:
    return rows.starts != NULL


cdef inline const char *dense_row(const Rows *rows, Py_ssize_t i) noexcept nogil:
    return rows.values + i * rows.d * rows.itemsize


cdef inline ok_sparse_row sparse_row(const Rows *rows, Py_ssize_t i) noexcept nogil:
    cdef ok_sparse_row row
    row.columns = rows.columns + rows.starts[i]
    row.values = rows.values + rows.starts[i] * rows.itemsize
    row.count = rows.starts[i + 1] - rows.starts[i]
    return row


cdef class Samples:
    cdef Rows rows
    cdef tuple owners
    cdef void *packed        # or the memory of one row


cdef bint is_plain(object array, int kind)
cdef Samples known_samples(object X)
cdef Samples samples_of(object X, object dtype)
cdef object row_of(object x, Py_ssize_t d, Py_ssize_t itemsize, bint sparse, Rows *rows,
                   bint missing=*)
cdef int check_finite(const Rows *rows, Py_ssize_t count, bint missing=*) except -1
cdef Samples packed_row(Rows *rows)
