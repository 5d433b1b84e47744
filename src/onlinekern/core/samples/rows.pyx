"""Rows: a view of samples as plain pointers, dense (C order) or CSR, float32 or float64.

Built at the boundary from arrays whose numbers the Python side has validated; read-only and
memory-mapped arrays are fine, nothing is written. What pointers rely on is checked here, on every
way in: alignment, and that the indices of a CSR matrix stay within its arrays and columns. A
`Samples` object owns the arrays that its `rows` point into.
"""
cimport numpy as cnp
from cython cimport floating
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

import numpy as np
import scipy.sparse as sp

from onlinekern.core.base.vector cimport ops_for

cnp.import_array()

# A 32-bit index can name so many.
cdef Py_ssize_t MOST_INDICES = 2147483647

ctypedef fused index:
    int32_t
    int64_t


# `pack` skips blocks of so many elements when all of them are 0.
cdef enum: BLOCK = 64


cdef class Samples:
    """Owner of the arrays behind a `Rows`."""

    def __dealloc__(self):
        free(self.packed)


cdef const void *data_of(cnp.ndarray array):
    return cnp.PyArray_DATA(array)


cdef Samples samples_of(object X, object dtype):
    """Rows of a validated dense array or CSR matrix; copies only what has another dtype or order.

    Parameters
    ----------
    X : ndarray of shape (n, d), or scipy.sparse CSR of that shape
    dtype : numpy.float32 or numpy.float64

    Raises
    ------
    ValueError
        If a sparse X is no valid CSR matrix, see `canonical_csr`.
    """
    cdef Samples samples = Samples()
    samples.rows.n, samples.rows.d = X.shape
    samples.rows.itemsize = np.dtype(dtype).itemsize
    if not sp.issparse(X):
        array = aligned(X, dtype)
        samples.owners = (array,)
        samples.rows.values = <const char *> data_of(array)
        samples.rows.columns = NULL
        samples.rows.starts = NULL
        return samples
    X = canonical_csr(X)
    values = aligned(X.data, dtype)
    columns = np.ascontiguousarray(X.indices, dtype=np.int32)
    starts = np.ascontiguousarray(X.indptr, dtype=np.int32)
    samples.owners = (values, columns, starts)
    samples.rows.values = <const char *> data_of(values)
    samples.rows.columns = <const int32_t *> data_of(columns)
    samples.rows.starts = <const int32_t *> data_of(starts)
    return samples


cdef object aligned(object array, object dtype):
    """The array with this dtype, in C order and aligned; copied only if it is not so already."""
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])


cdef Py_ssize_t bad_start(const index *starts, Py_ssize_t n, Py_ssize_t stored) noexcept nogil:
    """The first of n rows that is not within `stored` elements; -1 if all are."""
    cdef Py_ssize_t i
    if starts[0] != 0:
        return 0
    for i in range(n):
        if starts[i + 1] < starts[i] or starts[i + 1] > stored:
            return i
    return -1


cdef bint within(const index *columns, Py_ssize_t count, index d) noexcept nogil:
    """Whether all columns are in [0, d)."""
    # Neither a branch nor a number of another width: the compiler makes vector code of it.
    cdef Py_ssize_t k
    cdef index outside = 0
    for k in range(count):
        outside |= (columns[k] < 0) | (columns[k] >= d)
    return outside == 0


cdef bint ascending(const index *columns, const index *starts, Py_ssize_t n) noexcept nogil:
    """Whether the columns of each row ascend, none of them twice.

    All neighbours are compared. Then the pairs that lie in two rows are taken off again; empty rows
    share a start, which counts once.
    """
    cdef Py_ssize_t i, k
    cdef index descents = 0
    for k in range(1, starts[n]):
        descents += columns[k] <= columns[k - 1]
    for i in range(1, n):
        k = starts[i]
        if starts[i - 1] < k and k < starts[n]:
            descents -= columns[k] <= columns[k - 1]
    return descents == 0


