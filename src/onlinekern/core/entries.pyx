"""Entries: one sample in double, with the constant that stands for the intercept behind it.

Layer 2. A dense sample is given with all its features, a sparse one with those that it stores.
"""
from cython cimport floating
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from onlinekern.core.rows cimport Rows, dense_row, is_sparse, sparse_row
from onlinekern.core.vector cimport OK_PANEL, aligned_resize, ok_sparse_row


cdef inline void copy_numbers(const floating *x, Py_ssize_t count, double *out) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(count):
        out[j] = x[j]


cdef class Entries:
    """Room for one sample at a time.

    Parameters
    ----------
    d : int
        Features of a sample.
    intercept : bool
        Append the entry 1 at place d.
    """

    def __init__(self, Py_ssize_t d, bint intercept):
        self.intercept = intercept
        self.width = (d + intercept + OK_PANEL - 1) // OK_PANEL * OK_PANEL
        self.values = <double *> aligned_resize(NULL, 0, self.width * sizeof(double))
        self.places = <int32_t *> calloc(self.width, sizeof(int32_t))
        if self.values == NULL or self.places == NULL:
            raise MemoryError(f"no memory for a sample of {d} features")

    def __dealloc__(self):
        free(self.values)
        free(self.places)

    cdef void load(self, const Rows *rows, Py_ssize_t row) noexcept nogil:
        """Take row `row`; `vector` and `square`, its squared length, are then of it.

        Of a dense sample, the numbers behind the last up to whole panels are 0.
        """
        cdef Py_ssize_t count = rows.d
        cdef const void *numbers
        cdef ok_sparse_row stored
        self.vector.values = self.values
        self.vector.places = NULL
        if is_sparse(rows):
            stored = sparse_row(rows, row)
            count = stored.count
            numbers = stored.values
            memcpy(self.places, stored.columns, count * sizeof(int32_t))
            self.vector.places = self.places
        else:
            numbers = dense_row(rows, row)
        if rows.itemsize == 4:
            copy_numbers(<const float *> numbers, count, self.values)
        else:
            copy_numbers(<const double *> numbers, count, self.values)
        if self.intercept:
            self.places[count] = <int32_t> rows.d
            self.values[count] = 1
            count += 1
        self.vector.count = count
        self.square = short_dot(self.values, self.values, count)
