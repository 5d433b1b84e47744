"""InMetric: features of samples in a metric M, z(M^(1/2) x).

|M^(1/2) (x - s)|^2 = (x - s)'M (x - s): so a kernel of distances, or of products, is computed in
the metric. Samples are transformed before the inner map gets them, so all that it stores, such as
landmarks, is transformed. A diagonal M scales each feature; a full one also rotates.
"""
from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, Status
from onlinekern.core.base.state cimport doubles_of_shape
from onlinekern.core.base.vector cimport OK_DOT, OK_PANEL, resize_array, whole_panels
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow, panels_of
from onlinekern.core.kernels.block cimport Block
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

# Lower bound on the eigenvalues of (G / mean G)^p: a feature that seems irrelevant now may turn out
# to be relevant later.
LEAST = 1e-3
# Most features of a full metric, which costs d^3 at a renewal and d^2 for each sample.
MOST_FULL = 1000


cdef class MetricRoot:
    """M^(1/2), and its products with samples.

    Parameters
    ----------
    root : ndarray of shape (d,) or (d, d), float64
        M^(1/2), its diagonal if M is diagonal.
    d : int
    dtype : dtype
        Type of the samples.
    """

    def __cinit__(self, root, Py_ssize_t d, dtype):
        full = isinstance(root, np.ndarray) and root.ndim == 2
        self.root = doubles_of_shape("root", root, (d,) * (2 if full else 1))
        self.d, self.itemsize = d, np.dtype(dtype).itemsize
        if full:
            self.panels = panels_of(self.root, dtype)
        else:
            self.factors = self.root

    def metric(self):
        """M, its diagonal if it is diagonal."""
        return self.root @ self.root if self.root.ndim == 2 else self.root * self.root

    cdef void move(self, Block block, char *out, char *wide) noexcept nogil:
        """out (n x d) = M^(1/2) x of the rows of an open block.

        `wide` is a buffer of n rows of d numbers, padded to whole panels, for a full M.
        """
        cdef Py_ssize_t i, j, p, d = self.d, size = self.itemsize, width = whole_panels(d)
        cdef const char *x
        if self.panels is not None:
            for p in range(width // OK_PANEL):
                self.panels.product(block, 0, block.n, p, OK_DOT, wide + p * OK_PANEL * size,
                                    width)
            for i in range(block.n):
                memcpy(out + i * d * size, wide + i * width * size, d * size)
            return
        for i in range(block.n):
            x = block.as_dense(i)
            if size == 4:
                for j in range(d):
                    (<float *> out)[i * d + j] = <float> (
                        self.factors[j] * (<const float *> x)[j])
            else:
                for j in range(d):
                    (<double *> out)[i * d + j] = self.factors[j] * (<const double *> x)[j]

    def moved(self, X):
        """M^(1/2) x of samples, a new ndarray of shape (n, d).

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated
        """
        dtype = np.float32 if self.itemsize == 4 else np.float64
        cdef Samples samples = samples_of(X, dtype)
        cdef Py_ssize_t i, n = samples.rows.n, size = self.d * self.itemsize
        cdef Block block = Block(1, self.d, self.itemsize)
        found = np.empty((n, self.d), dtype)
        cdef signed char[::1] out = found.view(np.int8).reshape(-1)
        cdef signed char[::1] wide = np.empty(whole_panels(self.d) * self.itemsize, np.int8)
        for i in range(n if self.d > 0 else 0):
            if block.open(&samples.rows, NULL, i, 1) < 0:
                raise MemoryError(f"no memory for {n} samples")
            self.move(block, <char *> &out[i * size], <char *> &wide[0])
        return found


cdef class InMetric(FeatureMap):
    """z(M^(1/2) x).

    Parameters
    ----------
    map : FeatureMap
        z; it must take dense samples.
    root : ndarray of shape (d,) or (d, d), float64
        M^(1/2), its diagonal if M is diagonal.
    """

    def __cinit__(self, FeatureMap map not None, root):
        if map.stored_sparse():
            raise ValueError("map must take dense samples, which samples in a metric are")
        self.map = map
        self.d, self.itemsize = map.d, map.itemsize
        self.mover = MetricRoot(root, map.d, np.float32 if map.itemsize == 4 else np.float64)
        self.n_features, self.length, self.constant = map.n_features, map.length, map.constant

    def components(self):
        return (self.map,)

    def __reduce__(self):
        return InMetric, (self.map, self.root)

    @property
    def root(self):
        """M^(1/2), its diagonal if M is diagonal."""
        return self.mover.root

    def metric(self):
        """M, its diagonal if it is diagonal."""
        return self.mover.metric()

    def columns(self):
        return self.map.columns()

    cdef double square(self, const char *z) noexcept nogil:
        return self.map.square(z)

    cdef void copy(self, const char *z, char *out) noexcept nogil:
        self.map.copy(z, out)

    cdef Py_ssize_t work(self) noexcept nogil:
        cdef Py_ssize_t products = self.d if self.mover.panels is not None else 1
        return self.map.work() + products * self.d // 16

    cdef Py_ssize_t used(self) noexcept nogil:
        return self.map.used()

    cdef double remainder(self, FeatureWindow window, Py_ssize_t i) noexcept nogil:
        return self.map.remainder((<MetricWindow> window).inner, i)

    cdef FeatureWindow new_window(self, Py_ssize_t rows):
        return MetricWindow(self, self.map.new_window(rows))

    cdef FeatureWindow learning_window(self, Py_ssize_t rows):
        return MetricWindow(self, self.map.learning_window(rows))

    def moved(self, X):
        """M^(1/2) x of samples, see `MetricRoot.moved`."""
        return self.mover.moved(X)

    cdef Status consider(self, FeatureWindow window, Py_ssize_t i, bint entered) noexcept nogil:
        return self.map.consider((<MetricWindow> window).inner, i, entered)

    cdef void checkpoint(self) noexcept nogil:
        self.map.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.map.rollback()


cdef class MetricWindow(FeatureWindow):
    """A block of coming samples, and their features in the metric.

    Parameters
    ----------
    map : InMetric
    inner : FeatureWindow
        Window of the inner map, over the transformed samples.
    """

    def __cinit__(self, InMetric map not None, FeatureWindow inner not None):
        cdef Py_ssize_t rows = inner.features.capacity
        self.map, self.inner = map, inner
        self.moved = <char *> resize_array(NULL, 0, rows, max(map.d, 1) * map.itemsize)
        if map.mover.panels is not None:
            self.wide = <char *> resize_array(
                NULL, 0, rows, whole_panels(map.d) * map.itemsize)
        if self.moved == NULL or (map.mover.panels is not None and self.wide == NULL):
            raise MemoryError(f"no memory for {rows} samples in a metric")

    def __init__(self, InMetric map not None, FeatureWindow inner not None):
        super().__init__(inner.features, Block(inner.features.capacity, map.d, map.itemsize))

    def __dealloc__(self):
        free(self.moved)
        free(self.wide)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        cdef Rows moved
        if self.block.open(rows, order, first, n) < 0:
            return NO_MEMORY
        self.map.mover.move(self.block, self.moved, self.wide)
        moved.values, moved.columns, moved.starts = self.moved, NULL, NULL
        moved.n, moved.d, moved.itemsize = n, self.map.d, self.map.itemsize
        return self.inner.open(&moved, NULL, 0, n)


def root_of(gradients, double exponent):
    """M^(1/2) of the metric M = (G / mean G)^p, floored and scaled to a trace of d.

    Parameters
    ----------
    gradients : ndarray of shape (d,) or (d, d)
        Mean square of the gradients along each feature, or their mean outer product.
    exponent : float
        p.

    Returns
    -------
    ndarray of the same shape, or None if the gradients are 0 or not finite
    """
    values, vectors = gradients, None
    if not np.isfinite(gradients).all():
        return None
    if gradients.ndim == 2:
        values, vectors = np.linalg.eigh(gradients)
    mean = values.mean()
    if not mean > 0:
        return None
    values = np.maximum(np.maximum(values / mean, 0.0) ** exponent, LEAST)
    roots = np.sqrt(values / values.mean())
    return roots if vectors is None else np.ascontiguousarray((vectors * roots) @ vectors.T)


def change_of(before, after):
    """|M - N| / |N| in the Frobenius norm of two metrics, given M^(1/2) and N^(1/2)."""
    metrics = [root @ root if root.ndim == 2 else root * root for root in (before, after)]
    if before.ndim != after.ndim:
        metrics = [np.diag(each) if each.ndim == 1 else each for each in metrics]
    return np.linalg.norm(metrics[0] - metrics[1]) / np.linalg.norm(metrics[1])


FEATURE_MAPS = {"in_metric": InMetric}
