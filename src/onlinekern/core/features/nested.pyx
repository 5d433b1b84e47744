"""Nystroem features whose landmarks grow with the stream.

Let l_1 ... l_m be the landmarks, k(x) their kernel values with x, and K = L L' their kernel matrix.
The features are z(x) = L^-1 k(x). They are nested: another landmark l adds a coordinate and does
not change the others. With c = z(l) and delta^2 = kappa(l, l) - c'c, the new row of L^-1 is
[-c'L^-1 / delta, 1 / delta], and the new coordinate of z(l) is delta.

z(x) . z(s) equals the kernel of x and s if one of them is a landmark. delta^2 is the squared
distance of a sample to the span of the landmarks in feature space.
"""
from libc.limits cimport INT_MAX
from libc.math cimport sqrt
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport check_width, doubles_of_shape, integer_within
from onlinekern.core.base.vector cimport OK_DOT, OK_PANEL, ops_for, resize_array, whole_panels
from onlinekern.core.features.map cimport FeatureBlock, FeatureMap, FeatureWindow
from onlinekern.core.kernels.support_set cimport SupportSet, restored_set
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.linalg.copies cimport packed
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

from onlinekern.core.base.part import refuse_attributes
from onlinekern.core.linalg.copies import unpacked

SELECTIONS = ("first", "margin", "ald")
# Largest rounding error of a coordinate, relative to the length of a sample. A landmark that nearly
# depends linearly on others has a long row of L^-1, which amplifies rounding errors. Beyond this
# bound further rows would be longer and longer, up to 10^40, and their coordinates only rounding.
MOST_ROUNDING = 0.001


