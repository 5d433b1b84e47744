"""Rows: a view of samples as plain pointers, dense (C order) or CSR, float32 or float64.

Layer 1. Built at the boundary from arrays that the Python side has validated; read-only and memory-
mapped arrays are fine, nothing is written. Above this layer nobody asks for the dtype, and only
`chunks` asks for the layout. A `Samples` object owns the arrays that its `rows` point into.
"""
cimport numpy as cnp
from libc.math cimport isfinite

import numpy as np
import scipy.sparse as sp

from onlinekern.core.vector cimport ops_for

cnp.import_array()


cdef class Samples:
    """Owner of the arrays behind a `Rows`."""


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
        If a sparse X has more columns or stored elements than a 32-bit index can name.
    """
    cdef Samples samples = Samples()
    samples.rows.n, samples.rows.d = X.shape
    samples.rows.itemsize = np.dtype(dtype).itemsize
    if not sp.issparse(X):
        array = np.ascontiguousarray(X, dtype=dtype)
        samples.owners = (array,)
        samples.rows.values = <const char *> data_of(array)
        samples.rows.columns = NULL
        samples.rows.starts = NULL
        return samples
    limit = np.iinfo(np.int32).max
    if X.nnz > limit or X.shape[1] > limit:
        raise ValueError(f"X has {X.nnz} stored elements in {X.shape[1]} columns; "
                         f"at most {limit} of each can be indexed, pass it in smaller pieces")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    values = np.ascontiguousarray(X.data, dtype=dtype)
    columns = np.ascontiguousarray(X.indices, dtype=np.int32)
    starts = np.ascontiguousarray(X.indptr, dtype=np.int32)
    samples.owners = (values, columns, starts)
    samples.rows.values = <const char *> data_of(values)
    samples.rows.columns = <const int32_t *> data_of(columns)
    samples.rows.starts = <const int32_t *> data_of(starts)
    return samples


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


cdef object sparse_row_of(object x, Py_ssize_t d, Py_ssize_t itemsize, Rows *rows):
    """Point `rows` at one sample that is sparse."""
    cdef double square, absolute
    x = x if x.format == "csr" and x.ndim == 2 else sp.csr_matrix(x.reshape(1, -1))
    if x.shape[0] != 1:
        raise ValueError(f"x must be one sample of {d} features, got shape {x.shape}")
    if x.shape[1] != d:
        raise ValueError(f"x has {x.shape[1]} features, but the model was fitted with {d}")
    samples = samples_of(x, np.float32 if itemsize == 4 else np.float64)
    rows[0] = (<Samples> samples).rows
    ops_for(itemsize).norms(rows.values, rows.starts[1], &square, &absolute)
    if not isfinite(absolute):
        raise ValueError("x contains NaN or infinity")
    return samples


cdef object row_of(object x, Py_ssize_t d, Py_ssize_t itemsize, bint sparse, Rows *rows):
    """Point `rows` at one sample, made sparse if asked, without scikit-learn's validation.

    Fast for a C-contiguous ndarray of shape (d,) and of the model's dtype; anything else that has
    d numbers is converted. A sparse row stays one: it costs what it stores. Returns the object that
    must live as long as `rows` is used.

    Raises
    ------
    ValueError
        If x has not d finite numbers.
    """
    cdef double square, absolute
    if not point_at(x, d, itemsize, rows):
        if sp.issparse(x):
            return sparse_row_of(x, d, itemsize, rows)
        x = np.ascontiguousarray(x, dtype=np.float32 if itemsize == 4 else np.float64)
        if x.ndim != 1:
            raise ValueError(f"x must be one sample of shape ({d},), got shape {x.shape}")
        point_at(x, d, itemsize, rows)
    ops_for(itemsize).norms(rows.values, d, &square, &absolute)
    if not isfinite(absolute):
        raise ValueError("x contains NaN or infinity")
    if sparse:
        samples = samples_of(sp.csr_matrix(x.reshape(1, -1)), x.dtype)
        rows[0] = (<Samples> samples).rows
        return samples
    return x
