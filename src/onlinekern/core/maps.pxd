# Feature maps: a block of explicit features (layer 6). May change at minor versions.
from onlinekern.core.chunks cimport Chunk
from onlinekern.core.stores cimport PanelStore


cdef class FeatureMap:
    cdef readonly Py_ssize_t d, itemsize
    cdef readonly Py_ssize_t length        # of a row of features, in whole panels
    cdef void fill(self, Chunk chunk, char *z) noexcept nogil


cdef class RandomFourier(FeatureMap):
    cdef PanelStore panels
    cdef readonly Py_ssize_t n_components
    cdef Py_ssize_t sine                   # where the sines begin in a row
    cdef double factor


cdef class FeatureBlock:
    cdef FeatureMap map
    cdef char *block
    cdef Py_ssize_t row_bytes
    cdef readonly Py_ssize_t capacity
    cdef void fill(self, Chunk chunk) noexcept nogil
    cdef const char *row(self, Py_ssize_t i) noexcept nogil
