"""Journal: copies of the records that are overwritten after a checkpoint, so that it can return.

Layer 1. Records of one size are numbered 0, 1, ... . A record that existed at the checkpoint is
copied once, the first time that it is to be overwritten: opening a journal costs what the last one
copied, not the number of records, so a call that learns one sample can afford it.
"""
from libc.stdlib cimport free
from libc.string cimport memcpy

from onlinekern.core.vector cimport aligned_resize


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

    cdef int keep(self, Py_ssize_t number, const char *base) noexcept nogil:
        """Copy a record of the array at `base`, if it is wanted. -1: no memory."""
        cdef char *memory
        if not self.wants(number):
            return 0
        memory = self.record(number)
        if memory == NULL:
            return -1
        memcpy(memory, base + number * self.size, self.size)
        return 0

    cdef void put_back(self, char *base) noexcept nogil:
        """Write the copies back into the array at `base`."""
        cdef Py_ssize_t r
        for r in range(self.count):
            memcpy(base + self.numbers[r] * self.size, self.copy(r), self.size)
