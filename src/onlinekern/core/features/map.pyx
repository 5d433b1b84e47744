"""Feature maps: explicit features z(x) of the rows of a block.

`RandomFourier` keeps its frequencies in the panels of a store. The products of a block with them
come from the primitive that multiplies it with support vectors, for dense and sparse samples. So
the features of a row have the same bits in every block.
"""
from libc.math cimport sqrt
from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport (
    check_matrix, check_width, float_dtype, integer_within,
)
from onlinekern.core.base.vector cimport (
    OK_DOT, OK_PANEL, aligned_resize, ops_for, resize_array, whole_panels,
)
from onlinekern.core.kernels.block cimport Block
from onlinekern.core.kernels.panel_store cimport PanelStore
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

# The length of a row in bytes must not overflow.
cdef Py_ssize_t MOST_FREQUENCIES = 1 << 48

cdef PanelStore panels_of(object rows, object dtype):
    """The rows of a dense matrix in a panel store."""
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


cdef class FeatureMap(Component):
    """Base of the maps; a subclass defines `fill`, and `finish_row` if it sets `by_rows`."""

    abstract = True

    def __cinit__(self, *args, **kwargs):
        self.constant = -1

    cdef void fill(self, Block block, char *z, char *scratch) noexcept nogil:
        """z (n x length) = features of the rows of an open block.

        `scratch` holds `scratch_bytes` and belongs to the caller, like z.
        """
        self.missing = b"FeatureMap.fill"

    cdef void finish_row(self, char *z) noexcept nogil:
        """Complete the features of a row after `fill`. Called once for a row, when it is needed."""
        pass

    cdef double square(self, const char *z) noexcept nogil:
        """||z||^2 of a row of features."""
        cdef double square, absolute
        ops_for(self.itemsize).norms(z, self.length, &square, &absolute)
        return square

    cdef Py_ssize_t work(self) noexcept nogil:
        """The cost of the features of a sample, in kernel values."""
        return self.length

    cdef void copy(self, const char *z, char *out) noexcept nogil:
        """Copy the n_features features of a row, without padding."""
        memcpy(out, z, self.n_features * self.itemsize)

    cdef FeatureWindow new_window(self, Py_ssize_t rows):
        """A window over up to `rows` samples."""
        cdef Block block = Block(rows, self.d, self.itemsize)
        # Each product gives two features, a cosine and a sine.
        block.expected_panels = self.length // (2 * OK_PANEL)
        return FeatureWindow(FeatureBlock(self, rows), block)

    cdef FeatureWindow learning_window(self, Py_ssize_t rows):
        """A window over samples that are learnt, for which `consider` may be called."""
        return self.new_window(rows)

    cdef bint stored_sparse(self) noexcept nogil:
        """Whether only sparse samples can be opened."""
        return False

    cdef Py_ssize_t used(self) noexcept nogil:
        """Number of the first positions of a row that may not be 0."""
        return self.length

    cdef double remainder(self, FeatureWindow window, Py_ssize_t i) noexcept nogil:
        """kappa(x, x) - ||z(x)||^2 of sample i of an open window; 0 if the map does not know it."""
        return 0

    cdef Status consider(self, FeatureWindow window, Py_ssize_t i, bint entered) noexcept nogil:
        """Let a growing map add a feature for sample i of a learning window. Returns a status.

        Call it once for each sample that is learnt, in order, before its update. `entered` says
        whether the sample changes the model. The new feature is computed for sample i and the
        samples after it in the window; it is 0 for those before.
        """
        return OK

    cdef void checkpoint(self) noexcept nogil:
        """Save the state for `rollback`."""
        pass

    cdef void rollback(self) noexcept nogil:
        pass

    def columns(self):
        """Positions of the n_features features in a row of features, ndarray of intp."""
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
        found = np.empty((X.shape[0], self.n_features), "f4" if self.itemsize == 4 else "f8")
        cdef Py_ssize_t address = found.ctypes.data
        self.see(X, <char *> address, NULL, NULL)
        return found

    def lengths(self, X):
        """||z||^2 of samples, and their `remainder`.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated

        Returns
        -------
        squares, remainders : ndarray of shape (n,)

        Raises
        ------
        MemoryError
        """
        squares, remainders = np.empty(X.shape[0]), np.empty(X.shape[0])
        cdef Py_ssize_t own = squares.ctypes.data, beyond = remainders.ctypes.data
        self.see(X, NULL, <double *> own, <double *> beyond)
        return squares, remainders

    cdef int see(self, X, char *out, double *squares, double *remainders) except -1:
        """Write the features of samples, or else their `lengths`."""
        cdef Samples samples = samples_of(X, "f4" if self.itemsize == 4 else "f8")
        cdef Py_ssize_t i, first = 0, width, n = samples.rows.n, room = min(max(n, 1), OK_PANEL)
        cdef Py_ssize_t row_bytes = self.n_features * self.itemsize
        check_width("X", samples.rows.d, self.d)
        cdef FeatureWindow window = self.new_window(room)
        cdef Status status = OK
        with nogil:
            while first < n and status == OK:
                width = min(room, n - first)
                status = window.open(&samples.rows, NULL, first, width)
                for i in range(width if status == OK else 0):
                    if out != NULL:
                        self.copy(window.features.row(i), out + (first + i) * row_bytes)
                        continue
                    squares[first + i] = self.square(window.features.row(i))
                    remainders[first + i] = self.remainder(window, i)
                first += width
        self.check_defined()
        if status < 0:
            raise MemoryError(f"no memory for the features of {n} samples")
        return 0


