"""InversePanels: W = L^-1 of a growing Cholesky factor, in panels for products with several rows.

With K + jitter I = L L', h = W k = L^-1 k and d = W'h = (K + jitter I)^-1 k. Computed by products
instead of triangular solves, each panel is read once for several k. If the row h', p is appended to
L, the row -d'/p, 1/p is appended to W, with the d that belongs to h.

Every h_r sums over the columns of row r, every d_j over the rows of column j, in ascending order in
one accumulator. So results for fewer rows can be extended when rows are appended, with the same
bits.

Rows of W are lanes in `lower` and features in `upper`. Both omit zeros, except in the panels on the
diagonal.
"""
from libc.math cimport INFINITY, sqrt
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport (
    OK_DOT, OK_PANEL, ops_for, resize_array, whole_panels,
)
from onlinekern.core.linalg.cholesky cimport Cholesky

cdef Py_ssize_t TILE = OK_PANEL * OK_PANEL


cdef inline Py_ssize_t tiles_of(Py_ssize_t panels) noexcept nogil:
    """Tiles of 64 x 64 on and below the diagonal."""
    return panels * (panels + 1) // 2


cdef char *narrowed(const char *values, Py_ssize_t n) noexcept nogil:
    """n doubles as floats in new memory; NULL when there is none."""
    cdef Py_ssize_t i
    cdef float *fresh = <float *> resize_array(NULL, 0, n, sizeof(float))
    for i in range(n if fresh != NULL else 0):
        fresh[i] = <float> (<const double *> values)[i]
    return <char *> fresh


