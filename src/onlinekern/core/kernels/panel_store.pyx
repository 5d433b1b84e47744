"""Stores: where the support vectors are kept, and their products with a block.

Three layouts have one interface:

PanelStore
    Dense feature-major panels, for dense and sparse blocks. With n support vectors of d features,
    a dense sample costs n d at the rate of a matrix product, a sparse one n times its stored
    elements.
SparseStore
    One allocation per support vector, for sparse samples of many features (module sparse_store).
    The block is copied into panels, and each support vector is multiplied with them. Memory follows
    the stored elements.
ByteStore
    Panels of bytes, for rows of zeros and ones (module byte_store).

A panel holds OK_PANEL rows, feature by feature; the elements of one row are its lane. A block g of
products has one row per sample and OK_PANEL columns, one per slot of the panel.
"""
from cython cimport floating
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.growing_memory cimport free_grown, grown
from onlinekern.core.base.part cimport NOT_GIVEN, NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport integer_within, size_of
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport OK_PANEL, OK_SQUARED, ok_sparse_row, ops_for
from onlinekern.core.kernels.block cimport Block
from onlinekern.core.samples.sparse_rows cimport (
    MARKS, Point, distance_term, lowest_bit, of_sparse_rows, vanishes,
)


cdef inline void put_lane(floating *lane, const floating *values, Py_ssize_t d) noexcept nogil:
    """Write one dense row into a lane of a panel."""
    cdef Py_ssize_t j
    for j in range(d):
        lane[j * OK_PANEL] = values[j]


cdef inline void put_elements(floating *lane, uint64_t *marks, const floating *values,
                              const int32_t *columns, Py_ssize_t count) noexcept nogil:
    """Write the elements of one sparse row into an empty lane of a panel, and mark them."""
    cdef Py_ssize_t j
    cdef uint32_t column, word = 0
    cdef uint64_t gathered = 0
    for j in range(count):
        column = <uint32_t> columns[j]
        lane[column * <Py_ssize_t> OK_PANEL] = values[j]
        # The marks of a word are gathered in a register: each in memory waits for the one before.
        if column // MARKS != word:
            marks[word] |= gathered
            word, gathered = column // MARKS, 0
        gathered |= <uint64_t> 1 << column % MARKS
    if count > 0:
        marks[word] |= gathered


cdef inline void zero_lane(floating *lane, uint64_t *marks, Py_ssize_t words) noexcept nogil:
    """Empty a lane: the elements that are marked."""
    cdef Py_ssize_t word
    for word in range(words):
        while marks[word]:
            lane[(word * MARKS + lowest_bit(marks[word])) * OK_PANEL] = 0
            marks[word] &= marks[word] - 1


cdef inline void get_lane(const floating *lane, floating *values, Py_ssize_t d) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(d):
        values[j] = lane[j * OK_PANEL]


cdef inline void lane_distances(const floating *x, const floating *panel, Py_ssize_t d,
                                int accumulate, bint sifted, floating *g) noexcept nogil:
    """g[slot] = distance of x and s, summed as `sparse_distance` does: ascending, in double."""
    cdef Py_ssize_t j, slot
    cdef double total, difference
    for slot in range(OK_PANEL):
        if sifted and vanishes(g[slot]):
            g[slot] = INFINITY
            continue
        total = 0
        for j in range(d):
            difference = <double> x[j] - panel[j * OK_PANEL + slot]
            total += distance_term(difference, accumulate)
        g[slot] = <floating> total


cdef inline void square_lanes(const float *panel, Py_ssize_t d, double *squares) noexcept nogil:
    """Squared norms of the rows of a panel, ascending, in double."""
    cdef Py_ssize_t j, slot
    for slot in range(OK_PANEL):
        squares[slot] = 0
    for j in range(d):
        for slot in range(OK_PANEL):
            squares[slot] += <double> panel[j * OK_PANEL + slot] * panel[j * OK_PANEL + slot]


