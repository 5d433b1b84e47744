"""MetricLeastSquares: least squares over features of a kernel, in a metric that is learnt.

At samples 256, 512, 1,024, ... the metric is looked at: it is a power of the mean outer product of
the gradients of the model itself (recursive feature machine: Radhakrishnan, Beaglehole, Pandit and
Belkin 2024). If it has changed, the landmarks are chosen anew, and the model is learnt anew, from
the samples that are kept. Blocks of the stream end there, so that each is seen by one model.
"""
from libc.string cimport memcpy
from libc.math cimport INFINITY, pow, sqrt
from libc.stdint cimport int64_t, uint64_t

import numpy as np
from scipy.linalg import LinAlgError, solve

from onlinekern.core.base.part cimport NO_MEMORY, OK, RAISED, Status
from onlinekern.core.base.random cimport counted
from onlinekern.core.base.state cimport (
    check_kind, flag_of, integer_within, items_of, positive_number)
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.linalg.look_ahead cimport LookAhead
from onlinekern.core.linalg.open_block cimport LANES, OpenBlock
from onlinekern.core.models.least_squares cimport LeastSquaresSpace
from onlinekern.core.models.metric_choice cimport MetricChoice
from onlinekern.core.models.renewed_maps cimport in_metric
from onlinekern.core.models.residuals cimport Residuals
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

from onlinekern.core.features.gradients import few_outputs
from onlinekern.core.features.metric import change_of, root_of
from onlinekern.core.features.slopes import mean_of_slopes
from onlinekern.core.linalg.copies import unpacked
from onlinekern.core.models.renewed_maps import renewed, with_landmarks
from onlinekern.core.partitions.renewal import check_labels

# The metric is looked at after this sample, and whenever there are twice as many.
cdef int64_t FIRST_RENEWAL = 256
# The last samples that are kept.
KEPT = 4096
# The last of these are those whose gradients are taken: so many, or so many numbers.
cdef Py_ssize_t TAUGHT = 2048
cdef Py_ssize_t TAUGHT_NUMBERS = 1 << 20
cdef Py_ssize_t LEAST_TAUGHT = 256
# A metric that has changed by less (see `features.metric.change_of`) stays. Where samples that have
# left would be forgotten it must have changed more (benchmarks/metrics.py).
cdef double LEAST_CHANGE = 0.1
cdef double LEAST_CHANGE_FORGETTING = 0.4
# Gradients are those of the function with a prior precision of no more than this.
cdef double SHARP_REG = 0.1
# With forgetting, what is older than so many times its horizon 1 / (1 - lambda) is gone.
cdef double HORIZONS = 4
# The sums take up rows of features by so many.
cdef enum:
    CHUNK = 256
# Whole numbers up to this one are doubles.
cdef int64_t MOST_SEED = 1 << 53


def renewal_interval(double forgetting):
    """The most samples between two renewals; without forgetting there is no end to it."""
    cdef int64_t interval = FIRST_RENEWAL
    if forgetting == 1:
        return 1 << 62
    while interval < HORIZONS / (1 - forgetting) and interval < KEPT:
        interval *= 2
    return interval


