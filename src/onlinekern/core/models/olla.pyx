"""The models of OLLA (Kecman 2016): a coefficient for every training point.

The model is f(x) = sum_i alpha_i kappa(x_i, x) + b, learnt point by point in several epochs. Points
are identified by their row numbers in the training set. `OLLASpace` contains what both algorithms
of the paper share. They differ in how they get the output o_i = f(x_i) of a point at its turn:

AllOutputs
    List 1. Stores the outputs of all points. A step on a point adds a multiple of its kernel row to
    them. Kernel rows are cached in a `KernelRowCache`.
SupportOutputs
    List 2. Computes the output from the points whose coefficients exceed a tolerance, with the
    look-ahead window of their support set.

`WorstViolatorFirst` is the order of List 1: the point with the largest violation is learnt next. It
needs the outputs of all points, hence `AllOutputs`.

After the epochs, `settle` makes a support set of the points with large coefficients.

A failed call of `learn` is not undone, because `fit` of the estimator deletes the space then. A
step to coefficients that are not finite, or too large, is refused and changes nothing.
"""
from libc.math cimport INFINITY, NAN, fabs
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NOT_GIVEN, NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport doubles_of_shape, flag_of
from onlinekern.core.base.vector cimport whole_panels
from onlinekern.core.kernels.cost_model cimport best_length
from onlinekern.core.kernels.support_set cimport SupportSet, restored_set
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.learning.heads cimport Head, Update
from onlinekern.core.learning.order cimport Order
from onlinekern.core.learning.point_rules cimport Penalty
from onlinekern.core.models.row_cache cimport KernelRowCache
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

# Larger coefficients count as infinite. Sums of products of smaller ones with kernel values do not
# overflow.
cdef double LARGEST = 1e100


