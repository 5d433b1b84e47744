"""MetricLeastSquares: least squares over features of a kernel whose metric is learnt.

After 256, 512, 1,024, ... samples the metric is computed anew: a power of the mean outer product of
the gradients of the model itself (recursive feature machine: Radhakrishnan, Beaglehole, Pandit and
Belkin 2024). If it has changed, new landmarks are chosen, and a new model is fitted to the samples
that are kept. This work is spread over the samples that follow, up to a quarter as many
(`models.metric_renewal`). Then the new model replaces the old one. A block of the stream ends where
this happens, so one model learns all of it.
"""
from libc.string cimport memcpy
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t

import numpy as np
from scipy.linalg.lapack import dposv

from onlinekern.core.base.part cimport NO_MEMORY, OK, RAISED, Status
from onlinekern.core.base.plan cimport Plan
from onlinekern.core.base.random cimport counted
from onlinekern.core.base.state cimport (
    check_kind, doubles_of_shape, flag_of, integer_within, items_of, positive_number)
from onlinekern.core.features.map cimport FeatureMap
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.linalg.look_ahead cimport LookAhead
from onlinekern.core.linalg.open_block cimport LANES, OpenBlock
from onlinekern.core.models.least_squares cimport LeastSquaresSpace
from onlinekern.core.models.learnt_anew cimport LearntAnew, targets_of
from onlinekern.core.models.metric_choice cimport MetricChoice
from onlinekern.core.models.metric_renewal cimport MetricRenewal
from onlinekern.core.models.renewed_maps cimport in_metric
from onlinekern.core.models.residuals cimport Residuals
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.samples.rows cimport Rows

from onlinekern.core.models.learnt_anew import ROWS
from onlinekern.core.models.renewed_maps import renewed, with_landmarks
from onlinekern.core.partitions.renewal import check_labels

# The first renewal begins after this many samples, each later one after twice as many.
cdef int64_t FIRST_RENEWAL = 256
# Number of the last samples that are kept.
KEPT = 4096
# A renewal after n samples is spread over n / LAG_SHARE samples, at most MOST_LAG. Up to EARLY
# samples it is spread over n / EARLY_SHARE only: a stream that ends during an early renewal has
# larger errors (docs/learnt_kernels.md).
cdef int64_t MOST_LAG = 512
cdef int64_t LAG_SHARE = 4
cdef int64_t EARLY = 512
cdef int64_t EARLY_SHARE = 8
# The metric is replaced if it has changed by more than this (`features.metric.change_of`). The
# second value is used if a new model would forget samples that are no longer kept
# (benchmarks/metrics.py).
cdef double LEAST_CHANGE = 0.1
cdef double LEAST_CHANGE_FORGETTING = 0.4
# Gradients are computed with a prior precision of at most this.
cdef double SHARP_REG = 0.1
# With forgetting, samples older than this many horizons 1 / (1 - lambda) have no weight left.
cdef double HORIZONS = 4
# Doubles hold all integers up to this one.
cdef int64_t MOST_SEED = 1 << 53


def renewal_interval(double forgetting):
    """Most samples between two renewals; without forgetting it is not bounded."""
    cdef int64_t interval = FIRST_RENEWAL
    if forgetting == 1:
        return 1 << 62
    while interval < HORIZONS / (1 - forgetting) and interval < KEPT:
        interval *= 2
    return interval


def most_kept(double forgetting):
    """Samples to keep: those a new model learns, and those that arrive during the renewal."""
    interval = renewal_interval(forgetting)
    return min(KEPT, interval) + lag_of(KEPT, interval)


cdef int64_t lag_of(int64_t begun, int64_t interval) noexcept nogil:
    """Number of samples that a renewal is spread over."""
    cdef int64_t n = min(begun, interval)
    return n // EARLY_SHARE if n <= EARLY else min(n // LAG_SHARE, MOST_LAG)