cdef class MetricLeastSquares(LeastSquaresSpace):
    """A map in a metric, least squares of its features, and the samples to renew them from.

    Parameters
    ----------
    map, n_outputs, reg, forgetting, reach, residuals, wide, follows
        See `LeastSquaresSpace`. The map is an `InMetric`, or one with linear features.
    n_labels : int
        Classes; 0 with targets that are numbers.
    exponent : float > 0
        The power of the mean outer product of the gradients that is the metric.
    seed : int
        Of the draws of landmarks.
    choice : tuple, optional
        What `MetricChoice` has learnt, (form, width, gradients): it chooses among metrics. An empty
        tuple begins; without one, the form of the map's metric stays.
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
            raise ValueError(f"{n_labels} classes do not have {n_outputs} outputs")
        self.first_taught = integer_within("first_taught", first_taught, 0,
                                           0 if n_labels else n_outputs - 1)
        self.exponent = positive_number("exponent", exponent)
        self.seed = integer_within("seed", seed, 0, MOST_SEED)
        self.choice = None if choice is None else MetricChoice(map.d, exponent, *choice)
        self.interval = renewal_interval(forgetting)
        n_targets = 1 if self.n_labels else n_outputs
        self.recent = RecentRows(map.d, np.float32 if map.itemsize == 4 else np.float64,
                                 min(KEPT, self.interval), n_targets)
        self.y = np.zeros(n_targets)
        self.saved_map, self.saved_window, self.saved_choice = self.map, self.window, self.choice

    def __reduce__(self):
        rows, targets, weights = self.recent.arrays()
        kept = (self.recent.count, rows, targets, weights)
        return _restore, (self.map, self.n_outputs, self.reg, self.block.forgetting,
                          self.ahead.reach, self.residuals, self.is_wide(), self.entered,
                          self.block.get_state(), self.n_labels, self.exponent, self.seed, kept,
                          None if self.choice is None else self.choice.state(), self.first_taught)

    cdef bint is_time(self, int64_t count) noexcept nogil:
        """Whether the metric is looked at after so many samples."""
        if count >= self.interval:
            return count % self.interval == 0
        return count >= FIRST_RENEWAL and count & (count - 1) == 0

    cdef int64_t due(self) noexcept nogil:
        """The next sample after which the metric is looked at."""
        cdef int64_t count = self.recent.count, due = FIRST_RENEWAL
        if count >= self.interval:
            return (count // self.interval + 1) * self.interval
        while due <= count:
            due *= 2
        return due

    def is_due(self):
        """Whether the metric is looked at after the next sample."""
        return self.is_time(self.recent.count + 1)

    cdef bint takes_targets(self, Py_ssize_t n):
        return n == self.recent.n_targets

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        LeastSquaresSpace.reserve_block(self, rows)
        if self.saved_map is self.map:
            # A map knows the last window that was made to learn in, and no other.
            self.saved_window = self.window
        return 0

    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil:
        # Samples behind a renewal belong to a block of their own.
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
        """Take up a sample as least squares do, and keep it. Returns a status."""
        cdef Status status = LeastSquaresSpace.update(self, i, update)
        if status == OK:
            status = self.recent.keep(&self.rows, self.row_number(i), &self.y[0],
                                      update.contractions[0])
        if status != OK or not self.is_time(self.recent.count):
            return status
        with gil:
            try:
                self.renew()
            except BaseException as error:
                self.interruption = error
                return RAISED
        return OK

    def renew(self):
        """Learn a metric from the gradients, and, if it has changed, the model anew in it.

        Where the samples kept cannot be learnt anew, some being too large, all stays as it is.
        """
        cdef bint whole = self.recent.count <= self.recent.capacity \
            or self.block.forgetting < 1
        X, y, weight = self.recent.arrays()
        self.ahead.hand_over()
        self.block.settle()
        draws = self.draws()
        root = self.learnt_root(X, y, draws)
        least = LEAST_CHANGE if whole else LEAST_CHANGE_FORGETTING
        if root is not None and change_of(self.root, root) > least:
            try:
                self.learn_anew(root, X, y, weight, draws)
            except FloatingPointError:
                pass

    def map_anew(self, rows):
        X, y, _ = self.recent.arrays()
        return with_landmarks(self.map, rows, self.learnt_root(X, y, self.draws()))

    def learnt_root(self, X, y, draws):
        """M^(1/2) from the gradients at the last rows; None where they tell nothing."""
        gradients = self.mean_gradients(X, draws)
        if self.choice is None:
            return root_of(gradients, self.exponent)
        self.choose(X, y, gradients, draws)
        return self.choice.root(gradients)

    def choose(self, X, y, gradients, draws):
        """Choose the form of the metric and its width, by the gradients of the renewal before."""
        cdef double reg = self.block.sums.reg
        factors = [1.0] if self.block.evidence is None else [1.0, 10.0, 0.1]
        regs = [reg * factor for factor in factors]
        goals = np.ascontiguousarray(self.targets_of(y)[:, self.first_taught:])
        choice = self.choice.looked(self.map, X, goals, regs, self.n_labels > 0, draws)
        self.choice = choice.with_gradients(np.where(np.isfinite(gradients), gradients, 0.0))

    def draws(self):
        """Random numbers of a renewal after the present number of samples."""
        return np.random.RandomState(counted(self.seed, <uint64_t> self.recent.count) >> 32)

    def mean_gradients(self, X, draws):
        """The mean outer product of the gradients at the last rows, or its diagonal."""
        taught = max(LEAST_TAUGHT, min(TAUGHT, TAUGHT_NUMBERS // max(self.map.d, 1)))
        weights = few_outputs(self.sharp_weights()[self.first_taught:].T, draws).T
        full = self.root.ndim == 2 if self.choice is None else self.choice.gradients.ndim == 2
        with np.errstate(all="ignore"):
            return mean_of_slopes(self.map, weights, X[max(0, len(X) - taught):], full)

    def sharp_weights(self):
        """Weights with little prior, (n_outputs, n_features): their gradients tell more.

        Under the prior that predicts best, what is not linear may hide behind what is.
        """
        state, reg = self.block.get_state(), self.block.sums.reg
        rows = state["rows"].astype(np.float64)
        A = unpacked("sums of squares", state["matrix"], state["used"], 1)
        A = A + (state["weights"] * rows).T @ rows
        A[np.diag_indices_from(A)] += min(reg, SHARP_REG) - reg
        b = state["vectors"] + state["targets"].T @ rows[len(rows) - state["count"]:]
        weights = np.zeros((self.n_outputs, self.map.length))
        try:
            weights[:, :state["used"]] = solve(A, b.T, assume_a="pos", check_finite=False).T
        except LinAlgError:
            return self.effective()
        return weights[:, self.map.columns()]

    def learn_anew(self, root, X, y, weight, draws):
        """Begin with new landmarks in another metric, and learn rows.

        Parameters
        ----------
        root : ndarray of shape (d,) or (d, d)
            M^(1/2).
        X, y, weight : ndarrays of shapes (n, d), (n,) or (n, n_outputs), and (n,)
            Rows, targets, and weights, which are 0 of rows that have not entered.
        draws : numpy.random.RandomState
            Chooses the landmarks.
        """
        cdef FeatureMap map = renewed(self.map, root, X, weight, draws)
        cdef OpenBlock block = OpenBlock(
            map.length, self.n_outputs, self.block.itemsize, self.reg,
            self.block.forgetting, self.block.evidence is not None, self.block.below)
        cdef FeatureWindow window = map.learning_window(LANES)
        self.learn_at_once(map, window, block, X, self.targets_of(y), weight)
        cdef LookAhead ahead = LookAhead(block, self.ahead.reach)
        ahead.all_enter = self.ahead.all_enter
        self.map, self.window, self.block, self.ahead = map, window, block, ahead

    def targets_of(self, y):
        """Targets of the outputs, ndarray of shape (n, n_outputs)."""
        if self.n_labels == 0:
            return y.reshape(len(y), self.n_outputs)
        if self.n_outputs == 1:
            return np.where(y > 0, 1.0, -1.0)[:, None]
        return np.where(y[:, None] == np.arange(self.n_outputs), 1.0, -1.0)

    cdef int learn_at_once(self, FeatureMap map, FeatureWindow window, OpenBlock block, object X,
                           const double[:, ::1] targets, const double[::1] weights) except -1:
        """Put rows that have entered into the sums of a new block, and make its weights of these.

        With forgetting, each makes those before it count less.
        """
        cdef Samples samples = samples_of(X, X.dtype)
        cdef Py_ssize_t i, k, width, first = 0, taken = 0, n = len(X), n_outputs = self.n_outputs
        cdef Py_ssize_t n_later = np.count_nonzero(weights)
        cdef double[:, ::1] rows = np.zeros((CHUNK + LANES, map.length))
        cdef double[:, ::1] scaled = np.zeros((CHUNK + LANES, n_outputs))
        cdef double[::1] totals = np.zeros(n_outputs + 2)
        cdef double root
        cdef Status status = OK
        block.set_used(map.used())
        with nogil:
            while first < n and status == OK:
                width = min(LANES, n - first)
                status = window.open(&samples.rows, NULL, first, width)
                for i in range(width if status == OK else 0):
                    if weights[first + i] > 0:
                        n_later -= 1
                        root = pow(block.forgetting, <double> n_later)
                        count_target(&targets[first + i, 0], n_outputs, weights[first + i], root,
                                     &totals[0])
                        root = sqrt(root * weights[first + i])
                        write_row(window, i, root, &rows[taken, 0], map.length)
                        for k in range(n_outputs):
                            scaled[taken, k] = root * targets[first + i, k]
                        taken += 1
                first += width
                if taken >= CHUNK or first == n:
                    block.add_rows(taken, &rows[0, 0], &scaled[0, 0])
                    taken = 0
        if status == OK and block.evidence is not None:
            block.evidence.set_state(np.asarray(totals))
            status = block.evidence.choose(block.used)
        if status == OK:
            status = block.renew()
        if status == NO_MEMORY:
            raise MemoryError(f"no memory to learn {n} samples anew")
        if status != OK:
            raise FloatingPointError("the sums of the samples that are kept are not finite")
        block.settle()
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
                or self.saved_choice is not self.choice:
            with gil:
                self.saved_map, self.saved_window = self.map, self.window
                self.saved_choice = self.choice
        LeastSquaresSpace.checkpoint(self)
        self.recent.checkpoint()

    cdef void rollback(self) noexcept nogil:
        if self.saved_map is not self.map or self.saved_choice is not self.choice:
            with gil:
                self.map, self.window = self.saved_map, self.saved_window
                self.choice = self.saved_choice
        LeastSquaresSpace.rollback(self)
        self.recent.rollback()

    @property
    def root(self):
        """M^(1/2), ndarray of shape (d, d), or its diagonal, (d,), if it is diagonal."""
        return in_metric(self.map).root

    @property
    def metric(self):
        """M, ndarray of shape (d, d), or its diagonal, (d,), if it is diagonal."""
        return in_metric(self.map).metric()


cdef class PresentWindow:
    """A window of the present map: one that is kept outlives a metric."""

    def __cinit__(self, FeatureMap map not None, Py_ssize_t rows):
        self.rows = rows
        self.map, self.window = map, map.new_window(rows)

    cdef Status renew(self, FeatureMap map) noexcept:
        """Begin anew with another map. Returns a status."""
        try:
            self.window = map.new_window(self.rows)
        except MemoryError:
            return NO_MEMORY
        self.map = map
        return OK


cdef void write_row(FeatureWindow window, Py_ssize_t i, double factor, double *out,
                    Py_ssize_t length) noexcept nogil:
    """out = factor times the features of sample i of an open window."""
    cdef Py_ssize_t j
    cdef const char *row = window.features.row(i)
    for j in range(length):
        out[j] = factor * ((<const float *> row)[j] if window.block.itemsize == 4
                           else (<const double *> row)[j])


cdef void count_target(const double *target, Py_ssize_t n_outputs, double weight, double one,
                       double *totals) noexcept nogil:
    """Count a target in the sums of `linalg.evidence`; `one` is what is not forgotten of it."""
    cdef Py_ssize_t k
    for k in range(n_outputs):
        totals[k] += one * weight * target[k] * target[k]
    totals[n_outputs] += one
    totals[n_outputs + 1] += 1


def _restore(map, n_outputs, reg, forgetting, reach, residuals, wide, entered, state, n_labels,
             exponent, seed, kept, choice=None, first_taught=0):
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
    return space