cdef class Store:
    """Base of the stores.

    Parameters
    ----------
    d : int
        Features of a row.
    itemsize : int
        4 or 8.
    """

    abstract = True

    def __cinit__(self, Py_ssize_t d, Py_ssize_t itemsize):
        size_of("a row of features", d, itemsize)
        self.d = d
        self.itemsize = itemsize
        self.ops = ops_for(itemsize)
        self.journal = Journal(d * itemsize)

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil:
        """Make room for `capacity` rows, a multiple of OK_PANEL. Returns a status."""
        self.missing = b"Store.reserve"
        return NOT_GIVEN

    cdef Status write(self, Py_ssize_t slot, Block block, Py_ssize_t i) noexcept nogil:
        """Store row i of the block in `slot`. Returns a status."""
        self.missing = b"Store.write"
        return NOT_GIVEN

    cdef Status read(self, Py_ssize_t slot, Point point) noexcept nogil:
        """Copy the row of `slot`. Returns a status."""
        self.missing = b"Store.read"
        return NOT_GIVEN

    cdef void clear(self, Py_ssize_t slot) noexcept nogil:
        """Make the row of `slot` zero."""
        self.missing = b"Store.clear"

    cdef void checkpoint(self, Py_ssize_t n) noexcept nogil:
        """Remember the first n rows for `rollback`; call `keep` before one is overwritten."""
        self.journal.begin(n)

    cdef Status keep(self, Py_ssize_t slot) noexcept nogil:
        """Copy a row that `rollback` needs, once. Returns a status."""
        self.missing = b"Store.keep"
        return NOT_GIVEN

    cdef void rollback(self) noexcept nogil:
        """Put back the rows of the checkpoint that were overwritten."""
        self.missing = b"Store.rollback"

    cdef bint needs_panels(self) noexcept nogil:
        """Whether `product` needs the block's panels."""
        return False

    cdef void product(self, Block block, Py_ssize_t first, Py_ssize_t n, Py_ssize_t panel,
                      int accumulate, char *g, Py_ssize_t ld) noexcept nogil:
        """g = products of n rows of the block, from row `first` on, with the slots of one panel.

        Where the block needs panels, `first` is the first row of one.
        """
        self.missing = b"Store.product"

    cdef void distance(self, Block block, Py_ssize_t i, Py_ssize_t panel, int accumulate,
                       bint sifted, char *g) noexcept nogil:
        """g[0:OK_PANEL] = distances of row i to the slots of one panel.

        Squared ones; of sparse rows l1 distances if `accumulate` is OK_ABSOLUTE. With `sifted`,
        g are kernel values, and the distance of one that vanishes is infinite.
        """
        self.missing = b"Store.distance"

    cdef void wide_distances(self, Block block, const double *squares, Py_ssize_t first,
                             Py_ssize_t n, Py_ssize_t panel, char *g, Py_ssize_t ld) noexcept nogil:
        """The squared distances of n sparse rows in float32, from row `first` on, by products in
        double.

        `squares` has the squared norm of each row of the block, in whole panels; where it is < 0
        the distances are not asked for. Where the block needs panels, they are made.
        """
        cdef Py_ssize_t j
        for j in range(first, first + n):
            if squares[j] >= 0:
                self.distance(block, j, panel, OK_SQUARED, False,
                              g + (j - first) * ld * self.itemsize)

    def nbytes(self, Py_ssize_t n):
        """Bytes allocated, with the first `n` rows in use."""
        raise NotImplementedError(f"{type(self).__name__} does not define Store.nbytes")


