"""Rows of raw memory, of single or double precision, as arrays of doubles and back."""
import numpy as np


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
    """The other way round."""
    cdef Py_ssize_t i, j
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            if itemsize == 4:
                (<float *> values)[i * stride + j] = <float> array[i, j]
            else:
                (<double *> values)[i * stride + j] = array[i, j]
    return 0
