"""ByteStore: support vectors of zeros and ones, in panels of bytes.

See panel_store for the interface and the other layouts. A panel is a quarter as large as one of
float32, and a product adds up bytes: 64 lanes are two registers of AVX2. The sums are small
integers, so the products have the bits of those in floating point.
"""
from cython cimport floating
from libc.stdint cimport uint8_t

import numpy as np

from onlinekern.core.base.growing_memory cimport free_grown, grown
from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport integer_within
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport OK_PANEL
from onlinekern.core.kernels.block cimport Block
from onlinekern.core.kernels.panel_store cimport Store
from onlinekern.core.samples.sparse_rows cimport Point

# Panels that are fetched while one is read.
cdef Py_ssize_t PANELS_AHEAD = 4

ctypedef fused element:
    uint8_t
    float
    double


cdef inline void put_lane(uint8_t *lane, const element *values, Py_ssize_t d) noexcept nogil:
    """Write d zeros and ones into a lane of a panel."""
    cdef Py_ssize_t j
    for j in range(d):
        lane[j * OK_PANEL] = <uint8_t> values[j]


cdef inline void get_lane(const uint8_t *lane, element *values, Py_ssize_t d) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(d):
        values[j] = lane[j * OK_PANEL]


cdef inline void count_differences(const floating *x, const uint8_t *panel, Py_ssize_t d,
                                   floating *g) noexcept nogil:
    """g[slot] = ||x - s||^2, which is the number of features that differ."""
    cdef Py_ssize_t j, slot, count
    for slot in range(OK_PANEL):
        count = 0
        for j in range(d):
            count += x[j] != panel[j * OK_PANEL + slot]
        g[slot] = <floating> count


cdef class ByteStore(Store):
    """Support vectors in dense feature-major panels of bytes.

    All rows of all blocks consist of zeros and ones. Those that are multiplied are sparse, and hold
    ones only; the kernel is one of dot products.
    """

    def __cinit__(self, Py_ssize_t d, Py_ssize_t itemsize):
        self.journal = Journal(d)

    def __dealloc__(self):
        free_grown(self.panels)

    cdef uint8_t *panel(self, Py_ssize_t index) noexcept nogil:
        return self.panels + index * self.d * OK_PANEL

    cdef uint8_t *lane(self, Py_ssize_t slot) noexcept nogil:
        return self.panel(slot // OK_PANEL) + slot % OK_PANEL

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil:
        cdef void *fresh
        if capacity <= self.capacity:
            return OK
        fresh = grown(self.panels, self.capacity, capacity, max(self.d, 1))
        if fresh == NULL:
            return NO_MEMORY
        self.panels = <uint8_t *> fresh
        self.capacity = capacity
        return OK

    cdef Status write(self, Py_ssize_t slot, Block block, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t j
        cdef uint8_t *lane = self.lane(slot)
        if block.sparse:
            self.clear(slot)
            for j in range(block.rows[i].count):
                lane[block.rows[i].columns[j] * <Py_ssize_t> OK_PANEL] = 1
        elif self.itemsize == 4:
            put_lane(lane, <const float *> block.as_dense(i), self.d)
        else:
            put_lane(lane, <const double *> block.as_dense(i), self.d)
        return OK

    cdef Status read(self, Py_ssize_t slot, Point point) noexcept nogil:
        cdef char *values = point.dense_values()
        if values == NULL:
            return NO_MEMORY
        if self.itemsize == 4:
            get_lane(self.lane(slot), <float *> values, self.d)
        else:
            get_lane(self.lane(slot), <double *> values, self.d)
        return point.finish_dense()

    cdef void clear(self, Py_ssize_t slot) noexcept nogil:
        cdef Py_ssize_t j
        cdef uint8_t *lane = self.lane(slot)
        for j in range(self.d):
            lane[j * OK_PANEL] = 0

    cdef Status keep(self, Py_ssize_t slot) noexcept nogil:
        cdef char *row
        if not self.journal.wants(slot):
            return OK
        row = self.journal.add_copy(slot)
        if row == NULL:
            return NO_MEMORY
        get_lane(self.lane(slot), <uint8_t *> row, self.d)
        return OK

    cdef void rollback(self) noexcept nogil:
        cdef Py_ssize_t r
        for r in range(self.journal.count):
            put_lane(self.lane(self.journal.numbers[r]), <uint8_t *> self.journal.copy(r), self.d)

    cdef void product(self, Block block, Py_ssize_t first, Py_ssize_t n, Py_ssize_t panel,
                      int accumulate, char *g, Py_ssize_t ld) noexcept nogil:
        self.ops.ones_dot(block.rows + first, n, self.panel(panel),
                          PANELS_AHEAD * OK_PANEL * self.d, g, ld)

    cdef void distance(self, Block block, Py_ssize_t i, Py_ssize_t panel, int accumulate,
                       bint sifted, char *g) noexcept nogil:
        if self.itemsize == 4:
            count_differences(<const float *> block.as_dense(i), self.panel(panel), self.d,
                              <float *> g)
        else:
            count_differences(<const double *> block.as_dense(i), self.panel(panel), self.d,
                              <double *> g)

    def nbytes(self, Py_ssize_t n):
        return self.capacity * self.d

    def get_rows(self, Py_ssize_t n):
        """The first `n` rows, of those there is room for, as an ndarray of shape (n, d)."""
        cdef Py_ssize_t slot, address
        integer_within("n", n, 0, self.capacity)
        out = np.empty((n, self.d), np.float32 if self.itemsize == 4 else np.float64)
        for slot in range(n):
            address = out.ctypes.data + slot * self.d * self.itemsize
            if self.itemsize == 4:
                get_lane(self.lane(slot), <float *> address, self.d)
            else:
                get_lane(self.lane(slot), <double *> address, self.d)
        return out
