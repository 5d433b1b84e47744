"""StructuredFourier: random Fourier features by Hadamard transforms, O(D log d) for a sample.

The frequencies are the rows of blocks S H D_1 H D_2 H D_3 (Yu, Suresh, Choromanski, Holtmann-Rice
and Kumar 2016, section 4). H is the Hadamard matrix of size d, rounded up to a power of two; the
D_i are diagonal matrices of random signs; S scales the rows. The rows of a block are orthogonal and
have nearly uniform directions.
"""
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.state cimport (
    MOST_FEATURES, check_matrix, float_dtype, integer_within,
)
from onlinekern.core.features.map cimport FourierMap
from onlinekern.core.kernels.block cimport Block

# Hadamard transforms, each after a multiplication with signs.
cdef Py_ssize_t ROUNDS = 3
# Shortest transform of the primitive.
cdef Py_ssize_t SHORTEST = 16


def signs_shape(Py_ssize_t n_components, Py_ssize_t d):
    """The shape of the signs of a `StructuredFourier`: rounds, blocks, rows of a block."""
    cdef Py_ssize_t rows = SHORTEST
    while rows < d:
        rows *= 2
    return ROUNDS, (n_components + rows - 1) // rows, rows


cdef class StructuredFourier(FourierMap):
    """Fourier features whose frequencies are products of Hadamard matrices and random signs.

    Parameters
    ----------
    signs : ndarray of shape (3, n_blocks * rows)
        1 or -1; see `signs_shape`, whose last two axes are one here.
    scales : ndarray of shape (1, D)
        Factors of the rows, whose length is ``rows ** 1.5`` without them.
    d : int
    dtype : numpy.float32 or numpy.float64
        Of the samples and the features.
    constant : bool
        Whether to append the feature 1.
    """

    def __cinit__(self, signs, scales, d, dtype, bint constant=False):
        cdef Py_ssize_t address
        dtype = float_dtype(dtype)
        check_matrix("signs", signs)
        check_matrix("scales", scales)
        self.d = integer_within("d", d, 1, MOST_FEATURES)
        self.itemsize = dtype.itemsize
        if scales.shape[0] != 1:
            raise ValueError(f"scales must have one row, got shape {scales.shape}")
        self.lay_out(scales.shape[1], constant)
        rounds, blocks, self.block_length = signs_shape(self.n_components, d)
        if signs.shape != (rounds, blocks * self.block_length) or (abs(signs) != 1).any():
            raise ValueError(f"signs must be 1 or -1, of shape {(rounds, blocks)} with "
                             f"{self.block_length} columns a block, got shape {signs.shape}")
        self.scratch_bytes = self.block_length * self.itemsize
        self.signs, self.scales = np.array(signs, dtype, order="C"), np.array(scales, dtype)
        address = self.signs.ctypes.data
        self.first_sign = <char *> address
        address = self.scales.ctypes.data
        self.first_scale = <char *> address

    def __reduce__(self):
        return StructuredFourier, (self.signs, self.scales, self.d, self.signs.dtype,
                                   self.constant >= 0)

    cdef Py_ssize_t blocks(self) noexcept nogil:
        return (self.n_components + self.block_length - 1) // self.block_length

    def frequencies(self):
        """The frequencies, ndarray of shape (D, d)."""
        cdef Py_ssize_t j, address, size = self.itemsize
        cdef Py_ssize_t width = max(self.block_length, self.length)
        cdef Block unit = Block(1, self.d, size)
        cdef char *work
        memory = np.zeros((2, width), self.signs.dtype)
        row = np.zeros((1, self.d), self.signs.dtype)
        found = np.empty((self.n_components, self.d), self.signs.dtype)
        address = row.ctypes.data
        unit.n, unit.dense = 1, <char *> address
        address = memory.ctypes.data
        work = <char *> address
        for j in range(self.d):
            row[0, j] = 1
            self.multiply(unit, 0, work, work + width * size)
            found[:, j] = memory[0, :self.n_components]
            row[0, j] = 0
        return found

    cdef void fill(self, Block block, char *z, char *scratch) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(block.n):
            self.multiply(block, i, z + i * self.length * self.itemsize, scratch)

    cdef void multiply(self, Block block, Py_ssize_t i, char *z, char *work) noexcept nogil:
        """z = products of row i with all frequencies; `work` is a block of them."""
        cdef Py_ssize_t b, r, rows = self.block_length, size = self.itemsize, first, count
        cdef const char *x = block.as_dense(i)
        cdef const char *signs
        cdef double double_one = 1
        cdef float float_one = 1
        cdef const void *one = &double_one
        if size == 4:
            one = &float_one
        for b in range(self.blocks()):
            memcpy(work, x, self.d * size)
            memset(work + self.d * size, 0, (rows - self.d) * size)
            for r in range(ROUNDS):
                signs = self.first_sign + (r * self.blocks() + b) * rows * size
                block.ops.scale(work, rows, 1, rows, one, signs)
                block.ops.hadamard(work, rows)
            first = b * rows
            count = min(rows, self.n_components - first)
            memcpy(z + first * size, work, count * size)
        block.ops.scale(z, self.n_components, 1, self.n_components, one, self.first_scale)


FEATURE_MAPS = {"structured_fourier": StructuredFourier}
