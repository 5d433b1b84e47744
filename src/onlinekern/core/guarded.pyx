"""Guarded: a matrix of doubles whose rows remember what they held at the last checkpoint.

Layer 1. A call that fails has to leave the model as it was, and a call may be one sample long: the
matrix cannot be copied at each checkpoint. Whoever writes a row touches it first; the first touch
after a checkpoint copies the row. A rollback costs what was touched, a checkpoint next to nothing.
"""
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.vector cimport aligned_resize


cdef class Guarded:
    """A zero matrix.

    Parameters
    ----------
    n_rows, n_columns : int
    """

    def __init__(self, Py_ssize_t n_rows, Py_ssize_t n_columns):
        cdef Py_ssize_t size = n_rows * n_columns * sizeof(double)
        self.n_rows = n_rows
        self.n_columns = n_columns
        self.values = <double *> aligned_resize(NULL, 0, size)
        self.before = <double *> aligned_resize(NULL, 0, size)
        self.touched = <char *> calloc(max(n_rows, 1), 1)
        self.touches = <Py_ssize_t *> calloc(max(n_rows, 1), sizeof(Py_ssize_t))
        if self.values == NULL or self.before == NULL or self.touched == NULL \
                or self.touches == NULL:
            raise MemoryError(f"no memory for two matrices of {n_rows} x {n_columns} numbers")

    def __dealloc__(self):
        free(self.values)
        free(self.before)
        free(self.touched)
        free(self.touches)

    cdef void checkpoint(self) noexcept nogil:
        """What the rows hold now is what `rollback` returns to."""
        cdef Py_ssize_t k
        for k in range(self.n_touches):
            self.touched[self.touches[k]] = False
        self.n_touches = 0

    cdef void rollback(self) noexcept nogil:
        """Return to the checkpoint."""
        cdef Py_ssize_t k, i
        for k in range(self.n_touches):
            i = self.touches[k]
            memcpy(self.row(i), self.before + i * self.n_columns,
                   self.n_columns * sizeof(double))
        self.checkpoint()

    def to_array(self, Py_ssize_t n_rows=-1):
        """A copy of the first rows (all by default), ndarray of shape (n_rows, n_columns)."""
        cdef Py_ssize_t n = self.n_rows if n_rows < 0 else n_rows
        out = np.zeros((n, self.n_columns))
        cdef double[:, ::1] view = out
        if out.size:
            memcpy(&view[0, 0], self.values, n * self.n_columns * sizeof(double))
        return out

    def from_array(self, const double[:, ::1] array):
        """Overwrite the first rows."""
        cdef Py_ssize_t i
        if array.shape[0] > self.n_rows or array.shape[1] != self.n_columns:
            raise ValueError(f"{array.shape[0]} x {array.shape[1]} numbers do not fit "
                             f"{self.n_rows} x {self.n_columns}")
        for i in range(array.shape[0] if self.n_columns else 0):
            memcpy(self.touch(i), &array[i, 0], self.n_columns * sizeof(double))
