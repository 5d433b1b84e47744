"""Feature maps: explicit features z(x) of the rows of a chunk, a block at a time.

Layer 6. `RandomFourier` holds its frequencies as the panels of a store: the product of a chunk with
them is the primitive that multiplies it with support rows, for dense and sparse samples alike, so a
row's features are the same bits in any block.
"""
from libc.math cimport sqrt
from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.chunks cimport Chunk
from onlinekern.core.kernels cimport Kernel
from onlinekern.core.rows cimport Samples, samples_of
from onlinekern.core.stores cimport PanelStore
from onlinekern.core.vector cimport OK_DOT, OK_PANEL, aligned_resize, whole_panels


cdef class FeatureMap:
    """Base of the maps."""

    cdef void fill(self, Chunk chunk, char *z) noexcept nogil:
        """z (n x length) = features of the rows of an open chunk."""


cdef class RandomFourier(FeatureMap):
    """z(x) = [cos(omega_j . x), sin(omega_j . x)], j = 1 ... D, over the root of D.

    With omega drawn from the spectral measure of a kernel, N(0, 2 gamma I) for the Gaussian
    exp(-gamma ||x - s||^2), the mean of z(x) . z(s) is the kernel (Rahimi and Recht 2007).

    Parameters
    ----------
    frequencies : ndarray of shape (D, d)
    dtype : numpy.float32 or numpy.float64
        Of the samples and the features.
    """

    def __init__(self, frequencies, dtype):
        cdef Samples samples = samples_of(frequencies, dtype)
        cdef Py_ssize_t j
        self.n_components, self.d = frequencies.shape
        self.itemsize = samples.rows.itemsize
        self.factor = 1 / sqrt(<double> self.n_components)
        # Rows begin with the cosines; the products of a last panel that is not full reach into the
        # place of the sines, which are written after them.
        self.sine = (self.n_components + 15) // 16 * 16
        self.length = whole_panels(2 * self.sine)
        self.panels = PanelStore(self.d, self.itemsize)
        chunk = Chunk(Kernel(), 1, self.d, self.itemsize)
        if self.panels.reserve(whole_panels(self.n_components)) < 0:
            raise MemoryError(f"no memory for {self.n_components} frequencies of {self.d} features")
        for j in range(self.n_components):
            if chunk.open(&samples.rows, NULL, j, 1) < 0 or self.panels.write(j, chunk, 0) < 0:
                raise MemoryError(f"no memory for {self.n_components} frequencies")

    def __reduce__(self):
        frequencies = self.frequencies()
        return RandomFourier, (frequencies, frequencies.dtype)

    def frequencies(self):
        """The frequencies, ndarray of shape (D, d)."""
        return self.panels.get_rows(self.n_components)

    def columns(self):
        """Where the 2 D features are in a row of the block, cosines first, ndarray of intp."""
        cosines = np.arange(self.n_components)
        return np.concatenate([cosines, self.sine + cosines])

    cdef void fill(self, Chunk chunk, char *z) noexcept nogil:
        cdef Py_ssize_t p
        for p in range(whole_panels(self.n_components) // OK_PANEL):
            self.panels.product(chunk, p, OK_DOT, z + p * OK_PANEL * self.itemsize, self.length)
        chunk.ops.cosine_sine(z, self.length, chunk.n, self.n_components, self.sine, self.factor)

    def transform(self, X):
        """The features of samples, a new ndarray of shape (n, 2 D), cosines first.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated

        Raises
        ------
        MemoryError
        """
        cdef Samples samples = samples_of(X, "f4" if self.itemsize == 4 else "f8")
        cdef Py_ssize_t i, first = 0, width, n = samples.rows.n, room = min(max(n, 1), OK_PANEL)
        cdef Py_ssize_t half = self.n_components * self.itemsize
        cdef FeatureBlock features = FeatureBlock(self, room)
        cdef Chunk chunk = Chunk(Kernel(), room, self.d, self.itemsize)
        found = np.empty((n, 2 * self.n_components), "f4" if self.itemsize == 4 else "f8")
        cdef Py_ssize_t address = found.ctypes.data
        cdef char *out = <char *> address
        cdef int status = 0
        with nogil:
            while first < n:
                width = min(room, n - first)
                status = chunk.open(&samples.rows, NULL, first, width)
                if status < 0:
                    break
                features.fill(chunk)
                for i in range(first, first + width):
                    memcpy(out + 2 * i * half, features.row(i - first), half)
                    memcpy(out + (2 * i + 1) * half,
                           features.row(i - first) + self.sine * self.itemsize, half)
                first += width
        if status < 0:
            raise MemoryError(f"no memory for the features of {n} samples")
        return found


cdef class FeatureBlock:
    """Features of up to `capacity` coming samples.

    Places that hold no feature are 0 for good: products with frequencies that do not exist are 0.

    Parameters
    ----------
    map : FeatureMap
    capacity : int
    """

    def __init__(self, FeatureMap map, Py_ssize_t capacity):
        self.map = map
        self.capacity = capacity
        self.row_bytes = map.length * map.itemsize
        self.block = <char *> aligned_resize(NULL, 0, capacity * self.row_bytes)
        if self.block == NULL:
            raise MemoryError(f"no memory for the features of {capacity} samples")

    def __dealloc__(self):
        free(self.block)

    cdef void fill(self, Chunk chunk) noexcept nogil:
        """Compute the features of the rows of an open chunk."""
        self.map.fill(chunk, self.block)

    cdef const char *row(self, Py_ssize_t i) noexcept nogil:
        """The features of row i."""
        return self.block + i * self.row_bytes
