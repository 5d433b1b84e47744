"""Frequent directions: a few rows C that stand for all rows X seen, by their C'C.

Layer 3. A buffer of 2l rows fills up; when it is full its singular values shrink,
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
from scipy.linalg.cython_lapack cimport dgesdd, dsyevd

from onlinekern.core.guarded cimport Guarded
from onlinekern.core.rowops cimport row_add
from onlinekern.core.rows cimport Rows, Samples, samples_of
from onlinekern.core.vector cimport aligned_resize

import numpy as np

# The error of an eigenvalue is about m eps of the largest, 1e-13 at m = 500. Above NOISE of the
# largest it therefore has two right digits or more.
cdef double NOISE = 1e-11
# What rounding leaves of a row that should be 0, relative to the largest singular value.
cdef double ZERO = 1e-12
# Numbers up to 2^200 have a Gram matrix without over- or underflow; others are scaled first.
cdef int LARGEST_EXPONENT = 200


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
        cdef int m, info, ask = -1, needed_integers
        cdef double needed
        self.size = min(size, d)
        self.d = d
        self.buffer = Guarded(2 * self.size, d)
        m = <int> min(2 * self.size, d)
        dsyevd(b"V", b"U", &m, &needed, &m, &needed, &needed, &ask, &needed_integers, &ask, &info)
        # The work array also takes the image of one eigenvector, 2 size numbers.
        self.work_size = max(<int> needed, <int> (2 * self.size))
        self.integers_size = needed_integers
        self.gram = <double *> aligned_resize(NULL, 0, m * m * sizeof(double))
        self.eigenvalues = <double *> calloc(m, sizeof(double))
        self.turned = <double *> aligned_resize(NULL, 0, (self.size + 1) * d * sizeof(double))
        self.work = <double *> calloc(self.work_size, sizeof(double))
        self.integers = <int *> calloc(self.integers_size, sizeof(int))
        if self.gram == NULL or self.eigenvalues == NULL or self.turned == NULL \
                or self.work == NULL or self.integers == NULL:
            raise MemoryError(f"no memory for a sketch of {self.size} rows of {d} features")

    def __dealloc__(self):
        free(self.gram)
        free(self.eigenvalues)
        free(self.turned)
        free(self.work)
        free(self.integers)

    cdef double *slot(self) noexcept nogil:
        """The next free row, to be written in full before `fill`."""
        return self.buffer.touch(self.tally.n)

    cdef int fill(self) noexcept nogil:
        """The row at `slot` has been written: count it, and shrink when the buffer is full.

        A row of zeros leaves its place free. Returns 0, or a negative code.
        """
        cdef Py_ssize_t j
        cdef double square = 0
        cdef const double *row = self.buffer.row(self.tally.n)
        for j in range(self.d):
            square += row[j] * row[j]
        if square == 0:
            return 0
        self.tally.n += 1
        self.tally.squared_norm += square
        return self.shrink() if self.tally.n == 2 * self.size else 0

    cdef int insert_row(self, const Rows *rows, Py_ssize_t i, double factor) noexcept nogil:
        """Insert factor x_i. Returns 0, or a negative code."""
        cdef double *row = self.slot()
        memset(row, 0, self.d * sizeof(double))
        row_add(rows, i, factor, row)
        return self.fill()

    cdef int shrink(self) noexcept nogil:
        """Shrink to at most l rows. Returns 0, or a negative code."""
        cdef Py_ssize_t k, count = self.tally.n * self.d
        cdef double largest = 0, removed = 0
        cdef double *values = self.buffer.values
        cdef int exponent, status = 0
        self.buffer.touch_all()
        for k in range(count):
            # Written so that NaN, too, ends as the largest.
            if not fabs(values[k]) <= largest:
                largest = fabs(values[k])
        if not isfinite(largest):
            return SKETCH_NOT_FINITE
        frexp(largest, &exponent)
        if -LARGEST_EXPONENT <= exponent <= LARGEST_EXPONENT:
            exponent = 0
        for k in range(count if exponent else 0):
            values[k] = ldexp(values[k], -exponent)
        if not self.by_eigenvectors(&removed):
            self.n_fallbacks += 1
            status = self.by_singular_values(&removed)
        for k in range(self.tally.n * self.d if exponent else 0):
            values[k] = ldexp(values[k], exponent)
        self.tally.shrinkage += ldexp(removed, 2 * exponent)
        return status

    cdef bint by_eigenvectors(self, double *removed) noexcept nogil:
        """Shrink through the Gram matrix; False, and nothing changed, where that is not exact."""
        cdef int m = <int> min(self.tally.n, self.d)
        cdef Py_ssize_t i, last = max(m - self.size - 1, 0)
        cdef double largest, floor = 0
        if not self.decompose(m):
            return False
        largest = self.eigenvalues[m - 1]
        for i in range(m - 1, last - 1, -1):
            if self.eigenvalues[i] <= NOISE * largest:
                floor = NOISE * largest
                if not self.vanishes(m, i, sqrt(largest)):
                    return False
        removed[0] = 0
        if m > self.size and self.eigenvalues[last] > floor:
            removed[0] = self.eigenvalues[last]
        self.keep(m, removed[0], floor)
        return True

    cdef bint decompose(self, int m) noexcept nogil:
        """Eigenvalues of the smaller Gram matrix, and the leading rows in its eigenvectors."""
        cdef int n = <int> self.tally.n, d = <int> self.d, info = 0, leading
        cdef double one = 1, zero = 0
        # In the column order of BLAS the buffer is a d x n matrix, B'.
        if n <= d:
            dsyrk(b"U", b"T", &n, &d, &one, self.buffer.values, &d, &zero, self.gram, &m)
        else:
            dsyrk(b"U", b"N", &d, &n, &one, self.buffer.values, &d, &zero, self.gram, &m)
        dsyevd(b"V", b"U", &m, self.gram, &m, self.eigenvalues, self.work, &self.work_size,
               self.integers, &self.integers_size, &info)
        if info != 0 or not isfinite(self.eigenvalues[m - 1]) or self.eigenvalues[m - 1] <= 0:
            return False
        if n <= d:
            leading = <int> min(m, self.size + 1)
            dgemm(b"N", b"N", &d, &leading, &n, &one, self.buffer.values, &d,
                  self.gram + (m - leading) * m, &m, &zero, self.turned, &d)
        return True

    cdef bint vanishes(self, int m, Py_ssize_t i, double largest) noexcept nogil:
        """Whether singular value i, unknown to the Gram matrix, is 0 to rounding."""
        cdef int n = <int> self.tally.n, d = <int> self.d, unit = 1
        cdef double one = 1, zero = 0
        cdef Py_ssize_t first = m - min(<Py_ssize_t> m, self.size + 1)
        if n <= d:
            return dnrm2(&d, self.turned + (i - first) * d, &unit) <= ZERO * largest
        dgemv(b"T", &d, &n, &one, self.buffer.values, &d, self.gram + i * m, &unit, &zero,
              self.work, &unit)
        return dnrm2(&n, self.work, &unit) <= ZERO * largest

    cdef void keep(self, int m, double removed, double floor) noexcept nogil:
        """Write the shrunk rows, longest first, those that are 0 left out."""
        cdef Py_ssize_t i, j, kept = 0, first = m - min(<Py_ssize_t> m, self.size + 1)
        cdef double factor, value
        cdef double *row
        cdef const double *source
        cdef bint wide = self.tally.n <= self.d
        for i in range(m - 1, max(m - self.size, 0) - 1, -1):
            value = self.eigenvalues[i]
            if value <= floor or value <= removed:
                break
            if wide:
                source = self.turned + (i - first) * self.d
                factor = sqrt((value - removed) / value)
            else:
                source = self.gram + i * m
                factor = sqrt(value - removed)
            row = self.buffer.row(kept)
            for j in range(self.d):
                row[j] = factor * source[j]
            kept += 1
        self.tally.n = kept

    cdef int by_singular_values(self, double *removed) noexcept nogil:
        """Shrink through the singular values of the buffer. Returns 0, or a negative code."""
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
            return SKETCH_NO_MEMORY
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
        return 0 if info == 0 else SKETCH_NOT_FINITE

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
        cdef int status = 0
        self.checkpoint()
        with nogil:
            while i < samples.rows.n and status == 0:
                status = self.insert_row(&samples.rows, i, 1)
                i += 1
        if status < 0:
            self.rollback()
            if status == SKETCH_NO_MEMORY:
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
        return self.buffer.to_array(self.tally.n)

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
    sketch.buffer.from_array(np.ascontiguousarray(rows))
    sketch.tally.n = rows.shape[0]
    sketch.tally.squared_norm, sketch.tally.shrinkage = squared_norm, shrinkage
    sketch.checkpoint()
    return sketch
