"""Nystroem features, in which the kernel of some landmark rows is exact.

K = V D V' is the kernel matrix of the landmarks, k(x) their kernel values with x. With the k
largest eigenvalues, z(x) = D_k^{-1/2} V_k' k(x). For landmarks x and s, z(x) . z(s) is the kernel,
up to the eigenvalues that are left out (Williams and Seeger 2001).

A function of kernel values, f(x) = sum_i a_i kappa(s_i, x), becomes w . z(x) with
w = D_k^{1/2} V_k' a: its projection on the span of the kept eigenvectors.
"""
from libc.limits cimport INT_MAX
from libc.math cimport sqrt

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport integer_within, shown
from onlinekern.core.base.vector cimport OK_DOT, OK_PANEL, finite, ops_for, whole_panels
from onlinekern.core.features.map cimport FeatureBlock, FeatureMap, FeatureWindow, panels_of
from onlinekern.core.kernels.support_set cimport SupportSet, restored_set
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.linalg.symmetric_eigen cimport LeadingEigenvectors
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

from onlinekern.core.base.part import refuse_attributes

# Eigenvalues below this fraction of the largest are left out: they are rounding errors of the
# kernel matrix.
cdef double LEAST_EIGENVALUE = 1e-10


cdef SupportSet landmarks_of(object kernel, object rows):
    """A support set of the given rows, ndarray or CSR matrix, with coefficients of 0."""
    cdef bint sparse = not isinstance(rows, np.ndarray)
    if len(rows.shape) != 2:
        raise ValueError(f"landmarks must have two axes, got shape {rows.shape}")
    cdef SupportSet landmarks = SupportSet(kernel, rows.shape[1], rows.dtype, 1, False, sparse)
    cdef Samples samples = samples_of(rows, rows.dtype)
    cdef Py_ssize_t i
    cdef double zero = 0
    for i in range(samples.rows.n):
        if landmarks.open(&samples.rows, NULL, i, 1) < 0 or landmarks.add(0, &zero) < 0:
            raise MemoryError(f"no memory for {samples.rows.n} landmarks")
    return landmarks


cdef class Spectrum:
    """The leading eigenvectors of the kernel matrix of landmarks, the largest first.

    Parameters
    ----------
    landmarks : SupportSet
        Without free slots.
    most : int >= 1
        Upper bound on the number of eigenvalues kept. Those below 1e-10 of the largest never are.

    Raises
    ------
    FloatingPointError
        If a kernel value is not finite, or LAPACK does not converge.
    MemoryError
    """

    def __cinit__(self, SupportSet landmarks not None, Py_ssize_t most):
        cdef Py_ssize_t n = landmarks.n
        integer_within("landmarks", n, 1, INT_MAX)
        if landmarks.store.itemsize == 4:
            # Rounding of float32 kernel values would give eigenvalues of 1e-7 of the largest.
            rows = landmarks.store.get_rows(n).astype(np.float64)
            landmarks = landmarks_of(landmarks.kernel, rows)
        cdef bint solved
        self.n = n
        self.eigen = LeadingEigenvectors(<int> n, <int> min(most, n))
        self.write_matrix(landmarks)
        if not finite(self.eigen.matrix, n * n):
            raise FloatingPointError("a kernel value of two landmarks is not finite")
        with nogil:
            solved = self.eigen.solve()
        if not solved:
            raise FloatingPointError("the eigenvalues of the kernel matrix were not found")
        while self.rank < self.eigen.count and self.value(self.rank) > 0 \
                and self.value(self.rank) >= LEAST_EIGENVALUE * self.value(0):
            self.rank += 1

    cdef int write_matrix(self, SupportSet landmarks) except -1:
        cdef Py_ssize_t first, i, j, width, n = self.n
        cdef Samples samples = samples_of(landmarks.store.get_rows(n), landmarks.dtype)
        cdef Window window = landmarks.new_window(min(n, OK_PANEL))
        cdef const double *row
        for first in range(0, n, OK_PANEL):
            width = min(OK_PANEL, n - first)
            if landmarks.fill_window(window, &samples.rows, NULL, first, width) < 0:
                raise MemoryError(f"no memory for the kernel matrix of {n} landmarks")
            for i in range(width):
                row = <const double *> window.row(i)
                for j in range(n):
                    self.eigen.matrix[(first + i) * n + j] = row[j]
        return 0

    cdef double value(self, Py_ssize_t j) noexcept nogil:
        """Eigenvalue j."""
        return self.eigen.values[self.n - 1 - j]

    cdef const double *vector(self, Py_ssize_t j) noexcept nogil:
        """Eigenvector j, n numbers."""
        return self.eigen.vector(self.n - 1 - j)

    cdef void expand(self, const double *coefficients, double *weights) noexcept nogil:
        """w = D_k^{1/2} V_k' a, `rank` numbers, from n coefficients a of kernel values."""
        cdef Py_ssize_t i, j
        cdef const double *vector
        cdef double total
        for j in range(self.rank):
            vector = self.vector(j)
            total = 0
            for i in range(self.n):
                total += vector[i] * coefficients[i]
            weights[j] = sqrt(self.value(j)) * total

    def projection(self):
        """D_k^{-1/2} V_k', ndarray of shape (rank, n)."""
        cdef double[:, ::1] view = np.empty((self.rank, self.n))
        cdef Py_ssize_t i, j
        cdef const double *vector
        cdef double root
        for j in range(self.rank):
            vector = self.vector(j)
            root = sqrt(self.value(j))
            for i in range(self.n):
                view[j, i] = vector[i] / root
        return view.base