cdef object checked(const index[::1] columns, const index[::1] starts, Py_ssize_t stored,
                    Py_ssize_t n, Py_ssize_t d):
    """Raise ValueError for a CSR matrix that reaches beyond its arrays or columns.

    Costs O(n + stored), at the speed of memory. Returns whether its columns ascend.
    """
    cdef Py_ssize_t i, k, row
    cdef bint good, sorted = True
    if starts.shape[0] != n + 1:
        raise ValueError(f"X is no valid CSR matrix: indptr has {starts.shape[0]} elements, "
                         f"{n} rows need {n + 1}")
    with nogil:
        row = bad_start(&starts[0], n, stored)
        good = row >= 0 or starts[n] == 0 \
            or within(&columns[0], starts[n], <index> min(d, MOST_INDICES))
        if row < 0 and good and starts[n] > 0:
            sorted = ascending(&columns[0], &starts[0], n)
    if row >= 0:
        raise ValueError(
            f"X is no valid CSR matrix: row {row} is stored at {starts[row]} ... "
            f"{starts[row + 1]}, which is not within 0 ... {stored} or descends (indptr)")
    if good:
        return sorted
    for i in range(n):
        for k in range(starts[i], starts[i + 1]):
            if columns[k] < 0 or columns[k] >= d:
                raise ValueError(f"X is no valid CSR matrix: row {i} has the column {columns[k]}, "
                                 f"but there are {d} columns, 0 ... {d - 1} (indices)")


def canonical_csr(X):
    """A CSR matrix whose indices are checked, with ascending columns in each row.

    What the matrix says of itself (`has_canonical_format`) is not relied on.

    Parameters
    ----------
    X : CSR matrix of shape (n, d)

    Returns
    -------
    X, or a copy with its columns sorted and its duplicates added up

    Raises
    ------
    ValueError
        If an index is outside of the matrix, if the arrays do not agree with each other, or if
        there are more columns or stored elements than a 32-bit index can name.
    """
    columns, starts = np.asarray(X.indices), np.asarray(X.indptr)
    if columns.dtype.kind != "i" or starts.dtype.kind != "i":
        raise ValueError("X is no valid CSR matrix: its indices are no integers "
                         f"({columns.dtype}, {starts.dtype})")
    wide = np.int32 if columns.dtype.itemsize <= 4 and starts.dtype.itemsize <= 4 else np.int64
    columns, starts = aligned(columns, wide), aligned(starts, wide)
    stored = min(X.data.shape[0], columns.shape[0])
    if wide is np.int32:
        sorted = checked[int32_t](columns, starts, stored, *X.shape)
    else:
        sorted = checked[int64_t](columns, starts, stored, *X.shape)
    # Not starts[-1]: without wraparound that is undefined, and wrong on Python 3.13.
    elements = starts[X.shape[0]]
    if elements > MOST_INDICES or X.shape[1] > MOST_INDICES:
        raise ValueError(
            f"X has {elements} stored elements in {X.shape[1]} columns; at most {MOST_INDICES} of "
            "each can be indexed, pass it in smaller pieces")
    if not sorted:
        # A new matrix: one that lies about itself would be left as it is.
        X = sp.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape, copy=True)
        X.sum_duplicates()
    return X


cdef bint point_at(object x, Py_ssize_t d, Py_ssize_t itemsize, Rows *rows) except *:
    """Point `rows` at x if it is an array that can be read as it is."""
    cdef cnp.ndarray array
    if not isinstance(x, cnp.ndarray):
        return False
    array = x
    if cnp.PyArray_TYPE(array) != (cnp.NPY_FLOAT32 if itemsize == 4 else cnp.NPY_FLOAT64):
        return False
    if cnp.PyArray_NDIM(array) != 1 or not cnp.PyArray_IS_C_CONTIGUOUS(array) \
            or not cnp.PyArray_ISALIGNED(array) or not cnp.PyArray_ISNOTSWAPPED(array):
        return False
    if cnp.PyArray_DIM(array, 0) != d:
        raise ValueError(
            f"x has {cnp.PyArray_DIM(array, 0)} features, but the model was fitted with {d}")
    rows.values = <const char *> cnp.PyArray_DATA(array)
    rows.columns = NULL
    rows.starts = NULL
    rows.n = 1
    rows.d = d
    rows.itemsize = itemsize
    return True


cdef int check_finite(const Rows *rows, Py_ssize_t count) except -1:
    """Raise ValueError unless the first `count` elements are finite, and so is their sum."""
    cdef double square, absolute
    ops_for(rows.itemsize).norms(rows.values, count, &square, &absolute)
    if not isfinite(absolute):
        raise ValueError("x contains NaN or infinity, or numbers too large to add up")
    return 0


