"""ExactCutter: the best of all cuts along axes, for some of the trees.

A function that jumps along axes is found by deep trees whose cuts are exact, as those of CART are
(Breiman et al. 1984): no cut that is drawn lies just where the function jumps, and what it lies
beside of must be cut again further below. Such trees need many rows: of few, the best of all cuts
finds something in any noise.

Rows are ranked along an axis once, and have a code of 15 bits there. The rows of a node are sorted
by it along eight axes at a time, or sixteen. Those of a large node are counted in 256 bins of
codes, and then in the codes of the two bins beside the best edge of each axis. What is left of the
targets is summed in whole numbers, so that the order does not matter.
"""
from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.partitions.loops cimport ok_prefetch

# Axes along which cuts are sought, the steepest ones, and what a cut must gain for a row of its
# node.
MOST_SOUGHT = OK_SOUGHT
cdef double LEAST_GAIN = 1e-6
# A rank is so many steps of the sort, and the codes.
RANK_STEPS = 4
# What the work on a row of a node is along an axis, in about a nanosecond: where four of them are
# sorted, by one number and by several, and where two are counted, with what a row takes beside; and
# what is done once in a node.
cdef Py_ssize_t[2] WORK_OF_SORTED = [5, 12]
cdef Py_ssize_t[2] WORK_OF_TWO = [1, 2]
cdef Py_ssize_t WORK_OF_COUNTED = 2
cdef Py_ssize_t[2] WORK_OF_BINS = [1500, 15000]
cdef Py_ssize_t WORK_OF_NODE = 100
# What an exact tree takes for each row to begin with: codes come into the caches.
cdef Py_ssize_t WORK_OF_FIRST = 4
# Rows that are counted at a time.
cdef Py_ssize_t COUNTED = 512
# Bits of the largest of the whole numbers, and of a sum of all.
cdef int MOST_BITS = 14
cdef int BITS_OF_SUM = 30
# Rows are sorted by so many bits of their numbers at a time.
cdef enum: DIGIT = 11
cdef enum: CODES = 1 << 15


cdef uint32_t key_of(float number) noexcept nogil:
    """A whole number that is ordered as the number is."""
    cdef uint32_t bits
    # There is one zero: -0.0 + 0.0 is 0.0.
    number += 0
    memcpy(&bits, &number, sizeof(float))
    return ~bits if bits >> 31 else bits | (<uint32_t> 1 << 31)


cdef void sort_by(const uint32_t *keys, Py_ssize_t n, Py_ssize_t shift, const int32_t *order,
                  int32_t *out) noexcept nogil:
    """Sort n rows, which stand in an order, by a digit of their keys; NULL: by their number."""
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
    """The axes along which the function is steepest, ascending, from mean squares of slopes."""
    order = np.argsort(-np.asarray(mean)[:n_axes], kind="stable")
    return np.sort(order[:MOST_SOUGHT]).astype(np.int32)


cdef class ExactCutter(Cutter):
    """A cutter that can cut exactly.

    Before the first such tree, `seek_along` gets the axes and `rank` ranks the rows along each.
    """

    def __dealloc__(self):
        free(self.counts)

    def seek_along(self, axes):
        """Have memory for exact cuts along these axes."""
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
        """Take one of `RANK_STEPS` steps to rank the rows along an axis that is sought."""
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
        """Give rows, which are in ascending order along an axis, their codes there: of the rank of
        the first that is equal. Of up to 32,768 rows each rank has a code of its own.
        """
        cdef Py_ssize_t i, first = 0
        for i in range(self.n_rows):
            self.ascending[a, i] = column[order[i]]
            if self.ascending[a, i] != self.ascending[a, first]:
                first = i
            self.codes[order[i], a] = <uint16_t> (<int64_t> first * CODES // self.n_rows)

    cdef void begin_exact(self) noexcept nogil:
        """Begin an exact tree: write what is left of the targets as whole numbers."""
        cdef int bits = BITS_OF_SUM
        cdef double unit
        while self.n_rows >> (BITS_OF_SUM - bits):
            bits -= 1
        unit = self.loops.code_numbers(self.boosting.left, self.n_rows * self.boosting.width,
                                       min(bits, MOST_BITS), &self.coded[0])
        self.least, self.n_counted = <float> (LEAST_GAIN * unit * unit), 0
        self.work += (WORK_OF_FIRST + self.boosting.width) * self.n_rows

    cdef bint seeks(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Count some more of the rows order[first] ... order[last - 1] of a large node.

        Returns whether there is more to be done before it can be cut.
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
        """The best cut of rows order[first] ... order[last - 1], which are counted if many."""
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
            ok_prefetch(self.least_of(found.axis, found.low + 1) - 1)
            ok_prefetch(self.least_of(found.axis, found.high))
        return cut

    cdef Py_ssize_t divide(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t middle,
                           ok_cut *cut) noexcept nogil:
        if not self.is_exact or last - first > OK_MOST_SORTED:
            if self.is_exact:
                cut.at = self.place()
            return Cutter.divide(self, first, last, middle, cut)
        # The codes of the rows of a small node are near; their numbers are not, nor is its place.
        middle = self.loops.divide_codes(&self.codes[0, 0], self.order, first, last, &self.found)
        cut.at = self.place()
        return middle

    cdef float *least_of(self, Py_ssize_t a, int64_t code) noexcept nogil:
        """The least number along an axis that has this code, or a larger one."""
        return &self.ascending[a, (code * self.n_rows + CODES - 1) // CODES]

    cdef float place(self) noexcept nogil:
        """The place of the cut that has been found: between the numbers beside it."""
        cdef Py_ssize_t a = self.found.axis
        cdef float under = (self.least_of(a, self.found.low + 1) - 1)[0]
        cdef float over = self.least_of(a, self.found.high)[0]
        cdef float at = <float> (under + (<double> over - under) * 0.5)
        # Rounding must not put both sides on one.
        return under if at >= over else at
