"""Elementary work on sparse rows: into a lane of a panel, out of a dense row, against each other.

Layer 1. Each function asks for the element size once per row.
"""
from cython cimport floating
from libc.stdint cimport int32_t

from onlinekern.core.vector cimport OK_PANEL, ok_sparse_row


cdef inline void scatter_row(floating *lane, const floating *values, const int32_t *columns,
                             const int32_t *place, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t j
    if columns == NULL:
        for j in range(count):
            lane[j * OK_PANEL] = values[j]
    else:
        for j in range(count):
            lane[place[columns[j]] * OK_PANEL] = values[j]


cdef void scatter(char *lane, const char *values, const int32_t *columns, const int32_t *place,
                  Py_ssize_t count, Py_ssize_t itemsize) noexcept nogil:
    """Write a row into its lane: element j at feature place[columns[j]] (columns NULL: at j)."""
    if itemsize == 4:
        scatter_row(<float *> lane, <const float *> values, columns, place, count)
    else:
        scatter_row(<double *> lane, <const double *> values, columns, place, count)


cdef inline Py_ssize_t count_nonzeros(const floating *x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    cdef int count = 0
    for j in range(n):
        count += x[j] != 0
    return count


cdef Py_ssize_t nonzeros(const char *x, Py_ssize_t n, Py_ssize_t itemsize) noexcept nogil:
    """Elements that are not zero."""
    if itemsize == 4:
        return count_nonzeros(<const float *> x, n)
    return count_nonzeros(<const double *> x, n)


cdef inline Py_ssize_t pack_row(const floating *row, Py_ssize_t d, floating *values,
                                int32_t *columns) noexcept nogil:
    # Every element is written, a zero is overwritten by the next: a branch would be mispredicted
    # at each non-zero.
    cdef Py_ssize_t j, count = 0
    for j in range(d):
        values[count] = row[j]
        columns[count] = <int32_t> j
        count += row[j] != 0
    return count


cdef Py_ssize_t pack(const char *row, Py_ssize_t d, Py_ssize_t itemsize, char *values,
                     int32_t *columns) noexcept nogil:
    """Write the non-zeros of a dense row, and their columns; returns how many they are.

    There must be room for one more than that.
    """
    if itemsize == 4:
        return pack_row(<const float *> row, d, <float *> values, columns)
    return pack_row(<const double *> row, d, <double *> values, columns)


cdef inline double merged_distance(const floating *x, const floating *z, const ok_sparse_row *a,
                                   const ok_sparse_row *b) noexcept nogil:
    cdef Py_ssize_t i = 0, j = 0
    cdef double total = 0, difference
    while i < a.count or j < b.count:
        if j == b.count or (i < a.count and a.columns[i] < b.columns[j]):
            difference = x[i]
            i += 1
        elif i == a.count or b.columns[j] < a.columns[i]:
            difference = z[j]
            j += 1
        else:
            difference = <double> x[i] - z[j]
            i += 1
            j += 1
        total += difference * difference
    return total


cdef double sparse_distance(const ok_sparse_row *x, const ok_sparse_row *z,
                            Py_ssize_t itemsize) noexcept nogil:
    """||x - z||^2 of two sparse rows by merging their columns, in double."""
    if itemsize == 4:
        return merged_distance(<const float *> x.values, <const float *> z.values, x, z)
    return merged_distance(<const double *> x.values, <const double *> z.values, x, z)
