"""Frequent directions: a sketch C of few rows, whose C'C approximates X'X of all rows X seen.

Rows are appended to a buffer of 2l rows. When the buffer is full, its singular values shrink,
sigma_i^2 <- max(sigma_i^2 - sigma_{l+1}^2, 0), which frees at least l + 1 rows (Ghashami, Liberty,
Phillips and Woodruff 2016). All rows in use belong to the sketch, so at every moment

    0 <= X'X - C'C <= shrinkage I,    (l + 1) shrinkage <= ||X||_F^2 - ||C||_F^2.

The shrink uses the eigenvectors of the smaller of the Gram matrices BB' and B'B, which costs a
fraction of a singular value decomposition. A Gram matrix squares the condition number: it does not
resolve singular values below about 1e-6 of the largest. If the shrink needs one of those, and it is
not zero to rounding, the singular value decomposition is used instead.
"""
from libc.limits cimport INT_MAX
from libc.math cimport fabs, frexp, isfinite, ldexp, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, dgemv, dnrm2, dsyrk
from scipy.linalg.cython_lapack cimport dgesdd

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport check_width, doubles_of_shape, integer_within, not_negative
from onlinekern.core.base.lock cimport Lock
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport aligned_resize
from onlinekern.core.linalg.symmetric_eigen cimport LeadingEigenvectors
from onlinekern.core.samples.row_arithmetic cimport row_add
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

from onlinekern.core.base.part import refuse_attributes

# The error of an eigenvalue is about m eps times the largest one, 1e-13 of it at m = 500. An
# eigenvalue above NOISE times the largest therefore has at least two correct digits.
cdef double NOISE = 1e-11
# A singular value below this, relative to the largest, is 0 to rounding.
cdef double ZERO = 1e-12
# If the trace is between these, no square that matters overflows or underflows.
cdef double SMALLEST_SQUARE = 1e-200
cdef double LARGEST_SQUARE = 1e200
# LAPACK counts in 32 bits.
cdef Py_ssize_t MOST_ROWS = INT_MAX // 2


