"""ExactCutter: splits the nodes of some trees at the best of all thresholds along axes.

Functions that jump along axes need exact splits, as CART has them (Breiman et al. 1984). A random
threshold misses the place of the jump, and the rows between both must be split again further down.
Exact trees need many rows: with few, the best of all splits fits noise.

Rows are ranked along each axis once; a row has a 15-bit code for its rank. The rows of a small node
are sorted by their codes, along eight or sixteen axes at a time. The rows of a large node are
counted in histograms of 256 bins of codes. A second histogram has a bin for every code of the two
bins beside the best edge of each axis. Residuals are summed as integers, so the sums do not depend
on the order of the rows.
"""
from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.partitions.loops cimport ok_prefetch

# At most this many axes are searched, the steepest ones.
MOST_SOUGHT = OK_SOUGHT
# A split must lower the squared residuals by more than this for each row of its node.
cdef double LEAST_GAIN = 1e-6
# Steps that rank an axis: three digits of a radix sort, then the codes.
RANK_STEPS = 4
# Units of work, about a nanosecond each; pairs are for one output and for several. Sorting a row
# along four axes; counting it along two axes, and once beside; a histogram of a node; a small node.
cdef Py_ssize_t[2] WORK_OF_SORTED = [5, 12]
cdef Py_ssize_t[2] WORK_OF_TWO = [1, 2]
cdef Py_ssize_t WORK_OF_COUNTED = 2
cdef Py_ssize_t[2] WORK_OF_BINS = [1500, 15000]
cdef Py_ssize_t WORK_OF_NODE = 100
# Work for each row at the beginning of an exact tree: its codes are cache misses.
cdef Py_ssize_t WORK_OF_FIRST = 4
# Rows that one step counts.
cdef Py_ssize_t COUNTED = 512
# Bits of the largest integer residual, and of the sum of all: int16 and int32 must not overflow.
cdef int MOST_BITS = 14
cdef int BITS_OF_SUM = 30
# Bits of a digit of the radix sort.
cdef enum: DIGIT = 11
cdef enum: CODES = 1 << 15


cdef uint32_t key_of(float number) noexcept nogil:
    """An unsigned integer in the same order as the float."""
    cdef uint32_t bits
    # Both zeros must have one key: -0.0 + 0.0 is 0.0.
    number += 0
    memcpy(&bits, &number, sizeof(float))
    return ~bits if bits >> 31 else bits | (<uint32_t> 1 << 31)


cdef void sort_by(const uint32_t *keys, Py_ssize_t n, Py_ssize_t shift, const int32_t *order,
                  int32_t *out) noexcept nogil:
    """Counting sort of n rows by one digit of their keys, stable; `order` NULL is 0 ... n - 1."""
    cdef Py_ssize_t i, sum = 0, count
    cdef int32_t row
    cdef int32_t starts[1 << DIGIT]
    memset(starts, 0, sizeof(starts))
    for i in range(n):
        starts[keys[i] >> shift & ((1 << DIGIT) - 1)] += 1
    for i in range(1 << DIGIT):
        count = starts[i]
        starts[i] = <int32_t> sum
        sum += count
    for i in range(n):
        row = order[i] if order != NULL else <int32_t> i
        count = keys[row] >> shift & ((1 << DIGIT) - 1)
        out[starts[count]] = row
        starts[count] += 1


def steepest(mean, Py_ssize_t n_axes):
    """The MOST_SOUGHT axes with the largest mean squared slopes, ascending."""
    order = np.argsort(-np.asarray(mean)[:n_axes], kind="stable")
    return np.sort(order[:MOST_SOUGHT]).astype(np.int32)


