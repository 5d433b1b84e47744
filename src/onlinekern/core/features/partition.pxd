# Trees whose cells are features. May change at minor versions.
from libc.stdint cimport int32_t, int64_t, uint64_t

from onlinekern.core.base.lock cimport Access, Lock
from onlinekern.core.base.part cimport Status
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.partitions.trees cimport Forest
from onlinekern.core.samples.rows cimport Rows


cdef class Partition:
    cdef readonly Py_ssize_t d, itemsize
    cdef readonly tuple settings
    cdef readonly int64_t calls
    cdef readonly Lock lock              # of the writers
    cdef Access access                   # of the readers
    cdef uint64_t seed
    cdef readonly int64_t last           # samples that the last trees grow from
    cdef readonly tuple forests          # those that have grown
    cdef readonly int64_t entered        # samples, up to the last one that trees grow from
    cdef RecentRows recent               # None once all trees have grown
    cdef object shares                   # of the features, ndarray of shape (d,)
    # At the checkpoint.
    cdef tuple saved_forests
    cdef int64_t saved_entered
    cdef RecentRows saved_recent
    cdef object saved_shares

    cdef void checkpoint(self)
    cdef void rollback(self)
    cdef Status keep(self, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                     const double *y) noexcept nogil
    cdef object walk(self, const Rows *rows, Py_ssize_t first, Py_ssize_t n)
