# Kernel rows of training points, restricted to active points. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.models.row_cache cimport KernelRowCache
from onlinekern.core.samples.rows cimport Samples

# Most rows that are computed in one block.
cdef enum: TOGETHER = 32


cdef class ActiveRows:
    cdef readonly Py_ssize_t n, n_active, columns    # points, active ones, and padded to panels
    cdef readonly Py_ssize_t itemsize
    cdef readonly long long made
    cdef readonly KernelRowCache cache
    cdef object X
    cdef bint ones                                   # whether X are sparse rows of ones
    cdef Samples samples
    cdef SupportSet form, active
    cdef Window window
    cdef double cache_bytes
    cdef Py_ssize_t[::1] points                      # row number of each active point

    cdef double value(self, const char *row, Py_ssize_t place) noexcept nogil
    cdef Py_ssize_t batch(self) noexcept nogil
    cdef Status make(self, const Py_ssize_t *numbers, Py_ssize_t count) noexcept nogil
    cdef int activate(self, Py_ssize_t[::1] points) except -1
    cdef SupportSet new_set(self)
    cdef int restart(self) except -1
    cdef int keep(self, Py_ssize_t[::1] places) except -1
    cdef Status expansion(self, SupportSet support, const Py_ssize_t *points, Py_ssize_t n,
                          double *out) noexcept nogil
