"""Undo: copies of what a call overwrites, so that a call that fails leaves the model as it was.

A call may learn a single sample, so a checkpoint must not copy the model. Each record is copied
when it is first about to change after the checkpoint; a rollback writes the copies back. Whether a
record has been copied is told by a stamp: it holds the number of the checkpoint after which the
record was last copied. A new checkpoint is a new number, and costs nothing else.

`Journal` keeps copies of records that somebody else owns. `JournaledMatrix` is a matrix of doubles
together with the journal of its rows.
"""
from libc.stdint cimport uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import sys

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport doubles_of_shape
from onlinekern.core.base.vector cimport aligned_resize


cdef Status enlarge(void **memory, Py_ssize_t *held, Py_ssize_t used,
                    Py_ssize_t bytes) noexcept nogil:
    """Let `memory` hold `bytes`, of which `used` are in use: at least twice as much as it did."""
    cdef void *fresh
    if bytes <= held[0]:
        return OK
    bytes = max(bytes, 2 * held[0])
    fresh = aligned_resize(memory[0], used, bytes)
    if fresh == NULL:
        return NO_MEMORY
    memory[0] = fresh
    held[0] = bytes
    return OK


cdef class Journal:
    """Copies of numbered records; none is wanted before the first checkpoint.

    Parameters
    ----------
    size : int
        Bytes of a record.
    """

    def __cinit__(self, size=0, *_):
        if type(self) is Journal:  # a subclass has other arguments, and sets the size
            self.size = size
        self.stamp = 1

    def __dealloc__(self):
        free(self.numbers)
        free(self.copies)
        free(self.stamps)

    cdef void begin(self, Py_ssize_t n) noexcept nogil:
        """Set a checkpoint: records 0 ... n - 1 exist, and none of them has been copied."""
        self.stamp += 1
        self.count = 0
        self.n = n

    cdef void begin_sized(self, Py_ssize_t n, Py_ssize_t size) noexcept nogil:
        """The same for records of another size, in bytes."""
        self.begin(n)
        self.size = size

    cdef char *add_copy(self, Py_ssize_t number) noexcept nogil:
        """Memory for the copy of a wanted record, to be written. NULL when memory ran out."""
        if enlarge(<void **> &self.stamps, &self.stamps_bytes, self.stamps_bytes,
                   self.n * sizeof(uint64_t)) < 0 \
                or enlarge(<void **> &self.numbers, &self.numbers_bytes,
                           self.count * sizeof(Py_ssize_t),
                           (self.count + 1) * sizeof(Py_ssize_t)) < 0 \
                or enlarge(<void **> &self.copies, &self.copies_bytes, self.count * self.size,
                           (self.count + 1) * self.size) < 0:
            return NULL
        self.numbers[self.count] = number
        self.stamps[number] = self.stamp
        self.count += 1
        return self.copy(self.count - 1)

    cdef Status keep(self, Py_ssize_t number, const void *record) noexcept nogil:
        """Copy a record if it is wanted. Returns a status."""
        cdef char *memory
        if not self.wants(number):
            return OK
        memory = self.add_copy(number)
        if memory == NULL:
            return NO_MEMORY
        memcpy(memory, record, self.size)
        return OK

    cdef void restore(self, void *base, Py_ssize_t stride) noexcept nogil:
        """Write the copies back into an array whose records are `stride` bytes apart.

        The copies stay: a second call returns to the same checkpoint.
        """
        cdef Py_ssize_t index
        for index in range(self.count):
            memcpy(<char *> base + self.numbers[index] * stride, self.copy(index), self.size)


cdef class JournaledMatrix(Journal):
    """A matrix of doubles, 0 at first, whose rows can be rolled back.

    Whoever writes a row calls `touch` first. The memory for all copies is reserved from the start,
    so `touch` cannot fail. It is memory that the system provides when it is written: rows that are
    never touched take none.

    Parameters
    ----------
    name : str
        What the matrix holds, for messages.
    n_rows, n_columns : int
        Rows of whole cache lines (8 numbers) all begin at one.

    Raises
    ------
    MemoryError
        When there is no memory for the matrix and its copy.
    """

    def __cinit__(self, str name not None, Py_ssize_t n_rows, Py_ssize_t n_columns):
        self.size = n_columns * sizeof(double)
        self.name = name
        self.n_rows = n_rows
        self.n_columns = n_columns
        self.n = n_rows
        # In Python integers, which do not overflow; 8 numbers more let `values` be aligned.
        count = <object> n_rows * n_columns + 8
        if min(n_rows, n_columns) >= 0 and count <= sys.maxsize // sizeof(double):
            self.allocated = <double *> calloc(count, sizeof(double))
            self.copies = <char *> calloc(count, sizeof(double))
            self.numbers = <Py_ssize_t *> calloc(max(n_rows, 1), sizeof(Py_ssize_t))
            self.stamps = <uint64_t *> calloc(max(n_rows, 1), sizeof(uint64_t))
        if self.allocated == NULL or self.copies == NULL or self.numbers == NULL \
                or self.stamps == NULL:
            raise MemoryError(
                f"no memory for {name}: {n_rows} x {n_columns} numbers and their copies for undo "
                f"take {2 * count * sizeof(double) / 1e9:.3g} gigabytes")
        self.values = <double *> ((<uintptr_t> self.allocated + 63) // 64 * 64)

    def __dealloc__(self):
        free(self.allocated)

    cdef bint touch_all(self) noexcept nogil:
        """Let every row be written. Returns True."""
        cdef Py_ssize_t i
        for i in range(self.n_rows):
            self.touch(i)
        return True

    cdef void checkpoint(self) noexcept nogil:
        """Make the present state the one that `rollback` returns to."""
        self.begin(self.n_rows)

    cdef void rollback(self) noexcept nogil:
        """Return to the checkpoint."""
        self.restore(self.values, self.size)

    def to_array(self):
        """A copy of the matrix, ndarray of shape (n_rows, n_columns)."""
        out = np.empty((self.n_rows, self.n_columns))
        cdef double[:, ::1] view = out
        if out.size > 0:
            memcpy(&view[0, 0], self.values, out.nbytes)
        return out

    def set_array(self, array):
        """Overwrite the matrix with what `to_array` gave, and set a checkpoint.

        Raises
        ------
        TypeError, ValueError
            When the array is of another shape or type, or its numbers are not finite.
        """
        array = doubles_of_shape(self.name, array, (self.n_rows, self.n_columns))
        cdef const double[:, ::1] view = array
        if array.size > 0:
            memcpy(self.values, &view[0, 0], array.nbytes)
        self.checkpoint()
