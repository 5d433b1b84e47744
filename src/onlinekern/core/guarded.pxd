# Matrices that can be rolled back (layer 1). May change at minor versions.
from libc.string cimport memcpy


cdef class Guarded:
    cdef readonly Py_ssize_t n_rows, n_columns
    cdef double *values          # n_rows x n_columns
    cdef double *before          # the touched rows as they were at the checkpoint
    cdef char *touched           # one flag per row
    cdef Py_ssize_t *touches     # the touched rows
    cdef Py_ssize_t n_touches

    cdef inline double *row(self, Py_ssize_t i) noexcept nogil:
        return self.values + i * self.n_columns

    cdef inline double *touch(self, Py_ssize_t i) noexcept nogil:
        """Row i, to be written: its content is kept first, once after each checkpoint."""
        cdef double *row = self.values + i * self.n_columns
        if not self.touched[i]:
            memcpy(self.before + i * self.n_columns, row, self.n_columns * sizeof(double))
            self.touched[i] = True
            self.touches[self.n_touches] = i
            self.n_touches += 1
        return row

    cdef inline void touch_all(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n_rows):
            self.touch(i)

    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
