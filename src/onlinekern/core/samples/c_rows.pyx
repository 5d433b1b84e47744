"""Samples in the memory of a C caller: an `ok_matrix`, dense or CSR, as arrays or as pointers.

The arrays are views: nothing is copied, they are read-only unless `written`, and they are dropped
when the call ends. Wrong pointers and sizes are reported as errors before they are used.
"""
cimport numpy as cnp
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t, uintptr_t
from libc.stdlib cimport malloc

import numpy as np
import scipy.sparse as sp

from onlinekern.core.samples.rows cimport Rows, Samples, check_finite, packed_row

cnp.import_array()

cdef ptrdiff_t MOST_BYTES = np.iinfo(np.intp).max


cdef int check_aligned(const void *data, size_t size) except -1:
    """Raise ValueError unless the address is a multiple of the element size."""
    if <uintptr_t> data % size != 0:
        raise ValueError("an array does not begin at a multiple of its elements' size")
    return 0


cdef object view_of(const void *data, ptrdiff_t n, int kind, bint written=False):
    """A one-dimensional array over n elements in the memory of the caller."""
    cdef cnp.npy_intp length = n
    if n == 0:
        return np.empty(0, cnp.PyArray_DescrFromType(kind))
    array = cnp.PyArray_SimpleNewFromData(1, &length, kind, <void *> data)
    if not written:
        cnp.PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
    return array


cdef ptrdiff_t bad_row(const ok_matrix *X) noexcept nogil:
    """The first row of a CSR matrix that is not within its arrays; -1 if all are."""
    cdef ptrdiff_t i
    cdef int32_t k
    for i in range(X.n_rows):
        if X.indptr[i] < 0 or X.indptr[i + 1] < X.indptr[i]:
            return i
        if X.indptr[i + 1] > X.indptr[i] and (X.indices == NULL or X.values == NULL):
            return i
        for k in range(X.indptr[i], X.indptr[i + 1]):
            if X.indices[k] < 0 or X.indices[k] >= X.n_columns:
                return i
    return -1


cdef object sparse_of(const ok_matrix *X):
    """A CSR matrix over the arrays of the caller, which have been checked."""
    cdef ptrdiff_t first = X.indptr[0], count = X.indptr[X.n_rows] - first
    values = view_of(<const char *> X.values + first * X.dtype, count, kind_of(X))
    indices = view_of(X.indices + first, count, cnp.NPY_INT32)
    indptr = view_of(X.indptr, X.n_rows + 1, cnp.NPY_INT32)
    if first > 0:
        indptr = indptr - np.int32(first)
    return sp.csr_matrix((values, indices, indptr), shape=(X.n_rows, X.n_columns), copy=False)


cdef bint ascends(const int32_t *columns, ptrdiff_t count) noexcept nogil:
    cdef ptrdiff_t k
    for k in range(1, count):
        if columns[k] <= columns[k - 1]:
            return False
    return True


cdef void point_at_sparse(const ok_matrix *x, int32_t *starts, Rows *rows) noexcept nogil:
    """Point at the only row of a CSR matrix; the two `starts` must live as long as `rows`."""
    cdef ptrdiff_t first = x.indptr[0]
    starts[0], starts[1] = 0, <int32_t> (x.indptr[1] - first)
    rows.values = <const char *> x.values + first * x.dtype
    rows.columns = x.indices + first
    rows.starts = starts


cdef Samples pointers_to_row(const ok_matrix *x):
    """The only row of a CSR matrix, which has been checked; None if its columns do not ascend."""
    cdef Samples samples = Samples()
    if not ascends(x.indices + x.indptr[0], x.indptr[1] - x.indptr[0]):
        return None
    samples.packed = malloc(2 * sizeof(int32_t))
    if samples.packed == NULL:
        raise MemoryError("no memory for one sample")
    point_at_sparse(x, <int32_t *> samples.packed, &samples.rows)
    samples.rows.n, samples.rows.d, samples.rows.itemsize = 1, x.n_columns, x.dtype
    return samples


