"""ExactCutter: the best of all cuts along axes, for some of the trees.

A function that jumps along axes is found by deep trees whose cuts are exact, as those of CART are
(Breiman et al. 1984): no cut that is drawn lies just where the function jumps, and what it lies
beside of must be cut again further below. Such trees need many rows: of few, the best of all cuts
finds something in any noise.

Rows are ranked along an axis once. The rows of a node are sorted by marking their ranks, so a cut
costs some nanoseconds a row and axis, however many rows there are.
"""
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from onlinekern.core.partitions.boosting cimport LANES

# Axes along which cuts are sought, the steepest ones; rows on each side of a cut at least; and what
# a cut must gain for a row of its node.
MOST_SOUGHT = 16
cdef Py_ssize_t LEAST_ROWS = 3
cdef double LEAST_GAIN = 1e-6
# Nodes of fewer rows are sorted by inserting one after another.
cdef Py_ssize_t INSERTED = 48
# What the work on a row of a node is along an axis, in about a nanosecond.
cdef Py_ssize_t WORK_OF_ROW = 8

cdef extern from *:
    int first_bit "__builtin_ctzll"(unsigned long long word) nogil


def steepest(mean, Py_ssize_t n_axes):
    """The axes along which the function is steepest, ascending, from mean squares of slopes."""
    order = np.argsort(-np.asarray(mean)[:n_axes], kind="stable")
    return np.sort(order[:MOST_SOUGHT]).astype(np.int32)


cdef class ExactCutter(Cutter):
    """A cutter that can cut exactly.

    Before the first such tree, `seek_along` gets the axes and `rank` ranks the rows along each.
    """

    def __dealloc__(self):
        free(self.node)
        free(self.marked)

    def seek_along(self, axes):
        """Have memory for exact cuts along these axes."""
        cdef Py_ssize_t n = self.n_rows
        self.n_sought, self.sought = len(axes), axes
        self.by_rank = np.empty((len(axes), n), dtype=np.int32)
        self.ranks = np.empty((len(axes), n), dtype=np.int32)
        self.left = np.empty(n * self.boosting.width, dtype=np.float32)
        self.inverses = 1 / np.maximum(np.arange(n + 1), 1)
        self.node = <int32_t *> calloc(n + 1, sizeof(int32_t))
        self.marked = <uint64_t *> calloc(n // 64 + 1, sizeof(uint64_t))
        if self.node == NULL or self.marked == NULL:
            raise MemoryError(f"no memory to cut {n} rows")

    def rank(self, Py_ssize_t a):
        """Rank the rows along an axis that is sought; equal ones by their number."""
        cdef Py_ssize_t i
        cdef const int32_t[::1] order
        if a >= self.n_sought:
            return
        column = np.asarray(self.rows)[:, self.sought[a]]
        order = np.argsort(column, kind="stable").astype(np.int32)
        for i in range(self.n_rows):
            self.by_rank[a, i] = order[i]
            self.ranks[a, order[i]] = <int32_t> i

    cdef Cut best_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        return self.exact_cut(first, last) if self.is_exact else Cutter.best_cut(self, first, last)

    cdef Cut exact_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """The best of all cuts of rows order[first] ... order[last - 1] that leave enough rows."""
        cdef Cut best
        cdef Py_ssize_t a, i, k, n = last - first, width = self.boosting.width
        cdef int32_t row
        cdef float number
        cdef double least = 0
        cdef double total[LANES]
        for k in range(width):
            total[k] = 0
        for i in range(first, last):
            row = self.order[i]
            for k in range(width):
                number = self.boosting.residual(row * width + k)
                self.left[row * width + k] = number
                total[k] += number
        for k in range(width):
            least += total[k] * total[k] * self.inverses[n]
        best.feature, best.at, best.gain = 0, 0, least + LEAST_GAIN * n
        least = best.gain
        if n >= 2 * LEAST_ROWS:
            for a in range(self.n_sought):
                self.sort_node(a, first, n)
                self.seek(a, n, total, &best)
        self.work += WORK_OF_ROW * n * (1 + self.n_sought)
        if best.gain <= least:
            best.gain = -1
        return best

    cdef void sort_node(self, Py_ssize_t a, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Sort the rows of a node along an axis."""
        cdef Py_ssize_t i, j, n_words = self.n_rows // 64 + 1
        cdef uint64_t word
        cdef int32_t row, rank
        cdef const int32_t *ranks = &self.ranks[a, 0]
        cdef const int32_t *by_rank = &self.by_rank[a, 0]
        if n < INSERTED:
            for i in range(n):
                row = self.order[first + i]
                rank, j = ranks[row], i
                while j > 0 and ranks[self.node[j - 1]] > rank:
                    self.node[j] = self.node[j - 1]
                    j -= 1
                self.node[j] = row
            return
        for i in range(n):
            rank = ranks[self.order[first + i]]
            self.marked[rank >> 6] |= <uint64_t> 1 << (rank & 63)
        j = 0
        for i in range(n_words):
            word = self.marked[i]
            while word:
                self.node[j] = by_rank[64 * i + first_bit(word)]
                word &= word - 1
                j += 1
            self.marked[i] = 0

    cdef void seek(self, Py_ssize_t a, Py_ssize_t n, const double *total,
                   Cut *best) noexcept nogil:
        """Take a cut along an axis, by which the rows of a node are sorted, if it is better."""
        cdef Py_ssize_t i, k, at = -1, width = self.boosting.width
        cdef double gain, rest
        cdef double left[LANES]
        cdef float low, high
        cdef const float *column = self.columns + self.sought[a] * self.n_rows
        for k in range(width):
            left[k] = 0
        for i in range(1, n - LEAST_ROWS + 1):
            for k in range(width):
                left[k] += self.left[self.node[i - 1] * width + k]
            if i < LEAST_ROWS or column[self.node[i - 1]] == column[self.node[i]]:
                continue
            gain = 0
            for k in range(width):
                rest = total[k] - left[k]
                gain += left[k] * left[k] * self.inverses[i] + rest * rest * self.inverses[n - i]
            if gain > best.gain:
                best.gain, at = gain, i
        if at < 0:
            return
        low, high = column[self.node[at - 1]], column[self.node[at]]
        best.feature = self.sought[a]
        best.at = <float> (low + (<double> high - low) * 0.5)
        # Rounding must not put both sides on one.
        if best.at >= high:
            best.at = low
