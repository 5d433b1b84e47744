# Base of features that are learnt from samples and targets. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.lock cimport Access, Lock
from onlinekern.core.base.part cimport Status
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.samples.rows cimport Rows, Samples


cdef class TaughtFeatures:
    cdef readonly Py_ssize_t d, itemsize
    cdef readonly tuple settings
    cdef readonly object kind            # of the targets: 'none', 'auto', 'labels' or 'numbers'
    cdef readonly int64_t calls
    cdef readonly Lock lock              # held by the thread that learns
    cdef Access access                   # of the readers
    cdef RecentRows recent               # kept samples; None once they are not needed any more
    cdef RecentRows saved_recent         # at the checkpoint

    cdef object run(self, Samples samples, const double[::1] y, bint transform)
    cdef int keep(self, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                  const double *y) except -1
    cdef void checkpoint(self)
    cdef void rollback(self)