cdef class ExactCutter(Cutter):
    """A cutter that can also make exact splits.

    Before the first exact tree, call `seek_along` with the axes, then `rank` for each axis.
    """

    def __dealloc__(self):
        free(self.counts)

    def seek_along(self, axes):
        """Allocate memory for exact splits along these axes."""
        cdef Py_ssize_t n = self.n_rows
        self.n_sought, self.sought = len(axes), axes
        self.codes = np.zeros((n, OK_SOUGHT), dtype=np.uint16)
        self.ascending = np.empty((len(axes), n), dtype=np.float32)
        self.coded = np.empty(n * self.boosting.width, dtype=np.int16)
        self.keys, self.turns = np.empty(n, dtype=np.uint32), np.empty((2, n), dtype=np.int32)
        self.counts = <ok_counts *> calloc(1, sizeof(ok_counts))
        if self.counts == NULL:
            raise MemoryError(f"no memory to cut {n} rows")

    def rank(self, Py_ssize_t a, Py_ssize_t step):
        """Do one of the `RANK_STEPS` steps that rank the rows along axis sought[a]."""
        cdef Py_ssize_t i
        cdef const float *column
        cdef const int32_t *order
        if a >= self.n_sought:
            return
        column = self.columns + self.sought[a] * self.n_rows
        if step == 0:
            for i in range(self.n_rows):
                self.keys[i] = key_of(column[i])
        order = &self.turns[(step + 1) % 2, 0]
        if step < RANK_STEPS - 1:
            sort_by(&self.keys[0], self.n_rows, DIGIT * step, order if step > 0 else NULL,
                    &self.turns[step % 2, 0])
        else:
            self.code(a, column, order)

    cdef void code(self, Py_ssize_t a, const float *column, const int32_t *order) noexcept nogil:
        """Write the codes of the rows along an axis: rank * CODES / n_rows, where `order` sorts
        them and equal values have the lowest rank. Up to CODES rows, each rank has its own code.
        """
        cdef Py_ssize_t i, first = 0
        for i in range(self.n_rows):
            self.ascending[a, i] = column[order[i]]
            if self.ascending[a, i] != self.ascending[a, first]:
                first = i
            self.codes[order[i], a] = <uint16_t> (<int64_t> first * CODES // self.n_rows)

    cdef void begin_exact(self) noexcept nogil:
        """Begin an exact tree: round the residuals to integers."""
        cdef int bits = BITS_OF_SUM
        cdef double unit
        while self.n_rows >> (BITS_OF_SUM - bits):
            bits -= 1
        unit = self.loops.code_numbers(self.boosting.left, self.n_rows * self.boosting.width,
                                       min(bits, MOST_BITS), &self.coded[0])
        self.least, self.n_counted = <float> (LEAST_GAIN * unit * unit), 0
        self.work += (WORK_OF_FIRST + self.boosting.width) * self.n_rows

    cdef bint count_some(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Count some more of the rows order[first] ... order[last - 1] of a large node.

        Returns whether there is more to count before the node can be split.
        """
        cdef Py_ssize_t n = last - first, width = self.boosting.width, m
        if n <= OK_MOST_SORTED:
            return False
        if self.n_counted == 0:
            self.loops.begin_counts(self.counts, width)
            self.is_near = False
        elif self.n_counted == n and not self.is_near:
            self.loops.near_edges(self.counts, n, width, self.n_sought)
            self.work += WORK_OF_BINS[width > 1]
            self.is_near = True
            return True
        first += self.n_counted % n
        m = min(last - first, COUNTED)
        self.loops.count_rows(&self.codes[0, 0], self.order + first, m, &self.coded[0], width,
                              self.n_sought, self.counts)
        self.n_counted += m
        self.work += (WORK_OF_TWO[width > 1] * self.n_sought // 2 + WORK_OF_COUNTED) * m
        return self.n_counted < 2 * n

    cdef ok_cut best_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        return self.exact_cut(first, last) if self.is_exact else Cutter.best_cut(self, first, last)

    cdef ok_cut exact_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """The best split of rows order[first] ... order[last - 1]; many rows are counted already.
        """
        cdef Py_ssize_t n = last - first, width = self.boosting.width
        cdef ok_exact_cut *found = &self.found
        cdef ok_cut cut
        found.gain, found.axis, found.low, found.high = self.least, -1, 0, 0
        if n <= OK_MOST_SORTED:
            self.loops.cut_sorted(&self.codes[0, 0], self.order + first, n, &self.coded[0], width,
                                  self.n_sought, found)
            self.work += WORK_OF_NODE + WORK_OF_SORTED[width > 1] * self.n_sought * n // 4
        else:
            self.loops.cut_counted(&self.codes[0, 0], self.order + first, n, width, self.n_sought,
                                   self.counts, found)
            self.n_counted = 0
            self.work += WORK_OF_BINS[width > 1]
        if found.axis < 0:
            cut.gain, cut.feature, cut.at = -1, 0, 0
        else:
            cut.gain, cut.feature, cut.at = found.gain, self.sought[found.axis], NAN
            ok_prefetch(self.lowest_of(found.axis, found.low + 1) - 1)
            ok_prefetch(self.lowest_of(found.axis, found.high))
        return cut

    cdef Py_ssize_t divide(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t middle,
                           ok_cut *cut) noexcept nogil:
        if not self.is_exact or last - first > OK_MOST_SORTED:
            if self.is_exact:
                cut.at = self.threshold()
            return Cutter.divide(self, first, last, middle, cut)
        # In a small node, the codes are in the cache. The values that give the threshold are not:
        # they were prefetched, and are read after the rows are divided by their codes.
        middle = self.loops.divide_codes(&self.codes[0, 0], self.order, first, last, &self.found)
        cut.at = self.threshold()
        return middle

    cdef float *lowest_of(self, Py_ssize_t a, int64_t code) noexcept nogil:
        """Address of the lowest value along axis sought[a] whose code is at least `code`."""
        return &self.ascending[a, (code * self.n_rows + CODES - 1) // CODES]

    cdef float threshold(self) noexcept nogil:
        """Threshold of the split found last: the middle between the two values beside it."""
        cdef Py_ssize_t a = self.found.axis
        cdef float under = (self.lowest_of(a, self.found.low + 1) - 1)[0]
        cdef float over = self.lowest_of(a, self.found.high)[0]
        cdef float at = <float> (under + (<double> over - under) * 0.5)
        # Rounding must not move the threshold up to `over`: its row would go left.
        return under if at >= over else at
