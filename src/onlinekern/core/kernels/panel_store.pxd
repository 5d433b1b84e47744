# Storage of support vectors. May change at minor versions.
from libc.stdint cimport uint64_t

from onlinekern.core.base.part cimport Component, Status
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.kernels.block cimport Block
from onlinekern.core.samples.sparse_rows cimport Point


cdef class Store(Component):
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t d, itemsize, capacity
    cdef Journal journal      # of the rows that are overwritten
    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil
    cdef Status write(self, Py_ssize_t slot, Block block, Py_ssize_t i) noexcept nogil
    cdef Status read(self, Py_ssize_t slot, Point point) noexcept nogil
    cdef void clear(self, Py_ssize_t slot) noexcept nogil
    cdef void checkpoint(self, Py_ssize_t n) noexcept nogil
    cdef Status keep(self, Py_ssize_t slot) noexcept nogil
    cdef void rollback(self) noexcept nogil
    cdef bint needs_panels(self) noexcept nogil
    cdef void product(self, Block block, Py_ssize_t first, Py_ssize_t n, Py_ssize_t panel,
                      int accumulate, char *g, Py_ssize_t ld) noexcept nogil
    cdef void distance(self, Block block, Py_ssize_t i, Py_ssize_t panel, int accumulate,
                       bint sifted, char *g) noexcept nogil
    cdef void wide_distances(self, Block block, const double *squares, Py_ssize_t first,
                             Py_ssize_t n, Py_ssize_t panel, char *g, Py_ssize_t ld) noexcept nogil


cdef class PanelStore(Store):
    cdef char *panels
    cdef uint64_t *marks      # a bit for each element of a lane; not set: it is 0
    cdef Py_ssize_t words     # of marks, for a lane
    cdef char *panel(self, Py_ssize_t index) noexcept nogil
    cdef void write_dense(self, Py_ssize_t slot, const char *values) noexcept nogil
    cdef char *lane(self, Py_ssize_t slot) noexcept nogil
