"""Distances of all pairs of a few samples, as the width of a kernel is measured against them.

Each is summed over the features in ascending order, in double: a dense sample and the same one in
CSR give the same bits.
"""
from cython cimport floating
from libc.math cimport fabs

import numpy as np

from onlinekern.core.base.vector cimport ok_sparse_row
from onlinekern.core.samples.rows cimport (
    Rows, Samples, dense_row, is_sparse, samples_of, sparse_row,
)


cdef inline double term(double difference, bint squared) noexcept nogil:
    return difference * difference if squared else fabs(difference)


cdef inline double between_dense(const floating *a, const floating *b, Py_ssize_t d,
                                 bint squared) noexcept nogil:
    cdef double total = 0
    cdef Py_ssize_t j
    for j in range(d):
        total += term(<double> a[j] - b[j], squared)
    return total


cdef inline double between_sparse(const floating *a, const ok_sparse_row *one, const floating *b,
                                  const ok_sparse_row *two, bint squared) noexcept nogil:
    cdef double total = 0
    cdef Py_ssize_t i = 0, j = 0
    while i < one.count or j < two.count:
        if j == two.count or (i < one.count and one.columns[i] < two.columns[j]):
            total += term(a[i], squared)
            i += 1
        elif i == one.count or two.columns[j] < one.columns[i]:
            total += term(b[j], squared)
            j += 1
        else:
            total += term(<double> a[i] - b[j], squared)
            i += 1
            j += 1
    return total


cdef double between(const Rows *rows, Py_ssize_t i, Py_ssize_t j, bint squared) noexcept nogil:
    """The distance of two samples."""
    cdef ok_sparse_row one, two
    cdef const void *a
    cdef const void *b
    if is_sparse(rows):
        one, two = sparse_row(rows, i), sparse_row(rows, j)
        a, b = one.values, two.values
        if rows.itemsize == 4:
            return between_sparse(<const float *> a, &one, <const float *> b, &two, squared)
        return between_sparse(<const double *> a, &one, <const double *> b, &two, squared)
    a, b = dense_row(rows, i), dense_row(rows, j)
    if rows.itemsize == 4:
        return between_dense(<const float *> a, <const float *> b, rows.d, squared)
    return between_dense(<const double *> a, <const double *> b, rows.d, squared)


def pair_distances(X, bint squared):
    """Distances of all pairs of rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d), of float32 or float64, validated
    squared : bool
        Squared Euclidean distances, or sums of absolute differences.

    Returns
    -------
    ndarray of shape (n (n - 1) / 2,)
        Of the rows 0 and 1, 0 and 2, ... 1 and 2, ...
    """
    cdef Samples samples = samples_of(X, X.dtype)
    cdef const Rows *rows = &samples.rows
    cdef Py_ssize_t i, j, place = 0
    cdef double[::1] found = np.empty(rows.n * (rows.n - 1) // 2)
    with nogil:
        for i in range(rows.n):
            for j in range(i + 1, rows.n):
                found[place] = between(rows, i, j, squared)
                place += 1
    return np.asarray(found)
