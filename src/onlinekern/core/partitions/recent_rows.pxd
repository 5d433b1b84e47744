# Ring buffer of the last samples of a stream. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.samples.rows cimport Rows


cdef class RecentRows:
    cdef readonly Py_ssize_t d, itemsize, capacity, n_targets
    cdef readonly int64_t count        # samples ever kept, overwritten ones included
    cdef int64_t oldest                # samples before this number are not available
    cdef int64_t saved_count
    cdef Py_ssize_t size               # bytes of a record: targets, weight, row
    cdef Py_ssize_t begin              # offset of the row in a record, in bytes
    cdef Py_ssize_t room               # allocated records
    cdef char *records
    cdef Journal journal

    cdef inline char *record(self, int64_t number) noexcept nogil:
        """Address of the record of a kept sample."""
        return self.records + <Py_ssize_t> (number % self.capacity) * self.size

    cdef Py_ssize_t n(self) noexcept nogil
    cdef Rows row(self, int64_t number) noexcept nogil
    cdef Status keep(self, const Rows *rows, Py_ssize_t i, const double *y,
                     double weight) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
