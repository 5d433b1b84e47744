"""ActiveRows: rows of the kernel matrix of training points, restricted to the active points.

A minimiser of a dual problem reads one or two whole rows of the kernel matrix in every step.
`ActiveRows` caches them in bounded memory. If the points are stored sparse, a missing row is
computed in one block with other rows that will probably be needed soon.

Points of zeros and ones, such as one-hot features, are stored as bytes (`ByteStore`), with the same
bits as a result.

Shrinking: points whose coefficient stays at a bound are made inactive (`keep`). Their columns are
removed from the cached rows, and rows computed later do not have them.
"""
from cython cimport floating
from libc.string cimport memcpy

import numpy as np
import scipy.sparse as sp

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport OK_DOT, whole_panels
from onlinekern.core.kernels.cost_model cimport best_length
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.models.row_cache cimport KernelRowCache
from onlinekern.core.samples.rows cimport Rows, is_sparse, samples_of

from onlinekern.core.samples.rows import checked_csr


cdef bint may_be_bytes(SupportSet form) noexcept:
    """Whether points of zeros and ones may be stored as bytes."""
    return (form.kernel.accumulate == OK_DOT and not form.kernel.of_rows
            and not form.store.needs_panels())


cdef bint all_binary(const floating *values, Py_ssize_t n) noexcept nogil:
    """Whether n numbers are zeros and ones."""
    cdef Py_ssize_t j
    for j in range(n):
        if values[j] != 0 and values[j] != 1:
            return False
    return True


cdef bint is_binary(const Rows *rows) noexcept nogil:
    """Whether all rows consist of zeros and ones."""
    cdef Py_ssize_t n = rows.starts[rows.n] if is_sparse(rows) else rows.n * rows.d
    if rows.itemsize == 4:
        return all_binary(<const float *> rows.values, n)
    return all_binary(<const double *> rows.values, n)


cdef object rows_of_ones(object X):
    """A matrix of zeros and ones as a CSR matrix that stores the ones only."""
    if sp.issparse(X):
        if X.data.all():
            return X
        X = X.copy()
        X.eliminate_zeros()
    return checked_csr(sp.csr_matrix(X))


cdef class ActiveRows:
    """Kernel rows of the points X.

    Parameters
    ----------
    form : SupportSet
        Gives the kernel and the storage of the points; it is not changed.
    X : ndarray or CSR matrix of shape (n, d), validated
    cache_bytes : float
        Memory for kernel rows; at least three rows are kept.

    Attributes
    ----------
    made : int
        Number of rows computed so far.
    """

    def __cinit__(self, SupportSet form not None, X, double cache_bytes):
        self.form = form
        self.X = X
        self.samples = samples_of(X, form.dtype)
        if may_be_bytes(form) and self.samples.rows.n > 0 and is_binary(&self.samples.rows):
            self.ones = True
            self.X = rows_of_ones(X)
            self.samples = samples_of(self.X, form.dtype)
        self.n = self.samples.rows.n
        self.itemsize = form.itemsize
        self.cache_bytes = cache_bytes
        self.restart()

    def diagonal(self):
        """kappa(x, x) of all points, ndarray of shape (n,)."""
        cdef Py_ssize_t p
        cdef double[::1] out = np.empty(self.n)
        for p in range(self.n):
            if self.window.block.open(&self.samples.rows, NULL, p, 1) < 0:
                raise MemoryError(f"no memory for {self.n} points")
            out[p] = self.form.kernel.diagonal(self.window.block.squares[0])
        return np.asarray(out)

    cdef double value(self, const char *row, Py_ssize_t place) noexcept nogil:
        return (<const float *> row)[place] if self.itemsize == 4 else (<const double *> row)[place]

    cdef Py_ssize_t batch(self) noexcept nogil:
        """Number of rows to compute together; all cached rows but one may be evicted for them.

        Sparse points are multiplied with panels of rows, which cost the same for one row and for
        64. Rows of dense points are computed singly, because most of the other rows would never be
        read: pairs of rows take 1.07 times as long on a9a and cod-rna (benchmarks/olla_table.py).
        """
        return min(TOGETHER, self.cache.capacity - 1) if self.active.store.needs_panels() else 1

    cdef Status make(self, const Py_ssize_t *numbers, Py_ssize_t count) noexcept nogil:
        """Compute the rows of these points, none of which is cached. Returns a status.

        The last one becomes the most recently used.
        """
        cdef Py_ssize_t i
        if self.active.fill_window(self.window, &self.samples.rows, numbers, 0, count) < 0:
            return NO_MEMORY
        for i in range(count):
            memcpy(self.cache.make(numbers[i]), self.window.row(i), self.columns * self.itemsize)
        self.made += count
        return OK

    cdef SupportSet new_set(self):
        """An empty set for points of X, with one output."""
        return SupportSet(*self.form.arguments()[:3], 1, False, self.form.sparse, self.ones)

    cdef int restart(self) except -1:
        """Make all points active. The cache is kept if they were all active before."""
        if self.n_active == self.n > 0:
            return 0
        self.activate(np.arange(self.n, dtype=np.intp))
        self.cache = KernelRowCache(self.n, self.columns * self.itemsize,
                                    max(self.cache_bytes, 3.0 * self.columns * self.itemsize))
        return 0

    cdef int activate(self, Py_ssize_t[::1] points) except -1:
        """Make these points the active ones."""
        self.points = points
        self.n_active = points.shape[0]
        self.columns = whole_panels(self.n_active)
        self.active = self.new_set()
        self.active.add_rows(self.X, np.zeros((self.n_active, 1)), np.asarray(points))
        self.window = self.active.new_window(TOGETHER)
        return 0

    cdef int keep(self, Py_ssize_t[::1] places) except -1:
        """Keep the active points at these ascending places active, and no others.

        Kernel rows of the others may not be read until `restart`.
        """
        cdef Py_ssize_t count = places.shape[0], p
        for p in np.delete(self.points, places):
            self.cache.drop(p)
        self.activate(np.asarray(self.points)[np.asarray(places)])
        self.cache.keep_columns(&places[0], count, self.itemsize, self.columns * self.itemsize)
        return 0

    cdef Status expansion(self, SupportSet support, const Py_ssize_t *points, Py_ssize_t n,
                          double *out) noexcept nogil:
        """out[i] = sum_r c_r kappa(s_r, x_i) of the support vectors for n points.

        `support` has a window of OK_PANEL rows. Returns a status.
        """
        cdef Py_ssize_t first = 0, i, width
        while first < n:
            width = min(best_length(support.n, support.store.d, self.itemsize),
                        n - first)
            if support.fill_window(support.window, &self.samples.rows, points, first, width) < 0:
                return NO_MEMORY
            for i in range(width):
                support.coefficients.scores(support.window.row(i), out + first + i,
                                            out + first + i)
            first += width
        return OK