cdef int kind_of(const ok_matrix *X) noexcept:
    return cnp.NPY_FLOAT32 if X.dtype == OK_FLOAT32 else cnp.NPY_FLOAT64


cdef int check_matrix(const ok_matrix *X) except -1:
    """Raise ValueError for a matrix that cannot be read."""
    cdef ptrdiff_t row
    if X == NULL:
        raise ValueError("X is NULL")
    if X.n_rows < 0 or X.n_columns < 0:
        raise ValueError(f"X is of {X.n_rows} x {X.n_columns} elements")
    if X.dtype != OK_FLOAT32 and X.dtype != OK_FLOAT64:
        raise ValueError(f"the dtype of X must be OK_FLOAT32 or OK_FLOAT64, got {X.dtype}")
    check_aligned(X.values, X.dtype)
    check_aligned(X.indices, sizeof(int32_t))
    check_aligned(X.indptr, sizeof(int32_t))
    if X.indptr != NULL:
        if X.n_rows == 1:  # to give up the GIL takes longer
            row = bad_row(X)
        else:
            with nogil:
                row = bad_row(X)
        if row >= 0:
            raise ValueError(f"row {row} of X: indptr must be >= 0 and not descend, indices must "
                             f"be within 0 ... n_columns - 1 = {X.n_columns - 1}")
        return 0
    if X.indices != NULL:
        raise ValueError("X has indices but no indptr")
    if X.n_columns > 0 and X.n_rows > MOST_BYTES // X.dtype // X.n_columns:
        raise ValueError(f"X is of {X.n_rows} x {X.n_columns} elements, more than there is memory")
    if X.values == NULL and X.n_rows * X.n_columns > 0:
        raise ValueError("the values of X are NULL")
    return 0


cdef object matrix_of(const ok_matrix *X):
    """A matrix over the arrays of the caller, dense or CSR."""
    check_matrix(X)
    if X.indptr != NULL:
        return sparse_of(X)
    return view_of(X.values, X.n_rows * X.n_columns, kind_of(X)).reshape(X.n_rows, X.n_columns)


cdef int check_row(const ok_matrix *x) except -1:
    """Raise ValueError for a matrix that cannot be read, or is not one row."""
    check_matrix(x)
    if x.n_rows != 1:
        raise ValueError(f"x must be one row, got {x.n_rows}")
    return 0


cdef object sample_of(const ok_matrix *x):
    """The only row of a matrix, as `learn_one` and `score_one` of a model take it soonest."""
    check_row(x)
    if x.indptr == NULL:
        return view_of(x.values, x.n_columns, kind_of(x))
    row = pointers_to_row(x)
    return sparse_of(x) if row is None else row


cdef object pointed_at(const ok_matrix *x, Py_ssize_t d, Py_ssize_t itemsize, bint sparse,
                       int32_t *starts, Rows *rows, bint missing):
    """Point `rows` at the only row of a matrix, as a sparse row if `sparse`, without any array.

    Returns the object that must live, with the two `starts`, as long as `rows` is used; None for a
    row that must be converted first: of another dtype, or with columns that do not ascend.

    Raises
    ------
    ValueError
        If x is not one row of d finite numbers, or NaN if values may be `missing`.
    """
    check_row(x)
    if x.n_columns != d:
        raise ValueError(f"x has {x.n_columns} features, but the model was fitted with {d}")
    if x.dtype != itemsize:
        return None
    rows.n, rows.d, rows.itemsize = 1, d, itemsize
    if x.indptr != NULL:
        if not ascends(x.indices + x.indptr[0], x.indptr[1] - x.indptr[0]):
            return None
        point_at_sparse(x, starts, rows)
        check_finite(rows, starts[1], missing)
        return True
    rows.values, rows.columns, rows.starts = <const char *> x.values, NULL, NULL
    check_finite(rows, d, missing)
    if not sparse:
        return True
    samples = packed_row(rows)
    rows[0] = samples.rows
    return samples
