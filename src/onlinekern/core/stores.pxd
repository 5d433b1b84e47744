# Storage of support rows (layer 4). May change at minor versions.
from onlinekern.core.chunks cimport Chunk
from onlinekern.core.journals cimport Journal
from onlinekern.core.points cimport Point
from onlinekern.core.vector cimport ok_vector_ops


cdef class Store:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t d, itemsize, capacity
    cdef Journal journal      # of the rows that are overwritten
    cdef int reserve(self, Py_ssize_t capacity) noexcept nogil
    cdef int write(self, Py_ssize_t slot, Chunk chunk, Py_ssize_t i) noexcept nogil
    cdef int read(self, Py_ssize_t slot, Point point) noexcept nogil
    cdef void clear(self, Py_ssize_t slot) noexcept nogil
    cdef void checkpoint(self, Py_ssize_t n) noexcept nogil
    cdef int keep(self, Py_ssize_t slot) noexcept nogil
    cdef void rollback(self) noexcept nogil
    cdef bint needs_spread(self) noexcept nogil
    cdef void product(self, Chunk chunk, Py_ssize_t panel, int accumulate, char *g,
                      Py_ssize_t ld) noexcept nogil
    cdef void distance(self, Chunk chunk, Py_ssize_t i, Py_ssize_t panel,
                       char *g) noexcept nogil


cdef class PanelStore(Store):
    cdef char *panels
    cdef char *panel(self, Py_ssize_t index) noexcept nogil
    cdef char *lane(self, Py_ssize_t slot) noexcept nogil
