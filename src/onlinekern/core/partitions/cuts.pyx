"""Cutter: splits a node by the best of a few random splits.

A random split is drawn from two rows of the node. The probability of a feature grows with the
difference of the two rows along it; in some draws the difference counts times the slope of the
function there. The threshold is uniform between the two rows. So a draw reads two rows only,
however many the node has, and both sides of the split get a row. Directions are drawn like
features, in draws of their own.

The slopes of a kernel machine miss features that matter only together with others. Where earlier
trees gained from features with small slopes, these features are drawn more often.

The split that lowers the variance of the residuals most is taken, as in extremely randomised trees
(Geurts, Ernst and Wehenkel 2006). A node of few rows takes the first draw. A large node scores the
splits by some of its rows.
"""
from libc.math cimport sqrt
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from onlinekern.core.base.random cimport counted
from onlinekern.core.partitions.boosting cimport LANES, Boosting
from onlinekern.core.partitions.loops cimport OK_MOST_SCORED, forest_loops, ok_cut, ok_gains

# Units of work, about a nanosecond each: for a node; for each row that is moved to a side; for a
# draw, beside one unit per two columns. Scoring a draw takes one unit per ROWS_OF_WORK rows, with
# one output or with several.
cdef Py_ssize_t WORK_OF_NODE = 50
cdef Py_ssize_t WORK_OF_ROW = 2
cdef Py_ssize_t WORK_OF_DRAW = 10
cdef Py_ssize_t[2] ROWS_OF_WORK = [5, 3]
# Standard deviations of chance that are subtracted from gains (docs/kernel_forests_tried.md).
cdef double CHANCE = 2
# If slopes miss no more than this share of the gains, features are drawn by slopes alone: small
# differences between both are noise (docs/kernel_forests_tried.md).
cdef double SLIGHT = 0.3


cdef class Cutter:
    """Draws and scores splits, and divides the rows of a node.

    The rows of a node are adjacent in `order`: order[first] ... order[last - 1].

    Parameters
    ----------
    rows : ndarray of shape (n, width), float32
        Scaled rows: axes, directions, and columns for missing values (`partitions.gaps`).
    n_axes : int
        The first n_axes columns are axes.
    slopes : ndarray of shape (m, n_drawn_from), float32
        Absolute slopes of the function along axes and directions.
    slope_of : ndarray of shape (n,), int32
        The row of `slopes` that belongs to each row.
    goals : ndarray of shape (n, n_outputs), or None
    has_margin : bool
        See `Boosting`.
    n_candidates : int
        Random splits of a node; 1: splits do not depend on the goals.
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
        """Copy rows to `columns`, which `divide` reads. Before the first tree, all are copied."""
        cdef Py_ssize_t i, j
        # The few rows of a call stay in the cache, and each column is written contiguously.
        for j in range(self.width):
            for i in range(first, last):
                self.columns[j * self.n_rows + i] = self.rows[i, j]

    cdef void begin_draws(self, uint64_t seed) noexcept nogil:
        """Seed the random numbers of the next tree."""
        self.cutter.seed, self.cutter.drawn, self.work = seed, 0, 0

    cdef void update_shares(self) noexcept nogil:
        """Compute from the gains so far how much more often each axis is drawn: `shares`.

        The gains count as far as the slopes miss them, r^2 = 1 - sum g q / sum q^2, where q_j are
        the axes' shares of the gains and g_j their shares of the squared slopes. See "Interactions
        alone" in docs/kernel_forests.md.
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
        """The best of n_candidates random splits; a node of n rows draws at most n / 4."""
        cdef Py_ssize_t n = last - first
        cdef Py_ssize_t n_drawn = max(1, min(self.n_candidates, n // 4))
        self.work += WORK_OF_NODE + n_drawn * (
            WORK_OF_DRAW + self.n_axes // 2
            + min(n, <Py_ssize_t> OK_MOST_SCORED) // ROWS_OF_WORK[self.boosting.width > 1])
        return self.loops.best_cut(&self.cutter, first, last)

    cdef Py_ssize_t divide(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t middle,
                           ok_cut *cut) noexcept nogil:
        """Move the rows order[first] ... order[last - 1] that go left to the front, from `middle`.

        `middle` is where the right side begins so far. Returns where it begins then.
        """
        self.work += WORK_OF_ROW * (last - first)
        return self.loops.divide(&self.cutter, first, last, middle, cut)
