# Copies of numbered records, for undo. May change at minor versions.
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from onlinekern.core.base.part cimport Status


cdef class Journal:
    cdef readonly Py_ssize_t size      # bytes of a record
    cdef Py_ssize_t n                  # records at the checkpoint: later ones need no copy
    cdef Py_ssize_t count, room, flag_room
    cdef Py_ssize_t *numbers           # of the records copied
    cdef char *copies
    cdef char *copied                  # a flag per record

    cdef void open(self, Py_ssize_t n) noexcept nogil
    cdef bint wants(self, Py_ssize_t number) noexcept nogil
    cdef char *record(self, Py_ssize_t number) noexcept nogil
    cdef char *copy(self, Py_ssize_t index) noexcept nogil
    cdef Status keep(self, Py_ssize_t number, const char *base) noexcept nogil
    cdef void put_back(self, char *base) noexcept nogil


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


cdef class Blocks:
    cdef readonly Py_ssize_t n, stride
    cdef double *allocated
    cdef double *data           # the same, from a cache line on
    cdef double *saved          # block b at the checkpoint, where stamps[b] == stamp
    cdef uint64_t *stamps
    cdef uint64_t stamp
    cdef Py_ssize_t n_touched   # since the checkpoint

    cdef inline double *at(self, Py_ssize_t b) noexcept nogil:
        """Block b, to be read."""
        return self.data + b * self.stride

    cdef inline double *touch(self, Py_ssize_t b) noexcept nogil:
        """Block b, to be changed."""
        if self.stamps[b] != self.stamp:
            memcpy(self.saved + b * self.stride, self.at(b), self.stride * sizeof(double))
            self.stamps[b] = self.stamp
            self.n_touched += 1
        return self.at(b)

    cdef inline bint settled(self) noexcept nogil:
        """Whether all blocks may be changed without touching them.

        Once half of them have been touched, the others are too: that at most doubles what is copied
        after a checkpoint, and spares the samples to come the question.
        """
        return self.n_touched == self.n or (2 * self.n_touched >= self.n and self.touch_all())

    cdef inline bint touched(self, Py_ssize_t b) noexcept nogil:
        """Whether block b was handed out to be changed since the checkpoint."""
        return self.stamps[b] == self.stamp

    cdef bint touch_all(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
