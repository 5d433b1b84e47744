"""Outputs: spaces over training points that keep a coefficient each and are met again and again.

While it is learnt, such a model is a coefficient alpha_i of every point and an offset; two
spaces know the output o_i = sum_j alpha_j kappa(x_j, x_i) of a point when its turn comes:

AllOutputs      keeps the outputs of all points, and moves them along the kernel row of each point
                whose coefficient changes; rows are kept while the cache has room (List 1 of Kecman
                2016).
SupportOutputs  computes the output of a point from those of coefficients beyond a tolerance, with
                the look-ahead window of a support set (List 2).

Once learnt (`settle`), the model is a support set of the points that matter.

A call of `learn` that fails is not undone here: the rows are the estimator's, a failed `fit` throws
the space away. But a step that is refused leaves no trace: the model is the one before it.

RowCache: numbered rows of equal length in bounded memory, the least recently used leaves first.

What a row holds is its maker's business. The pages of the memory come from the system
when they are first written, so a cache that is larger than what is asked of it costs nothing.

WorstFirst: the order in which the training point that is furthest from its target comes next.

It reads the outputs of all points, so a space that knows only some of them will not do.
"""
from libc.math cimport INFINITY, fabs
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport whole_panels
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.learning.heads cimport Head
from onlinekern.core.learning.order cimport Order
from onlinekern.core.learning.point_rules cimport Penalty
from onlinekern.core.models.space cimport KernelSpace
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of


cdef class RowCache:
    """A cache of up to n rows.

    Parameters
    ----------
    n : int
        Rows that there are.
    row_bytes : int > 0
    limit : float
        Bytes that the rows may take in all; one row is always kept.

    Attributes
    ----------
    capacity : int
        Rows that can be kept.
    hits, misses : int
        How often a row was found, and how often it was not.
    """

    def __init__(self, Py_ssize_t n, Py_ssize_t row_bytes, double limit):
        cdef Py_ssize_t r
        self.n = n
        self.row_bytes = row_bytes
        self.capacity = max(1, min(n, <Py_ssize_t> min(limit / row_bytes, 1e15)))
        self.oldest = self.newest = -1
        self.memory = <char *> malloc(self.capacity * row_bytes)
        self.place = <Py_ssize_t *> malloc((max(n, 1) + 3 * self.capacity) * sizeof(Py_ssize_t))
        if self.memory == NULL or self.place == NULL:
            raise MemoryError(
                f"no memory for {self.capacity} kernel rows of {row_bytes} bytes: "
                "cache_size can be smaller")
        self.owner = self.place + max(n, 1)
        self.older = self.owner + self.capacity
        self.newer = self.older + self.capacity
        for r in range(n):
            self.place[r] = -1

    def __dealloc__(self):
        free(self.memory)
        free(self.place)

    cdef char *find(self, Py_ssize_t row) noexcept nogil:
        """The memory of a row, which counts as used now; NULL when it is not kept."""
        cdef Py_ssize_t place = self.place[row]
        if place < 0:
            self.misses += 1
            return NULL
        self.hits += 1
        if place != self.newest:
            self.unlink(place)
            self.link(place)
        return self.memory + place * self.row_bytes

    cdef char *make(self, Py_ssize_t row) noexcept nogil:
        """Memory for a row that is not kept, at the cost of the one not used for longest."""
        cdef Py_ssize_t place = self.used
        if place < self.capacity:
            self.used += 1
        else:
            place = self.oldest
            self.unlink(place)
            self.place[self.owner[place]] = -1
        self.owner[place] = row
        self.place[row] = place
        self.link(place)
        return self.memory + place * self.row_bytes

    cdef void unlink(self, Py_ssize_t place) noexcept nogil:
        cdef Py_ssize_t older = self.older[place], newer = self.newer[place]
        if older >= 0:
            self.newer[older] = newer
        else:
            self.oldest = newer
        if newer >= 0:
            self.older[newer] = older
        else:
            self.newest = older

    cdef void link(self, Py_ssize_t place) noexcept nogil:
        """A place that is not linked becomes the newest."""
        self.older[place] = self.newest
        self.newer[place] = -1
        if self.newest >= 0:
            self.newer[self.newest] = place
        else:
            self.oldest = place
        self.newest = place

    def use(self, Py_ssize_t row):
        """Ask for a row, make it if need be; whether it was there (for tests)."""
        if self.find(row) != NULL:
            return True
        self.make(row)
        return False

    def kept(self):
        """The rows that are kept, the least recently used first (for tests)."""
        rows, place = [], self.oldest
        while place >= 0:
            rows.append(self.owner[place])
            place = self.newer[place]
        return rows


# Larger coefficients count as infinite: sums of products of smaller ones with kernel values are
# still numbers.
cdef double LARGEST = 1e100