cdef class OLLASpace(Space):
    """Base of the two spaces; once settled, support vectors and an offset.

    Parameters
    ----------
    support : SupportSet
        Empty, without averaging; `settle` fills it.
    penalty : Penalty
    fit_intercept : bool
        Whether each step on a point also changes the offset.
    """

    def __cinit__(self, SupportSet support not None, Penalty penalty not None,
                  bint fit_intercept, *_):
        self.support = support
        self.n_outputs = support.coefficients.n_outputs
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.offset = np.zeros(self.n_outputs)

    def prepare(self, X):
        """Start with coefficients of 0 for the rows of X.

        Every later call of `learn` and `settle` must pass the same X.
        """
        cdef Samples samples = samples_of(X, self.support.dtype)
        cdef Py_ssize_t p, n = samples.rows.n
        self.basis = SupportSet(*self.support.arguments())
        self.alpha = np.zeros((n, self.n_outputs))
        self.seen = np.zeros((n, self.n_outputs))
        self.change = np.zeros(self.n_outputs)
        self.diagonal = np.empty(n)
        for p in range(n):
            if self.basis.window.block.open(&samples.rows, NULL, p, 1) < 0:
                raise MemoryError(f"no memory for {n} points")
            self.diagonal[p] = self.support.kernel.diagonal(self.basis.window.block.squares[0])

    def coefficients(self):
        """The coefficients of the points, ndarray of shape (n_points, n_outputs)."""
        self.check_learning()
        return np.array(self.alpha)

    def outputs_seen(self):
        """The output of each point at its last turn, ndarray of shape (n_points, n_outputs)."""
        self.check_learning()
        return np.array(self.seen)

    cdef int check_learning(self) except -1:
        """Raise ValueError before `prepare` and after `settle`: there are no points then."""
        if self.basis is None:
            raise ValueError("there are no points: they come with `prepare` and go with `settle`")
        return 0

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        return self.check_learning()

    def offsets(self):
        """The offset of each output."""
        return np.array(self.offset)

    def settle(self, X, double tolerance):
        """End learning. Points with a coefficient beyond `tolerance` become the support vectors.

        Returns
        -------
        ndarray of intp
            Their row numbers, ascending.
        """
        alpha = self.coefficients()
        chosen = np.flatnonzero((np.abs(alpha) > tolerance).any(axis=1))
        self.support.add_rows(X, alpha[chosen], chosen)
        self.basis = None
        self.alpha = self.seen = None
        self.diagonal = None
        return chosen

    def take(self, X, coefficients, offsets):
        """Take over coefficients that were computed elsewhere, instead of learning.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated
        coefficients : ndarray of shape (n, n_outputs)
        offsets : ndarray of shape (n_outputs,)

        Returns
        -------
        ndarray of intp
            Numbers of the rows with a nonzero coefficient, which become the support vectors.
        """
        chosen = np.flatnonzero(coefficients.any(axis=1))
        self.support.add_rows(X, coefficients[chosen], chosen)
        self.offset = np.array(doubles_of_shape("offsets", offsets, (self.n_outputs,)))
        return chosen

    def __reduce__(self):
        return _restore, (self.support.arguments(), self.support.get_state(), self.penalty,
                          self.fit_intercept, self.offsets())

    def components(self):
        return self.support.kernel, self.support.store, self.penalty

    cdef tuple sample_form(self):
        return self.support.store.d, self.support.itemsize

    cdef Py_ssize_t size(self) noexcept nogil:
        return self.support.n if self.basis is None else self.basis.n

    cdef bint stored_sparse(self) noexcept nogil:
        return self.support.store.needs_panels()

    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil:
        if wanted == 0:
            wanted = best_length(self.size(), self.support.store.d, self.support.store.itemsize)
        return min(wanted, left)

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """The change of a point's own output by a step of 1: kappa(x, x), plus 1 for an offset."""
        cdef Py_ssize_t k, p = self.row_number(i)
        cdef double length = self.diagonal[p] + self.fit_intercept
        for k in range(self.n_outputs):
            update.lengths[k] = length

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Change the coefficients of a point, and the offset. Returns a status.

        The decay is 1 - shrink for first-order rules, the contraction for second-order ones; the
        other one is 0.
        """
        cdef Py_ssize_t k, p = self.row_number(i)
        cdef double decay
        cdef bint moves = False
        cdef Status status
        for k in range(self.n_outputs):
            decay = 1 - update.shrink + update.contractions[k]
            self.change[k] = self.penalty.change(self.alpha[p, k], update.coefficients[k], decay)
            moves |= self.change[k] != 0
            if not fabs(self.alpha[p, k] + self.change[k]) <= LARGEST \
                    or not fabs(self.offset[k] + update.coefficients[k]) <= LARGEST:
                return NOT_FINITE
        status = self.step_on(i) if moves else OK
        for k in range(self.n_outputs if self.fit_intercept else 0):
            self.offset[k] += update.coefficients[k]
        return status

    cdef Status step_on(self, Py_ssize_t i) noexcept nogil:
        """Add `change` to the coefficients of the point of sample i. Returns a status."""
        self.missing = b"OLLASpace.step_on"
        return NOT_GIVEN

    cdef object new_window(self, Py_ssize_t rows):
        return self.support.new_window(rows)

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef double *scores
        if self.support.fill_window(<Window> window, rows, NULL, first, n) < 0:
            return NO_MEMORY
        for i in range(n):
            scores = out + i * self.n_outputs
            self.support.coefficients.scores((<Window> window).row(i), scores, scores)
            for k in range(self.n_outputs):
                scores[k] += self.offset[k]
        return OK


def _restore(arguments, state, penalty, fit_intercept, offset):
    cdef OLLASpace space = OLLASpace(restored_set(arguments, state), penalty,
                                     flag_of("fit_intercept", fit_intercept))
    offset = doubles_of_shape("offset", offset, (space.n_outputs,))
    space.offset = np.array(offset)  # the pickled one may be read-only
    return space


cdef class AllOutputs(OLLASpace):
    """List 1: the outputs of all points are stored and updated by each step.

    Parameters
    ----------
    support, penalty, fit_intercept
        See `OLLASpace`.
    cache_bytes : float
        Memory for kernel rows.
    """

    def __cinit__(self, SupportSet support, Penalty penalty, bint fit_intercept,
                  double cache_bytes):
        self.cache_bytes = cache_bytes

    def prepare(self, X):
        super().prepare(X)
        cdef Py_ssize_t n = self.alpha.shape[0]
        self.basis.add_rows(X, self.alpha)
        self.values = np.zeros((self.n_outputs, whole_panels(n)))
        self.cache = KernelRowCache(n, whole_panels(n) * self.basis.store.itemsize,
                                    self.cache_bytes)

    def settle(self, X, double tolerance):
        self.values = None
        self.cache = None
        return super().settle(X, tolerance)

    def outputs(self):
        """The present outputs of the points, ndarray of shape (n_points, n_outputs)."""
        self.check_learning()
        return np.asarray(self.values).T[:self.alpha.shape[0]] + self.offsets()

    cdef double output(self, Py_ssize_t point, Py_ssize_t k) noexcept nogil:
        return self.values[k, point] + self.offset[k]

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        cdef Py_ssize_t k, p = self.row_number(i)
        if self.values is None:
            current[0] = NAN
            return
        for k in range(self.n_outputs):
            current[k] = averaged[k] = self.seen[p, k] = self.output(p, k)

    cdef const char *kernel_row(self, Py_ssize_t point) noexcept nogil:
        """The kernel values of a point with all points, from the cache or computed."""
        cdef char *row = self.cache.find(point)
        if row == NULL:
            if self.basis.fill_window(self.basis.window, &self.rows, NULL, point, 1) < 0:
                return NULL
            row = self.cache.make(point)
            memcpy(row, self.basis.window.row(0), self.cache.row_bytes)
        return row

    cdef Status step_on(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t k, p = self.row_number(i)
        cdef const char *row = self.kernel_row(p)
        if row == NULL:
            return NO_MEMORY
        for k in range(self.n_outputs):
            self.alpha[p, k] += self.change[k]
            if self.change[k] != 0:
                self.basis.store.ops.add(row, self.change[k], &self.values[k, 0],
                                         self.values.shape[1])
        return OK


cdef class SupportOutputs(OLLASpace):
    """List 2: the output of a point is computed from the support vectors at its turn.

    Parameters
    ----------
    support, penalty, fit_intercept
        See `OLLASpace`.
    tolerance : float >= 0
        A point is a support vector if a coefficient has a larger absolute value.
    """

    def __cinit__(self, SupportSet support, Penalty penalty, bint fit_intercept,
                  double tolerance):
        self.tolerance = tolerance

    def prepare(self, X):
        super().prepare(X)
        self.slot_of = np.full(self.alpha.shape[0], -1, dtype=np.intp)

    def settle(self, X, double tolerance):
        self.slot_of = None
        return super().settle(X, tolerance)

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        self.check_learning()
        return self.basis.reserve_block(rows)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        OLLASpace.open(self, rows, order, first, n)
        if self.basis is None:
            return NOT_GIVEN
        return self.basis.open(rows, order, first, n)

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        cdef Py_ssize_t k, p = self.row_number(i)
        self.basis.coefficients.scores(self.basis.window.row(i), current, averaged)
        for k in range(self.n_outputs):
            current[k] += self.offset[k]
            averaged[k] = self.seen[p, k] = current[k]

    cdef Status step_on(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t k, p = self.row_number(i), slot = self.slot_of[p]
        cdef bint matters = False
        for k in range(self.n_outputs):
            self.alpha[p, k] += self.change[k]
            matters |= fabs(self.alpha[p, k]) > self.tolerance
        if matters and slot >= 0:
            return self.basis.coefficients.add_at(slot, &self.change[0])
        if matters:
            self.slot_of[p] = self.basis.add(i, &self.alpha[p, 0])
            return OK if self.slot_of[p] >= 0 else NO_MEMORY
        if slot >= 0:
            self.slot_of[p] = -1
            return self.basis.drop(slot)
        return OK


cdef class WorstViolatorFirst(Order):
    """Learn the point of the largest violation next (two classes: smallest y f; first of ties).

    Parameters
    ----------
    space : AllOutputs
    head : Head
        Computes the violation from the scores and the label.
    y : ndarray of shape (n,)
    weight : ndarray of shape (n,), optional
        Points of weight 0 are not learnt.
    """

    def __init__(self, AllOutputs space not None, Head head not None,
                 const double[::1] y not None, const double[::1] weight=None):
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
