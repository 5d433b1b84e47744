# Random Fourier features by Hadamard transforms. May change at minor versions.
from onlinekern.core.features.map cimport FourierMap
from onlinekern.core.kernels.block cimport Block


cdef class StructuredFourier(FourierMap):
    cdef readonly Py_ssize_t block_length    # rows of a Hadamard matrix
    cdef object signs, scales                # own the memory behind the pointers
    cdef char *first_sign                    # rounds x blocks x block_length
    cdef char *first_scale                   # n_components

    cdef Py_ssize_t blocks(self) noexcept nogil
    cdef void multiply(self, Block block, Py_ssize_t i, char *z, char *work) noexcept nogil
