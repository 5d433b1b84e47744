"""SparseStore: support vectors kept sparse, for sparse samples of many features.

See panel_store for the interface and the other layout.
"""
cimport cython
from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np
import scipy.sparse as sp

from onlinekern.core.base.growing_memory cimport free_grown, grown
from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport integer_within
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport OK_PANEL, ok_sparse_row
from onlinekern.core.kernels.block cimport Block
from onlinekern.core.kernels.panel_store cimport Store
from onlinekern.core.samples.sparse_rows cimport (
    Point, of_sparse_rows, sparse_distance, vanishes,
)


# The garbage collector must leave the journal: `__dealloc__` frees the rows that it owns.
@cython.no_gc_clear
cdef class SparseStore(Store):
    """Support vectors as sparse rows, one allocation each: values, then columns.

    The journal owns the rows that were replaced since the checkpoint.
    """

    def __cinit__(self, Py_ssize_t d, Py_ssize_t itemsize):
        self.journal = Journal(sizeof(ok_sparse_row))

    def __dealloc__(self):
        cdef Py_ssize_t slot
        if self.journal is not None:
            self.checkpoint(0)
        for slot in range(self.capacity):
            free(<void *> self.rows[slot].values)
        free_grown(self.rows)

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil:
        cdef ok_sparse_row *fresh
        if capacity <= self.capacity:
            return OK
        fresh = <ok_sparse_row *> grown(
            self.rows, self.capacity, capacity, sizeof(ok_sparse_row))
        if fresh == NULL:
            return NO_MEMORY
        self.rows = fresh
        self.capacity = capacity
        return OK

    cdef Status write(self, Py_ssize_t slot, Block block, Py_ssize_t i) noexcept nogil:
        cdef const ok_sparse_row *row = &block.rows[i]
        cdef Py_ssize_t value_bytes = row.count * self.itemsize
        cdef Py_ssize_t column_bytes = row.count * sizeof(int32_t)
        cdef char *fresh = <char *> malloc(max(value_bytes + column_bytes, 1))
        if fresh == NULL:
            return NO_MEMORY
        memcpy(fresh, row.values, value_bytes)
        memcpy(fresh + value_bytes, row.columns, column_bytes)
        free(<void *> self.rows[slot].values)
        self.rows[slot].values = fresh
        self.rows[slot].columns = <int32_t *> (fresh + value_bytes)
        self.rows[slot].count = row.count
        return OK

    cdef Status read(self, Py_ssize_t slot, Point point) noexcept nogil:
        cdef const ok_sparse_row *row = &self.rows[slot]
        if point.reserve(row.count) < 0:
            return NO_MEMORY
        memcpy(point.values, row.values, row.count * self.itemsize)
        memcpy(point.columns, row.columns, row.count * sizeof(int32_t))
        point.finish(row.count)
        return OK

    cdef void clear(self, Py_ssize_t slot) noexcept nogil:
        self.rows[slot].count = 0

    cdef void checkpoint(self, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t r
        for r in range(self.journal.count):
            free(<void *> (<ok_sparse_row *> self.journal.copy(r)).values)
        self.journal.begin(n)

    cdef Status keep(self, Py_ssize_t slot) noexcept nogil:
        if not self.journal.wants(slot):
            return OK
        if self.journal.keep(slot, &self.rows[slot]) < 0:
            return NO_MEMORY
        self.rows[slot].values = NULL
        self.rows[slot].count = 0
        return OK

    cdef void rollback(self) noexcept nogil:
        cdef Py_ssize_t r
        for r in range(self.journal.count):
            free(<void *> self.rows[self.journal.numbers[r]].values)
        self.journal.restore(self.rows, sizeof(ok_sparse_row))
        self.journal.begin(0)

    cdef bint needs_panels(self) noexcept nogil:
        return True

    cdef void product(self, Block block, Py_ssize_t first, Py_ssize_t n, Py_ssize_t panel,
                      int accumulate, char *g, Py_ssize_t ld) noexcept nogil:
        cdef Py_ssize_t q, part
        for q in range((n + OK_PANEL - 1) // OK_PANEL):
            self.ops.sparse[of_sparse_rows(accumulate)](
                self.rows + panel * OK_PANEL, OK_PANEL, block.place,
                block.panel(first // OK_PANEL + q), block.scratch, OK_PANEL)
            part = min(OK_PANEL, n - q * OK_PANEL)
            self.ops.transpose(block.scratch, part, g + q * OK_PANEL * ld * self.itemsize, ld)

    cdef void distance(self, Block block, Py_ssize_t i, Py_ssize_t panel, int accumulate,
                       bint sifted, char *g) noexcept nogil:
        cdef Py_ssize_t slot
        cdef double value
        for slot in range(OK_PANEL):
            if sifted and vanishes((<float *> g)[slot]):
                value = INFINITY
            else:
                value = sparse_distance(&block.rows[i], &self.rows[panel * OK_PANEL + slot],
                                        self.itemsize, accumulate)
            if self.itemsize == 4:
                (<float *> g)[slot] = <float> value
            else:
                (<double *> g)[slot] = value

    cdef void wide_distances(self, Block block, const double *squares, Py_ssize_t first,
                             Py_ssize_t n, Py_ssize_t panel, char *g, Py_ssize_t ld) noexcept nogil:
        cdef Py_ssize_t j, q, slot, last
        cdef bint any_asked
        cdef const float *found = <const float *> block.scratch
        for q in range(first // OK_PANEL, (first + n + OK_PANEL - 1) // OK_PANEL):
            last, any_asked = min(first + n, (q + 1) * <Py_ssize_t> OK_PANEL), False
            for j in range(max(first, q * <Py_ssize_t> OK_PANEL), last):
                any_asked |= squares[j] >= 0
            if not any_asked:
                continue
            self.ops.sparse_squared(self.rows + panel * OK_PANEL, OK_PANEL, block.place,
                                    block.panel(q), squares + q * OK_PANEL, block.scratch, OK_PANEL)
            for j in range(max(first, q * <Py_ssize_t> OK_PANEL), last):
                if squares[j] < 0:
                    continue
                for slot in range(OK_PANEL):
                    (<float *> g)[(j - first) * ld + slot] = found[slot * OK_PANEL + j % OK_PANEL]

    def nbytes(self, Py_ssize_t n):
        cdef Py_ssize_t slot, stored = 0
        integer_within("n", n, 0, self.capacity)
        for slot in range(n):
            stored += self.rows[slot].count
        return self.capacity * sizeof(ok_sparse_row) + stored * (self.itemsize + sizeof(int32_t))

    def get_rows(self, Py_ssize_t n):
        """The first `n` rows, of those there is room for, as a CSR matrix of shape (n, d)."""
        cdef Py_ssize_t slot, first, address
        integer_within("n", n, 0, self.capacity)
        starts = np.zeros(n + 1, dtype=np.int64)
        for slot in range(n):
            starts[slot + 1] = starts[slot] + self.rows[slot].count
        values = np.zeros(starts[n], np.float32 if self.itemsize == 4 else np.float64)
        columns = np.zeros(starts[n], np.int32)
        for slot in range(n):
            first = starts[slot]
            address = values.ctypes.data
            address += first * self.itemsize
            memcpy(<void *> address, self.rows[slot].values, self.rows[slot].count * self.itemsize)
            address = columns.ctypes.data
            address += first * <Py_ssize_t> sizeof(int32_t)
            memcpy(<void *> address, self.rows[slot].columns,
                   self.rows[slot].count * sizeof(int32_t))
        if starts[n] <= INT32_MAX:
            starts = starts.astype(np.int32)
        return sp.csr_matrix((values, columns, starts), shape=(n, self.d))