cdef object sparse_row_of(object x, Py_ssize_t d, Py_ssize_t itemsize, Rows *rows):
    """Point `rows` at one sample that is sparse."""
    if x.format != "csr" or x.ndim != 2:
        if hasattr(x, "check_format"):
            x.check_format(full_check=True)
        x = sp.csr_matrix(x.reshape(1, -1))
    if x.shape[0] != 1:
        raise ValueError(f"x must be one sample of {d} features, got shape {x.shape}")
    if x.shape[1] != d:
        raise ValueError(f"x has {x.shape[1]} features, but the model was fitted with {d}")
    samples = samples_of(x, np.float32 if itemsize == 4 else np.float64)
    rows[0] = (<Samples> samples).rows
    check_finite(rows, rows.starts[1])
    return samples


cdef Samples row_of_pointers(Samples x, Py_ssize_t d, Py_ssize_t itemsize, Rows *rows):
    """Point `rows` at one sparse row that is given as pointers, columns ascending."""
    cdef cnp.npy_intp count = x.rows.starts[1]
    cdef Samples samples = x
    if x.rows.d != d:
        raise ValueError(f"x has {x.rows.d} features, but the model was fitted with {d}")
    if x.rows.itemsize != itemsize:
        samples = Samples()
        kind = cnp.NPY_FLOAT32 if x.rows.itemsize == 4 else cnp.NPY_FLOAT64
        values = cnp.PyArray_SimpleNewFromData(1, &count, kind, <void *> x.rows.values)
        values = values.astype(np.float32 if itemsize == 4 else np.float64)
        samples.owners = (x, values)
        samples.rows = x.rows
        samples.rows.values = <const char *> data_of(values)
        samples.rows.itemsize = itemsize
    rows[0] = samples.rows
    check_finite(rows, count)
    return samples


cdef inline Py_ssize_t pack(const floating *x, Py_ssize_t d, floating *values,
                            int32_t *columns) noexcept nogil:
    """Write the non-zeros of x and their columns; returns their number.

    There must be room for one element more.

    With NULL for `values` they are counted only.
    """
    cdef Py_ssize_t block, first, last, j, count = 0
    cdef int stored
    for block in range((d + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        last = min(first + BLOCK, d)
        stored = 0
        for j in range(first, last):
            stored += x[j] != 0
        if values == NULL or stored == 0:
            count += stored
            continue
        for j in range(first, last):
            values[count] = x[j]
            columns[count] = <int32_t> j
            count += x[j] != 0
    return count


cdef Samples packed_row(Rows *rows):
    """The dense row that `rows` point at, as a sparse one with memory of its own."""
    cdef Samples samples = Samples()
    cdef Py_ssize_t count, d = rows.d, size = rows.itemsize
    cdef const char *x = rows.values
    cdef char *values
    cdef int32_t *starts
    if size == 4:
        count = pack(<const float *> x, d, NULL, NULL)
    else:
        count = pack(<const double *> x, d, NULL, NULL)
    samples.packed = malloc((count + 1) * (size + sizeof(int32_t)) + 2 * sizeof(int32_t))
    if samples.packed == NULL:
        raise MemoryError(f"no memory for a sample of {count} stored elements")
    values = <char *> samples.packed
    starts = <int32_t *> (values + (count + 1) * size)
    starts[0], starts[1] = 0, <int32_t> count
    if size == 4:
        pack(<const float *> x, d, <float *> values, starts + 2)
    else:
        pack(<const double *> x, d, <double *> values, starts + 2)
    samples.rows = rows[0]
    samples.rows.values = values
    samples.rows.columns = starts + 2
    samples.rows.starts = starts
    return samples


cdef object row_of(object x, Py_ssize_t d, Py_ssize_t itemsize, bint sparse, Rows *rows):
    """Point `rows` at one sample, as a sparse row if `sparse`, without scikit-learn's validation.

    Fast for a C-contiguous ndarray of shape (d,) and of the model's dtype; anything else that has
    d numbers is converted. A sparse row stays sparse. Returns the object that must live as long
    as `rows` is used.

    Raises
    ------
    ValueError
        If x has not d finite numbers.
    """
    cdef Samples samples
    if not point_at(x, d, itemsize, rows):
        if isinstance(x, Samples):
            return row_of_pointers(x, d, itemsize, rows)
        if sp.issparse(x):
            return sparse_row_of(x, d, itemsize, rows)
        x = np.asarray(x)
        if x.dtype.kind == "c":
            raise ValueError("x must be real, got complex numbers")
        x = aligned(x, np.float32 if itemsize == 4 else np.float64)
        if x.ndim != 1:
            raise ValueError(f"x must be one sample of shape ({d},), got shape {x.shape}")
        point_at(x, d, itemsize, rows)
    check_finite(rows, d)
    if not sparse:
        return x
    samples = packed_row(rows)
    rows[0] = samples.rows
    return samples
