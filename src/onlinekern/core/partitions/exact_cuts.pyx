"""ExactCutter: the best of all cuts along axes, for some of the trees.

A function that jumps along axes is found by deep trees whose cuts are exact, as those of CART are
(Breiman et al. 1984): no cut that is drawn lies just where the function jumps, and what it lies
beside of must be cut again further below. Such trees need many rows: of few, the best of all cuts
finds something in any noise.

Rows are ranked along an axis once. The rows of a node are sorted by marking their ranks, so a cut
costs some nanoseconds a row and axis, however many rows there are.
"""
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

# Axes along which cuts are sought, the steepest ones; rows on each side of a cut at least; and what
# a cut must gain for a row of its node.
MOST_SOUGHT = 16
cdef Py_ssize_t LEAST_ROWS = 3
cdef double LEAST_GAIN = 1e-6
# Nodes of fewer rows are sorted by inserting one after another.
cdef Py_ssize_t INSERTED = 48
# What the work on a row of a node is along an axis, in about a nanosecond, and on a part of it.
cdef Py_ssize_t WORK_OF_ROW = 8
cdef Py_ssize_t MOST_AT_ONCE = 20000
# Rows are sorted by so many bits of their numbers at a time.
cdef enum: DIGIT = 11

cdef extern from *:
    int first_bit "__builtin_ctzll"(unsigned long long word) nogil


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

    def __cinit__(self):
        self.n_seen = -1

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
        cdef Py_ssize_t i, digit
        cdef uint32_t *keys
        cdef int32_t *turns[4]
        if a >= self.n_sought:
            return
        # The keys are where the ranks will be; the order changes between two places.
        keys = <uint32_t *> &self.ranks[a, 0]
        turns[0], turns[1], turns[2], turns[3] = NULL, &self.by_rank[a, 0], self.node, \
            &self.by_rank[a, 0]
        for i in range(self.n_rows):
            keys[i] = key_of(self.columns[self.sought[a] * self.n_rows + i])
        for digit in range(3):
            sort_by(keys, self.n_rows, DIGIT * digit, turns[digit], turns[digit + 1])
        for i in range(self.n_rows):
            self.ranks[a, self.by_rank[a, i]] = <int32_t> i

    cdef bint seeks(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Go on to seek the best cut of rows order[first] ... order[last - 1].

        Returns whether there is more to be done, which is so after a part of a large node.
        """
        cdef Py_ssize_t n = last - first, most = self.work + MOST_AT_ONCE
        if self.n_seen < 0:
            self.begin_cut(first, last)
        while self.n_seen < self.n_sought and n >= 2 * LEAST_ROWS:
            if self.work > most:
                return True
            self.sort_node(self.n_seen, first, n)
            self.seek(self.n_seen, n)
            self.n_seen += 1
            self.work += WORK_OF_ROW * n
        return False

    cdef Cut best_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        return self.exact_cut(first, last) if self.is_exact else Cutter.best_cut(self, first, last)

    cdef void begin_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Begin to seek a cut: sum up what the rows tell."""
        cdef Py_ssize_t i, k, n = last - first, width = self.boosting.width
        cdef int32_t row
        cdef float number
        self.least = 0
        for k in range(width):
            self.total[k] = 0
        for i in range(first, last):
            row = self.order[i]
            for k in range(width):
                number = self.boosting.residual(row * width + k)
                self.left[row * width + k] = number
                self.total[k] += number
        for k in range(width):
            self.least += self.total[k] * self.total[k] * self.inverses[n]
        self.least += LEAST_GAIN * n
        self.best.feature, self.best.at, self.best.gain = 0, 0, self.least
        self.n_seen = 0
        self.work += WORK_OF_ROW * n

    cdef Cut exact_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """The best of all cuts of rows order[first] ... order[last - 1] that leave enough rows."""
        while self.seeks(first, last):
            pass
        self.n_seen = -1
        if self.best.gain <= self.least:
            self.best.gain = -1
        return self.best

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

    cdef void seek(self, Py_ssize_t a, Py_ssize_t n) noexcept nogil:
        """Take a cut along an axis, by which the rows of a node are sorted, if it is better."""
        cdef Py_ssize_t at
        cdef Cut *best = &self.best
        cdef float low, high
        cdef const float *column = self.columns + self.sought[a] * self.n_rows
        at = self.place_of_one(column, n) if self.boosting.width == 1 else self.place(column, n)
        if at < 0:
            return
        low, high = column[self.node[at - 1]], column[self.node[at]]
        best.feature = self.sought[a]
        best.at = <float> (low + (<double> high - low) * 0.5)
        # Rounding must not put both sides on one.
        if best.at >= high:
            best.at = low

    cdef Py_ssize_t place_of_one(self, const float *column, Py_ssize_t n) noexcept nogil:
        """`place` where there is one output, whose sum stays in a register."""
        cdef Py_ssize_t i, at = -1
        cdef double gain, rest, left = 0, total = self.total[0], most = self.best.gain
        cdef const float *numbers = &self.left[0]
        cdef const double *inverses = &self.inverses[0]
        cdef int32_t row, after = self.node[0]
        for i in range(1, n - LEAST_ROWS + 1):
            row, after = after, self.node[i]
            left += numbers[row]
            if i < LEAST_ROWS or column[row] == column[after]:
                continue
            rest = total - left
            gain = left * left * inverses[i] + rest * rest * inverses[n - i]
            if gain > most:
                most, at = gain, i
        self.best.gain = most
        return at

    cdef Py_ssize_t place(self, const float *column, Py_ssize_t n) noexcept nogil:
        """How many rows are below the best cut, if that gains more than any so far; or -1."""
        cdef Py_ssize_t i, k, at = -1, width = self.boosting.width
        cdef const double *total = self.total
        cdef Cut *best = &self.best
        cdef double gain, rest
        cdef double left[LANES]
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
        return at
