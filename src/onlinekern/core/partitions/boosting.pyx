"""Boosting: what the trees that have grown leave of the targets, which the next one cuts by.

From the targets of the rows in a leaf a share of their mean is taken, as gradient boosting does
(Friedman 2001). So each tree cuts where those before it do not tell the targets apart. It is for
the cuts alone: what the leaves say is learnt by others.
"""
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from onlinekern.core.base.vector cimport aligned_resize

# The share, and rows of mean 0 that are added to each leaf (docs/kernel_forests_tried.md).
cdef double SHARE = 0.05
cdef double PRIOR = 2


cdef class Boosting:
    """All of the targets, before the first tree.

    Parameters
    ----------
    goals : ndarray of shape (n, n_outputs), or None
        Of at most `LANES` outputs; None stands for zeros.
    n : int
        Rows.
    has_margin : bool
        Whether they are 1 and -1, and need not be exceeded.
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
        """Have memory for the leaves of a tree of so many nodes."""
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
        """Begin with some nodes of a tree, that are to be all: then `add_up` all rows, and `learn`
        all.
        """
        memset(self.sums + first * self.width, 0, (last - first) * self.width * sizeof(float))
        memset(self.sizes + first, 0, (last - first) * sizeof(int32_t))

    cdef void add_up(self, const int32_t *leaves, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Add rows to the sums of their leaves."""
        cdef Py_ssize_t i, k
        cdef float *sums
        for i in range(first, last):
            sums = self.sums + leaves[i] * self.width
            self.sizes[leaves[i]] += 1
            for k in range(self.width):
                sums[k] += self.residual(i * self.width + k)

    cdef void learn(self, const int32_t *leaves, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Add a share of the means of their leaves to the scores of rows."""
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
