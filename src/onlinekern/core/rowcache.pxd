# Rows kept while memory lasts, the least recently used leaving first (layer 1). May change at
# minor versions.


cdef class RowCache:
    cdef readonly Py_ssize_t n, row_bytes, capacity, used
    cdef readonly long long hits, misses
    cdef char *memory
    cdef Py_ssize_t *place       # of each row; -1: not kept
    cdef Py_ssize_t *owner       # the row in each place
    cdef Py_ssize_t *older       # neighbours of each place, by last use; -1: none
    cdef Py_ssize_t *newer
    cdef Py_ssize_t oldest, newest

    cdef char *find(self, Py_ssize_t row) noexcept nogil
    cdef char *make(self, Py_ssize_t row) noexcept nogil
    cdef void unlink(self, Py_ssize_t place) noexcept nogil
    cdef void link(self, Py_ssize_t place) noexcept nogil
