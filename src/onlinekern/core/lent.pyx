"""Arrays over memory that a C caller lends for the time of a call.

Layer 2. Nothing is copied, and nothing but what is asked for as `written` can be written to. All
that can be seen to be wrong with pointers and sizes is found here, as an error and no crash.
"""
cimport numpy as cnp
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t, uintptr_t
from libc.stdlib cimport malloc

import numpy as np
import scipy.sparse as sp

from onlinekern.core.header cimport OK_FLOAT32, OK_FLOAT64, ok_matrix
from onlinekern.core.rows cimport Samples

cnp.import_array()

cdef ptrdiff_t MOST_BYTES = np.iinfo(np.intp).max


cdef int check_aligned(const void *data, size_t size) except -1:
    """Raise ValueError for numbers that do not begin where numbers can."""
    if <uintptr_t> data % size != 0:
        raise ValueError("an array does not begin at a multiple of its elements' size")
    return 0


cdef object lent(const void *data, ptrdiff_t n, int kind, bint written=False):
    """An array over n elements that are the caller's."""
    cdef cnp.npy_intp length = n
    if n == 0:
        return np.empty(0, cnp.PyArray_DescrFromType(kind))
    array = cnp.PyArray_SimpleNewFromData(1, &length, kind, <void *> data)
    if not written:
        cnp.PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
    return array


cdef object numbers(const double *data, ptrdiff_t n, str name, bint written=False):
    """An array over n numbers of the caller; n < 0 and NULL are errors."""
    if n < 0:
        raise ValueError(f"the size of {name} is negative: {n}")
    if data == NULL and n > 0:
        raise ValueError(f"{name} is NULL")
    check_aligned(data, sizeof(double))
    return lent(data, n, cnp.NPY_FLOAT64, written)


cdef object optional(const double *data, ptrdiff_t n, bint written=False):
    """The same, or None if there is no such array."""
    return None if data == NULL else numbers(data, n, "an array", written)


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
    values = lent(<const char *> X.values + first * X.dtype, count, kind_of(X))
    indices = lent(X.indices + first, count, cnp.NPY_INT32)
    indptr = lent(X.indptr, X.n_rows + 1, cnp.NPY_INT32)
    if first > 0:
        indptr = indptr - np.int32(first)
    return sp.csr_matrix((values, indices, indptr), shape=(X.n_rows, X.n_columns), copy=False)


cdef Samples pointers_to_row(const ok_matrix *x):
    """The only row of a CSR matrix, which has been checked; None if its columns do not ascend."""
    cdef Samples samples = Samples()
    cdef ptrdiff_t first = x.indptr[0], count = x.indptr[1] - first, k
    cdef int32_t *starts
    for k in range(1, count):
        if x.indices[first + k] <= x.indices[first + k - 1]:
            return None
    samples.packed = malloc(2 * sizeof(int32_t))
    if samples.packed == NULL:
        raise MemoryError("no memory for one sample")
    starts = <int32_t *> samples.packed
    starts[0], starts[1] = 0, <int32_t> count
    samples.rows.values = <const char *> x.values + first * x.dtype
    samples.rows.columns = x.indices + first
    samples.rows.starts = starts
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
    return lent(X.values, X.n_rows * X.n_columns, kind_of(X)).reshape(X.n_rows, X.n_columns)


cdef object sample_of(const ok_matrix *x):
    """The only row of a matrix, as `learn_one` and `score_one` of a model take it soonest."""
    check_matrix(x)
    if x.n_rows != 1:
        raise ValueError(f"x must be one row, got {x.n_rows}")
    if x.indptr == NULL:
        return lent(x.values, x.n_columns, kind_of(x))
    row = pointers_to_row(x)
    return sparse_of(x) if row is None else row
