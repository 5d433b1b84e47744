"""Frequent directions: a few rows C that stand for all rows X seen, by their C'C.

A buffer of 2l rows fills up; when it is full its singular values shrink,
sigma_i^2 <- max(sigma_i^2 - sigma_{l+1}^2, 0), which empties at least l + 1 of its rows (Ghashami,
Liberty, Phillips and Woodruff 2016). All rows in use count, so that at every moment

    0 <= X'X - C'C <= shrinkage I,    (l + 1) shrinkage <= ||X||_F^2 - ||C||_F^2.

The shrink takes the eigenvectors of the smaller of the Gram matrices BB' and B'B, which costs a
fraction of a singular value decomposition. A Gram matrix squares the condition number: of singular
values below about 1e-6 of the largest it knows nothing. Where one of those would have to be kept or
taken off, and is not plainly zero, the singular value decomposition is taken instead.
"""
from libc.math cimport fabs, frexp, isfinite, ldexp, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, dgemv, dnrm2, dsyrk
from scipy.linalg.cython_lapack cimport dgesdd

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport aligned_resize
from onlinekern.core.linalg.symmetric_eigen cimport LeadingEigenvectors
from onlinekern.core.samples.row_arithmetic cimport row_add
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

# The error of an eigenvalue is about m eps of the largest, 1e-13 at m = 500. Above NOISE of the
# largest it therefore has two right digits or more.
cdef double NOISE = 1e-11
# What rounding leaves of a row that should be 0, relative to the largest singular value.
cdef double ZERO = 1e-12
# Between these, squares that matter neither over- nor underflow.
cdef double SMALLEST_SQUARE = 1e-200
cdef double LARGEST_SQUARE = 1e200


