"""Boosting: the residuals of the trees grown so far, which score the splits of the next tree.

Each tree reduces the residuals of the rows in a leaf by a share of their mean, as in gradient
boosting (Friedman 2001). So each tree splits where the trees before it do not fit the targets. The
residuals only place splits: experts learn the weights of the leaves (`models.cell_experts`).
"""
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from onlinekern.core.base.vector cimport aligned_resize

# Share of the mean that a tree takes off, and rows of residual 0 that shrink the mean of a leaf
# (docs/kernel_forests_tried.md).
cdef double SHARE = 0.05
cdef double PRIOR = 2


cdef class Boosting:
    """Residuals before the first tree: the targets.

    Parameters
    ----------
    goals : ndarray of shape (n, n_outputs), or None
        Targets of at most `LANES` outputs; None: all are 0.
    n : int
        Rows.
    has_margin : bool
        Whether goals are 1 and -1. A residual is then 0 once the score is beyond the goal.
    """

    def __cinit__(self, const double[:, ::1] goals, Py_ssize_t n, bint has_margin):
        cdef Py_ssize_t i, k, n_outputs = 1 if goals is None else goals.shape[1]
        if n_outputs > LANES:
            raise ValueError(f"there must be at most {LANES} outputs, got {n_outputs}")
        self.n_rows, self.width, self.has_margin = n, 1 if n_outputs == 1 else LANES, has_margin
        self.goals = <float *> calloc(3 * n * self.width + 1, sizeof(float))
        if self.goals == NULL:
            raise MemoryError(f"no memory to grow trees from {n} rows")
        self.scores = self.goals + n * self.width
        self.left = self.scores + n * self.width
        if goals is not None:
            for i in range(n):
                for k in range(n_outputs):
                    self.goals[i * self.width + k] = <float> goals[i, k]
                    self.left[i * self.width + k] = <float> goals[i, k]

    def __dealloc__(self):
        free(self.goals)
        free(self.sums)
        free(self.sizes)

    cdef int reserve(self, Py_ssize_t n_nodes) except -1:
        """Allocate sums for a tree of n_nodes nodes."""
        cdef void *sums
        cdef void *sizes
        if n_nodes <= self.room:
            return 0
        sums = aligned_resize(self.sums, 0, n_nodes * self.width * sizeof(float))
        if sums != NULL:
            self.sums = <float *> sums
            sizes = aligned_resize(self.sizes, 0, n_nodes * sizeof(int32_t))
            if sizes != NULL:
                self.sizes, self.room = <int32_t *> sizes, n_nodes
                return 0
        raise MemoryError(f"no memory for the leaves of a tree of {n_nodes} nodes")

    cdef void read(self, const int32_t *rows, Py_ssize_t n, float *out) noexcept nogil:
        """Write what is left of n rows, `width` numbers each."""
        cdef Py_ssize_t i
        if self.width == 1:
            for i in range(n):
                out[i] = self.left[rows[i]]
            return
        for i in range(n):
            memcpy(out + i * LANES, self.left + rows[i] * LANES, LANES * sizeof(float))

    cdef void begin(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Set the sums of some nodes to 0. When all nodes are, `add_up` all rows, then `learn` all.
        """
        memset(self.sums + first * self.width, 0, (last - first) * self.width * sizeof(float))
        memset(self.sizes + first, 0, (last - first) * sizeof(int32_t))

    cdef void add_up(self, const int32_t *leaves, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Add the residuals of rows to the sums of their leaves."""
        cdef Py_ssize_t i, k
        cdef float *sums
        for i in range(first, last):
            sums = self.sums + leaves[i] * self.width
            self.sizes[leaves[i]] += 1
            for k in range(self.width):
                sums[k] += self.residual(i * self.width + k)

    cdef void learn(self, const int32_t *leaves, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Add SHARE times the shrunk mean of its leaf to the score of each row; renew residuals."""
        cdef Py_ssize_t i, k, at
        cdef const float *sums
        cdef float share
        for i in range(first, last):
            sums = self.sums + leaves[i] * self.width
            share = <float> (SHARE / (self.sizes[leaves[i]] + PRIOR))
            for k in range(self.width):
                at = i * self.width + k
                self.scores[at] += share * sums[k]
                self.left[at] = 0 if self.has_margin and self.goals[at] * self.scores[at] >= 1 \
                    else self.goals[at] - self.scores[at]