cdef class NestedNystroem(FeatureMap):
    """z(x) = L^-1 k(x), with at most `n_components` landmarks among the samples that are learnt.

    Features of landmarks that do not exist yet are 0.

    Parameters
    ----------
    landmarks : SupportSet
        With one output and coefficients of 0. If it is not empty, call `set_whitening` too.
    n_components : int >= 1
        Most landmarks.
    selection : {'first', 'margin', 'ald'}
        Candidates: every sample; only samples that change the model; every sample. A candidate
        becomes a landmark if delta^2 > novelty kappa(l, l).
    novelty : float in (0, 1)
        Not used with 'first': there it is the square root of the machine epsilon of the samples,
        below which delta^2 is a rounding error of the kernel values.
    """

    def __cinit__(self, SupportSet landmarks not None, Py_ssize_t n_components, str selection,
                  double novelty):
        # LAPACK counts in 32 bits.
        self.n_components = integer_within("n_components", n_components, 1, INT_MAX)
        if selection not in SELECTIONS:
            raise ValueError(f"selection must be one of {', '.join(SELECTIONS)}, got {selection!r}")
        if not 0 < novelty < 1:
            raise ValueError(f"novelty must be in (0, 1), got {novelty}")
        integer_within("landmarks", landmarks.n, 0, n_components)
        self.landmarks = landmarks
        self.selection, self.novelty = selection, novelty
        self.only_entered = selection == "margin"
        self.d = landmarks.store.d
        self.itemsize = landmarks.itemsize
        self.ops = ops_for(self.itemsize)
        self.rounding = sqrt(np.finfo(landmarks.dtype).eps)
        self.steepest = MOST_ROUNDING / np.finfo(landmarks.dtype).eps
        self.least = novelty if selection != "first" else self.rounding
        self.n_features = n_components
        self.length = whole_panels(n_components)
        self.rows = <double *> resize_array(
            NULL, 0, n_components, n_components * <Py_ssize_t> sizeof(double))
        self.panels = <char *> resize_array(NULL, 0, self.length, self.length * self.itemsize)
        self.values = <double *> resize_array(NULL, 0, 2 * self.length, sizeof(double))
        if self.rows == NULL or self.panels == NULL or self.values == NULL:
            raise MemoryError(f"no memory for {n_components} Nystroem features")

    def __dealloc__(self):
        free(self.rows)
        free(self.panels)
        free(self.values)

    def __reduce__(self):
        return _restore, (self.landmarks.arguments(), self.landmarks.get_state(),
                          self.n_components, self.selection, self.novelty,
                          packed(self.whitening(), 1))

    def __getstate__(self):
        refuse_attributes(self)

    def whitening(self):
        """L^-1, ndarray of shape (n_landmarks, n_landmarks)."""
        cdef Py_ssize_t i, n = self.landmarks.n
        out = np.zeros((n, n))
        cdef double[:, ::1] view = out
        for i in range(n):
            memcpy(&view[i, 0], self.rows + i * self.n_components, (i + 1) * sizeof(double))
        return out

    def set_whitening(self, whitening):
        """Set L^-1 from an array of `whitening` for the same landmarks, which is checked."""
        cdef Py_ssize_t i, j, n = self.landmarks.n
        whitening = doubles_of_shape("whitening", whitening, (n, n))
        cdef const double[:, ::1] view = whitening
        cdef bint upper = False
        for i in range(n):
            for j in range(i + 1, n):
                upper |= view[i, j] != 0
        if not (np.diagonal(whitening) > 0).all() or upper:
            raise ValueError("whitening must be lower triangular, with a diagonal > 0")
        for i in range(n):
            memcpy(self.rows + i * self.n_components, &view[i, 0], (i + 1) * sizeof(double))
            self.write_lane(i)

    def add_rows(self, X):
        """Consider the rows of X as landmarks one after the other.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated
        """
        cdef Samples samples = samples_of(X, self.landmarks.dtype)
        check_width("X", samples.rows.d, self.d)
        cdef Py_ssize_t i
        cdef FeatureWindow window = self.learning_window(1)
        for i in range(samples.rows.n):
            if window.open(&samples.rows, NULL, i, 1) < 0 or self.consider(window, 0, True) < 0:
                raise MemoryError(f"no memory for {samples.rows.n} landmarks")

    cdef char *panel(self, Py_ssize_t index) noexcept nogil:
        """L^-1 of one panel of landmarks, column by column."""
        return self.panels + index * OK_PANEL * self.length * self.itemsize

    cdef void write_lane(self, Py_ssize_t row) noexcept nogil:
        """Copy a row of L^-1 into its lane of the panels; zeros if there is no such landmark."""
        cdef Py_ssize_t j, count = row + 1 if row < self.landmarks.n else 0
        cdef const double *values = self.rows + row * self.n_components
        cdef char *lane = self.panel(row // OK_PANEL) + row % OK_PANEL * self.itemsize
        for j in range(whole_panels(row + 1)):
            if self.itemsize == 4:
                (<float *> lane)[j * OK_PANEL] = <float> (values[j] if j < count else 0)
            else:
                (<double *> lane)[j * OK_PANEL] = values[j] if j < count else 0

    def columns(self):
        return np.arange(self.landmarks.n)

    cdef bint stored_sparse(self) noexcept nogil:
        return self.landmarks.store.needs_panels()

    cdef Py_ssize_t work(self) noexcept nogil:
        # A feature is a product with k(x): about the cost of a kernel value of n / 2 features.
        return self.landmarks.n * (1 + self.landmarks.n // 128)

    cdef Py_ssize_t used(self) noexcept nogil:
        return self.landmarks.n

    cdef double remainder(self, FeatureWindow window, Py_ssize_t i) noexcept nogil:
        """delta^2 of sample i; 0 if it is a rounding error."""
        cdef double square, absolute
        cdef double diagonal = self.landmarks.kernel.diagonal(
            (<NestedWindow> window).window.block.squares[i])
        self.ops.norms(window.features.row(i), self.length, &square, &absolute)
        return diagonal - square if diagonal - square > self.rounding * diagonal else 0

    cdef FeatureWindow new_window(self, Py_ssize_t rows):
        return NestedWindow(self, self.landmarks.new_window(rows), False)

    cdef FeatureWindow learning_window(self, Py_ssize_t rows):
        self.landmarks.reserve_block(rows)
        return NestedWindow(self, self.landmarks.window, True)

    cdef void project(self, Window window, char *z) noexcept nogil:
        """z (n x length) = features of the rows of a filled window, padded to whole panels."""
        cdef Py_ssize_t p, n = self.landmarks.n
        for p in range(whole_panels(n) // OK_PANEL):
            self.ops.dense[OK_DOT](
                window.all_rows(), window.ld, window.block.n, min(n, (p + 1) * OK_PANEL),
                self.panel(p), z + p * OK_PANEL * self.itemsize, self.length)

    cdef Status consider(self, FeatureWindow window, Py_ssize_t i, bint entered) noexcept nogil:
        """Make sample i a landmark if there is room and delta^2 is large enough. Returns a status.
        """
        cdef Py_ssize_t n = self.landmarks.n
        cdef double diagonal, square, absolute, delta, zero = 0
        if n == self.n_components or (self.only_entered and not entered):
            return OK
        diagonal = self.landmarks.squared_length(i)
        self.ops.norms(window.features.row(i), self.length, &square, &absolute)
        if not diagonal - square > self.least * diagonal:
            return OK
        delta = self.border(i)
        if not delta * delta > self.least * diagonal or self.is_steep(diagonal):
            return OK
        if self.landmarks.add(i, &zero) < 0:
            return NO_MEMORY
        self.write_lane(n)
        self.extend_features(<NestedWindow> window, i, delta)
        return OK

    cdef bint is_steep(self, double diagonal) noexcept nogil:
        """Whether the row that `border` has written amplifies rounding errors too much."""
        cdef Py_ssize_t f, n = self.landmarks.n
        cdef const double *row = self.rows + n * self.n_components
        cdef double square = 0
        for f in range(n + 1):
            square += row[f] * row[f]
        return not sqrt(square * diagonal) <= self.steepest

    cdef double border(self, Py_ssize_t i) noexcept nogil:
        """Write the row that sample i would add to L^-1. Returns delta; 0 if delta^2 <= 0."""
        cdef Py_ssize_t f, j, n = self.landmarks.n
        cdef double *k = self.values
        cdef double *c = self.values + self.length
        cdef double *row = self.rows + n * self.n_components
        cdef const double *other
        cdef double square = self.landmarks.squared_length(i), delta
        self.landmarks.as_doubles(self.landmarks.kernel_values(i), k)
        memset(row, 0, n * sizeof(double))
        for j in range(n):
            other = self.rows + j * self.n_components
            c[j] = 0
            for f in range(j + 1):
                c[j] += other[f] * k[f]
            square -= c[j] * c[j]
            for f in range(j + 1):
                row[f] -= c[j] * other[f]
        if not square > 0:
            return 0
        delta = sqrt(square)
        for f in range(n):
            row[f] /= delta
        row[n] = 1 / delta
        return delta

    cdef void extend_features(self, NestedWindow window, Py_ssize_t i,
                              double delta) noexcept nogil:
        """Write the newest coordinate, that of landmark i, for samples i, i + 1, ... of the window.
        """
        cdef Py_ssize_t j, n = self.landmarks.n, p = (n - 1) // OK_PANEL, lane = (n - 1) % OK_PANEL
        cdef Py_ssize_t later = window.window.block.n - i - 1
        cdef char *place = window.features.values + (i * self.length + n - 1) * self.itemsize
        window.filled = max(window.filled, whole_panels(n))
        cdef const char *values = window.window.all_rows()
        if later > 0:
            self.ops.dense[OK_DOT](values + (i + 1) * window.window.ld * self.itemsize,
                                   window.window.ld, later, n, self.panel(p), window.column,
                                   OK_PANEL)
        if self.itemsize == 4:
            (<float *> place)[0] = <float> delta
            for j in range(later):
                (<float *> place)[(j + 1) * self.length] = \
                    (<float *> window.column)[j * OK_PANEL + lane]
        else:
            (<double *> place)[0] = delta
            for j in range(later):
                (<double *> place)[(j + 1) * self.length] = \
                    (<double *> window.column)[j * OK_PANEL + lane]

    cdef void checkpoint(self) noexcept nogil:
        self.saved_n = self.landmarks.n
        self.landmarks.checkpoint()

    cdef void rollback(self) noexcept nogil:
        cdef Py_ssize_t row, n = self.landmarks.n
        self.landmarks.rollback()
        for row in range(self.saved_n, n):
            self.write_lane(row)


cdef class NestedWindow(FeatureWindow):
    """Kernel values of coming samples with the landmarks, and their features.

    Parameters
    ----------
    map : NestedNystroem
    window : Window
        Of the landmarks; for learning, their own one.
    learning : bool
    """

    def __cinit__(self, NestedNystroem map not None, Window window not None, bint learning):
        self.map = map
        self.window = window
        self.learning = learning
        self.column = <char *> resize_array(
            NULL, 0, window.block.capacity + 4, OK_PANEL * map.itemsize)
        if self.column == NULL:
            raise MemoryError(f"no memory for the features of {window.block.capacity} samples")

    def __init__(self, NestedNystroem map not None, Window window not None, bint learning):
        super().__init__(FeatureBlock(map, window.block.capacity), window.block)

    def __dealloc__(self):
        free(self.column)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i, size = self.map.itemsize
        cdef Py_ssize_t filled = whole_panels(self.map.landmarks.n)
        if self.learning:
            if self.map.landmarks.open(rows, order, first, n) < 0:
                return NO_MEMORY
        elif self.map.landmarks.fill_window(self.window, rows, order, first, n) < 0:
            return NO_MEMORY
        for i in range(self.features.capacity if self.filled > filled else 0):
            memset(self.features.values + (i * self.map.length + filled) * size, 0,
                   (self.filled - filled) * size)
        self.filled = filled
        self.map.project(self.window, self.features.values)
        return OK


def _restore(arguments, state, n_components, selection, novelty, whitening):
    cdef SupportSet landmarks = restored_set(arguments, state)
    cdef NestedNystroem map = NestedNystroem(landmarks, n_components, selection, novelty)
    if map.landmarks.slots.n_free > 0 or map.landmarks.n_outputs != 1:
        raise ValueError("landmarks must have one output and no free slots")
    map.set_whitening(unpacked("whitening", whitening, landmarks.n, 1, False))
    map.checkpoint()
    return map


FEATURE_MAPS = {"nested_nystroem": NestedNystroem}