cdef class PointSpace(KernelSpace):
    """Base of the two spaces, and what they become: support vectors and an offset.

    Parameters
    ----------
    support : SupportSet
        Empty, not averaged; filled by `settle`.
    penalty : Penalty
    fit_intercept : bool
        Whether the offset is learnt: every step moves it as well.
    """

    def __init__(self, SupportSet support, Penalty penalty, bint fit_intercept):
        super().__init__(support, Budget())
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.offset = np.zeros(self.n_outputs)

    def prepare(self, X):
        """Begin with coefficients of 0; the points are the rows of all calls that follow."""
        cdef Samples samples = samples_of(X, self.support.dtype)
        cdef Py_ssize_t p, n = samples.rows.n
        self.held = SupportSet(*self.support.arguments())
        self.alpha = np.zeros((n, self.n_outputs))
        self.seen = np.zeros((n, self.n_outputs))
        self.change = np.zeros(self.n_outputs)
        self.diagonal = np.empty(n)
        for p in range(n):
            if self.held.window.block.open(&samples.rows, NULL, p, 1) < 0:
                raise MemoryError(f"no memory for {n} points")
            self.diagonal[p] = self.support.kernel.diagonal(self.held.window.block.squares[0])

    def coefficients(self):
        """The coefficients of the points, ndarray of shape (n_points, n_outputs)."""
        return np.array(self.alpha)

    def outputs_seen(self):
        """The outputs of the points, each when its turn came last, (n_points, n_outputs)."""
        return np.array(self.seen)

    def offsets(self):
        """The offset of each output."""
        return np.array(self.offset)

    def settle(self, X, double tolerance):
        """End learning: the points with a coefficient beyond `tolerance` are the support vectors.

        Returns their numbers, ascending.
        """
        alpha = self.coefficients()
        chosen = np.flatnonzero((np.abs(alpha) > tolerance).any(axis=1))
        self.support.add_rows(X, alpha[chosen], chosen)
        self.held = None
        self.alpha = self.seen = None
        self.diagonal = None
        return chosen

    def __reduce__(self):
        return _restore, (self.support.arguments(), self.support.get_state(), self.penalty,
                          self.fit_intercept, self.offsets())

    cdef Py_ssize_t size(self) noexcept nogil:
        return self.support.n if self.held is None else self.held.n

    cdef Py_ssize_t point(self, Py_ssize_t i) noexcept nogil:
        """The number of sample i of the open block."""
        return self.order[self.first + i] if self.order else self.first + i

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        self.rows = rows
        self.order = order
        self.first = first
        return OK

    cdef void lengths(self, Py_ssize_t i, double *out) noexcept nogil:
        """What a step of 1 moves the output of its own point by."""
        cdef Py_ssize_t k, p = self.point(i)
        cdef double length = self.diagonal[p] + self.fit_intercept
        for k in range(self.n_outputs):
            out[k] = length

    cdef Status update(self, Py_ssize_t i, double shrink, bint updates,
                       const double *coefficients) noexcept nogil:
        """Move the coefficients of a point, and the offset. Returns a status.

        The regulariser takes 1 - shrink and, of rules of second order, the contraction; the one is
        0 where the other is not.
        """
        cdef Py_ssize_t k, p = self.point(i)
        cdef double decay
        cdef bint moves = False
        for k in range(self.n_outputs):
            decay = 1 - shrink + coefficients[self.n_outputs + k]
            self.change[k] = self.penalty.change(self.alpha[p, k], coefficients[k], decay)
            moves |= self.change[k] != 0
            if not fabs(self.alpha[p, k] + self.change[k]) <= LARGEST \
                    or not fabs(self.offset[k] + coefficients[k]) <= LARGEST:
                return NOT_FINITE
        if moves and self.move(i) < 0:
            return NO_MEMORY
        for k in range(self.n_outputs if self.fit_intercept else 0):
            self.offset[k] += coefficients[k]
        return OK

    cdef Status move(self, Py_ssize_t i) noexcept nogil:
        """Add `change` to the coefficients of the point of sample i. Returns a status."""
        return NO_MEMORY

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        cdef Py_ssize_t i, k
        if KernelSpace.score(self, window, rows, first, n, out) < 0:
            return NO_MEMORY
        for i in range(n):
            for k in range(self.n_outputs):
                out[i * self.n_outputs + k] += self.offset[k]
        return OK


def _restore(arguments, state, penalty, fit_intercept, offset):
    cdef PointSpace space = PointSpace(SupportSet(*arguments), penalty, fit_intercept)
    space.support.set_state(state)
    space.offset = np.array(offset)  # the pickled one may be read-only
    return space


