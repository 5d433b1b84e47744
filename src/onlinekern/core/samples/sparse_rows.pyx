"""Elementary work on sparse rows: into a lane of a panel, out of a dense row, against each other.

Each function asks for the element size once per row.

Point: one row that is given as values, and the mixture of two.

Support rows that are merged become a point that is no sample. A point is sparse when the
samples are, whatever way support rows are stored: its norm is then summed in one order always, and
so its kernel values do not depend on the block in which it was made.
"""
from cython cimport floating
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport OK_PANEL, aligned_resize, ok_sparse_row


cdef Py_ssize_t COUNTED_TOGETHER = 1 << 20


cdef inline void scatter_row(floating *lane, const floating *values, const int32_t *columns,
                             const int32_t *place, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t j
    if columns == NULL:
        for j in range(count):
            lane[j * OK_PANEL] = values[j]
    elif place == NULL:
        for j in range(count):
            lane[columns[j] * OK_PANEL] = values[j]
    else:
        for j in range(count):
            lane[place[columns[j]] * OK_PANEL] = values[j]


cdef void scatter(char *lane, const char *values, const int32_t *columns, const int32_t *place,
                  Py_ssize_t count, Py_ssize_t itemsize) noexcept nogil:
    """Write a row into its lane: element j at feature place[columns[j]].

    With NULL for `place` it is columns[j], with NULL for `columns` j.
    """
    if itemsize == 4:
        scatter_row(<float *> lane, <const float *> values, columns, place, count)
    else:
        scatter_row(<double *> lane, <const double *> values, columns, place, count)


cdef inline Py_ssize_t count_nonzeros(const floating *x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j, first = 0, last, total = 0
    cdef int count
    # A narrow number makes faster vector code, and would overflow where elements are billions.
    while first < n:
        last = min(first + COUNTED_TOGETHER, n)
        count = 0
        for j in range(first, last):
            count += x[j] != 0
        total += count
        first = last
    return total


cdef Py_ssize_t nonzeros(const char *x, Py_ssize_t n, Py_ssize_t itemsize) noexcept nogil:
    """Elements that are not zero."""
    if itemsize == 4:
        return count_nonzeros(<const float *> x, n)
    return count_nonzeros(<const double *> x, n)


cdef inline uint64_t marks_of(const floating *x, Py_ssize_t n) noexcept nogil:
    """A bit for each of n <= MARKS elements that is not zero."""
    cdef unsigned char[MARKS] flags
    cdef uint64_t marks = 0, eight
    cdef Py_ssize_t j
    for j in range(n, MARKS):
        flags[j] = 0
    for j in range(n):
        flags[j] = x[j] != 0
    for j in range(0, MARKS, 8):
        # Byte k of eight, which is 0 or 1, becomes bit k of the uppermost byte of the product.
        memcpy(&eight, flags + j, 8)
        marks |= (eight * <uint64_t> 0x0102040810204080 >> 56) << j
    return marks


cdef inline Py_ssize_t pack_row(const floating *row, Py_ssize_t d, floating *values,
                                int32_t *columns) noexcept nogil:
    # A branch for each element would be mispredicted at each non-zero.
    cdef Py_ssize_t first, word, j, count = 0
    cdef uint64_t marks
    for word in range((d + MARKS - 1) // MARKS):
        first = word * MARKS
        marks = marks_of(row + first, min(<Py_ssize_t> MARKS, d - first))
        while marks:
            j = first + lowest_bit(marks)
            values[count] = row[j]
            columns[count] = <int32_t> j
            count += 1
            marks &= marks - 1
    return count


cdef Py_ssize_t pack(const char *row, Py_ssize_t d, Py_ssize_t itemsize, char *values,
                     int32_t *columns) noexcept nogil:
    """Write the non-zeros of a dense row and their columns; returns their number."""
    if itemsize == 4:
        return pack_row(<const float *> row, d, <float *> values, columns)
    return pack_row(<const double *> row, d, <double *> values, columns)


cdef inline double merged_distance(const floating *x, const floating *z, const ok_sparse_row *a,
                                   const ok_sparse_row *b, int accumulate) noexcept nogil:
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
        total += distance_term(difference, accumulate)
    return total


cdef double sparse_distance(const ok_sparse_row *x, const ok_sparse_row *z, Py_ssize_t itemsize,
                            int accumulate) noexcept nogil:
    """Distance of two sparse rows by merging their columns, in double, see `distance_term`."""
    if itemsize == 4:
        return merged_distance(<const float *> x.values, <const float *> z.values, x, z, accumulate)
    return merged_distance(<const double *> x.values, <const double *> z.values, x, z, accumulate)


cdef inline double sum_of_squares(const floating *x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    cdef double total = 0
    for j in range(n):
        total += <double> x[j] * x[j]
    return total


cdef double sparse_square(const ok_sparse_row *x, Py_ssize_t itemsize) noexcept nogil:
    """||x||^2 of a sparse row, ascending in one accumulator: as in `sparse_squared` of vector.h."""
    if itemsize == 4:
        return sum_of_squares(<const float *> x.values, x.count)
    return sum_of_squares(<const double *> x.values, x.count)


cdef inline void blend_dense(const floating *a, const floating *b, floating *out, Py_ssize_t d,
                             double h) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(d):
        out[j] = <floating> ((1 - h) * a[j] + h * b[j])


cdef inline Py_ssize_t blend_sparse(const floating *a, const int32_t *a_columns, Py_ssize_t n,
                                    const floating *b, const int32_t *b_columns, Py_ssize_t m,
                                    floating *out, int32_t *columns, double h) noexcept nogil:
    """Interpolate over the union of the columns, ascending; returns their number."""
    cdef Py_ssize_t i = 0, j = 0, count = 0
    cdef double value
    while i < n or j < m:
        value = 0
        columns[count] = b_columns[j] if i == n else a_columns[i]
        if j < m and b_columns[j] < columns[count]:
            columns[count] = b_columns[j]
        if i < n and a_columns[i] == columns[count]:
            value += (1 - h) * a[i]
            i += 1
        if j < m and b_columns[j] == columns[count]:
            value += h * b[j]
            j += 1
        out[count] = <floating> value
        count += 1
    return count


cdef class Point:
    """Room for a row.

    Parameters
    ----------
    d : int
    itemsize : int
        4 or 8.
    sparse : bool
    """

    def __cinit__(self, Py_ssize_t d, Py_ssize_t itemsize, bint sparse):
        self.d = d
        self.itemsize = itemsize
        self.sparse = sparse
        self.rows.n = 1
        self.rows.d = d
        self.rows.itemsize = itemsize
        if self.reserve(1 if sparse else d) < 0:
            raise MemoryError(f"no memory for a row of {d} features")

    def __dealloc__(self):
        free(self.values)
        free(self.columns)
        free(self.unpacked)

    cdef Status reserve(self, Py_ssize_t count) noexcept nogil:
        """Make room for `count` elements; old values are lost. Returns a status."""
        cdef void *fresh
        if count <= self.room:
            return OK
        fresh = aligned_resize(self.values, 0, count * self.itemsize)
        if fresh == NULL:
            return NO_MEMORY
        self.values = <char *> fresh
        fresh = aligned_resize(self.columns, 0, count * sizeof(int32_t))
        if fresh == NULL:
            return NO_MEMORY
        self.columns = <int32_t *> fresh
        self.room = count
        self.finish(0)
        return OK

    cdef void finish(self, Py_ssize_t count) noexcept nogil:
        """The first `count` elements have been written."""
        self.rows.values = self.values
        if self.sparse:
            self.rows.columns = self.columns
            self.rows.starts = self.starts
            self.starts[1] = <int32_t> count

    cdef char *dense_values(self) noexcept nogil:
        """Memory for the d elements of a dense row, for `finish_dense`. NULL: no memory."""
        if not self.sparse:
            return self.values
        if self.unpacked == NULL:
            self.unpacked = <char *> aligned_resize(NULL, 0, self.d * self.itemsize)
        return self.unpacked

    cdef Status finish_dense(self) noexcept nogil:
        """The d elements have been written. Returns a status."""
        if self.sparse:
            if self.reserve(nonzeros(self.unpacked, self.d, self.itemsize) + 1) < 0:
                return NO_MEMORY
            self.finish(pack(self.unpacked, self.d, self.itemsize, self.values, self.columns))
        return OK

    cdef Status interpolate(self, Point a, Point b, double h) noexcept nogil:
        """Set this row to (1 - h) a + h b, rows of the same form. Returns a status."""
        cdef Py_ssize_t n = a.starts[1], m = b.starts[1]
        if not self.sparse:
            if self.itemsize == 4:
                blend_dense(<float *> a.values, <float *> b.values, <float *> self.values, self.d,
                            h)
            else:
                blend_dense(<double *> a.values, <double *> b.values, <double *> self.values,
                            self.d, h)
            return OK
        if self.reserve(n + m + 1) < 0:
            return NO_MEMORY
        if self.itemsize == 4:
            n = blend_sparse(<float *> a.values, a.columns, n, <float *> b.values, b.columns, m,
                             <float *> self.values, self.columns, h)
        else:
            n = blend_sparse(<double *> a.values, a.columns, n, <double *> b.values, b.columns, m,
                             <double *> self.values, self.columns, h)
        self.finish(n)
        return OK