cdef class Nystroem(FeatureMap):
    """z(x) = P k(x), where k(x) are the kernel values of x with the landmarks.

    Parameters
    ----------
    landmarks : SupportSet
        Without free slots.
    projection : ndarray of shape (n_features, n_landmarks)
    """

    def __cinit__(self, SupportSet landmarks not None, projection):
        if not isinstance(projection, np.ndarray) or projection.ndim != 2 \
                or projection.dtype.kind != "f" or projection.shape[1] != landmarks.n \
                or not np.isfinite(projection).all():
            raise ValueError("projection must be an ndarray of finite floats with a column for "
                             f"each of {landmarks.n} landmarks, got {shown(projection)}")
        self.landmarks = landmarks
        self.d = landmarks.store.d
        self.itemsize = landmarks.store.itemsize
        self.n_features = len(projection)
        self.length = whole_panels(max(self.n_features, 1))  # a kernel of zeros has no feature
        self.panels = panels_of(projection, landmarks.dtype)

    @staticmethod
    def of_rows(kernel, rows, n_components):
        """The map of given landmarks, with at most `n_components` features.

        Parameters
        ----------
        kernel : Kernel
        rows : ndarray or CSR matrix of shape (n_landmarks, d)
        n_components : int >= 1
        """
        landmarks = landmarks_of(kernel, rows)
        return Nystroem(landmarks, Spectrum(landmarks, n_components).projection())

    def __reduce__(self):
        return _restore, (self.landmarks.arguments(), self.landmarks.get_state(),
                          self.projection())

    def __getstate__(self):
        refuse_attributes(self)

    def projection(self):
        """P, ndarray of shape (n_features, n_landmarks)."""
        return self.panels.get_rows(self.n_features)

    cdef double square(self, const char *z) noexcept nogil:
        cdef double square, absolute
        ops_for(self.itemsize).norms(z, self.length, &square, &absolute)
        return square

    cdef Py_ssize_t work(self) noexcept nogil:
        # A feature is a product with k(x): about the cost of a kernel value of n features.
        return self.landmarks.n + self.length * (1 + self.landmarks.n // 64)

    cdef FeatureWindow new_window(self, Py_ssize_t rows):
        return NystroemWindow(self, self.landmarks.new_window(rows))

    cdef void project(self, Window window, char *z) noexcept nogil:
        """z (n x length) = features of the rows of a filled window."""
        cdef Py_ssize_t p
        for p in range(self.length // OK_PANEL):
            window.block.ops.dense[OK_DOT](
                window.all_rows(), window.ld, window.block.n, self.landmarks.n,
                self.panels.panel(p), z + p * OK_PANEL * self.itemsize, self.length)


cdef class NystroemWindow(FeatureWindow):
    """Kernel values of coming samples with the landmarks, and their features.

    Parameters
    ----------
    map : Nystroem
    window : Window
        A window of the landmarks. If it is open on samples, their features are computed at once.
    """

    def __init__(self, Nystroem map not None, Window window not None):
        super().__init__(FeatureBlock(map, window.block.capacity), window.block)
        self.map = map
        self.window = window
        if window.values != NULL:
            map.project(window, self.features.values)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        if self.map.landmarks.fill_window(self.window, rows, order, first, n) < 0:
            return NO_MEMORY
        self.map.project(self.window, self.features.values)
        return OK


def _restore(arguments, state, projection):
    return Nystroem(restored_set(arguments, state), projection)


FEATURE_MAPS = {"nystroem": Nystroem}
