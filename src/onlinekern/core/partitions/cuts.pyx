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
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from onlinekern.core.base.random cimport counted
from onlinekern.core.partitions.boosting cimport LANES, Boosting

# What a candidate may cut, and what a difference counts for: each kind gets its turn.
cdef enum Kind:
    AXES             # axes, as far as the rows differ
    STEEP_AXES       # axes, times the slope of the function
    STEEP            # directions, times the slope
cdef int[5] TURNS = [AXES, STEEP_AXES, AXES, STEEP_AXES, STEEP]

# Nodes of fewer rows take the first cut that is drawn; others draw one for so many rows, as far as
# there are candidates: of few rows the best of many cuts says little (docs/kernel_forests.md).
cdef Py_ssize_t LEAST_SCORED = 8
cdef Py_ssize_t ROWS_OF_CUT = 4
# Pairs drawn until two rows differ.
cdef int TRIES = 3
# What the work on a node is measured by.
cdef Py_ssize_t WORK_OF_NODE = 50


cdef class Cutter:
    """What nodes are cut by.

    Nodes are rows of `order`, one behind the other.

    Parameters
    ----------
    rows : ndarray of shape (n, width), float32
        Scaled, with their products with the directions.
    n_axes : int
        So many of the columns are features, the others directions.
    slopes : ndarray of shape (m, width), float32
        Absolute slopes of the function along the columns.
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
        self.boosting = Boosting(goals, rows.shape[0], has_margin)
        self.rows, self.slopes, self.slope_of = rows, slopes, slope_of
        self.n_rows, self.width, self.n_axes = rows.shape[0], rows.shape[1], n_axes
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

    cdef void load(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Copy rows column by column, as cuts read them: before the first tree, all of them."""
        cdef Py_ssize_t i, j
        for i in range(first, last):
            for j in range(self.width):
                self.columns[j * self.n_rows + i] = self.rows[i, j]

    cdef double uniform(self) noexcept nogil:
        """A random number in [0, 1)."""
        self.drawn += 1
        return (counted(self.seed, self.drawn) >> 11) * (1.0 / 9007199254740992.0)

    cdef double weigh(self, int32_t one, int32_t other, int kind) noexcept nogil:
        """Set the weights of the columns that a cut between two rows may take; return their sum.

        Lane k sums up the weights k, k + 8, k + 16, ...
        """
        cdef Py_ssize_t j, k
        cdef Py_ssize_t first = self.n_axes if kind == STEEP else 0
        cdef Py_ssize_t n = (self.width if kind == STEEP else self.n_axes) - first
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
        j = begin + self.column_at(total * self.uniform(),
                                   (self.width if kind == STEEP else self.n_axes) - begin)
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
        cdef Py_ssize_t i
        self.n_scored = n
        memcpy(self.scored, self.order + first, n * sizeof(int32_t))
        self.boosting.read(self.scored, n, self.numbers)
        # Rows are summed in whole lanes: those that are added count for nothing.
        for i in range(n, n + LANES):
            self.scored[i] = self.scored[0]
        for i in range(n * self.boosting.width, (n + LANES) * self.boosting.width):
            self.numbers[i] = 0
        memset(self.ones, 0, sizeof(self.ones))
        for i in range(n):
            self.ones[i] = 1
        self.sum_left(NULL, self.sums)

    cdef double gain(self, const Cut *cut) noexcept nogil:
        """What a cut takes from the squares of what is left, up to a constant."""
        cdef Py_ssize_t k, n = self.n_scored
        cdef double left[LANES]
        cdef double rest, gain = 0, other = 0
        cdef Py_ssize_t n_left = self.sum_left(cut, left)
        for k in range(self.boosting.width):
            rest = self.sums[k] - left[k]
            gain += left[k] * left[k]
            other += rest * rest
        # A cut may divide other rows than these.
        return gain / max(n_left, 1) + other / max(n - n_left, 1)

    cdef Py_ssize_t sum_left(self, const Cut *cut, double *left) noexcept nogil:
        """Sum what is left in the rows left of a cut, or in all; return how many there are.

        The sums are float32: of each output, or, if there is one, of the rows i, i + 8, ...
        """
        cdef Py_ssize_t i, k, n = self.n_scored
        cdef const float *column = self.columns + (cut.feature * self.n_rows if cut else 0)
        cdef float at = cut.at if cut else INFINITY
        cdef float sums[LANES]
        cdef float counts[LANES]
        cdef float inside
        cdef double n_left = 0
        memset(sums, 0, sizeof(sums))
        memset(counts, 0, sizeof(counts))
        if self.boosting.width == 1:
            for i in range(0, n, 8):
                for k in range(LANES):
                    inside = column[self.scored[i + k]] <= at
                    counts[k] += self.ones[i + k] * inside
                    sums[k] += self.numbers[i + k] * inside
            left[0] = 0
            for k in range(LANES):
                left[0] += sums[k]
                n_left += counts[k]
            return <Py_ssize_t> n_left
        for i in range(n):
            inside = column[self.scored[i]] <= at
            n_left += inside
            for k in range(LANES):
                sums[k] += self.numbers[i * LANES + k] * inside
        for k in range(LANES):
            left[k] = sums[k]
        return <Py_ssize_t> n_left

    cdef Cut best_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """The best of the candidates, or the first where the rows are few."""
        cdef Cut best, cut
        cdef int kind
        cdef Py_ssize_t e, n = last - first, skipped = 0
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
            self.sum_up(first + skipped, min(n, <Py_ssize_t> MOST_SCORED))
        for e in range(n_drawn):
            kind = TURNS[(e if scored else <Py_ssize_t> (5 * self.uniform())) % 5]
            if kind == STEEP and self.width == self.n_axes:
                kind = STEEP_AXES
            if not self.draw(kind, first, last, &cut):
                continue
            cut.gain = self.gain(&cut) if scored else 0
            if cut.gain > best.gain:
                best = cut
        return best

    cdef Py_ssize_t divide(self, Py_ssize_t first, Py_ssize_t last, const Cut *cut) noexcept nogil:
        """Bring the rows that go left to the front; return where the others begin."""
        cdef Py_ssize_t i, middle = first
        cdef int32_t row, there, exchanged
        cdef bint left
        cdef const float *column = self.columns + cut.feature * self.n_rows
        for i in range(first, last):
            # Without a branch, which nobody could foresee.
            row, there = self.order[i], self.order[middle]
            left = column[row] <= cut.at
            exchanged = (row ^ there) & -<int32_t> left
            self.order[i], self.order[middle] = row ^ exchanged, there ^ exchanged
            middle += left
        return middle
