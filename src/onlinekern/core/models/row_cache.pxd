# Kernel rows in bounded memory. May change at minor versions.

cdef class KernelRowCache:
    cdef readonly Py_ssize_t n, row_bytes, capacity, used
    cdef readonly long long hits, misses
    cdef Py_ssize_t bytes        # size of `memory`
    cdef char *memory
    cdef Py_ssize_t *slot_of     # slot of each row; -1: not cached
    cdef Py_ssize_t *row_in      # row in each slot
    cdef Py_ssize_t *older       # linked list of the slots by last use; -1: none
    cdef Py_ssize_t *newer
    cdef Py_ssize_t oldest, newest

    cdef char *find(self, Py_ssize_t row) noexcept nogil
    cdef char *make(self, Py_ssize_t row) noexcept nogil
    cdef void drop(self, Py_ssize_t row) noexcept nogil
    cdef void keep_columns(self, const Py_ssize_t *places, Py_ssize_t count, Py_ssize_t itemsize,
                           Py_ssize_t row_bytes) noexcept nogil
    cdef void unlink(self, Py_ssize_t slot) noexcept nogil
    cdef void rename(self, Py_ssize_t slot, Py_ssize_t to) noexcept nogil
    cdef void link(self, Py_ssize_t slot) noexcept nogil
