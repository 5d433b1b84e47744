"""Feature maps: explicit features z(x) of the rows of a block, a block at a time.

`RandomFourier` holds its frequencies as the panels of a store: the product of a block with
them is the primitive that multiplies it with support rows, for dense and sparse samples alike, so a
row's features are the same bits in any block.
"""
from libc.math cimport sqrt
from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport OK_DOT, OK_PANEL, aligned_resize, whole_panels
from onlinekern.core.kernels.block cimport Block
from onlinekern.core.kernels.panel_store cimport PanelStore
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

cdef PanelStore panels_of(object rows, object dtype):
    """The rows of a dense matrix, as the panels of a store."""
    cdef Samples samples = samples_of(rows, dtype)
    cdef Py_ssize_t j, n = samples.rows.n, d = samples.rows.d
    cdef PanelStore store = PanelStore(d, samples.rows.itemsize)
    cdef Block block = Block(1, d, samples.rows.itemsize)
    if store.reserve(whole_panels(max(n, 1))) < 0:
        raise MemoryError(f"no memory for {n} rows of {d} numbers")
    for j in range(n):
        if block.open(&samples.rows, NULL, j, 1) < 0 or store.write(j, block, 0) < 0:
            raise MemoryError(f"no memory for {n} rows of {d} numbers")
    return store


cdef class FeatureMap:
    """Base of the maps."""

    def __cinit__(self, *args, **kwargs):
        self.constant = -1

    cdef void fill(self, Block block, char *z) noexcept nogil:
        """z (n x length) = features of the rows of an open block."""

    cdef double square(self, const char *z) noexcept nogil:
        """||z||^2 of a row of features."""
        return 0

    cdef Py_ssize_t work(self) noexcept nogil:
        """The work on a sample, in units of a kernel value."""
        return self.length

    cdef void copy(self, const char *z, char *out) noexcept nogil:
        """Write the n_features features of a row one behind the other."""
        memcpy(out, z, self.n_features * self.itemsize)

    cdef FeatureWindow new_window(self, Py_ssize_t rows):
        """A window over up to `rows` samples."""
        cdef Block block = Block(rows, self.d, self.itemsize)
        # A product gives two features, a cosine and a sine.
        block.expected_panels = self.length // (2 * OK_PANEL)
        return FeatureWindow(FeatureBlock(self, rows), block)

    def columns(self):
        """Where the n_features features are in a row of the block, ndarray of intp."""
        return np.arange(self.n_features)

    def transform(self, X):
        """The features of samples, a new ndarray of shape (n, n_features).

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated

        Raises
        ------
        MemoryError
        """
        dtype = "f4" if self.itemsize == 4 else "f8"
        cdef Samples samples = samples_of(X, dtype)
        cdef Py_ssize_t i, first = 0, width, n = samples.rows.n, room = min(max(n, 1), OK_PANEL)
        cdef FeatureWindow window = self.new_window(room)
        found = np.empty((n, self.n_features), dtype)
        cdef Py_ssize_t address = found.ctypes.data, row_bytes = self.n_features * self.itemsize
        cdef char *out = <char *> address
        cdef Status status = OK
        with nogil:
            while first < n and status == OK:
                width = min(room, n - first)
                status = window.open(&samples.rows, NULL, first, width)
                for i in range(width if status == OK else 0):
                    self.copy(window.features.row(i), out + (first + i) * row_bytes)
                first += width
        if status < 0:
            raise MemoryError(f"no memory for the features of {n} samples")
        return found


