"""Sketched: one covariance for all outputs, stored with few directions.

A contraction beta along a sample x of variance q = x'S x updates the inverse of S:

    S^-1 <- S^-1 + c x x',    c = beta / (1 - beta q)    (AROW: c = 1 / r).

So S^-1 = I + X'X, where the rows of X are sqrt(c) x. `Sketched` stores a sketch C of X by frequent
directions, and the diagonal of its error E = X'X - C'C:

    S^-1 = D + C'C,    D = I + diag(E),
    S = D^-1 - D^-1 C' (I + C D^-1 C')^-1 C D^-1.

E lies between 0 and a multiple of the identity (`shrinkage` of the sketch). So D is at least I, and
S is positive. The diagonal of its inverse is exact. With as many directions as features E is 0, and
S is that of `Shared`.

L is the Cholesky factor of I + C D^-1 C'. A new row of C does not change D, and adds a row to L
that the variance has already computed. A shrink of the sketch recomputes D and L. A sample costs
two products with C and two triangular solves with L, O(size (length + size)).
"""
from libc.math cimport sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport ddot, dgemv, dsyrk, dtrsv
from scipy.linalg.cython_lapack cimport dpotrf

import copy

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, OK, Status
from onlinekern.core.base.state cimport check_kind, doubles_of_shape
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport resize_array
from onlinekern.core.linalg.frequent_directions cimport FrequentDirections
from onlinekern.core.models.covariances cimport Covariance
from onlinekern.core.samples.row_arithmetic cimport Vector

# A contraction leaves at least this fraction of a variance: c is at most 1e12 / q.
cdef double LEAST_REMAINDER = 1e-12