cdef class PanelStore(Store):
    """Support vectors in dense feature-major panels.

    The elements of a lane are a cache line apart. A bit for each marks those that may not be 0, so
    that a sparse row takes the place of another at the cost of their stored elements.
    """

    def __cinit__(self, *_):
        self.words = (self.d + MARKS - 1) // MARKS

    def __dealloc__(self):
        free_grown(self.panels)
        free_grown(self.marks)

    cdef char *panel(self, Py_ssize_t index) noexcept nogil:
        return self.panels + index * self.d * OK_PANEL * self.itemsize

    cdef char *lane(self, Py_ssize_t slot) noexcept nogil:
        return self.panel(slot // OK_PANEL) + slot % OK_PANEL * self.itemsize

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil:
        cdef Py_ssize_t row_bytes = self.d * self.itemsize
        cdef Py_ssize_t mark_bytes = self.words * <Py_ssize_t> sizeof(uint64_t)
        cdef void *fresh
        if capacity <= self.capacity:
            return OK
        fresh = grown(self.marks, self.capacity, capacity, max(mark_bytes, 1))
        if fresh == NULL:
            return NO_MEMORY
        self.marks = <uint64_t *> fresh
        fresh = grown(self.panels, self.capacity, capacity, max(row_bytes, 1))
        if fresh == NULL:
            return NO_MEMORY
        self.panels = <char *> fresh
        self.capacity = capacity
        return OK

    cdef Status write(self, Py_ssize_t slot, Block block, Py_ssize_t i) noexcept nogil:
        cdef uint64_t *marks = self.marks + slot * self.words
        cdef const ok_sparse_row *row = &block.rows[i]
        if not block.sparse:
            self.write_dense(slot, block.dense + i * self.d * self.itemsize)
            return OK
        self.clear(slot)
        if self.itemsize == 4:
            put_elements(<float *> self.lane(slot), marks, <const float *> row.values,
                         row.columns, row.count)
        else:
            put_elements(<double *> self.lane(slot), marks, <const double *> row.values,
                         row.columns, row.count)
        return OK

    cdef void write_dense(self, Py_ssize_t slot, const char *values) noexcept nogil:
        """Write d elements into `slot`."""
        cdef Py_ssize_t word
        cdef uint64_t *marks = self.marks + slot * self.words
        if self.itemsize == 4:
            put_lane(<float *> self.lane(slot), <const float *> values, self.d)
        else:
            put_lane(<double *> self.lane(slot), <const double *> values, self.d)
        for word in range(self.words):
            marks[word] = ~<uint64_t> 0
        if self.d % MARKS:
            marks[self.words - 1] = (<uint64_t> 1 << self.d % MARKS) - 1

    cdef Status read(self, Py_ssize_t slot, Point point) noexcept nogil:
        cdef char *values = point.dense_values()
        if values == NULL:
            return NO_MEMORY
        if self.itemsize == 4:
            get_lane(<float *> self.lane(slot), <float *> values, self.d)
        else:
            get_lane(<double *> self.lane(slot), <double *> values, self.d)
        return point.finish_dense()

    cdef void clear(self, Py_ssize_t slot) noexcept nogil:
        cdef uint64_t *marks = self.marks + slot * self.words
        if self.itemsize == 4:
            zero_lane(<float *> self.lane(slot), marks, self.words)
        else:
            zero_lane(<double *> self.lane(slot), marks, self.words)

    cdef Status keep(self, Py_ssize_t slot) noexcept nogil:
        cdef char *row
        if not self.journal.wants(slot):
            return OK
        row = self.journal.add_copy(slot)
        if row == NULL:
            return NO_MEMORY
        if self.itemsize == 4:
            get_lane(<float *> self.lane(slot), <float *> row, self.d)
        else:
            get_lane(<double *> self.lane(slot), <double *> row, self.d)
        return OK

    cdef void rollback(self) noexcept nogil:
        cdef Py_ssize_t r
        for r in range(self.journal.count):
            self.write_dense(self.journal.numbers[r], self.journal.copy(r))

    cdef void product(self, Block block, Py_ssize_t first, Py_ssize_t n, Py_ssize_t panel,
                      int accumulate, char *g, Py_ssize_t ld) noexcept nogil:
        if block.sparse:
            self.ops.sparse[of_sparse_rows(accumulate)](
                block.rows + first, n, NULL, self.panel(panel), g, ld)
        else:
            self.ops.dense[accumulate](block.dense + first * self.d * self.itemsize, self.d, n,
                                       self.d, self.panel(panel), g, ld)

    cdef void distance(self, Block block, Py_ssize_t i, Py_ssize_t panel, int accumulate,
                       bint sifted, char *g) noexcept nogil:
        if block.sparse:  # as KernelBlock.recompute_exact does
            if self.itemsize == 4:
                lane_distances(<const float *> block.as_dense(i),
                               <const float *> self.panel(panel), self.d, accumulate, sifted,
                               <float *> g)
            else:
                lane_distances(<const double *> block.as_dense(i),
                               <const double *> self.panel(panel), self.d, accumulate, sifted,
                               <double *> g)
        else:
            self.ops.dense[OK_SQUARED](block.as_dense(i), self.d, 1, self.d, self.panel(panel), g,
                                       OK_PANEL)

    cdef void wide_distances(self, Block block, const double *squares, Py_ssize_t first,
                             Py_ssize_t n, Py_ssize_t panel, char *g, Py_ssize_t ld) noexcept nogil:
        cdef Py_ssize_t j
        cdef double[OK_PANEL] own
        cdef const float *rows = <const float *> self.panel(panel)
        square_lanes(rows, self.d, own)
        for j in range(first, first + n):
            if squares[j] >= 0:
                self.ops.sparse_squared(&block.rows[j], 1, NULL, rows, own,
                                        g + (j - first) * ld * self.itemsize, OK_PANEL)

    def nbytes(self, Py_ssize_t n):
        return self.capacity * (self.d * self.itemsize + self.words * sizeof(uint64_t))

    def get_rows(self, Py_ssize_t n):
        """The first `n` rows, of those there is room for, as an ndarray of shape (n, d)."""
        integer_within("n", n, 0, self.capacity)
        panels = (n + OK_PANEL - 1) // OK_PANEL
        out = np.zeros((panels, self.d, OK_PANEL), np.float32 if self.itemsize == 4 else np.float64)
        cdef Py_ssize_t address = out.ctypes.data
        if n > 0:
            memcpy(<void *> address, self.panels, out.nbytes)
        return np.ascontiguousarray(out.transpose(0, 2, 1).reshape(-1, self.d)[:n])
