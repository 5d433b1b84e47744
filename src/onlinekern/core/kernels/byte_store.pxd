# Storage of support vectors of zeros and ones. May change at minor versions.
from libc.stdint cimport uint8_t

from onlinekern.core.kernels.panel_store cimport Store


cdef class ByteStore(Store):
    cdef uint8_t *panels
    cdef uint8_t *panel(self, Py_ssize_t index) noexcept nogil
    cdef uint8_t *lane(self, Py_ssize_t slot) noexcept nogil
