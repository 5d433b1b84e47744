"""Cutter: cuts of nodes, the best of a few random ones.

A cut is drawn from a pair of rows of its node: its feature with a probability that grows with what
the pair differs by there, its place uniform between both. It costs one look at two rows, however
many rows the node has; and it always divides the node. Where the function is known to change, the
difference counts times the slope of the function there. Directions are features too, with a kind of
cut of their own. Where slopes miss what cuts have gained in the trees that have grown, that says
which axes are drawn: a kernel machine does not see what no feature tells alone. Of the candidates
the one wins that lowers the variance of the targets most, as in extremely randomised trees (Geurts,
Ernst and Wehenkel 2006); a node of few rows takes the first, and of a large node some rows tell
what the cuts gain.
"""
from libc.math cimport sqrt
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from onlinekern.core.base.random cimport counted
from onlinekern.core.partitions.boosting cimport LANES, Boosting
from onlinekern.core.partitions.loops cimport OK_MOST_SCORED, forest_loops, ok_cut, ok_gains

# What the work on a tree is measured by, in about a nanosecond: a node, each of its rows that is
# brought to a side, a cut that is drawn, where two of the columns that it may take count one; and
# for how many rows that are scored, of one number or of several, a cut takes one more.
cdef Py_ssize_t WORK_OF_NODE = 50
cdef Py_ssize_t WORK_OF_ROW = 2
cdef Py_ssize_t WORK_OF_DRAW = 10
cdef Py_ssize_t[2] ROWS_OF_WORK = [5, 3]
# Deviations of what chance gains, which say nothing (docs/kernel_forests_tried.md).
cdef double CHANCE = 2
# Where slopes miss less than this share of what cuts gain, they are followed alone: small
# differences are noise, and most sets have none (docs/kernel_forests_tried.md).
cdef double SLIGHT = 0.3


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
        self.n_candidates = n_candidates
        self.order = <int32_t *> calloc(self.n_rows + 1, sizeof(int32_t))
        self.weights = <float *> calloc(LANES * (self.width + 2 * LANES), sizeof(float))
        self.columns = <float *> calloc(self.n_rows * self.width + 1, sizeof(float))
        self.gains = <ok_gains *> calloc(self.n_axes + 1, sizeof(ok_gains))
        self.gained = <double *> calloc(self.n_axes + 1, sizeof(double))
        self.shares = np.ones((2, slopes.shape[1] + LANES), dtype=np.float32)
        if self.order == NULL or self.weights == NULL or self.columns == NULL \
                or self.gains == NULL or self.gained == NULL:
            raise MemoryError(f"no memory to grow trees from {self.n_rows} rows")
        self.cutter.rows, self.cutter.columns = &rows[0, 0], self.columns
        self.cutter.n_rows, self.cutter.width = self.n_rows, self.width
        self.cutter.n_axes, self.cutter.n_drawn_from = n_axes, slopes.shape[1]
        self.cutter.slopes, self.cutter.slope_of = &slopes[0, 0], &slope_of[0]
        self.cutter.n_candidates = n_candidates
        self.cutter.left, self.cutter.n_numbers = self.boosting.left, self.boosting.width
        self.cutter.order, self.cutter.weights = self.order, self.weights
        self.cutter.shares[0], self.cutter.shares[1] = &self.shares[0, 0], &self.shares[1, 0]
        self.cutter.gains = self.gains

    def __dealloc__(self):
        free(self.order)
        free(self.weights)
        free(self.columns)
        free(self.gains)
        free(self.gained)

    def put_aside(self, const int32_t[::1] sources):
        """Tell which axes have gaps: they have two columns each, behind those that are drawn."""
        side_of = np.zeros(self.n_axes, dtype=np.int32)
        side_of[np.asarray(sources)] = self.cutter.n_drawn_from + 2 * np.arange(len(sources))
        self.side_of = side_of
        self.cutter.side_of = &self.side_of[0]

    cdef void load(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Copy rows column by column, as `divide` reads them: before the first tree, all."""
        cdef Py_ssize_t i, j
        # Rows are few, and near: what is written lies side by side.
        for j in range(self.width):
            for i in range(first, last):
                self.columns[j * self.n_rows + i] = self.rows[i, j]

    cdef void begin_draws(self, uint64_t seed) noexcept nogil:
        """Begin with the random numbers of a tree."""
        self.cutter.seed, self.cutter.drawn, self.work = seed, 0, 0

    cdef void follow(self) noexcept nogil:
        """Draw axes by what cuts have gained along them.

        They count as far as slopes miss them: as far as an axis that is drawn by slopes gains less
        than one that is drawn by gains.
        """
        cdef Py_ssize_t j, n = self.n_axes
        cdef ok_gains *found
        cdef double gain, slope, slopes = 0, gains = 0, along = 0, most = 0, missed
        for j in range(n):
            found = self.gains + j
            gain = found.gain - CHANCE * sqrt(2 * found.cuts)
            self.gained[j] = gain / found.rows if gain > 0 else 0
            gains += self.gained[j]
            slopes += <double> self.slopes[0, j] * self.slopes[0, j]
        if not gains > 0:
            return
        for j in range(n):
            self.gained[j] /= gains
            slope = <double> self.slopes[0, j] * self.slopes[0, j] / slopes
            along += slope * self.gained[j]
            most += self.gained[j] * self.gained[j]
        missed = 1 - along / most
        missed = sqrt(missed) if missed > SLIGHT else 0
        for j in range(n):
            slope = <double> self.slopes[0, j] * self.slopes[0, j] / slopes
            self.shares[0, j] = <float> sqrt(1 - missed + missed * n * self.gained[j])
            self.shares[1, j] = <float> sqrt(1 - missed + missed * self.gained[j] / slope)

    cdef double uniform(self) noexcept nogil:
        """A random number in [0, 1)."""
        self.cutter.drawn += 1
        return (counted(self.cutter.seed, self.cutter.drawn) >> 11) * (1.0 / 9007199254740992.0)

    cdef ok_cut best_cut(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """The best of the candidates, or the first where the rows are few."""
        cdef Py_ssize_t n = last - first
        cdef Py_ssize_t n_drawn = max(1, min(self.n_candidates, n // 4))
        self.work += WORK_OF_NODE + n_drawn * (
            WORK_OF_DRAW + self.n_axes // 2
            + min(n, <Py_ssize_t> OK_MOST_SCORED) // ROWS_OF_WORK[self.boosting.width > 1])
        return self.loops.best_cut(&self.cutter, first, last)

    cdef Py_ssize_t divide(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t middle,
                           ok_cut *cut) noexcept nogil:
        """Bring those of these rows that go left before the others, of which the first is at
        `middle`; return where it is then.
        """
        self.work += WORK_OF_ROW * (last - first)
        return self.loops.divide(&self.cutter, first, last, middle, cut)
