"""Journal: copies of the records that are overwritten after a checkpoint, so that it can return.

Records of one size are numbered 0, 1, ... . A record that existed at the checkpoint is
copied once, the first time that it is to be overwritten: opening a journal costs what the last one
copied, not the number of records, so a call that learns one sample can afford it.

Guarded: a matrix of doubles whose rows remember what they held at the last checkpoint.

A call that fails has to leave the model as it was, and a call may be one sample long: the
matrix cannot be copied at each checkpoint. Whoever writes a row touches it first; the first touch
after a checkpoint copies the row. A rollback costs what was touched, a checkpoint next to nothing.

Blocks: a fixed number of equal blocks of doubles that can be taken back at little cost.

A sample changes few blocks of a local model. `checkpoint` is O(1); a block is copied when
it is touched for the first time after it. Numbers and copies are zero pages that the system hands
out when they are written, so blocks never touched cost nothing.
"""
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport aligned_resize


cdef class Journal:
    """An empty journal, that wants nothing until it is opened.

    Parameters
    ----------
    size : int
        Bytes of a record.
    """

    def __init__(self, Py_ssize_t size):
        self.size = size

    def __dealloc__(self):
        free(self.numbers)
        free(self.copies)
        free(self.copied)

    cdef void open(self, Py_ssize_t n) noexcept nogil:
        """Set a checkpoint: the first n records are worth a copy, none has been made."""
        cdef Py_ssize_t r
        for r in range(self.count):
            self.copied[self.numbers[r]] = 0
        self.count = 0
        self.n = n

    cdef bint wants(self, Py_ssize_t number) noexcept nogil:
        """Whether the record is to be copied before it is changed."""
        return number < self.n and (number >= self.flag_room or not self.copied[number])

    cdef char *record(self, Py_ssize_t number) noexcept nogil:
        """Memory for the copy of a record, which counts as made. NULL when memory ran out."""
        cdef Py_ssize_t room = 2 * self.room + 8
        cdef char *fresh
        if self.flag_room < self.n:
            fresh = <char *> aligned_resize(self.copied, self.flag_room, self.n)
            if fresh == NULL:
                return NULL
            self.copied = fresh
            self.flag_room = self.n
        if self.count == self.room:
            fresh = <char *> aligned_resize(self.numbers, self.room * sizeof(Py_ssize_t),
                                            room * sizeof(Py_ssize_t))
            if fresh == NULL:
                return NULL
            self.numbers = <Py_ssize_t *> fresh
            fresh = <char *> aligned_resize(self.copies, self.room * self.size, room * self.size)
            if fresh == NULL:
                return NULL
            self.copies = fresh
            self.room = room
        self.numbers[self.count] = number
        self.copied[number] = 1
        self.count += 1
        return self.copy(self.count - 1)

    cdef char *copy(self, Py_ssize_t index) noexcept nogil:
        """The copy made as number `index` since the checkpoint."""
        return self.copies + index * self.size

    cdef Status keep(self, Py_ssize_t number, const char *base) noexcept nogil:
        """Copy a record of the array at `base`, if it is wanted. Returns a status."""
        cdef char *memory
        if not self.wants(number):
            return OK
        memory = self.record(number)
        if memory == NULL:
            return NO_MEMORY
        memcpy(memory, base + number * self.size, self.size)
        return OK

    cdef void put_back(self, char *base) noexcept nogil:
        """Write the copies back into the array at `base`."""
        cdef Py_ssize_t r
        for r in range(self.count):
            memcpy(base + self.numbers[r] * self.size, self.copy(r), self.size)


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


cdef class Blocks:
    """`n` blocks of `stride` doubles, zero at first.

    Parameters
    ----------
    n, stride : int
        A stride of whole cache lines (8 numbers) keeps every block aligned.
    """

    def __init__(self, Py_ssize_t n, Py_ssize_t stride):
        size = n * stride * sizeof(double)
        self.n = n
        self.stride = stride
        self.stamp = 1
        self.allocated = <double *> calloc(n * stride + 8, sizeof(double))
        self.saved = <double *> calloc(max(n * stride, 1), sizeof(double))
        self.stamps = <uint64_t *> calloc(max(n, 1), sizeof(uint64_t))
        if self.allocated == NULL or self.saved == NULL or self.stamps == NULL:
            raise MemoryError(
                f"no memory for {n} blocks of {stride} numbers ({2 * size / 1e9:.3g} gigabytes)")
        self.data = <double *> ((<uintptr_t> self.allocated + 63) // 64 * 64)

    def __dealloc__(self):
        free(self.allocated)
        free(self.saved)
        free(self.stamps)

    cdef void checkpoint(self) noexcept nogil:
        """Remember the present numbers for `rollback`."""
        self.stamp += 1
        self.n_touched = 0

    cdef bint touch_all(self) noexcept nogil:
        """Let every block be changed. Returns True."""
        cdef Py_ssize_t b
        for b in range(self.n):
            self.touch(b)
        return True

    cdef void rollback(self) noexcept nogil:
        """Return to the numbers of the checkpoint; which blocks were touched stays known."""
        cdef Py_ssize_t b
        for b in range(self.n):
            if self.touched(b):
                memcpy(self.at(b), self.saved + b * self.stride, self.stride * sizeof(double))

    def to_array(self):
        """A copy of the numbers, ndarray of shape (n, stride)."""
        out = np.empty((self.n, self.stride))
        cdef double[:, ::1] view = out
        if out.size > 0:
            memcpy(&view[0, 0], self.data, out.nbytes)
        return out

    def set_array(self, const double[:, ::1] values):
        """Take over what `to_array` gave."""
        if values.shape[0] != self.n or values.shape[1] != self.stride:
            raise ValueError(f"blocks are of shape ({self.n}, {self.stride}), "
                             f"got ({values.shape[0]}, {values.shape[1]})")
        if self.n * self.stride > 0:
            memcpy(self.data, &values[0, 0], self.n * self.stride * sizeof(double))