cdef class FrequentDirections:
    """A sketch, of at most 2 size - 1 rows between calls.

    Parameters
    ----------
    size : int >= 1
        l; reduced to d if larger, because d rows already represent X'X exactly.
    d : int >= 1
        Features.

    Attributes
    ----------
    calls : int
        Calls of `insert`.
    n_fallbacks : int
        Number of shrinks that needed the singular value decomposition.
    """

    def __cinit__(self, Py_ssize_t size, Py_ssize_t d):
        cdef int m
        integer_within("size", size, 1, MOST_ROWS)
        integer_within("d", d, 1, MOST_ROWS)
        self.lock = Lock()
        self.size = min(size, d)
        self.d = d
        self.buffer = JournaledMatrix("rows of the sketch", 2 * self.size, d)
        m = <int> min(2 * self.size, d)
        self.first_leading = m - min(m, self.size + 1)
        self.gram = LeadingEigenvectors(m, m - self.first_leading)
        # The buffer is larger, and its size in bytes is checked.
        self.rotated = <double *> aligned_resize(NULL, 0,
                                                 (m - self.first_leading) * d * sizeof(double))
        self.projections = <double *> calloc(2 * self.size, sizeof(double))
        if self.rotated == NULL or self.projections == NULL:
            raise MemoryError(f"no memory for a sketch of {self.size} rows of {d} features")

    def __dealloc__(self):
        free(self.rotated)
        free(self.projections)

    cdef double *next_row(self) noexcept nogil:
        """The next free row. The caller writes all of it, then calls `commit_row`."""
        return self.buffer.touch(self.tally.n)

    cdef Status commit_row(self) noexcept nogil:
        """Append the row written at `next_row`, and shrink when the buffer is full.

        A row of zeros is not appended. Returns a status.
        """
        cdef Py_ssize_t j
        cdef double square = 0
        cdef const double *row = self.buffer.row(self.tally.n)
        for j in range(self.d):
            square += row[j] * row[j]
        if square == 0:
            return OK
        if not isfinite(self.tally.squared_norm + square):
            return NOT_FINITE
        self.tally.n += 1
        self.tally.squared_norm += square
        return self.shrink() if self.tally.n == 2 * self.size else OK

    cdef Status insert_row(self, const Rows *rows, Py_ssize_t i, double factor) noexcept nogil:
        """Insert the row factor x_i. Returns a status."""
        cdef double *row = self.next_row()
        memset(row, 0, self.d * sizeof(double))
        row_add(rows, i, factor, row)
        return self.commit_row()

    cdef Status shrink(self) noexcept nogil:
        """Shrink the full buffer to at most l rows. Returns a status."""
        self.buffer.touch_all()
        if self.shrink_by_eigenvectors():
            return OK
        self.n_fallbacks += 1
        return self.shrink_scaled()

    cdef bint shrink_by_eigenvectors(self) noexcept nogil:
        """Shrink by the Gram matrix. Returns False, and changes nothing, if that is inaccurate."""
        cdef Py_ssize_t i, m = self.gram.n
        cdef double largest, floor = 0, removed = 0
        if not self.decompose():
            return False
        largest = self.gram.values[m - 1]
        for i in range(m - 1, self.first_leading - 1, -1):
            if self.gram.values[i] <= NOISE * largest:
                floor = NOISE * largest
                if not self.is_negligible(i, sqrt(largest)):
                    return False
        if m > self.size and self.gram.values[self.first_leading] > floor:
            removed = self.gram.values[self.first_leading]
        self.write_rows(removed, floor)
        self.tally.shrinkage += removed
        return True

    cdef bint decompose(self) noexcept nogil:
        """Decompose the smaller Gram matrix; of BB', also compute V'B for its eigenvectors V."""
        cdef int n = <int> self.tally.n, d = <int> self.d, m = self.gram.n, i
        cdef double one = 1, zero = 0, trace = 0
        # In the column order of BLAS the buffer is a d x n matrix, B'.
        if n <= d:
            dsyrk(b"L", b"T", &n, &d, &one, self.buffer.values, &d, &zero, self.gram.matrix, &m)
        else:
            dsyrk(b"L", b"N", &d, &n, &one, self.buffer.values, &d, &zero, self.gram.matrix, &m)
        for i in range(m):
            trace += self.gram.matrix[i * (m + 1)]
        # A trace of NaN fails this test too.
        if not (SMALLEST_SQUARE < trace < LARGEST_SQUARE) or not self.gram.solve():
            return False
        if n <= d:
            dgemm(b"N", b"N", &d, &self.gram.count, &n, &one, self.buffer.values, &d,
                  self.gram.vector(self.first_leading), &m, &zero, self.rotated, &d)
        return True

    cdef bint is_negligible(self, Py_ssize_t i, double largest) noexcept nogil:
        """Whether singular value i, which the Gram matrix does not resolve, is 0 to rounding."""
        cdef int n = <int> self.tally.n, d = <int> self.d, unit = 1
        cdef double one = 1, zero = 0
        if n <= d:
            return dnrm2(&d, self.rotated + (i - self.first_leading) * d, &unit) <= ZERO * largest
        dgemv(b"T", &d, &n, &one, self.buffer.values, &d, self.gram.vector(i), &unit, &zero,
              self.projections, &unit)
        return dnrm2(&n, self.projections, &unit) <= ZERO * largest

    cdef void write_rows(self, double removed, double floor) noexcept nogil:
        """Write the shrunk rows, longest first, without those that are 0."""
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
                source = self.rotated + (i - self.first_leading) * self.d
                factor = sqrt((value - removed) / value)
            else:
                source = self.gram.vector(i)
                factor = sqrt(value - removed)
            row = self.buffer.row(kept)
            for j in range(self.d):
                row[j] = factor * source[j]
            kept += 1
        self.tally.n = kept

    cdef Status shrink_scaled(self) noexcept nogil:
        """Shrink by singular values, with the buffer scaled by a power of two to at most 1."""
        cdef Py_ssize_t k, count = self.tally.n * self.d
        cdef double largest = 0, removed = 0
        cdef double *values = self.buffer.values
        cdef int exponent
        cdef Status status
        for k in range(count):
            # Negated, so that NaN becomes the largest.
            if not fabs(values[k]) <= largest:
                largest = fabs(values[k])
        if not isfinite(largest):
            return NOT_FINITE
        frexp(largest, &exponent)
        for k in range(count):
            values[k] = ldexp(values[k], -exponent)
        status = self.shrink_by_singular_values(&removed)
        for k in range(self.tally.n * self.d):
            values[k] = ldexp(values[k], exponent)
        self.tally.shrinkage += ldexp(removed, 2 * exponent)
        return status

    cdef Status shrink_by_singular_values(self, double *removed) noexcept nogil:
        """Shrink by the singular values of the buffer. Returns a status."""
        cdef int n = <int> self.tally.n, d = <int> self.d, m = min(n, d), info = 0, ask = -1, room
        cdef Py_ssize_t i, j, kept = 0, right_size = <Py_ssize_t> m * n
        cdef Py_ssize_t size = <Py_ssize_t> d * n + m + <Py_ssize_t> d * m + right_size
        cdef double needed
        cdef double *copy = NULL
        cdef int *integers = <int *> calloc(8 * m, sizeof(int))
        dgesdd(b"S", &d, &n, &needed, &d, &needed, &needed, &d, &needed, &m, &needed, &ask,
               integers, &info)
        if needed <= INT_MAX:
            room = <int> needed
            copy = <double *> aligned_resize(NULL, 0, (size + room) * sizeof(double))
        if copy == NULL or integers == NULL:
            free(copy)
            free(integers)
            return NO_MEMORY
        cdef double *values = copy + <Py_ssize_t> d * n
        cdef double *left = values + m
        cdef double *right = left + <Py_ssize_t> d * m
        memcpy(copy, self.buffer.values, <Py_ssize_t> d * n * sizeof(double))
        dgesdd(b"S", &d, &n, copy, &d, values, left, &d, right, &m, right + right_size, &room,
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
        """Insert the rows of a validated X, dense or CSR. If one fails, none is inserted."""
        cdef Samples samples = samples_of(X, X.dtype)
        check_width("X", samples.rows.d, self.d)
        cdef Py_ssize_t i = 0
        cdef Status status = OK
        self.calls += 1
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

    def share_lock_with(self, Lock lock not None):
        """Use this lock from now on; no thread may be inserting rows."""
        self.lock = lock

    def undo(self):
        """Return to the sketch before the last call of `insert`."""
        self.rollback()

    def merge(self, FrequentDirections other not None):
        """Become a sketch of the rows of both this sketch and the other."""
        squares = self.tally.squared_norm + other.tally.squared_norm
        shrinkage = other.tally.shrinkage
        if not isfinite(squares):
            raise FloatingPointError("the rows of both sketches overflow; scale the features")
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
        """||X||_F^2 of all inserted rows."""
        return self.tally.squared_norm

    @property
    def shrinkage(self):
        """Upper bound on the eigenvalues of X'X - C'C; they are >= 0."""
        return self.tally.shrinkage

    def __reduce__(self):
        state = (self.rows(), self.tally.squared_norm, self.tally.shrinkage)
        return _restore, (self.size, self.d, *state)

    def __getstate__(self):
        refuse_attributes(self)


def _restore(size, d, rows, squared_norm, shrinkage):
    cdef FrequentDirections sketch
    n, d = np.shape(rows)[0] if np.ndim(rows) else 0, integer_within("d", d, 1, MOST_ROWS)
    rows = doubles_of_shape("rows of the sketch", rows, (n, d))
    sketch = FrequentDirections(size, d)
    if n >= 2 * sketch.size:
        raise ValueError(f"{n} rows do not fit into a sketch of size {sketch.size}")
    sketch.buffer.set_array(np.pad(rows, [(0, 2 * sketch.size - n), (0, 0)]))
    sketch.tally.n = n
    sketch.tally.squared_norm = not_negative("squared norm of the sketch", squared_norm)
    sketch.tally.shrinkage = not_negative("shrinkage of the sketch", shrinkage)
    sketch.checkpoint()
    return sketch