cdef class RandomFourier(FeatureMap):
    """z(x) = [cos(omega_j . x), sin(omega_j . x)], j = 1 ... D, over the root of D.

    With omega drawn from the spectral measure of a kernel, N(0, 2 gamma I) for the Gaussian
    exp(-gamma ||x - s||^2), the mean of z(x) . z(s) is the kernel (Rahimi and Recht 2007).

    Parameters
    ----------
    frequencies : ndarray of shape (D, d)
    dtype : numpy.float32 or numpy.float64
        Of the samples and the features.
    constant : bool
        Whether there is one more feature, which is 1: z(x) . z(s) is then that of kappa + 1.
    """

    def __init__(self, frequencies, dtype, bint constant=False):
        self.panels = panels_of(frequencies, dtype)
        self.n_components, self.d = frequencies.shape
        self.n_features = 2 * self.n_components
        self.itemsize = self.panels.itemsize
        self.factor = 1 / sqrt(<double> self.n_components)
        # Rows begin with the cosines; the products of a last panel that is not full reach into the
        # place of the sines, which are written after them.
        self.sine = (self.n_components + 15) // 16 * 16
        self.length = whole_panels(2 * self.sine)
        if constant:
            self.constant = max(2 * self.sine, whole_panels(self.n_components))
            self.length = whole_panels(self.constant + 1)

    def __reduce__(self):
        frequencies = self.frequencies()
        return RandomFourier, (frequencies, frequencies.dtype, self.constant >= 0)

    def frequencies(self):
        """The frequencies, ndarray of shape (D, d)."""
        return self.panels.get_rows(self.n_components)

    def columns(self):
        """Where the 2 D features are in a row of the block, cosines first, ndarray of intp."""
        cosines = np.arange(self.n_components)
        return np.concatenate([cosines, self.sine + cosines])

    cdef double square(self, const char *z) noexcept nogil:
        """The same for all samples: cos^2 + sin^2 = 1."""
        return 2 if self.constant >= 0 else 1

    cdef void copy(self, const char *z, char *out) noexcept nogil:
        cdef Py_ssize_t half = self.n_components * self.itemsize
        memcpy(out, z, half)
        memcpy(out + half, z + self.sine * self.itemsize, half)

    cdef void fill(self, Block block, char *z) noexcept nogil:
        cdef Py_ssize_t p, count
        cdef char *panel
        # The last panel, which may reach into the sines of the first ones, comes first.
        for p in range(whole_panels(self.n_components) // OK_PANEL - 1, -1, -1):
            panel = z + p * OK_PANEL * self.itemsize
            count = min(OK_PANEL, self.n_components - p * OK_PANEL)
            self.panels.product(block, p, OK_DOT, panel, self.length)
            block.ops.cosine_sine(panel, self.length, block.n, count, self.sine, self.factor)


cdef class FeatureBlock:
    """Features of up to `capacity` coming samples.

    Places that hold no feature are 0 for good: products with frequencies that do not exist are 0.
    The constant feature is 1 for good.

    Parameters
    ----------
    map : FeatureMap
    capacity : int
    """

    def __init__(self, FeatureMap map, Py_ssize_t capacity):
        cdef Py_ssize_t i
        self.map = map
        self.capacity = capacity
        self.row_bytes = map.length * map.itemsize
        self.values = <char *> aligned_resize(NULL, 0, capacity * self.row_bytes)
        if self.values == NULL:
            raise MemoryError(f"no memory for the features of {capacity} samples")
        for i in range(capacity if map.constant >= 0 else 0):
            if map.itemsize == 4:
                (<float *> self.row(i))[map.constant] = 1
            else:
                (<double *> self.row(i))[map.constant] = 1

    def __dealloc__(self):
        free(self.values)

    cdef void fill(self, Block block) noexcept nogil:
        """Compute the features of the rows of an open block."""
        self.map.fill(block, self.values)

    cdef const char *row(self, Py_ssize_t i) noexcept nogil:
        """The features of row i."""
        return self.values + i * self.row_bytes


cdef class FeatureWindow:
    """A block of coming samples, and their features.

    Parameters
    ----------
    features : FeatureBlock
    block : Block
        Of the same capacity.
    """

    def __init__(self, FeatureBlock features, Block block):
        self.features = features
        self.block = block

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        """Look at samples order[first] ... order[first + n - 1]. Returns a status."""
        if self.block.open(rows, order, first, n) < 0:
            return NO_MEMORY
        self.features.fill(self.block)
        return OK
