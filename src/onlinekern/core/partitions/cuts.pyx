"""Cutter: cuts of nodes, the best of a few random ones.

A cut is drawn from a pair of rows of its node: its feature with a probability that grows with what
the pair differs by there, its place uniform between both. It costs one look at two rows, however
many rows the node has; and it always divides the node. Where the function is known to change, the
difference counts times the slope of the function there. Directions are features too, with a kind of
cut of their own. Of the candidates the one wins that lowers the variance of the targets most, as in
extremely randomised trees (Geurts, Ernst and Wehenkel 2006); a node of few rows takes the first,
and of a large node some rows tell what the cuts gain.
"""
from libc.math cimport INFINITY, fabsf
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from onlinekern.core.base.random cimport counted
from onlinekern.core.partitions.boosting cimport LANES, Boosting
from onlinekern.core.partitions.loops cimport OK_CUTS, forest_loops

# What a candidate may cut, and what a difference counts for: each kind gets its turn.
cdef enum Kind:
    AXES             # axes, as far as the rows differ
    STEEP_AXES       # axes, times the slope of the function
    STEEP            # directions, times the slope
cdef int[5] TURNS = [AXES, STEEP_AXES, AXES, STEEP_AXES, STEEP]

# Nodes of fewer rows take the first cut that is drawn; others draw one for so many rows, as far as
# there are candidates: of few rows the best of many cuts says little
# (docs/kernel_forests_tried.md).
cdef Py_ssize_t LEAST_SCORED = 8
cdef Py_ssize_t ROWS_OF_CUT = 4
# Pairs drawn until two rows differ.
cdef int TRIES = 3
# What the work on a node is measured by.
cdef Py_ssize_t WORK_OF_NODE = 50
# Cuts of a large node whose rows are fetched before, a line of 16 numbers at a time.
cdef Py_ssize_t MOST_FETCHED = 32


cdef extern from *:
    """
    #define ok_prefetch(address) __builtin_prefetch(address)
    """
    void ok_prefetch(const void *address) noexcept nogil


cdef inline double random_number(uint64_t seed, uint64_t n) noexcept nogil:
    """Number n of the random numbers in [0, 1) of a seed."""
    return (counted(seed, n) >> 11) * (1.0 / 9007199254740992.0)


