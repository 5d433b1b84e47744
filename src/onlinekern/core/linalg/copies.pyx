"""Rows of raw memory, of single or double precision, as arrays of doubles and back.

Pickles and files omit the part of a square matrix that follows from the rest: they hold panels of
columns, each from its first diagonal element down, in one axis.
"""
import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape
from onlinekern.core.base.vector cimport OK_PANEL

# Columns of a panel of an inverse.
PANEL = OK_PANEL


cdef object rows_as_doubles(const void *values, Py_ssize_t n, Py_ssize_t stride, Py_ssize_t width,
                            Py_ssize_t itemsize):
    """n rows of `width` elements, `stride` apart, as a new array."""
    cdef Py_ssize_t i, j
    out = np.zeros((n, width))
    cdef double[:, ::1] view = out
    for i in range(n):
        for j in range(width):
            view[i, j] = (<const float *> values)[i * stride + j] if itemsize == 4 else \
                (<const double *> values)[i * stride + j]
    return out


cdef int write_rows(const double[:, ::1] array, void *values, Py_ssize_t stride,
                    Py_ssize_t itemsize) except -1:
    """Write an array of doubles to raw rows, `stride` apart."""
    cdef Py_ssize_t i, j
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            if itemsize == 4:
                (<float *> values)[i * stride + j] = <float> array[i, j]
            else:
                (<double *> values)[i * stride + j] = array[i, j]
    return 0


cdef object packed(object matrix, Py_ssize_t width):
    """The panels of `width` columns of a square matrix, from the diagonal down, in one axis."""
    parts = [matrix[p:, p:p + width].ravel() for p in range(0, len(matrix), width)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=matrix.dtype)


cdef object widened(object array):
    """Convert a float32 array to float64; return anything else unchanged."""
    single = isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.itemsize == 4
    return array.astype(np.float64) if single else array


def unpacked(str name not None, values, Py_ssize_t n, Py_ssize_t width, bint mirrored=True):
    """The n x n matrix of doubles from the panels of `packed`, of `width` columns.

    Above the panels it is symmetric, or 0 if not `mirrored`. A matrix that is not packed is
    returned as it is.
    """
    cdef Py_ssize_t p, end, first = 0
    if np.ndim(values) == 2:
        return doubles_of_shape(name, widened(values), (n, n))
    sizes = [(n - p) * min(width, n - p) for p in range(0, n, width)]
    values = doubles_of_shape(name, widened(values), (sum(sizes),))
    out = np.zeros((n, n))
    for p, size in zip(range(0, n, width), sizes):
        end = min(n, p + width)
        out[p:, p:end] = values[first:first + size].reshape(n - p, end - p)
        if mirrored:
            out[p:end, end:] = out[end:, p:end].T
        first += size
    return out