cdef class FrequentDirections:
    """A sketch of at most 2 size - 1 rows between calls.

    Parameters
    ----------
    size : int >= 1
        l; more than d rows would not be used, d already lose nothing.
    d : int >= 1
        Features.

    Attributes
    ----------
    n_fallbacks : int
        Shrinks that needed the singular value decomposition.
    """

    def __init__(self, Py_ssize_t size, Py_ssize_t d):
        cdef int m
        self.size = min(size, d)
        self.d = d
        self.buffer = JournaledMatrix("rows of the sketch", 2 * self.size, d)
        m = <int> min(2 * self.size, d)
        self.first = m - min(m, self.size + 1)
        self.gram = LeadingEigenvectors(m, m - self.first)
        self.turned = <double *> aligned_resize(NULL, 0, (m - self.first) * d * sizeof(double))
        self.image = <double *> calloc(2 * self.size, sizeof(double))
        if self.turned == NULL or self.image == NULL:
            raise MemoryError(f"no memory for a sketch of {self.size} rows of {d} features")

    def __dealloc__(self):
        free(self.turned)
        free(self.image)

    cdef double *slot(self) noexcept nogil:
        """The next free row, to be written in full before `fill`."""
        return self.buffer.touch(self.tally.n)

    cdef Status fill(self) noexcept nogil:
        """The row at `slot` has been written: count it, and shrink when the buffer is full.

        A row of zeros leaves its place free. Returns a status.
        """
        cdef Py_ssize_t j
        cdef double square = 0
        cdef const double *row = self.buffer.row(self.tally.n)
        for j in range(self.d):
            square += row[j] * row[j]
        if square == 0:
            return OK
        self.tally.n += 1
        self.tally.squared_norm += square
        return self.shrink() if self.tally.n == 2 * self.size else OK

    cdef Status insert_row(self, const Rows *rows, Py_ssize_t i, double factor) noexcept nogil:
        """Insert factor x_i. Returns a status."""
        cdef double *row = self.slot()
        memset(row, 0, self.d * sizeof(double))
        row_add(rows, i, factor, row)
        return self.fill()

    cdef Status shrink(self) noexcept nogil:
        """Shrink the full buffer to at most l rows. Returns a status."""
        self.buffer.touch_all()
        if self.by_eigenvectors():
            return OK
        self.n_fallbacks += 1
        return self.by_scaled_values()

    cdef bint by_eigenvectors(self) noexcept nogil:
        """Shrink through the Gram matrix; False, and nothing changed, where that is not exact."""
        cdef Py_ssize_t i, m = self.gram.n
        cdef double largest, floor = 0, removed = 0
        if not self.decompose():
            return False
        largest = self.gram.values[m - 1]
        for i in range(m - 1, self.first - 1, -1):
            if self.gram.values[i] <= NOISE * largest:
                floor = NOISE * largest
                if not self.vanishes(i, sqrt(largest)):
                    return False
        if m > self.size and self.gram.values[self.first] > floor:
            removed = self.gram.values[self.first]
        self.keep(removed, floor)
        self.tally.shrinkage += removed
        return True

    cdef bint decompose(self) noexcept nogil:
        """Decompose the smaller Gram matrix, and turn its eigenvectors into the leading rows."""
        cdef int n = <int> self.tally.n, d = <int> self.d, m = self.gram.n, i
        cdef double one = 1, zero = 0, trace = 0
        # In the column order of BLAS the buffer is a d x n matrix, B'.
        if n <= d:
            dsyrk(b"L", b"T", &n, &d, &one, self.buffer.values, &d, &zero, self.gram.matrix, &m)
        else:
            dsyrk(b"L", b"N", &d, &n, &one, self.buffer.values, &d, &zero, self.gram.matrix, &m)
        for i in range(m):
            trace += self.gram.matrix[i * (m + 1)]
        # Not so for NaN, too.
        if not (SMALLEST_SQUARE < trace < LARGEST_SQUARE) or not self.gram.solve():
            return False
        if n <= d:
            dgemm(b"N", b"N", &d, &self.gram.count, &n, &one, self.buffer.values, &d,
                  self.gram.vector(self.first), &m, &zero, self.turned, &d)
        return True

    cdef bint vanishes(self, Py_ssize_t i, double largest) noexcept nogil:
        """Whether singular value i, unknown to the Gram matrix, is 0 to rounding."""
        cdef int n = <int> self.tally.n, d = <int> self.d, unit = 1
        cdef double one = 1, zero = 0
        if n <= d:
            return dnrm2(&d, self.turned + (i - self.first) * d, &unit) <= ZERO * largest
        dgemv(b"T", &d, &n, &one, self.buffer.values, &d, self.gram.vector(i), &unit, &zero,
              self.image, &unit)
        return dnrm2(&n, self.image, &unit) <= ZERO * largest

    cdef void keep(self, double removed, double floor) noexcept nogil:
        """Write the shrunk rows, longest first, those that are 0 left out."""
        cdef Py_ssize_t i, j, kept = 0, m = self.gram.n
        cdef double factor, value
        cdef double *row
        cdef const double *source
        cdef bint wide = self.tally.n <= self.d
        for i in range(m - 1, max(m - self.size, 0) - 1, -1):
            value = self.gram.values[i]
            if value <= floor or value <= removed:
                break
            if wide:
                source = self.turned + (i - self.first) * self.d
                factor = sqrt((value - removed) / value)
            else:
                source = self.gram.vector(i)
                factor = sqrt(value - removed)
            row = self.buffer.row(kept)
            for j in range(self.d):
                row[j] = factor * source[j]
            kept += 1
        self.tally.n = kept

    cdef Status by_scaled_values(self) noexcept nogil:
        """Shrink through the singular values, of numbers scaled by a power of two to 1."""
        cdef Py_ssize_t k, count = self.tally.n * self.d
        cdef double largest = 0, removed = 0
        cdef double *values = self.buffer.values
        cdef int exponent
        cdef Status status
        for k in range(count):
            # Written so that NaN, too, ends as the largest.
            if not fabs(values[k]) <= largest:
                largest = fabs(values[k])
        if not isfinite(largest):
            return NOT_FINITE
        frexp(largest, &exponent)
        for k in range(count):
            values[k] = ldexp(values[k], -exponent)
        status = self.by_singular_values(&removed)
        for k in range(self.tally.n * self.d):
            values[k] = ldexp(values[k], exponent)
        self.tally.shrinkage += ldexp(removed, 2 * exponent)
        return status

    cdef Status by_singular_values(self, double *removed) noexcept nogil:
        """Shrink through the singular values of the buffer. Returns a status."""
        cdef int n = <int> self.tally.n, d = <int> self.d, m = min(n, d), info = 0, ask = -1, room
        cdef Py_ssize_t i, j, kept = 0, size = <Py_ssize_t> d * n + m + <Py_ssize_t> d * m + m * n
        cdef double needed
        cdef int *integers = <int *> calloc(8 * m, sizeof(int))
        dgesdd(b"S", &d, &n, &needed, &d, &needed, &needed, &d, &needed, &m, &needed, &ask,
               integers, &info)
        room = <int> needed
        cdef double *copy = <double *> aligned_resize(NULL, 0, (size + room) * sizeof(double))
        if copy == NULL or integers == NULL:
            free(copy)
            free(integers)
            return NO_MEMORY
        cdef double *values = copy + <Py_ssize_t> d * n
        cdef double *left = values + m
        cdef double *right = left + <Py_ssize_t> d * m
        memcpy(copy, self.buffer.values, <Py_ssize_t> d * n * sizeof(double))
        dgesdd(b"S", &d, &n, copy, &d, values, left, &d, right, &m, right + m * n, &room,
               integers, &info)
        if info == 0:
            removed[0] = values[self.size] * values[self.size] if m > self.size else 0
            for i in range(min(<Py_ssize_t> m, self.size)):
                needed = values[i] * values[i] - removed[0]
                if needed <= 0:
                    break
                for j in range(d):
                    self.buffer.row(i)[j] = sqrt(needed) * left[i * d + j]
                kept += 1
            self.tally.n = kept
        free(copy)
        free(integers)
        return OK if info == 0 else NOT_FINITE

    cdef void checkpoint(self) noexcept nogil:
        self.saved = self.tally
        self.buffer.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.tally = self.saved
        self.buffer.rollback()

    def insert(self, X):
        """Insert the rows of X, dense or CSR, validated; when that fails, none of them."""
        cdef Samples samples = samples_of(X, X.dtype)
        cdef Py_ssize_t i = 0
        cdef Status status = OK
        self.checkpoint()
        with nogil:
            while i < samples.rows.n and status == OK:
                status = self.insert_row(&samples.rows, i, 1)
                i += 1
        if status < 0:
            self.rollback()
            if status == NO_MEMORY:
                raise MemoryError(f"no memory to shrink a sketch of {2 * self.size} rows")
            raise FloatingPointError(f"row {i - 1} makes the sketch overflow; scale the features")

    def merge(self, FrequentDirections other):
        """Take in another sketch: this one becomes a sketch of the rows of both."""
        squares = self.tally.squared_norm + other.tally.squared_norm
        shrinkage = other.tally.shrinkage
        self.insert(other.rows())
        self.tally.squared_norm = squares
        self.tally.shrinkage += shrinkage

    def rows(self):
        """C: a copy of the rows in use, ndarray of shape (n, d), float64."""
        return self.buffer.to_array()[:self.tally.n]

    @property
    def n(self):
        """Rows in use."""
        return self.tally.n

    @property
    def squared_norm(self):
        """||X||_F^2 of all that was inserted."""
        return self.tally.squared_norm

    @property
    def shrinkage(self):
        """Bound on the eigenvalues of X'X - C'C, which are >= 0."""
        return self.tally.shrinkage

    def __reduce__(self):
        state = (self.rows(), self.tally.squared_norm, self.tally.shrinkage)
        return _restore, (self.size, self.d, *state)


def _restore(size, d, rows, squared_norm, shrinkage):
    cdef FrequentDirections sketch = FrequentDirections(size, d)
    n_free = 2 * sketch.size - len(rows)
    if n_free < 1:
        raise ValueError(f"{len(rows)} rows do not fit into a sketch of size {sketch.size}")
    sketch.buffer.set_array(np.pad(rows, [(0, n_free), (0, 0)]))
    sketch.tally.n = rows.shape[0]
    sketch.tally.squared_norm, sketch.tally.shrinkage = squared_norm, shrinkage
    sketch.checkpoint()
    return sketch
