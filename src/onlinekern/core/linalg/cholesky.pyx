"""Cholesky: the factor L of a Gram matrix K + jitter I to which rows are appended, K + j I = LL'.

All in double. A new row k, kappa borders L by (L^-1 k)' and the pivot
sqrt(kappa + j - ||L^-1 k||^2). In exact arithmetic its square is at least the jitter, whatever the
rows; it is held there against rounding, so that a row that is there already gives a small pivot but
never a pivot of noise. A bordered inverse without jitter divides by that noise.
"""
from libc.math cimport sqrt
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport doubles_of_shape, positive_number
from onlinekern.core.base.vector cimport aligned_resize, ops_for, whole_panels


cdef class Cholesky:
    """The factor of an empty matrix.

    Parameters
    ----------
    jitter : float > 0
        Added to every diagonal element.
    """

    def __cinit__(self, double jitter):
        self.jitter = jitter
        self.ops = ops_for(sizeof(double))

    def __dealloc__(self):
        self.truncate(0)
        free(self.rows)
        free(self.half)
        free(self.solution)

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil:
        """Make room for `capacity` rows in all. Returns a status."""
        cdef void *fresh
        if capacity <= self.capacity:
            return OK
        capacity = whole_panels(max(capacity, 2 * self.capacity))
        fresh = aligned_resize(self.rows, self.n * sizeof(double *), capacity * sizeof(double *))
        if fresh == NULL:
            return NO_MEMORY
        self.rows = <double **> fresh
        fresh = aligned_resize(self.half, self.n * sizeof(double), capacity * sizeof(double))
        if fresh == NULL:
            return NO_MEMORY
        self.half = <double *> fresh
        fresh = aligned_resize(self.solution, 0, capacity * sizeof(double))
        if fresh == NULL:
            return NO_MEMORY
        self.solution = <double *> fresh
        self.capacity = capacity
        return OK

    cdef double solve_lower(self, const double *k) noexcept nogil:
        """Solve L h = k for h, n numbers; returns ||h||^2 = k'(K + jitter I)^-1 k."""
        cdef Py_ssize_t i
        cdef double square = 0
        memset(self.half, 0, whole_panels(self.n) * sizeof(double))
        for i in range(self.n):
            # The dot takes whole panels: beyond the first i numbers `half` is still 0.
            self.half[i] = (k[i] - self.ops.dot(self.rows[i], self.half, whole_panels(i))) \
                / self.rows[i][i]
            square += self.half[i] * self.half[i]
        return square

    cdef const double *solve_upper(self) noexcept nogil:
        """(K + jitter I)^-1 k, n numbers, for the k of the last `solve_lower`."""
        cdef Py_ssize_t i
        memcpy(self.solution, self.half, self.n * sizeof(double))
        for i in range(self.n - 1, -1, -1):
            self.solution[i] /= self.rows[i][i]
            self.ops.add(self.rows[i], -self.solution[i], self.solution, i)
        return self.solution

    cdef Status append(self, double diagonal) noexcept nogil:
        """Append the row k of the last `solve_lower`, with kappa = `diagonal`. Returns a status.

        There must be room for one more row.
        """
        return self.append_row(self.half, diagonal)

    cdef Status append_row(self, const double *half, double diagonal) noexcept nogil:
        """The same for the row k of L^-1 k = `half`."""
        cdef Py_ssize_t i
        cdef double pivot = diagonal + self.jitter
        cdef double *row = <double *> aligned_resize(NULL, 0,
                                                     whole_panels(self.n + 1) * sizeof(double))
        if row == NULL:
            return NO_MEMORY
        for i in range(self.n):
            row[i] = half[i]
            pivot -= row[i] * row[i]
        row[self.n] = sqrt(max(pivot, self.jitter))
        self.rows[self.n] = row
        self.n += 1
        return OK

    cdef void truncate(self, Py_ssize_t n) noexcept nogil:
        """Forget all but the first n rows."""
        cdef Py_ssize_t i
        for i in range(n, self.n):
            free(self.rows[i])
        self.n = min(n, self.n)

    cdef void checkpoint(self) noexcept nogil:
        """Remember the present factor for `rollback`."""
        self.saved_n = self.n

    cdef void rollback(self) noexcept nogil:
        """Return to the factor of the checkpoint."""
        self.truncate(self.saved_n)

    def extend(self, k, double diagonal):
        """Append a row, given by its kernel values with the rows so far and with itself."""
        cdef double[::1] values = np.zeros(self.n + 1)
        np.asarray(values)[:self.n] = k
        if self.reserve(self.n + 1) < 0:
            raise MemoryError(f"no memory for a factor of {self.n + 1} rows")
        self.solve_lower(&values[0])
        if self.append(diagonal) < 0:
            raise MemoryError(f"no memory for a factor of {self.n + 1} rows")

    def solve(self, k):
        """(K + jitter I)^-1 k, ndarray of shape (n,)."""
        cdef double[::1] out = np.zeros(self.n + 1)
        np.asarray(out)[:self.n] = k
        if self.n > 0:
            self.solve_lower(&out[0])
            memcpy(&out[0], self.solve_upper(), self.n * sizeof(double))
        return np.asarray(out)[:self.n]

    def to_array(self):
        """L, ndarray of shape (n, n)."""
        out = np.zeros((self.n, self.n))
        cdef double[:, ::1] view = out
        cdef Py_ssize_t i
        for i in range(self.n):
            memcpy(&view[i, 0], self.rows[i], (i + 1) * sizeof(double))
        return out

    def set_array(self, array):
        """Take over what `to_array` gave.

        Raises
        ------
        TypeError, ValueError
            When the array is not square and finite, or an element of the diagonal is not > 0.
        """
        array = doubles_of_shape("the Cholesky factor", array, 2 * np.shape(array)[:1])
        cdef const double[:, ::1] factor = array
        cdef Py_ssize_t i, n = factor.shape[0]
        for i in range(n):
            positive_number("an element of the diagonal of the Cholesky factor", factor[i, i])
        self.truncate(0)
        if self.reserve(n) < 0:
            raise MemoryError(f"no memory for a factor of {n} rows")
        for i in range(n):
            self.rows[i] = <double *> aligned_resize(NULL, 0, whole_panels(i + 1) * sizeof(double))
            if self.rows[i] == NULL:
                raise MemoryError(f"no memory for a factor of {n} rows")
            memcpy(self.rows[i], &factor[i, 0], (i + 1) * sizeof(double))
            self.n = i + 1
