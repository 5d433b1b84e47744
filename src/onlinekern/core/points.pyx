"""Point: one row that is given as values, and the mixture of two.

Layer 2. Support rows that are merged become a point that is no sample. A point is sparse when the
samples are, whatever way support rows are stored: its norm is then summed in one order always, and
so its kernel values do not depend on the block in which it was made.
"""
from cython cimport floating
from libc.stdint cimport int32_t
from libc.stdlib cimport free

from onlinekern.core.sparse cimport nonzeros, pack
from onlinekern.core.vector cimport aligned_resize


cdef inline void blend_dense(const floating *a, const floating *b, floating *out, Py_ssize_t d,
                             double h) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(d):
        out[j] = <floating> ((1 - h) * a[j] + h * b[j])


cdef inline Py_ssize_t blend_sparse(const floating *a, const int32_t *a_columns, Py_ssize_t n,
                                    const floating *b, const int32_t *b_columns, Py_ssize_t m,
                                    floating *out, int32_t *columns, double h) noexcept nogil:
    """The union of the columns, ascending; returns how many they are."""
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

    def __init__(self, Py_ssize_t d, Py_ssize_t itemsize, bint sparse):
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

    cdef int reserve(self, Py_ssize_t count) noexcept nogil:
        """Make room for `count` elements, whose old values go. -1: no memory."""
        cdef void *fresh
        if count <= self.room:
            return 0
        fresh = aligned_resize(self.values, 0, count * self.itemsize)
        if fresh == NULL:
            return -1
        self.values = <char *> fresh
        fresh = aligned_resize(self.columns, 0, count * sizeof(int32_t))
        if fresh == NULL:
            return -1
        self.columns = <int32_t *> fresh
        self.room = count
        self.finish(0)
        return 0

    cdef void finish(self, Py_ssize_t count) noexcept nogil:
        """The first `count` elements have been written."""
        self.rows.values = self.values
        if self.sparse:
            self.rows.columns = self.columns
            self.rows.starts = self.starts
            self.starts[1] = <int32_t> count

    cdef char *open_dense(self) noexcept nogil:
        """Memory for the d elements of a dense row, for `close_dense`. NULL: no memory."""
        if not self.sparse:
            return self.values
        if self.unpacked == NULL:
            self.unpacked = <char *> aligned_resize(NULL, 0, self.d * self.itemsize)
        return self.unpacked

    cdef int close_dense(self) noexcept nogil:
        """The d elements have been written. Returns 0, or -1 when memory ran out."""
        if self.sparse:
            if self.reserve(nonzeros(self.unpacked, self.d, self.itemsize) + 1) < 0:
                return -1
            self.finish(pack(self.unpacked, self.d, self.itemsize, self.values, self.columns))
        return 0

    cdef int blend(self, Point a, Point b, double h) noexcept nogil:
        """Become (1 - h) a + h b, two others of the same form. -1: no memory."""
        cdef Py_ssize_t n = a.starts[1], m = b.starts[1]
        if not self.sparse:
            if self.itemsize == 4:
                blend_dense(<float *> a.values, <float *> b.values, <float *> self.values, self.d,
                            h)
            else:
                blend_dense(<double *> a.values, <double *> b.values, <double *> self.values,
                            self.d, h)
            return 0
        if self.reserve(n + m + 1) < 0:
            return -1
        if self.itemsize == 4:
            n = blend_sparse(<float *> a.values, a.columns, n, <float *> b.values, b.columns, m,
                             <float *> self.values, self.columns, h)
        else:
            n = blend_sparse(<double *> a.values, a.columns, n, <double *> b.values, b.columns, m,
                             <double *> self.values, self.columns, h)
        self.finish(n)
        return 0
