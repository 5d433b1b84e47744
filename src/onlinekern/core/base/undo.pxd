# Undo of a call: copies of what it overwrites. May change at minor versions.
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from onlinekern.core.base.part cimport Status


cdef class Journal:
    cdef readonly Py_ssize_t size      # bytes of a record
    cdef Py_ssize_t n                  # records at the checkpoint; later ones need no copy
    cdef Py_ssize_t count              # copies since the checkpoint
    cdef Py_ssize_t *numbers           # number of the record of each copy
    cdef char *copies                  # count records of `size` bytes
    cdef uint64_t stamp                # of the checkpoint
    cdef uint64_t *stamps              # the checkpoint after which each record was last copied
    cdef Py_ssize_t numbers_bytes, copies_bytes, stamps_bytes

    cdef inline bint wants(self, Py_ssize_t number) noexcept nogil:
        """Whether the record must be copied before it is changed."""
        if number >= self.n:
            return False
        return number * <Py_ssize_t> sizeof(uint64_t) >= self.stamps_bytes \
            or self.stamps[number] != self.stamp

    cdef inline char *copy(self, Py_ssize_t index) noexcept nogil:
        """Copy `index` of those made since the checkpoint; it is of record `numbers[index]`."""
        return self.copies + index * self.size

    cdef void begin(self, Py_ssize_t n) noexcept nogil
    cdef void begin_sized(self, Py_ssize_t n, Py_ssize_t size) noexcept nogil
    cdef char *add_copy(self, Py_ssize_t number) noexcept nogil
    cdef Status keep(self, Py_ssize_t number, const void *record) noexcept nogil
    cdef void restore(self, void *base, Py_ssize_t stride) noexcept nogil


cdef class JournaledMatrix(Journal):
    cdef readonly str name
    cdef readonly Py_ssize_t n_rows, n_columns
    cdef double *values                # n_rows x n_columns
    cdef double *allocated             # `values` begins at its first cache line

    cdef inline double *row(self, Py_ssize_t i) noexcept nogil:
        """Row i, to be read."""
        return self.values + i * self.n_columns

    cdef inline double *touch(self, Py_ssize_t i) noexcept nogil:
        """Row i, to be written: it is copied if it has not been since the checkpoint."""
        if self.stamps[i] != self.stamp:
            memcpy(self.copy(self.count), self.row(i), self.size)
            self.numbers[self.count] = i
            self.stamps[i] = self.stamp
            self.count += 1
        return self.row(i)

    cdef inline bint all_touched(self) noexcept nogil:
        """Whether any row may be written without `touch`.

        Once half of the rows have been touched, the others are too: that at most doubles what is
        copied after a checkpoint, and saves the check for each row of the samples to come.
        """
        return self.count == self.n_rows or (2 * self.count >= self.n_rows and self.touch_all())

    cdef bint touch_all(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