cdef class Sketched(Covariance):
    """One covariance for all outputs, whose inverse is a diagonal and a matrix of low rank.

    Samples must be dense, like the features of maps.

    Parameters
    ----------
    n_outputs : int
    length : int
        Number of features, the constant feature included.
    size : int >= 1
        Number of directions after a shrink; at most 2 size - 1 rows are in use.
    """

    shared = True

    def __cinit__(self, Py_ssize_t n_outputs, Py_ssize_t length, Py_ssize_t size):
        cdef Py_ssize_t j
        self.sketch = FrequentDirections(size, length)
        size = self.sketch.size
        self.diagonal = JournaledMatrix("diagonal of the sketch", 1, length)
        for j in range(length):
            self.diagonal.values[j] = 1
        self.factor = JournaledMatrix("factor of the sketch", 2 * size, 2 * size)
        self.divided = <double *> resize_array(NULL, 0, length, sizeof(double))
        self.squares = <double *> resize_array(NULL, 0, length, sizeof(double))
        self.rows = <double *> resize_array(NULL, 0, length, size * <Py_ssize_t> sizeof(double))
        self.solved = <double *> calloc(2 * size, sizeof(double))
        self.weights = <double *> calloc(2 * size, sizeof(double))
        if self.divided == NULL or self.squares == NULL or self.rows == NULL \
                or self.solved == NULL or self.weights == NULL:
            raise MemoryError(f"no memory for a sketch of {size} directions")

    def __dealloc__(self):
        free(self.divided)
        free(self.squares)
        free(self.rows)
        free(self.solved)
        free(self.weights)

    cdef Py_ssize_t work(self, Py_ssize_t length) noexcept nogil:
        return Covariance.work(self, length) * (1 + 4 * self.sketch.size)

    cdef double measure(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        cdef int n = <int> self.sketch.tally.n, d = <int> self.length, one = 1
        cdef int rows = <int> self.factor.n_columns
        cdef double unit = 1, zero = 0, variance
        cdef Py_ssize_t j
        self.has_direction = False
        for j in range(self.length):
            self.divided[j] = x.values[j] / self.diagonal.values[j]
        variance = ddot(&d, <double *> x.values, &one, self.divided, &one)
        if n > 0:
            # BLAS uses column-major order: it sees the sketch as C', and the factor as L'.
            dgemv(b"T", &d, &n, &unit, self.sketch.buffer.values, &d, self.divided, &one, &zero,
                  self.solved, &one)
            dtrsv(b"U", b"T", b"N", &n, self.factor.values, &rows, self.solved, &one)
            variance -= ddot(&n, self.solved, &one, self.solved, &one)
        # Only rounding makes the variance negative. NaN is kept.
        self.variance = 0 if variance < 0 else variance
        return self.variance

    cdef Vector direction(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        cdef int n = <int> self.sketch.tally.n, d = <int> self.length, one = 1
        cdef int rows = <int> self.factor.n_columns
        cdef Py_ssize_t j
        cdef double unit = 1, zero = 0
        cdef Vector direction
        direction.values = self.directions
        direction.places = NULL
        direction.count = self.length
        if self.has_direction:
            return direction
        self.has_direction = True
        if n == 0:
            memcpy(self.directions, self.divided, self.length * sizeof(double))
            return direction
        memcpy(self.weights, self.solved, n * sizeof(double))
        dtrsv(b"U", b"N", b"N", &n, self.factor.values, &rows, self.weights, &one)
        dgemv(b"N", &d, &n, &unit, self.sketch.buffer.values, &d, self.weights, &one, &zero,
              self.directions, &one)
        for j in range(self.length):
            self.directions[j] = self.divided[j] - self.directions[j] / self.diagonal.values[j]
        return direction

    cdef Status contract(self, Py_ssize_t k, const Vector *x, double contraction) noexcept nogil:
        """Add sqrt(c) x to the sketch. Returns a status."""
        cdef double remainder = max(1 - contraction * self.variance, LEAST_REMAINDER)
        cdef Py_ssize_t n = self.sketch.tally.n
        cdef bint full = n + 1 == 2 * self.sketch.size
        cdef Status status
        if contraction == 0:
            return OK
        self.append(x.values, contraction / remainder)
        if full:
            memset(self.squares, 0, self.length * sizeof(double))
            self.add_squares(n + 1, 1)
        status = self.sketch.commit_row()
        if status == OK and full:
            self.add_squares(self.sketch.tally.n, -1)
            status = self.refactor()
        return status

    cdef void append(self, const double *x, double weight) noexcept nogil:
        """Write the next rows of C and of L, for the measured sample times sqrt(weight)."""
        cdef Py_ssize_t j, n = self.sketch.tally.n
        cdef double root = sqrt(weight)
        cdef double *row = self.sketch.next_row()
        cdef double *factor = self.factor.touch(n)
        for j in range(self.length):
            row[j] = root * x[j]
        for j in range(n):
            factor[j] = root * self.solved[j]
        factor[n] = sqrt(1 + weight * self.variance)

    cdef void add_squares(self, Py_ssize_t n, double sign) noexcept nogil:
        """squares += sign diag(C'C), of the first n rows of C."""
        cdef Py_ssize_t i, j
        cdef const double *row
        for i in range(n):
            row = self.sketch.buffer.row(i)
            for j in range(self.length):
                self.squares[j] += sign * row[j] * row[j]

    cdef Status refactor(self) noexcept nogil:
        """Compute D and L after a shrink that took `squares` from diag(C'C). Returns a status."""
        cdef int n = <int> self.sketch.tally.n, d = <int> self.length, info = 0
        cdef int rows = <int> self.factor.n_columns
        cdef Py_ssize_t i, j
        cdef double one = 1, zero = 0
        cdef double *diagonal = self.diagonal.touch(0)
        self.factor.touch_all()
        for j in range(self.length):
            # Only rounding makes the diagonal of E negative.
            diagonal[j] += max(self.squares[j], 0.0)
            self.divided[j] = 1 / sqrt(diagonal[j])
        for i in range(n):
            for j in range(self.length):
                self.rows[i * self.length + j] = self.divided[j] * self.sketch.buffer.row(i)[j]
        dsyrk(b"U", b"T", &n, &d, &one, self.rows, &d, &zero, self.factor.values, &rows)
        for i in range(n):
            self.factor.row(i)[i] += 1
        dpotrf(b"U", &n, self.factor.values, &rows, &info)
        return OK if info == 0 else NOT_FINITE

    cdef void checkpoint(self) noexcept nogil:
        self.sketch.checkpoint()
        self.diagonal.checkpoint()
        self.factor.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.sketch.rollback()
        self.diagonal.rollback()
        self.factor.rollback()

    @classmethod
    def nbytes(cls, n_outputs, length, size):
        """Bytes of the sketch and its factor, including the copies for `rollback`."""
        size = min(size, length)
        return (4 * size * (length + 2 * size) + 2 * size * length) * sizeof(double)

    def factor_in_use(self):
        """L, ndarray of shape (n, n) for the n rows of the sketch in use."""
        cdef Py_ssize_t i, n = self.sketch.n
        lower = self.factor.to_array()[:n, :n].copy()
        for i in range(n):  # not numpy.tril: without memory it crashes
            lower[i, i + 1:] = 0
        return lower

    def to_array(self):
        """S, ndarray of shape (1, length, length)."""
        diagonal = self.diagonal.to_array()[0]
        scaled = np.linalg.solve(self.factor_in_use(), self.sketch.rows() / diagonal)
        return (np.diag(1 / diagonal) - scaled.T @ scaled)[None]

    def __reduce__(self):
        return _restore, (self.n_outputs, self.sketch, self.diagonal.to_array(),
                          self.factor_in_use())


def _restore(n_outputs, sketch, diagonal, factor):
    check_kind(sketch, "sketch", FrequentDirections)
    # copy.copy of a covariance passes the sketch of the original, so it is copied.
    cdef FrequentDirections own = copy.copy(sketch)
    cdef Sketched covariance = Sketched(n_outputs, own.d, own.size)
    cdef Py_ssize_t n = own.tally.n, rows = covariance.factor.n_rows
    covariance.sketch = own
    covariance.diagonal.set_array(diagonal)
    if diagonal.min() < 1:
        raise ValueError(f"diagonal of the sketch must be at least 1, got {diagonal.min()}")
    factor = doubles_of_shape("factor of the sketch", factor, (n, n))
    gram = np.eye(n) + own.rows() / diagonal @ own.rows().T
    if any(factor[i, i + 1:].any() for i in range(n)) or not (np.diagonal(factor) > 0).all() \
            or not np.allclose(factor @ factor.T, gram, 1e-6, 1e-6 * np.abs(gram).max(initial=0)):
        raise ValueError("factor of the sketch must be the Cholesky factor of its rows")
    covariance.factor.set_array(np.pad(factor, [(0, rows - n), (0, rows - n)]))
    return covariance


COVARIANCES = {"sketched": Sketched}
