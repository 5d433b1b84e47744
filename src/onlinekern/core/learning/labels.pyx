"""Converts labels to class numbers, without a search in two frequent cases.

Two labels are compared with each sample. From consecutive integers the first one is subtracted. A
search in the sorted labels takes fifty times as long for each sample.
"""
cimport numpy as cnp
from libc.math cimport floor
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t

import numpy as np

cnp.import_array()

# Doubles hold all integers up to this one.
cdef double MOST = 2.0 ** 53
cdef str KINDS = "biuf"

ctypedef fused Label:
    uint8_t
    int8_t
    int16_t
    int32_t
    int64_t
    float
    double


cdef inline bint as_label(double label, Label *out) noexcept nogil:
    """Convert a label to the type of y. Returns whether the conversion is exact."""
    if Label is float or Label is double:
        out[0] = <Label> label
    else:
        out[0] = <Label> <int64_t> label
    return <double> out[0] == label


cdef bint of_two(const Label *y, Py_ssize_t n, double low, double high,
                 double *numbers) noexcept nogil:
    """Write 1 for the higher of two labels, 0 for the lower. Returns whether there are no others.
    """
    cdef Py_ssize_t i, known = 0
    cdef Label first, last
    cdef bint one = as_label(low, &first), other = as_label(high, &last)
    if not one and not other:
        return n == 0
    # A label that y's type cannot represent does not occur in y.
    if not one:
        first = last
    if not other:
        last = first
    for i in range(n):
        known += (y[i] == first) | (y[i] == last)
        numbers[i] = (y[i] == last) & other
    return known == n


cdef bint in_a_row(const Label *y, Py_ssize_t n, double first, double count,
                   double *numbers) noexcept nogil:
    """Write y - first. Returns whether all results are integers in [0, count)."""
    cdef Py_ssize_t i, known = 0
    cdef double number
    cdef uint64_t place, least = <uint64_t> <int64_t> first, classes = <uint64_t> count
    for i in range(n):
        if Label is float or Label is double:
            number = numbers[i] = <double> y[i] - first
            known += (number >= 0) & (number < count) & (number == floor(number))
        else:
            # Of a number below the first one, this is more than there are classes.
            place = <uint64_t> <int64_t> y[i] - least
            numbers[i] = <double> <int64_t> place
            known += place < classes
    return known == n


cdef bint write_numbers(const Label *y, Py_ssize_t n, double first, double last, double count,
                        double *numbers) noexcept nogil:
    if count == 2:
        return of_two(y, n, first, last, numbers)
    return in_a_row(y, n, first, count, numbers)


cdef bint are_told_apart(cnp.ndarray labels, double *first, double *last):
    """Whether these sorted labels are two, or whole numbers in a row; sets the outer ones."""
    cdef Py_ssize_t k, count = cnp.PyArray_SIZE(labels)
    if labels.dtype.kind not in KINDS or cnp.PyArray_NDIM(labels) != 1 or count < 2:
        return False
    first[0], last[0] = labels[0], labels[count - 1]
    # Said so, it is false for NaN too.
    if not (-MOST < first[0] < last[0] < MOST):
        return False
    if count > 2 and last[0] - first[0] != count - 1:
        return False
    if count > 2 and labels.dtype.kind == "f":
        for k in range(count):
            if <double> labels[k] != first[0] + k:
                return False
    return True


def class_numbers(y, labels):
    """Class numbers of labels, if they can be computed without a search.

    Parameters
    ----------
    y : ndarray of shape (n,)
    labels : ndarray of shape (n_classes,)
        Sorted and unique.

    Returns
    -------
    ndarray of shape (n,), float64, or None
        None if an element of y is not in `labels`, or if `labels` are neither two numbers nor
        consecutive integers; also for rare types of y.
    """
    cdef double first, last, count
    cdef Py_ssize_t n
    cdef bint known = False
    cdef const void *data
    cdef double *out
    if type(y) is not np.ndarray or cnp.PyArray_NDIM(<cnp.ndarray> y) != 1 \
            or not cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> y) \
            or not are_told_apart(labels, &first, &last):
        return None
    n, count = cnp.PyArray_SIZE(<cnp.ndarray> y), cnp.PyArray_SIZE(<cnp.ndarray> labels)
    numbers = cnp.PyArray_EMPTY(1, cnp.PyArray_DIMS(<cnp.ndarray> y), cnp.NPY_FLOAT64, 0)
    data, out = cnp.PyArray_DATA(<cnp.ndarray> y), <double *> cnp.PyArray_DATA(numbers)
    kind = cnp.PyArray_TYPE(<cnp.ndarray> y)
    if kind == cnp.NPY_INT64:
        known = write_numbers(<const int64_t *> data, n, first, last, count, out)
    elif kind == cnp.NPY_FLOAT64:
        known = write_numbers(<const double *> data, n, first, last, count, out)
    elif kind == cnp.NPY_INT32:
        known = write_numbers(<const int32_t *> data, n, first, last, count, out)
    elif kind == cnp.NPY_FLOAT32:
        known = write_numbers(<const float *> data, n, first, last, count, out)
    elif kind == cnp.NPY_INT8:
        known = write_numbers(<const int8_t *> data, n, first, last, count, out)
    elif kind == cnp.NPY_INT16:
        known = write_numbers(<const int16_t *> data, n, first, last, count, out)
    elif kind in (cnp.NPY_UINT8, cnp.NPY_BOOL):
        known = write_numbers(<const uint8_t *> data, n, first, last, count, out)
    return numbers if known else None
