# Samples in the memory of a C caller. May change at minor versions.
# The names of onlinekern.h are stable: `capi` has them from here.
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t

from onlinekern.core.samples.rows cimport Rows

cdef extern from "onlinekern/onlinekern.h" nogil:
    enum ok_dtype:
        OK_FLOAT32
        OK_FLOAT64

    ctypedef struct ok_matrix:
        const void *values
        const int32_t *indices
        const int32_t *indptr
        ptrdiff_t n_rows
        ptrdiff_t n_columns
        int dtype


cdef int check_aligned(const void *data, size_t size) except -1
cdef object view_of(const void *data, ptrdiff_t n, int kind, bint written=*)
cdef object matrix_of(const ok_matrix *X)
cdef object sample_of(const ok_matrix *x)
cdef object pointed_at(const ok_matrix *x, Py_ssize_t d, Py_ssize_t itemsize, bint sparse,
                       int32_t *starts, Rows *rows, bint missing)
