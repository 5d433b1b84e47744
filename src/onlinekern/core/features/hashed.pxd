# Random Fourier features whose frequencies are looked up. May change at minor versions.
from libc.stdint cimport uint64_t

from onlinekern.core.features.map cimport FourierMap
from onlinekern.core.kernels.block cimport Block


cdef class HashedFourier(FourierMap):
    cdef char *table                   # n_rows x OK_PANEL numbers
    cdef uint64_t *multipliers         # one for each panel of frequencies
    cdef readonly uint64_t seed
    cdef readonly Py_ssize_t n_rows    # a power of two
    cdef int shift                     # of a hash, for the number of a row

    cdef Py_ssize_t panels(self) noexcept nogil
    cdef void multiply(self, Block block, Py_ssize_t i, char *z) noexcept nogil
