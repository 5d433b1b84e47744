"""Rows from dictionaries of numbers, by a dictionary of the columns.

A row takes one look-up for each feature. Values are what Python takes as numbers: text of a number
is none here, and raises a TypeError.
"""
cimport numpy as cnp
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc, qsort

cnp.import_array()


cdef struct Stored:
    int32_t column
    double value


cdef int by_column(const void *a, const void *b) noexcept nogil:
    return (<const Stored *> a).column - (<const Stored *> b).column


def dense_row(dict x, dict columns, Py_ssize_t width):
    """The row of a sample, which has 0 where a feature is missing.

    Parameters
    ----------
    x : dict of name to number
    columns : dict of name to int
        Columns below `width`.
    width : int

    Returns
    -------
    row : ndarray of shape (width,), float64
    found : int
        How many features of x have a column.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a value is no number.
    IndexError
        If a column is not below `width`.
    """
    cdef cnp.npy_intp length = width
    cdef Py_ssize_t column, found = 0
    row = cnp.PyArray_ZEROS(1, &length, cnp.NPY_FLOAT64, 0)
    cdef double *values = <double *> cnp.PyArray_DATA(row)
    for name, value in x.items():
        place = columns.get(name)
        if place is None:
            continue
        column = place
        if not 0 <= column < width:
            raise IndexError(f"column {column} is not in [0, {width})")
        values[column] = value
        found += 1
    return row, found


def sparse_row(dict x, dict columns):
    """The stored elements of the row of a sample, in the order of their columns.

    Parameters
    ----------
    x : dict of name to number
    columns : dict of name to int

    Returns
    -------
    values : ndarray of shape (n,), float64
    places : ndarray of shape (n,), int32
        The columns. All features of x that have one are stored, zeros too.
    starts : ndarray of shape (2,), int32
        0 and n.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a value is no number.
    MemoryError
    """
    cdef cnp.npy_intp count = 0, two = 2
    cdef Py_ssize_t k
    cdef bint ascends = True
    cdef Stored *stored = <Stored *> malloc((len(x) + 1) * sizeof(Stored))
    cdef double *values
    cdef int32_t *places
    if stored == NULL:
        raise MemoryError(f"no memory for a sample of {len(x)} features")
    try:
        for name, value in x.items():
            place = columns.get(name)
            if place is None:
                continue
            stored[count].column, stored[count].value = place, value
            ascends &= count == 0 or stored[count].column > stored[count - 1].column
            count += 1
        if not ascends:
            qsort(stored, count, sizeof(Stored), by_column)
        numbers = cnp.PyArray_EMPTY(1, &count, cnp.NPY_FLOAT64, 0)
        indices = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INT32, 0)
        values = <double *> cnp.PyArray_DATA(numbers)
        places = <int32_t *> cnp.PyArray_DATA(indices)
        for k in range(count):
            values[k], places[k] = stored[k].value, stored[k].column
        starts = cnp.PyArray_ZEROS(1, &two, cnp.NPY_INT32, 0)
        (<int32_t *> cnp.PyArray_DATA(starts))[1] = <int32_t> count
        return numbers, indices, starts
    finally:
        free(stored)