cdef class Cutter:
    """What nodes are cut by.

    Nodes are rows of `order`, one behind the other.

    Parameters
    ----------
    rows : ndarray of shape (n, width), float32
        Scaled, with their products with the directions, and the sides of gaps.
    n_axes : int
        So many of the columns are features, the others directions.
    slopes : ndarray of shape (m, n_drawn_from), float32
        Absolute slopes of the function along the columns but the sides.
    slope_of : ndarray of shape (n,), int32
        Which of them belongs to each row.
    goals : ndarray of shape (n, n_outputs), or None
    has_margin : bool
        As of `Boosting`.
    n_candidates : int
        1: the cuts do not look at the goals.
    """

    def __cinit__(self, const float[:, ::1] rows, Py_ssize_t n_axes, const float[:, ::1] slopes,
                  const int32_t[::1] slope_of, const double[:, ::1] goals, bint has_margin,
                  Py_ssize_t n_candidates, *_):
        self.loops = forest_loops()
        self.boosting = Boosting(goals, rows.shape[0], has_margin)
        self.rows, self.slopes, self.slope_of = rows, slopes, slope_of
        self.n_rows, self.width, self.n_axes = rows.shape[0], rows.shape[1], n_axes
        self.n_drawn_from = slopes.shape[1]
        self.n_candidates = n_candidates
        self.order = <int32_t *> calloc(self.n_rows + 1, sizeof(int32_t))
        self.weights = <float *> calloc(self.width + LANES, sizeof(float))
        self.columns = <float *> calloc(self.n_rows * self.width + 1, sizeof(float))
        if self.order == NULL or self.weights == NULL or self.columns == NULL:
            raise MemoryError(f"no memory to grow trees from {self.n_rows} rows")

    def __dealloc__(self):
        free(self.order)
        free(self.weights)
        free(self.columns)

    def put_aside(self, const int32_t[::1] sources):
        """Tell which axes have gaps: they have two columns each, behind those that are drawn."""
        side_of = np.zeros(self.n_axes, dtype=np.int32)
        side_of[np.asarray(sources)] = self.n_drawn_from + 2 * np.arange(len(sources))
        self.side_of, self.has_gaps = side_of, True

    cdef Py_ssize_t side(self, Py_ssize_t j, int32_t one, int32_t other) noexcept nogil:
        """The column that a cut of an axis with gaps takes: guesses, or one of the sides."""
        cdef Py_ssize_t turn = <Py_ssize_t> (4 * self.uniform()), k = self.side_of[j] + turn
        # What is missing in both rows does not divide them.
        return k if turn < 2 and self.rows[one, k] != self.rows[other, k] else j

    cdef void load(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Copy rows column by column, as `divide` reads them: before the first tree, all."""
        cdef Py_ssize_t i, j
        for i in range(first, last):
            for j in range(self.width):
                self.columns[j * self.n_rows + i] = self.rows[i, j]

    cdef double uniform(self) noexcept nogil:
        """A random number in [0, 1)."""
        self.drawn += 1
        return random_number(self.seed, self.drawn)

    cdef double weigh(self, int32_t one, int32_t other, int kind) noexcept nogil:
        """Set the weights of the columns that a cut between two rows may take; return their sum.

        Lane k sums up the weights k, k + 8, k + 16, ...
        """
        cdef Py_ssize_t j, k
        cdef Py_ssize_t first = self.n_axes if kind == STEEP else 0
        cdef Py_ssize_t n = (self.n_drawn_from if kind == STEEP else self.n_axes) - first
        cdef const float *x = &self.rows[one, first]
        cdef const float *z = &self.rows[other, first]
        cdef const float *a = &self.slopes[self.slope_of[one], first]
        cdef const float *b = &self.slopes[self.slope_of[other], first]
        cdef float *weights = self.weights
        cdef float sums[LANES]
        cdef double total = 0
        if kind == AXES:
            for j in range(n):
                weights[j] = fabsf(x[j] - z[j])
        else:
            for j in range(n):
                weights[j] = fabsf(x[j] - z[j]) * (a[j] + b[j])
        memset(weights + n, 0, LANES * sizeof(float))
        memset(sums, 0, sizeof(sums))
        for j in range(0, n, 8):
            for k in range(LANES):
                sums[k] += weights[j + k]
        for k in range(LANES):
            self.lanes[k] = sums[k]
            total += sums[k]
        return total

    cdef Py_ssize_t column_at(self, double left, Py_ssize_t n) noexcept nogil:
        """The one of n columns up to which the weights sum to `left`, lane by lane."""
        cdef Py_ssize_t j = 0
        while j < LANES - 1 and left >= self.lanes[j]:
            left -= self.lanes[j]
            j += 1
        while j + LANES < n and left >= self.weights[j]:
            left -= self.weights[j]
            j += LANES
        # Where rounding has led to the end.
        if j >= n or self.weights[j] == 0:
            j = n - 1
            while self.weights[j] == 0:
                j -= 1
        return j

    cdef bint draw(self, int kind, Py_ssize_t first, Py_ssize_t last,
                   Cut *cut) noexcept nogil:
        """Draw a cut of rows order[first] ... order[last - 1]. Returns whether there is one."""
        cdef int _attempt
        cdef Py_ssize_t j, n = last - first, begin = self.n_axes if kind == STEEP else 0
        cdef int32_t one, other
        cdef double total
        cdef float low, high
        one = self.order[first + <Py_ssize_t> (n * self.uniform())]
        for _attempt in range(TRIES):
            other = self.order[first + <Py_ssize_t> (n * self.uniform())]
            total = self.weigh(one, other, kind)
            if total > 0:
                break
        else:
            return False
        j = begin + self.column_at(
            total * self.uniform(),
            (self.n_drawn_from if kind == STEEP else self.n_axes) - begin)
        if self.has_gaps and j < self.n_axes and self.side_of[j] > 0:
            j = self.side(j, one, other)
        low = min(self.rows[one, j], self.rows[other, j])
        high = max(self.rows[one, j], self.rows[other, j])
        cut.feature = j
        cut.at = <float> (low + (<double> high - low) * self.uniform())
        # Rounding must not put both rows on one side.
        if cut.at >= high:
            cut.at = low
        return True

    cdef void sum_up(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Sum what is left of the targets of the rows that tell what cuts gain."""
        cdef Py_ssize_t i, count
        cdef const float *column = &self.rows[0, 0]
        cdef float everything = INFINITY
        self.n_scored = n
        self.boosting.read(self.order + first, n, self.numbers)
        # Cuts may be of many columns, but a row's numbers lie side by side.
        for i in range(n):
            self.scored[i] = self.order[first + i] * <int32_t> self.width
        # Rows are summed in whole lanes: those that are added count for nothing.
        for i in range(n, n + LANES):
            self.scored[i] = self.scored[0]
        for i in range(n * self.boosting.width, (n + LANES) * self.boosting.width):
            self.numbers[i] = 0
        self.loops.cut_sums(&column, &everything, 1, self.scored, self.numbers, n,
                            self.boosting.width, self.sums, &count)
        self.sums[0] = self.total(self.sums)

    cdef void score(self, Cut *cuts, Py_ssize_t n_cuts) noexcept nogil:
        """Set what cuts gain, of which there are at most OK_CUTS.

        The sums are float32: of each output, or, if there is one, of the rows i, i + 8, ...
        """
        cdef Py_ssize_t u
        cdef const float *columns[OK_CUTS]
        cdef float at[OK_CUTS]
        cdef double sums[OK_CUTS * LANES]
        cdef Py_ssize_t counts[OK_CUTS]
        for u in range(n_cuts):
            columns[u], at[u] = &self.rows[0, cuts[u].feature], cuts[u].at
        self.loops.cut_sums(columns, at, n_cuts, self.scored, self.numbers, self.n_scored,
                            self.boosting.width, sums, counts)
        for u in range(n_cuts):
            cuts[u].gain = self.gain(sums + u * LANES, counts[u])

    cdef double total(self, const double *sums) noexcept nogil:
        """The sum of the only output, or of the first."""
        cdef int k
        cdef double total = sums[0]
        if self.boosting.width == 1:
            for k in range(1, LANES):
                total += sums[k]
        return total

    cdef double gain(self, double *left, Py_ssize_t n_left) noexcept nogil:
        """What a cut takes from the squares of what is left, up to a constant."""
        cdef Py_ssize_t k, n = self.n_scored
        cdef double rest, gain = 0, other = 0
        left[0] = self.total(left)
        for k in range(self.boosting.width):
            rest = self.sums[k] - left[k]
            gain += left[k] * left[k]
            other += rest * rest
        # A cut may divide other rows than these.
        return gain / max(n_left, 1) + other / max(n - n_left, 1)

    cdef void fetch(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t n_drawn) noexcept nogil:
        """Let the rows come nearer that so many cuts will be drawn by."""
        cdef Py_ssize_t e, j
        cdef int k
        cdef int32_t row
        cdef uint64_t next
        for e in range(n_drawn):
            # Of the random numbers of a cut the first two draw the rows, as a rule.
            for k in range(2):
                next = self.drawn + 4 * <uint64_t> e + <uint64_t> k + 1
                row = self.order[first + <Py_ssize_t> (n * random_number(self.seed, next))]
                for j in range(0, self.width, 16):
                    ok_prefetch(&self.rows[row, j])
                    ok_prefetch(&self.slopes[self.slope_of[row], j])

    cdef Cut best_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """The best of the candidates, or the first where the rows are few."""
        cdef Cut best
        cdef Cut cuts[OK_CUTS]
        cdef int kind
        cdef Py_ssize_t e, u, n = last - first, skipped = 0, n_cuts = 0
        cdef bint scored = n >= LEAST_SCORED and self.n_candidates > 1
        cdef Py_ssize_t n_drawn = min(self.n_candidates, n // ROWS_OF_CUT) if scored else 1
        best.gain = -1
        best.feature, best.at = 0, 0
        self.work += WORK_OF_NODE + 2 * n + n_drawn * (
            WORK_OF_DRAW + self.n_axes // 2
            + (min(n, <Py_ssize_t> MOST_SCORED) if scored else 0))
        if scored:
            if n > MOST_SCORED:
                skipped = <Py_ssize_t> ((n - MOST_SCORED + 1) * self.uniform())
                self.fetch(first, n, min(n_drawn, MOST_FETCHED))
            self.sum_up(first + skipped, min(n, <Py_ssize_t> MOST_SCORED))
        for e in range(n_drawn):
            kind = TURNS[(e if scored else <Py_ssize_t> (5 * self.uniform())) % 5]
            if kind == STEEP and self.n_drawn_from == self.n_axes:
                kind = STEEP_AXES
            cuts[n_cuts].gain = 0
            n_cuts += self.draw(kind, first, last, cuts + n_cuts)
            # Several are scored together, which draws no random numbers.
            if n_cuts < OK_CUTS and e < n_drawn - 1:
                continue
            if scored and n_cuts > 0:
                self.score(cuts, n_cuts)
            for u in range(n_cuts):
                if cuts[u].gain > best.gain:
                    best = cuts[u]
            n_cuts = 0
        return best

    cdef Py_ssize_t divide(self, Py_ssize_t first, Py_ssize_t last, const Cut *cut) noexcept nogil:
        """Bring the rows that go left to the front; return where the others begin."""
        cdef Py_ssize_t i, middle = first
        cdef int32_t row, there, exchanged
        cdef bint left
        cdef const float *column = &self.rows[0, cut.feature]
        cdef Py_ssize_t stride = self.width
        if last - first > MOST_SCORED:
            column, stride = self.columns + cut.feature * self.n_rows, 1
        for i in range(first, last):
            # Without a branch, which nobody could foresee.
            row, there = self.order[i], self.order[middle]
            left = column[row * stride] <= cut.at
            exchanged = (row ^ there) & -<int32_t> left
            self.order[i], self.order[middle] = row ^ exchanged, there ^ exchanged
            middle += left
        return middle