cdef class AllOutputs(PointSpace):
    """The outputs of all points are kept.

    Parameters
    ----------
    support, penalty, fit_intercept
        See `PointSpace`.
    cache_bytes : float
        Memory for kernel rows.
    """

    def __init__(self, SupportSet support, Penalty penalty, bint fit_intercept,
                 double cache_bytes):
        super().__init__(support, penalty, fit_intercept)
        self.cache_bytes = cache_bytes

    def prepare(self, X):
        super().prepare(X)
        cdef Py_ssize_t n = self.alpha.shape[0]
        self.held.add_rows(X, self.alpha)
        self.values = np.zeros((self.n_outputs, whole_panels(n)))
        self.cache = RowCache(n, whole_panels(n) * self.held.store.itemsize, self.cache_bytes)

    def settle(self, X, double tolerance):
        self.values = None
        self.cache = None
        return super().settle(X, tolerance)

    def outputs(self):
        """The present outputs of the points, ndarray of shape (n_points, n_outputs)."""
        return np.asarray(self.values).T[:self.alpha.shape[0]] + self.offsets()

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        return 0

    cdef double output(self, Py_ssize_t point, Py_ssize_t k) noexcept nogil:
        return self.values[k, point] + self.offset[k]

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        cdef Py_ssize_t k, p = self.point(i)
        for k in range(self.n_outputs):
            current[k] = averaged[k] = self.seen[p, k] = self.output(p, k)

    cdef const char *kernel_row(self, Py_ssize_t point) noexcept nogil:
        """The kernel values of a point with all points, one pass over them at the most."""
        cdef char *row = self.cache.find(point)
        if row == NULL:
            if self.held.window.block.open(self.rows, NULL, point, 1) < 0 \
                    or self.held.window.fill(self.held.n, self.held.norm_terms, 0) < 0:
                return NULL
            row = self.cache.make(point)
            memcpy(row, self.held.window.row(0), self.cache.row_bytes)
        return row

    cdef Status move(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t k, p = self.point(i)
        cdef const char *row = self.kernel_row(p)
        if row == NULL:
            return NO_MEMORY
        for k in range(self.n_outputs):
            self.alpha[p, k] += self.change[k]
            if self.change[k] != 0:
                self.held.store.ops.add(row, self.change[k], &self.values[k, 0],
                                        self.values.shape[1])
        return OK


cdef class SupportOutputs(PointSpace):
    """The output of a point is computed from the support vectors when its turn comes.

    Parameters
    ----------
    support, penalty, fit_intercept
        See `PointSpace`.
    tolerance : float >= 0
        Coefficients of no larger absolute value take no part.
    """

    def __init__(self, SupportSet support, Penalty penalty, bint fit_intercept,
                 double tolerance):
        super().__init__(support, penalty, fit_intercept)
        self.tolerance = tolerance

    def prepare(self, X):
        super().prepare(X)
        self.slot_of = np.full(self.alpha.shape[0], -1, dtype=np.intp)

    def settle(self, X, double tolerance):
        self.slot_of = None
        return super().settle(X, tolerance)

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        return self.held.reserve_block(rows)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        PointSpace.open(self, rows, order, first, n)
        return self.held.open(rows, order, first, n)

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        cdef Py_ssize_t k, p = self.point(i)
        self.held.coefficients.scores(self.held.window.row(i), current, averaged)
        for k in range(self.n_outputs):
            current[k] += self.offset[k]
            averaged[k] = self.seen[p, k] = current[k]

    cdef Status move(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t k, p = self.point(i), slot = self.slot_of[p]
        cdef bint matters = False
        for k in range(self.n_outputs):
            self.alpha[p, k] += self.change[k]
            matters |= fabs(self.alpha[p, k]) > self.tolerance
        if matters and slot >= 0:
            return self.held.coefficients.add_at(slot, &self.change[0])
        if matters:
            self.slot_of[p] = self.held.add(i, &self.alpha[p, 0])
            return OK if self.slot_of[p] >= 0 else NO_MEMORY
        if slot >= 0:
            self.slot_of[p] = -1
            return self.held.drop(slot)
        return OK


cdef class WorstFirst(Order):
    """The largest violation (for two classes the smallest y f) is learnt next, the first on ties.

    Parameters
    ----------
    space : AllOutputs
    head : Head
        Says how far scores are from a label.
    y : ndarray of shape (n,)
    weight : ndarray of shape (n,), optional
        Points of weight 0 never come.
    """

    def __init__(self, AllOutputs space, Head head, const double[::1] y,
                 const double[::1] weight=None):
        self.space = space
        self.head = head
        self.y = y
        self.weight = weight
        self.chosen = np.zeros(len(y), dtype=np.intp)
        self.scores = np.zeros(head.n_outputs)
        self.rows = &self.chosen[0]
        self.n = len(y)
        self.most = 1

    cdef void choose(self, Py_ssize_t first) noexcept nogil:
        cdef Py_ssize_t p, k
        cdef double violation, worst = -INFINITY
        for p in range(self.y.shape[0]):
            if self.weight is not None and self.weight[p] == 0:
                continue
            for k in range(self.head.n_outputs):
                self.scores[k] = self.space.output(p, k)
            violation = self.head.violation(&self.scores[0], self.y[p])
            if violation > worst:
                worst = violation
                self.chosen[first] = p