cdef class InversePanels:
    """The inverse of an empty factor, in double."""

    def __cinit__(self):
        self.release()

    def __dealloc__(self):
        self.release()

    cdef void release(self) noexcept nogil:
        """Be the inverse of an empty factor again, in double, and free the memory."""
        free(self.lower)
        free(self.upper)
        free(self.row)
        self.lower = self.upper = NULL
        self.row = NULL
        self.n = self.held = 0
        self.itemsize = sizeof(double)
        self.ops = ops_for(self.itemsize)

    cdef char *lower_panel(self, Py_ssize_t p) noexcept nogil:
        return self.lower + tiles_of(p) * TILE * self.itemsize

    cdef char *upper_panel(self, Py_ssize_t p) noexcept nogil:
        return self.upper + (p * self.held - tiles_of(p - 1)) * TILE * self.itemsize

    cdef Status reserve(self, Py_ssize_t rows) noexcept nogil:
        """Make room for `rows` rows in all, of an inverse in double. Returns a status."""
        cdef Py_ssize_t p, before = self.held, size = TILE * sizeof(double)
        cdef Py_ssize_t held = max(whole_panels(rows) // OK_PANEL, before + before // 4)
        cdef char *upper
        cdef void *fresh
        if rows <= OK_PANEL * before:
            return OK
        fresh = resize_array(self.row, 0, held, OK_PANEL * sizeof(double))
        if fresh == NULL:
            return NO_MEMORY
        self.row = <double *> fresh
        fresh = resize_array(self.lower, tiles_of(before) * size, tiles_of(held), size)
        if fresh == NULL:
            return NO_MEMORY
        self.lower = <char *> fresh
        upper = <char *> resize_array(NULL, 0, tiles_of(held), size)
        if upper == NULL:
            return NO_MEMORY
        for p in range(before):
            memcpy(upper + (p * held - tiles_of(p - 1)) * size, self.upper_panel(p),
                   (before - p) * size)
        free(self.upper)
        self.upper = upper
        self.held = held
        return OK

    cdef void truncate(self, Py_ssize_t n) noexcept nogil:
        """Forget all but the first n rows; nothing is left of an inverse in float."""
        if n < self.n and self.itemsize == sizeof(float):
            self.release()
        self.n = min(n, self.n)

    cdef void append(self, const double *solution, double pivot) noexcept nogil:
        """Append the row -d'/p, 1/p for d = `solution`, p = `pivot`; there is room, in double."""
        cdef Py_ssize_t j, p, r = self.n, last = r // OK_PANEL, lane = r % OK_PANEL
        cdef double *panel = <double *> self.lower_panel(last)
        memset(self.row, 0, (last + 1) * OK_PANEL * sizeof(double))
        for j in range(r):
            self.row[j] = -solution[j] / pivot
        self.row[r] = 1 / pivot
        for j in range((last + 1) * OK_PANEL):
            panel[j * OK_PANEL + lane] = self.row[j]
        for p in range(last + 1):
            memcpy(self.upper_panel(p) + (r - p * OK_PANEL) * OK_PANEL * sizeof(double),
                   self.row + p * OK_PANEL, OK_PANEL * sizeof(double))
        self.n += 1

    cdef Status follow(self, Cholesky factor) noexcept nogil:
        """Be the inverse of `factor`, which has other rows than before. Returns a status.

        Makes the numbers that `append` made when the rows came one by one.
        """
        cdef Py_ssize_t r, rows = factor.n
        cdef double *solution
        if self.n == rows:
            return OK
        self.release()
        solution = <double *> resize_array(NULL, 0, whole_panels(rows), sizeof(double))
        if solution == NULL or self.reserve(rows) < 0:
            free(solution)
            return NO_MEMORY
        for r in range(rows):
            self.multiply_transposed(<const char *> factor.rows[r], 0, 1, <char *> solution)
            self.append(solution, factor.rows[r][r])
        free(solution)
        return OK

    cdef double least_distance(self) noexcept nogil:
        """The least distance of a row of K from the span of the others, in double: 1 / sqrt(H_jj).

        H = W'W is the inverse of K + jitter I.
        """
        cdef Py_ssize_t j, p, r
        cdef double square, largest = 0
        cdef const double *column
        for j in range(self.n):
            p = j // OK_PANEL
            column = <const double *> self.upper_panel(p) + j % OK_PANEL
            square = 0
            for r in range(j - p * OK_PANEL, self.n - p * OK_PANEL):
                square += column[r * OK_PANEL] * column[r * OK_PANEL]
            largest = max(largest, square)
        return 1 / sqrt(largest) if largest > 0 else INFINITY

    cdef Status narrow(self) noexcept nogil:
        """Round the inverse to float: no row can be appended any more. Returns a status."""
        cdef char *lower = narrowed(self.lower, tiles_of(self.held) * TILE)
        cdef char *upper = narrowed(self.upper, tiles_of(self.held) * TILE)
        if lower == NULL or upper == NULL:
            free(lower)
            free(upper)
            return NO_MEMORY
        free(self.lower)
        free(self.upper)
        self.lower, self.upper = lower, upper
        self.itemsize = sizeof(float)
        self.ops = ops_for(self.itemsize)
        return OK

    cdef void multiply(self, const char *k, Py_ssize_t ld, Py_ssize_t n_rows, Py_ssize_t first,
                       char *h) noexcept nogil:
        """h = W k for n_rows rows k, `ld` apart as the h are; numbers `first`, ... of each h.

        Numbers before them, back to the begin of a panel, are written again; beyond n, whole panels
        of anything.
        """
        cdef Py_ssize_t p
        for p in range(first // OK_PANEL, whole_panels(self.n) // OK_PANEL):
            self.ops.dense[OK_DOT](k, ld, n_rows, min((p + 1) * OK_PANEL, self.n),
                                   self.lower_panel(p), h + p * OK_PANEL * self.itemsize, ld)

    cdef void multiply_transposed(self, const char *h, Py_ssize_t ld, Py_ssize_t n_rows,
                                  char *d) noexcept nogil:
        """d = W'h for n_rows rows h, `ld` apart as the d are, in whole panels."""
        cdef Py_ssize_t p, first
        for p in range(whole_panels(self.n) // OK_PANEL):
            first = p * OK_PANEL
            self.ops.dense[OK_DOT](h + first * self.itemsize, ld, n_rows, self.n - first,
                                   self.upper_panel(p), d + first * self.itemsize, ld)

    cdef void add_rows(self, Py_ssize_t first, const double *h, double *d) noexcept nogil:
        """Go on with d = W'h, where d knows the rows before `first` only; in double."""
        cdef Py_ssize_t p, r
        memset(d + whole_panels(first), 0,
               (whole_panels(self.n) - whole_panels(first)) * sizeof(double))
        for p in range(whole_panels(self.n) // OK_PANEL):
            for r in range(max(first, p * OK_PANEL), self.n):
                self.ops.add(<double *> self.upper_panel(p) + (r - p * OK_PANEL) * OK_PANEL, h[r],
                             d + p * OK_PANEL, OK_PANEL)

    def apply(self, Cholesky factor not None, k, bint narrow=False):
        """(h, d) of the kernel values k of shape (rows, factor.n), for tests and exploration."""
        if self.follow(factor) < 0 or (narrow and self.itemsize == 8 and self.narrow() < 0):
            raise MemoryError(f"no memory for the inverse of {factor.n} rows")
        cdef Py_ssize_t rows = len(k), ld = whole_panels(factor.n)
        cdef Py_ssize_t source, lower, upper
        dtype = np.float32 if self.itemsize == 4 else np.float64
        values = np.zeros((rows, ld), dtype)
        values[:, :factor.n] = k
        h, d = np.zeros((rows, ld), dtype), np.zeros((rows, ld), dtype)
        source, lower, upper = values.ctypes.data, h.ctypes.data, d.ctypes.data
        self.multiply(<char *> source, ld, rows, 0, <char *> lower)
        self.multiply_transposed(<char *> lower, ld, rows, <char *> upper)
        return h[:, :factor.n], d[:, :factor.n]
