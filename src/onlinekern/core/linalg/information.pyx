"""Information: the sums of least squares, A = r I + sum a phi phi' and b = sum a phi y', in double.

Nothing is ever subtracted, and r I is never forgotten. So A >= r I always holds, and its inverse
does not drift, however long the stream is.
"""
from libc.string cimport memcpy
from scipy.linalg.cython_blas cimport dgemm, dsyrk
from scipy.linalg.cython_lapack cimport dpotrf, dpotri, dpotrs

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, OK, Status
from onlinekern.core.base.state cimport doubles_of_shape, is_symmetric, positive_number
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport OK_PANEL


cdef class Information:
    """The sums before any sample.

    Parameters
    ----------
    length : int
        Numbers in a row of features; at most 2^31 - 1, as LAPACK counts in 32 bits.
    n_outputs : int
    reg : float > 0
        r.
    """

    def __cinit__(self, Py_ssize_t length, Py_ssize_t n_outputs, double reg):
        cdef Py_ssize_t i
        self.length, self.n_outputs = length, n_outputs
        self.reg = self.saved_reg = positive_number("reg", reg)
        self.matrix = JournaledMatrix("sums of squares", length, length)
        self.vectors = JournaledMatrix("sums of targets", n_outputs, length)
        for i in range(length):
            self.matrix.values[i * length + i] = reg

    cdef void border(self, Py_ssize_t place, double diagonal) noexcept nogil:
        """Set the diagonal of a feature that was 0 in all samples so far."""
        cdef double *row = self.matrix.touch(place)
        row[place] = diagonal

    cdef void add(self, Py_ssize_t used, Py_ssize_t n, double *rows) noexcept nogil:
        """A += sum of phi phi' of n rows, of which the first `used` numbers are not 0."""
        cdef int order = <int> used, count = <int> n, width = <int> self.length
        cdef double one = 1
        self.matrix.touch_all()
        # The upper triangle in C order is the lower one in Fortran order.
        dsyrk(b"L", b"N", &order, &count, &one, rows, &width, &one, self.matrix.values, &width)

    cdef void add_strip(self, Py_ssize_t strip, Py_ssize_t used, Py_ssize_t n, double *rows,
                        double *matrix) noexcept nogil:
        """Add 64 rows of sum phi phi' to a matrix like A; the caller has called `touch` for them.

        The sum is over n rows of features, whose first `used` numbers may not be 0.
        """
        cdef Py_ssize_t first = strip * OK_PANEL, place = first
        cdef int order, width = <int> min(used - first, <Py_ssize_t> OK_PANEL), count = <int> n
        cdef int stride = <int> self.length
        cdef double one = 1
        while place < used:
            order = at_once(place, used, width * n)
            dgemm(b"N", b"T", &order, &width, &count, &one, rows + place, &stride, rows + first,
                  &stride, &one, matrix + first * self.length + place, &stride)
            place += order

    cdef void decay(self, Py_ssize_t used, double factor) noexcept nogil:
        """A <- factor A + (1 - factor) r I, b <- factor b."""
        cdef Py_ssize_t i, j
        cdef double *row
        for i in range(used):
            row = self.matrix.touch(i)
            for j in range(i, used):
                row[j] *= factor
            row[i] += (1 - factor) * self.reg
        for i in range(self.n_outputs):
            row = self.vectors.touch(i)
            for j in range(used):
                row[j] *= factor

    cdef void set_reg(self, double reg) noexcept nogil:
        """Change r, in units in which it is not forgotten.

        A feature that no sample has keeps just r, as in sums that begin with it: no rounding.
        """
        cdef Py_ssize_t i
        cdef double *row
        for i in range(self.length):
            row = self.matrix.touch(i)
            row[i] = reg if row[i] == self.reg else row[i] + (reg - self.reg)
        self.reg = reg

    cdef void fill(self, Py_ssize_t used, double *matrix, double *solutions) noexcept nogil:
        """Copy the upper triangle of A (used x used), and b, whose rows are `length` apart."""
        cdef Py_ssize_t i
        for i in range(used):
            memcpy(matrix + i * used + i, self.matrix.values + i * self.length + i,
                   (used - i) * sizeof(double))
        for i in range(self.n_outputs):
            memcpy(solutions + i * self.length, self.vectors.values + i * self.length,
                   used * sizeof(double))

    cdef Status invert(self, Py_ssize_t used, double *inverse, double *solutions) noexcept nogil:
        """The upper triangle, in C order, of A^-1 (used x used), and the rows of (A^-1 b)'.

        Rows of the solutions are `length` numbers apart. Returns a status: NOT_FINITE if A is not
        positive.
        """
        cdef int order = <int> used, width = <int> self.length, outputs = <int> self.n_outputs
        cdef int info
        self.fill(used, inverse, solutions)
        dpotrf(b"L", &order, inverse, &order, &info)
        if info != 0:
            return NOT_FINITE
        dpotrs(b"L", &order, &outputs, inverse, &order, solutions, &width, &info)
        dpotri(b"L", &order, inverse, &order, &info)
        return OK if info == 0 else NOT_FINITE

    cdef void checkpoint(self) noexcept nogil:
        self.matrix.checkpoint()
        self.vectors.checkpoint()
        self.saved_reg = self.reg

    cdef void rollback(self) noexcept nogil:
        self.matrix.rollback()
        self.vectors.rollback()
        self.reg = self.saved_reg

    def get_state(self, Py_ssize_t used, const double[:, ::1] upper=None):
        """The pair A, b' of the first `used` features, ndarrays; the other features were all 0.

        With `upper`, its upper triangle is used instead of that of A.
        """
        cdef Py_ssize_t i, j
        if upper is None:
            upper = self.matrix.to_array()
        matrix = np.zeros((used, used))
        cdef double[:, ::1] view = matrix
        for i in range(used):
            for j in range(i, used):
                view[i, j] = view[j, i] = upper[i, j]
        return matrix, np.ascontiguousarray(self.vectors.to_array()[:, :used])

    def set_state(self, matrix, vectors, Py_ssize_t used):
        """Restore the result of `get_state`, into sums that have no sample yet."""
        matrix = doubles_of_shape("sums of squares", matrix, (used, used))
        vectors = doubles_of_shape("sums of targets", vectors, (self.n_outputs, used))
        if not is_symmetric(matrix) or not (np.diagonal(matrix) > 0).all():
            raise ValueError("sums of squares must be symmetric, with a diagonal > 0")
        whole = self.matrix.to_array()
        whole[:used, :used] = matrix
        self.matrix.set_array(whole)
        self.vectors.set_array(np.pad(vectors, ((0, 0), (0, self.length - used))))