cdef class MetricLeastSquares(LeastSquaresSpace):
    """Least squares of the features of a map in a metric, and the samples to renew both from.

    Parameters
    ----------
    map, n_outputs, reg, forgetting, reach, residuals, wide, follows
        See `LeastSquaresSpace`. The map is an `InMetric`, or one with linear features.
    n_labels : int
        Number of classes; 0 in regression.
    exponent : float > 0
        The metric is this power of the mean outer product of the gradients.
    seed : int
        Seed of the draws of landmarks.
    choice : tuple, optional
        State of a `MetricChoice` (form, width, gradients), which chooses the form of the metric;
        () is its state at first. None: the form of the map's metric stays.
    first_taught : int
        The metric is learnt from the outputs from this one on.
    """

    def __cinit__(self, FeatureMap map not None, Py_ssize_t n_outputs, double reg,
                  double forgetting, double reach=INFINITY, Residuals residuals=None,
                  bint wide=False, bint follows=False, n_labels=0, exponent=1.0, seed=0,
                  tuple choice=None, first_taught=0):
        in_metric(map)
        self.n_labels = integer_within("n_labels", n_labels, 0, max(n_outputs, 2))
        if n_labels == 1 or (n_labels > 0 and n_outputs != (n_labels if n_labels > 2 else 1)):
            raise ValueError(f"n_outputs={n_outputs} does not fit n_labels={n_labels} classes")
        self.first_taught = integer_within("first_taught", first_taught, 0,
                                           0 if n_labels else n_outputs - 1)
        self.exponent = positive_number("exponent", exponent)
        self.seed = integer_within("seed", seed, 0, MOST_SEED)
        self.choice = None if choice is None else MetricChoice(map.d, exponent, *choice)
        self.interval = renewal_interval(forgetting)
        n_targets = 1 if self.n_labels else n_outputs
        self.recent = RecentRows(map.d, np.float32 if map.itemsize == 4 else np.float64,
                                 most_kept(forgetting), n_targets)
        self.y = np.zeros(n_targets)
        self.n_anew = min(KEPT, self.interval)
        self.saved_map, self.saved_window, self.saved_choice = self.map, self.window, self.choice

    def __reduce__(self):
        rows, targets, weights = self.recent.arrays()
        kept = (self.recent.count, rows, targets, weights)
        return _restore, (self.map, self.n_outputs, self.reg, self.block.forgetting,
                          self.ahead.reach, self.residuals, self.is_wide(), self.entered,
                          self.block.get_state(), self.n_labels, self.exponent, self.seed, kept,
                          None if self.choice is None else self.choice.state(), self.first_taught,
                          self.begun)

    cdef bint is_time(self, int64_t count) noexcept nogil:
        """Whether a renewal begins after `count` samples."""
        if count >= self.interval:
            return count % self.interval == 0
        return count >= FIRST_RENEWAL and count & (count - 1) == 0

    cdef int64_t due(self) noexcept nogil:
        """Number of samples after which a renewal begins or ends next."""
        cdef int64_t count = self.recent.count, next_one = FIRST_RENEWAL
        if self.begun is not None:
            return self.ends
        if count >= self.interval:
            return (count // self.interval + 1) * self.interval
        while next_one <= count:
            next_one *= 2
        return next_one

    def is_due(self):
        """Whether a renewal begins or has work to do after the next sample."""
        cdef int64_t count = self.recent.count + 1
        if self.begun is None:
            return self.is_time(count)
        return self.renewal is None or count >= self.ends or self.renewal.has_work(count)

    cdef bint takes_targets(self, Py_ssize_t n):
        return n == self.recent.n_targets

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        LeastSquaresSpace.reserve_block(self, rows)
        if self.saved_map is self.map:
            # A map refers to the last window made by `learning_window` only: undo returns to it.
            self.saved_window = self.window
        return 0

    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil:
        # A new block begins where a renewal begins or ends.
        left = <Py_ssize_t> min(<int64_t> left, self.due() - self.recent.count)
        return LeastSquaresSpace.look_ahead(self, wanted, left)

    cdef Py_ssize_t scored_together(self, Py_ssize_t left) noexcept nogil:
        return min(LANES, left)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        self.rows, self.order, self.first = rows[0], order, first
        return LeastSquaresSpace.open(self, rows, order, first, n)

    cdef void observe(self, Py_ssize_t i, double y, double weight) noexcept nogil:
        self.y[0] = y

    cdef void observe_targets(self, Py_ssize_t i, const double *targets,
                              double weight) noexcept nogil:
        memcpy(&self.y[0], targets, self.n_outputs * sizeof(double))

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Learn a sample by least squares, keep it, and begin or end a renewal. Returns a status.
        """
        cdef Status status = LeastSquaresSpace.update(self, i, update)
        if status == OK:
            status = self.recent.keep(&self.rows, self.row_number(i), &self.y[0],
                                      update.contractions[0])
        if status != OK or not (self.is_time(self.recent.count) if self.begun is None
                                else self.recent.count >= self.ends):
            return status
        with gil:
            try:
                if self.begun is None:
                    self.begin_renewal()
                else:
                    self.finish_renewal()
            except BaseException as error:
                self.interruption, self.renewal = error, None
                return RAISED
        return OK

    cdef Status settle(self) noexcept nogil:
        """At the end of a call, also do the work of the renewal that belongs to its samples.

        The ends of calls change nothing in the model.
        """
        cdef Status status = LeastSquaresSpace.settle(self)
        if status != OK or self.begun is None or self.recent.count <= self.begins:
            return status
        with gil:
            try:
                if self.renewal is None:
                    self.renewal = self.new_renewal()
                self.renewal.advance(self.recent.count)
            except BaseException as error:
                # A unit may be half done: repeat the renewal from its beginning.
                self.interruption, self.renewal = error, None
                return RAISED
        return OK

    def begin_renewal(self):
        """Begin a renewal from the gradients of the present model."""
        self.ahead.hand_over()
        self.block.settle()
        # The rounding of BLAS depends on the memory layout: use that of a loaded model.
        weights = np.ascontiguousarray(self.sharp_weights())
        self.go_on_from((self.recent.count, weights, self.block.sums.reg, self.is_wide()))

    def resume(self, begun):
        """Resume the renewal of a saved model; its work is repeated from the beginning.

        Parameters
        ----------
        begun : tuple
            The model when the renewal began: samples learnt, weights of the features, r, and
            whether rows were multiplied in double.
        """
        count, weights, reg, wide = items_of(begun, "the renewal begun", 4)
        count = integer_within("begun", count, FIRST_RENEWAL, self.recent.count)
        if not self.is_time(count) or count + lag_of(count, self.interval) <= self.recent.count:
            raise ValueError(f"no renewal that began at sample {count} goes on after "
                             f"{self.recent.count}")
        shape = self.n_outputs, min(np.size(weights) // self.n_outputs, len(self.map.columns()))
        weights = doubles_of_shape("weights", weights, shape)
        self.go_on_from((count, weights, positive_number("reg", reg), flag_of("wide", wide)))
        self.saved_begun = self.begun

    cdef int go_on_from(self, tuple begun) except -1:
        """Set the renewal under way, of which nothing is done yet, or None."""
        self.begun, self.renewal = begun, None
        if begun is not None:
            self.begins = begun[0]
            self.ends = self.begins + lag_of(self.begins, self.interval)
        return 0

    cdef MetricRenewal new_renewal(self):
        """A new object for the renewal under way, of which nothing is done yet."""
        cdef int64_t since = self.recent.count - self.begins
        cdef Py_ssize_t n = <Py_ssize_t> min(self.recent.n() - since, <int64_t> self.n_anew)
        cdef bint whole = self.begins <= self.n_anew or self.block.forgetting < 1
        return MetricRenewal(self, self.begun, n, self.ends - self.begins,
                             LEAST_CHANGE if whole else LEAST_CHANGE_FORGETTING)

    def finish_renewal(self):
        """Finish the renewal under way, if there is one, and take its new model.

        If the kept samples are so large that a new model is not finite, the old model stays; only
        the choice of the form is taken.
        """
        if self.begun is None:
            return
        cdef MetricRenewal renewal = self.new_renewal() if self.renewal is None else self.renewal
        renewal.finish()
        self.choice = renewal.chosen
        self.go_on_from(None)
        if renewal.fresh is None:
            return
        map, window, block, ahead = self.map, self.window, self.block, self.ahead
        self.take(renewal.fresh)
        try:
            X, y, weight = self.recent.part(
                renewal.reached, self.recent.count - renewal.reached)
            self.learn_again(X, targets_of(y, self.n_labels, self.n_outputs), weight)
        except FloatingPointError:
            self.map, self.window, self.block, self.ahead = map, window, block, ahead

    def renew(self):
        """Do a whole renewal now."""
        self.begin_renewal()
        self.finish_renewal()

    def begin_anew(self, rows):
        LeastSquaresSpace.begin_anew(self, rows)
        self.go_on_from(None)

    def map_anew(self, rows):
        return with_landmarks(self.map, rows, self.learnt_root())

    def learnt_root(self):
        """M^(1/2) from the gradients of the present model; None if they are 0 or not finite."""
        self.begin_renewal()
        root, self.choice = self.new_renewal().look_at_once()
        self.go_on_from(None)
        return root

    def draws(self):
        """The random numbers of a renewal that begins at the present sample."""
        return np.random.RandomState(counted(self.seed, <uint64_t> self.recent.count) >> 32)

    def sharp_weights(self):
        """Weights with a prior precision of at most SHARP_REG, ndarray (n_outputs, n_features).

        The prior that predicts best may shrink the non-linear part of the function away, and its
        gradients with it.
        """
        if self.block.sums.reg <= SHARP_REG:
            return self.effective()
        A, b = self.block.equations()
        A[np.diag_indices_from(A)] += SHARP_REG - self.block.sums.reg
        # A is in C order: transposed, its upper triangle is the lower one that LAPACK reads.
        _, found, fault = dposv(A.T, b.T, lower=1, overwrite_a=1)
        return self.effective() if fault != 0 else found.T[:, self.map.columns()]

    def learn_anew(self, root, X, y, weight, draws):
        """Replace the model by a new one in another metric, fitted to the given rows.

        Parameters
        ----------
        root : ndarray of shape (d,) or (d, d)
            M^(1/2).
        X, y, weight : ndarrays of shapes (n, d), (n,) or (n, n_outputs), and (n,)
            Rows, targets, and weights; rows of weight 0 are not learnt.
        draws : numpy.random.RandomState
            Chooses the landmarks.
        """
        cdef FeatureMap map = renewed(self.map, root, X, weight, draws)
        cdef LearntAnew fresh = LearntAnew(map, OpenBlock(
            map.length, self.n_outputs, self.block.itemsize, self.reg,
            self.block.forgetting, self.block.evidence is not None, self.block.below))
        targets = targets_of(y, self.n_labels, self.n_outputs)
        for first in range(0, len(X), ROWS):
            rows = slice(first, first + ROWS)
            fresh.learn(X[rows], targets[rows], weight[rows])
        Plan(fresh.stages()).finish()
        fresh.finish()
        self.take(fresh)

    cdef int take(self, LearntAnew fresh) except -1:
        """Replace map, sums and look-ahead by those of a new model."""
        cdef LookAhead ahead = LookAhead(fresh.block, self.ahead.reach)
        ahead.all_enter = self.ahead.all_enter
        self.map, self.window = fresh.map, fresh.map.learning_window(LANES)
        self.block, self.ahead = fresh.block, ahead
        return 0

    cdef object new_window(self, Py_ssize_t rows):
        return PresentWindow(self.map, rows)

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        cdef Status status = OK
        if (<PresentWindow> window).map is not self.map:
            with gil:
                status = (<PresentWindow> window).renew(self.map)
        if status != OK:
            return status
        return LeastSquaresSpace.score(self, (<PresentWindow> window).window, rows, first, n, out)

    cdef void checkpoint(self) noexcept nogil:
        if self.saved_map is not self.map or self.saved_window is not self.window \
                or self.saved_choice is not self.choice or self.saved_begun is not self.begun:
            with gil:
                self.saved_map, self.saved_window = self.map, self.window
                self.saved_choice, self.saved_begun = self.choice, self.begun
        LeastSquaresSpace.checkpoint(self)
        self.recent.checkpoint()

    cdef void rollback(self) noexcept nogil:
        with gil:
            if self.saved_map is not self.map:
                self.map, self.window = self.saved_map, self.saved_window
            self.choice = self.saved_choice
            if self.saved_begun is not self.begun:
                self.go_on_from(self.saved_begun)
        LeastSquaresSpace.rollback(self)
        self.recent.rollback()
        if self.renewal is not None and self.renewal.reached > self.recent.count:
            with gil:
                self.renewal = None  # it has learnt rows that are undone: repeat it

    @property
    def root(self):
        """M^(1/2), ndarray of shape (d, d), or its diagonal, (d,), if it is diagonal."""
        return in_metric(self.map).root

    @property
    def metric(self):
        """M, ndarray of shape (d, d), or its diagonal, (d,), if it is diagonal."""
        return in_metric(self.map).metric()


cdef class PresentWindow:
    """A window that follows the map of the model: callers keep it longer than a metric lasts."""

    def __cinit__(self, FeatureMap map not None, Py_ssize_t rows):
        self.rows = rows
        self.map, self.window = map, map.new_window(rows)

    cdef Status renew(self, FeatureMap map) noexcept:
        """Replace the window by one of another map. Returns a status."""
        try:
            self.window = map.new_window(self.rows)
        except MemoryError:
            return NO_MEMORY
        self.map = map
        return OK


def _restore(map, n_outputs, reg, forgetting, reach, residuals, wide, entered, state, n_labels,
             exponent, seed, kept, choice=None, first_taught=0, begun=None):
    check_kind(map, "map", FeatureMap)
    if residuals is not None and not isinstance(residuals, Residuals):
        raise TypeError(f"residuals must be Residuals, got {type(residuals).__name__}")
    cdef MetricLeastSquares space = MetricLeastSquares(
        map, n_outputs, reg, forgetting, reach, residuals, flag_of("wide", wide), False, n_labels,
        exponent, seed, choice, first_taught)
    space.set_state(entered, state)
    if n_labels:
        check_labels(items_of(kept, "samples kept", 4)[2], n_labels)
    space.recent.set_arrays(*items_of(kept, "samples kept", 4))
    if begun is not None:
        space.resume(begun)
    return space