cdef class FourierMap(FeatureMap):
    """z(x) = [cos(omega_j . x), sin(omega_j . x)] / sqrt(D), j = 1 ... D.

    With omega drawn from the spectral measure of a kernel, the expectation of z(x) . z(s) is the
    kernel (Rahimi and Recht 2007). For the Gaussian exp(-gamma ||x - s||^2) it is N(0, 2 gamma I).

    A subclass calls `lay_out` once d and itemsize are known, and only multiplies in `fill`.
    """

    abstract = True

    cdef int lay_out(self, Py_ssize_t n_components, bint constant) except -1:
        """Set the positions in a row of features."""
        self.n_components = integer_within("n_components", n_components, 1, MOST_FREQUENCIES)
        self.n_features = 2 * n_components
        self.factor = 1 / sqrt(<double> n_components)
        self.by_rows = True
        # Cosines come first. The products of a last, partial panel may reach into the sines, which
        # are written later.
        self.sine = (n_components + 15) // 16 * 16
        self.length = whole_panels(2 * self.sine)
        if constant:
            self.constant = max(2 * self.sine, whole_panels(n_components))
            self.length = whole_panels(self.constant + 1)
        return 0

    def columns(self):
        """Positions of the 2 D features in a row of features, cosines first, ndarray of intp."""
        cosines = np.arange(self.n_components)
        return np.concatenate([cosines, self.sine + cosines])

    cdef double square(self, const char *z) noexcept nogil:
        """||z||^2, the same for all samples: cos^2 + sin^2 = 1."""
        return 2 if self.constant >= 0 else 1

    cdef void copy(self, const char *z, char *out) noexcept nogil:
        cdef Py_ssize_t half = self.n_components * self.itemsize
        memcpy(out, z, half)
        memcpy(out + half, z + self.sine * self.itemsize, half)

    cdef void finish_row(self, char *z) noexcept nogil:
        ops_for(self.itemsize).cosine_sine(z, self.length, 1, self.n_components, self.sine,
                                           self.factor)

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return all(map(np.array_equal, self.__reduce__()[1], other.__reduce__()[1]))

    __hash__ = None


cdef class RandomFourier(FourierMap):
    """Fourier features with a matrix of frequencies.

    Parameters
    ----------
    frequencies : ndarray of shape (D, d)
    dtype : numpy.float32 or numpy.float64
        Type of the samples and the features.
    constant : bool
        Whether to append the feature 1: z(x) . z(s) then approximates kappa + 1.
    """

    def __cinit__(self, frequencies, dtype, bint constant=False):
        dtype = float_dtype(dtype)
        check_matrix("frequencies", frequencies)
        self.panels = panels_of(frequencies, dtype)
        self.d = frequencies.shape[1]
        self.itemsize = self.panels.itemsize
        self.lay_out(frequencies.shape[0], constant)

    def __reduce__(self):
        frequencies = self.frequencies()
        return RandomFourier, (frequencies, frequencies.dtype, self.constant >= 0)

    def frequencies(self):
        """The frequencies, ndarray of shape (D, d)."""
        return self.panels.get_rows(self.n_components)

    cdef void fill(self, Block block, char *z, char *scratch) noexcept nogil:
        """Only the products: panel by panel, so that a panel stays in the cache.

        `finish_row` computes cosines and sines just before the score, so that a row stays there.
        """
        cdef Py_ssize_t p
        for p in range(whole_panels(self.n_components) // OK_PANEL):
            self.panels.product(block, 0, block.n, p, OK_DOT, z + p * OK_PANEL * self.itemsize,
                                self.length)


cdef class FeatureBlock:
    """Features of up to `capacity` coming samples.

    The padding between features is always 0, because that of the frequencies is. The constant
    feature, 1, is written once.

    Parameters
    ----------
    map : FeatureMap
    capacity : int
    """

    def __cinit__(self, FeatureMap map not None, Py_ssize_t capacity):
        cdef Py_ssize_t i
        self.map = map
        self.capacity = self.finished = capacity
        self.row_bytes = map.length * map.itemsize
        self.values = <char *> resize_array(NULL, 0, capacity, self.row_bytes)
        self.scratch = <char *> aligned_resize(NULL, 0, map.scratch_bytes)
        if self.values == NULL or self.scratch == NULL:
            raise MemoryError(f"no memory for the features of {capacity} samples")
        for i in range(capacity if map.constant >= 0 else 0):
            if map.itemsize == 4:
                (<float *> self.row(i))[map.constant] = 1
            else:
                (<double *> self.row(i))[map.constant] = 1

    def __dealloc__(self):
        free(self.values)
        free(self.scratch)

    cdef void fill(self, Block block) noexcept nogil:
        """Compute the features of the rows of an open block, which `row` returns."""
        self.map.fill(block, self.values, self.scratch)
        self.finished = 0 if self.map.by_rows else self.capacity

    cdef const char *row(self, Py_ssize_t i) noexcept nogil:
        """The features of row i."""
        while self.finished <= i:
            self.map.finish_row(self.values + self.finished * self.row_bytes)
            self.finished += 1
        return self.values + i * self.row_bytes

    cdef const char *rows(self, Py_ssize_t n) noexcept nogil:
        """The features of the first n rows, a contiguous matrix."""
        if n > 0:
            self.row(n - 1)
        return self.values


cdef class FeatureWindow:
    """A block of coming samples, and their features.

    Parameters
    ----------
    features : FeatureBlock
    block : Block
        With the same capacity.
    """

    def __init__(self, FeatureBlock features not None, Block block not None):
        self.features = features
        self.block = block

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        """Prepare samples order[first] ... order[first + n - 1]. Returns a status."""
        if self.block.open(rows, order, first, n) < 0:
            return NO_MEMORY
        self.features.fill(self.block)
        return OK


FEATURE_MAPS = {"random_fourier": RandomFourier}
