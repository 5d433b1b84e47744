"""WithLinear: the features of another map, with the sample itself and a constant beside them.

A linear function of these features is a linear function of x plus a kernel function. The linear
part needs few samples for what a kernel of small width needs many for.
"""
from libc.math cimport sqrt
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport whole_panels
from onlinekern.core.features.map cimport FeatureBlock, FeatureMap, FeatureWindow
from onlinekern.core.samples.rows cimport Rows


cdef class WithLinear(FeatureMap):
    """[x / sqrt(d), 1, z(x)]. For standardised x, x / sqrt(d) has about the length 1 of z(x).

    Parameters
    ----------
    map : FeatureMap
        z, without a constant feature.
    """

    def __cinit__(self, FeatureMap map not None):
        self.map = map
        self.d = map.d
        self.itemsize = map.itemsize
        self.factor = 1 / sqrt(<double> max(map.d, 1))
        self.constant = map.d
        self.offset = whole_panels(map.d + 1)
        self.n_features = map.d + map.n_features
        self.length = self.offset + map.length

    def components(self):
        return (self.map,)

    def __reduce__(self):
        return WithLinear, (self.map,)

    def columns(self):
        return np.concatenate([np.arange(self.d), self.offset + self.map.columns()])

    cdef bint stored_sparse(self) noexcept nogil:
        return self.map.stored_sparse()

    cdef Py_ssize_t work(self) noexcept nogil:
        return self.map.work() + self.d // 16

    cdef Py_ssize_t used(self) noexcept nogil:
        return self.offset + self.map.used()

    cdef void copy(self, const char *z, char *out) noexcept nogil:
        memcpy(out, z, self.d * self.itemsize)
        self.map.copy(z + self.offset * self.itemsize, out + self.d * self.itemsize)

    cdef FeatureWindow new_window(self, Py_ssize_t rows):
        return JoinedWindow(self, self.map.new_window(rows))

    cdef FeatureWindow learning_window(self, Py_ssize_t rows):
        return JoinedWindow(self, self.map.learning_window(rows))

    cdef void write_row(self, JoinedWindow window, Py_ssize_t i) noexcept nogil:
        """Write the features of sample i of an open window."""
        cdef Py_ssize_t j
        cdef const char *x = window.block.as_dense(i)
        cdef char *row = <char *> window.features.row(i)
        if self.itemsize == 4:
            for j in range(self.d):
                (<float *> row)[j] = <float> self.factor * (<const float *> x)[j]
        else:
            for j in range(self.d):
                (<double *> row)[j] = self.factor * (<const double *> x)[j]
        memcpy(row + self.offset * self.itemsize, window.inner.features.row(i),
               self.map.length * self.itemsize)

    cdef Status consider(self, FeatureWindow window, Py_ssize_t i, bint entered) noexcept nogil:
        return self.consider_joined(<JoinedWindow> window, i, entered)

    cdef Status consider_joined(self, JoinedWindow window, Py_ssize_t i,
                                bint entered) noexcept nogil:
        cdef Py_ssize_t j, before = self.map.used()
        if self.map.consider(window.inner, i, entered) < 0:
            return NO_MEMORY
        if self.map.used() > before:
            for j in range(i, window.block.n):
                self.copy_last(window, j)
        return OK

    cdef void copy_last(self, JoinedWindow window, Py_ssize_t i) noexcept nogil:
        """Copy the newest inner feature of sample i."""
        cdef Py_ssize_t last = (self.map.used() - 1) * self.itemsize
        memcpy(<char *> window.features.row(i) + self.offset * self.itemsize + last,
               window.inner.features.row(i) + last, self.itemsize)

    cdef void checkpoint(self) noexcept nogil:
        self.map.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.map.rollback()


cdef class JoinedWindow(FeatureWindow):
    """A block of coming samples, and their linear and inner features.

    Parameters
    ----------
    map : WithLinear
    inner : FeatureWindow
        Window of the inner map.
    """

    def __cinit__(self, WithLinear map not None, FeatureWindow inner not None):
        self.map = map
        self.inner = inner

    def __init__(self, WithLinear map not None, FeatureWindow inner not None):
        super().__init__(FeatureBlock(map, inner.features.capacity), inner.block)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i
        if self.inner.open(rows, order, first, n) < 0:
            return NO_MEMORY
        for i in range(n):
            self.map.write_row(self, i)
        return OK


FEATURE_MAPS = {"with_linear": WithLinear}
