# The look-ahead window: kernel values of coming samples. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.kernels.block cimport Chunk
from onlinekern.core.kernels.kernels cimport Kernel
from onlinekern.core.kernels.panel_store cimport Store


cdef class Window:
    cdef readonly Chunk chunk
    cdef Store store
    cdef Kernel kernel
    cdef char *block          # kernel values: capacity x ld, a row per coming sample
    cdef char *column         # of the support row added last
    cdef Py_ssize_t ld, itemsize

    cdef const char *row(self, Py_ssize_t i) noexcept nogil
    cdef Status fill(self, Py_ssize_t n, const char *terms, Py_ssize_t room) noexcept nogil
    cdef void fill_panel(self, Py_ssize_t panel, const char *terms) noexcept nogil
    cdef void fill_exact(self, Py_ssize_t panel) noexcept nogil
    cdef Status rewrite(self, Py_ssize_t i, Py_ssize_t slot, const char *terms) noexcept nogil
    cdef Status repair(self, Py_ssize_t i, Py_ssize_t slot) noexcept nogil
    cdef Status widen(self, Py_ssize_t columns) noexcept nogil
    cdef void discard(self) noexcept nogil
