"""LeastSquaresSpace: recursive least squares over explicit features of a kernel.

With Nystroem features this is a Gaussian process whose posterior is restricted to the span of the
landmarks; with landmarks selected by margin, a second-order perceptron. All outputs share one
covariance.
"""
from libc.math cimport INFINITY
from libc.stdlib cimport free
from libc.string cimport memset

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, RAISED, Status
from onlinekern.core.base.state cimport (
    MOST_OUTPUTS, check_kind, check_width, count_of, flag_of, integer_within,
)
from onlinekern.core.base.vector cimport finite, resize_array, whole_panels
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.linalg.look_ahead cimport LookAhead
from onlinekern.core.linalg.open_block cimport LANES, OpenBlock
from onlinekern.core.models.residuals cimport Residuals
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

from onlinekern.core.models.renewed_maps import with_landmarks

# Once the prior variance phi'phi / r of a sample is larger, float32 features are multiplied in
# double: in float32 the noise, 1, would be lost in rounding beside it. Features that are not scaled
# may reach this late in the stream.
cdef double MOST_VARIANCE_IN_SINGLE = 1000
# In classification only samples near the border are learnt, so the noise is overestimated. Two
# choices below the best r, a tenth of it, has the lowest error, or nearly, on 18 sets
# (benchmarks/priors.py).
cdef Py_ssize_t BELOW_OF_CLASSES = 2


cdef class LeastSquaresSpace(Space):
    """A feature map, and least squares of its features.

    Parameters
    ----------
    map : FeatureMap
    n_outputs : int
    reg : float > 0
        Prior precision r of the weights, relative to that of the noise.
    forgetting : float in (0, 1]
        lambda, see `linalg.open_block`.
    reach : float
        See `linalg.look_ahead`.
    residuals : Residuals, optional
        Gets the residuals of all outputs.
    wide : bool, default=False
        Whether float32 features are multiplied in double from the first sample on.
    follows : bool, default=False
        Whether r is chosen along the stream, see `linalg.evidence`; `reg` is the first one.
    """

    def __cinit__(self, FeatureMap map not None, Py_ssize_t n_outputs, double reg,
                  double forgetting, double reach=INFINITY, Residuals residuals=None,
                  bint wide=False, bint follows=False, *_):
        self.map = map
        self.n_outputs = integer_within("n_outputs", n_outputs, 1, MOST_OUTPUTS)
        if residuals is not None and residuals.n_outputs != n_outputs:
            raise ValueError(f"residuals must have {n_outputs} outputs, got {residuals.n_outputs}")
        self.residuals = residuals
        self.reg = reg
        self.block = self.saved_block = OpenBlock(
            map.length, n_outputs, 8 if wide else map.itemsize, reg, forgetting, follows,
            BELOW_OF_CLASSES if residuals is None else 0)
        self.block.set_used(map.used())
        self.ahead = self.saved_ahead = LookAhead(self.block, reach)
        self.ahead.all_enter = reach == INFINITY
        self.window = map.learning_window(1)
        if map.itemsize == 4:
            self.widened = new_rows(map.length)

    def __dealloc__(self):
        free(self.widened)

    def components(self):
        return (self.map,)

    def __reduce__(self):
        return _restore, (self.map, self.n_outputs, self.reg, self.block.forgetting,
                          self.ahead.reach, self.residuals, self.is_wide(), self.entered,
                          self.block.get_state())

    cdef bint takes_targets(self, Py_ssize_t n):
        return n in (1, self.n_outputs)

    cdef tuple sample_form(self):
        return self.map.d, self.map.itemsize

    cdef Py_ssize_t size(self) noexcept nogil:
        # The second term is a product with N, in kernel values of 16 features.
        return self.map.work() + self.block.used * self.block.used // 16

    cdef bint stored_sparse(self) noexcept nogil:
        return self.map.stored_sparse()

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        rows = min(rows, LANES)
        if self.window.features.capacity < rows:
            self.window = self.map.learning_window(rows)
        return 0

    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil:
        return min(wanted if wanted > 0 else LANES, LANES, left)

    cdef bint is_wide(self) noexcept nogil:
        """Whether float32 features are multiplied in double."""
        return self.block.itemsize > self.map.itemsize

    cdef const char *rows_of(self, FeatureWindow window, double *widened, Py_ssize_t first,
                             Py_ssize_t n) noexcept nogil:
        """Features of n samples of an open window; if they must be in double, first ... n - 1 are
        converted to `widened`.
        """
        cdef Py_ssize_t i, length = self.map.length
        if not self.is_wide():
            return window.features.rows(n)
        for i in range(first, n):
            memset(widened + i * length, 0, length * sizeof(double))
            window.block.ops.add(window.features.row(i), 1, widened + i * length, length)
        return <const char *> widened

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        if self.window.open(rows, order, first, n) < 0:
            return NO_MEMORY
        self.ahead.hand_over()
        self.ahead.open(self.rows_of(self.window, self.widened, 0, n), 0, n)
        return OK

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        cdef Py_ssize_t k
        self.widen_for(i)
        self.ahead.score(i, current)
        for k in range(self.n_outputs):
            averaged[k] = current[k]

    cdef void widen_for(self, Py_ssize_t i) noexcept nogil:
        """Switch to double from sample i of the open window on, if its variance is too large."""
        if self.block.itemsize == 4 and not self.map.square(self.window.features.row(i)) \
                <= MOST_VARIANCE_IN_SINGLE * self.block.sums.reg:
            self.widen(i)

    cdef void widen(self, Py_ssize_t i) noexcept nogil:
        """Switch to double from sample i of the open window on.

        If there is no memory, or a signal handler raises, sets `failure`, which `update` returns.
        """
        with gil:
            try:
                self.ahead.hand_over()
                block = OpenBlock(self.map.length, self.n_outputs, 8, self.block.sums.reg,
                                  self.block.forgetting, False, self.block.below)
                block.set_state(self.block.get_state())
                ahead = LookAhead(block, self.ahead.reach)
                ahead.all_enter = self.ahead.all_enter
                ahead.n = self.ahead.n
                self.block, self.ahead = block, ahead
            except MemoryError:
                self.failure = NO_MEMORY
                return
            except BaseException as error:
                self.interruption = error
                self.failure = RAISED
                return
        self.ahead.open(self.rows_of(self.window, self.widened, i, self.ahead.n), i, self.ahead.n)

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """phi' A^-1 phi, the same for every output."""
        cdef Py_ssize_t k
        cdef double variance = self.ahead.variance(i)
        for k in range(self.n_outputs):
            update.lengths[k] = variance

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Learn a sample with its contraction as the weight; 0: not at all. Returns a status."""
        cdef double weight = update.contractions[0]
        if self.failure != OK:
            return self.failure
        if weight > 0 and self.residuals is not None:
            self.residuals.add(update.coefficients, weight, self.ahead.variance(i))
        return self.take_up(i, weight, update.coefficients)

    cdef Status take_up(self, Py_ssize_t i, double weight, const double *steps) noexcept nogil:
        """Learn sample i with steps weight * (y - f), unless its weight is 0. Returns a status."""
        cdef Py_ssize_t used = self.map.used()
        if self.map.consider(self.window, i, weight > 0) < 0:
            return NO_MEMORY
        if self.map.used() > used:
            self.rows_of(self.window, self.widened, i, self.ahead.n)
            self.ahead.grow(i, self.map.used())
        if not weight > 0:
            return OK
        self.entered += 1
        return self.ahead.enter(i, weight, steps)

    cdef Status settle(self) noexcept nogil:
        self.ahead.hand_over()
        self.block.settle()
        self.block.prepare()
        return OK

    cdef void checkpoint(self) noexcept nogil:
        self.map.checkpoint()
        self.failure = OK
        if self.saved_block is not self.block:
            with gil:
                self.saved_block, self.saved_ahead = self.block, self.ahead
        self.block.checkpoint()
        self.ahead.n_handed = self.block.count
        self.saved_entered = self.entered
        if self.residuals is not None:
            self.residuals.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.map.rollback()
        if self.saved_block is not self.block:
            with gil:
                self.block, self.ahead = self.saved_block, self.saved_ahead
        self.block.rollback()
        self.entered = self.saved_entered
        if self.residuals is not None:
            self.residuals.rollback()

    def learn_again(self, X, const double[:, ::1] targets, const double[::1] weights):
        """Learn the rows whose weight is not 0, without counting them in `entered` again.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        targets : ndarray of shape (n, n_outputs)
        weights : ndarray of shape (n,)

        Raises
        ------
        FloatingPointError
            If a score is not finite.
        """
        cdef Samples samples = samples_of(X, X.dtype)
        cdef double[:, ::1] scores = np.empty((2, self.n_outputs))
        cdef int64_t entered = self.entered
        cdef Py_ssize_t i, k, n = samples.rows.n
        cdef Status status = OK
        self.reserve_block(n)
        for i in range(n):
            if i % LANES == 0 and status == OK:
                status = LeastSquaresSpace.open(self, &samples.rows, NULL, i, min(LANES, n - i))
            if status != OK:
                break
            self.scores(i % LANES, &scores[0, 0], &scores[1, 0])
            status = self.failure
            if status == OK and not finite(&scores[0, 0], 2 * self.n_outputs):
                status = NOT_FINITE
            for k in range(self.n_outputs):
                scores[1, k] = weights[i] * (targets[i, k] - scores[0, k])
            if status == OK:
                status = self.take_up(i % LANES, weights[i], &scores[1, 0])
        self.entered = entered
        if status == RAISED:
            raise self.interruption
        if status == NO_MEMORY:
            raise MemoryError(f"no memory to learn {n} samples again")
        if status != OK:
            raise FloatingPointError("a step on the samples that are kept is not finite")

    def begin_anew(self, rows):
        """Forget what was learnt, and begin with landmarks among these rows. Cannot be undone.

        Parameters
        ----------
        rows : ndarray or CSR matrix of shape (n, d), validated
            Candidates for landmarks.
        """
        cdef FeatureMap map = self.map_anew(rows)
        cdef OpenBlock block = OpenBlock(
            map.length, self.n_outputs, self.block.itemsize, self.block.sums.reg,
            self.block.forgetting, self.block.evidence is not None, self.block.below)
        block.set_used(map.used())
        cdef LookAhead ahead = LookAhead(block, self.ahead.reach)
        ahead.all_enter = self.ahead.all_enter
        self.map, self.window = map, map.learning_window(1)
        self.block, self.ahead = block, ahead
        self.saved_block, self.saved_ahead = block, ahead

    def map_anew(self, rows):
        """The map of `begin_anew`, with landmarks among these rows."""
        return with_landmarks(self.map, rows)

    cdef object new_window(self, Py_ssize_t rows):
        return self.map.new_window(rows)

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        cdef Py_ssize_t i, k, width = whole_panels(self.block.used)
        if (<FeatureWindow> window).open(rows, NULL, first, n) < 0:
            return NO_MEMORY
        for i in range(n):
            for k in range(self.n_outputs):
                out[i * self.n_outputs + k] = (<FeatureWindow> window).block.ops.dot(
                    (<FeatureWindow> window).features.row(i),
                    self.block.current + k * self.block.length, width)
        return OK

    def variances(self, X):
        """phi' A^-1 phi of samples, ndarray of shape (n,); several threads may call this at once.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated
        """
        cdef Samples samples = samples_of(X, np.float32 if self.map.itemsize == 4 else np.float64)
        check_width("X", samples.rows.d, self.map.d)
        cdef Py_ssize_t i, n, first = 0, total = samples.rows.n
        cdef double[::1] found = np.zeros(total)
        cdef FeatureWindow window = self.map.new_window(min(max(total, 1), LANES))
        cdef LookAhead ahead = LookAhead(self.block)
        cdef double *widened = new_rows(self.map.length) if self.is_wide() else NULL
        cdef double[::1] scores = np.zeros(self.n_outputs)
        cdef Status status = OK
        with nogil:
            while first < total and status == OK:
                n = min(LANES, total - first)
                status = window.open(&samples.rows, NULL, first, n)
                if status == OK:
                    ahead.open(self.rows_of(window, widened, 0, n), 0, n)
                for i in range(n if status == OK else 0):
                    ahead.score(i, &scores[0])
                    found[first + i] = ahead.variance(i)
                first += n
        free(widened)
        if status != OK:
            raise MemoryError(f"no memory for the variances of {total} samples")
        return np.asarray(found)

    cdef int set_state(self, object entered, object state) except -1:
        """Set the count of samples and the state of the block, which must fit the map."""
        self.block.set_state(state)
        self.entered = self.saved_entered = count_of("entered", entered)
        integer_within("used", self.block.used, self.map.used(), self.map.used())
        return 0

    def effective(self):
        """Weights of the features, ndarray of shape (n_outputs, n_features)."""
        return self.block.weights()[:, self.map.columns()]

    def offsets(self):
        """Weights of the constant feature, ndarray of shape (n_outputs,)."""
        if self.map.constant < 0:
            return np.zeros(self.n_outputs)
        return self.block.weights()[:, self.map.constant]


cdef double *new_rows(Py_ssize_t length) except NULL:
    rows = <double *> resize_array(NULL, 0, LANES, length * <Py_ssize_t> sizeof(double))
    if rows == NULL:
        raise MemoryError(f"no memory for {LANES} rows of {length} features")
    return rows


def _restore(map, n_outputs, reg, forgetting, reach, residuals, wide, entered, state):
    check_kind(map, "map", FeatureMap)
    if residuals is not None and not isinstance(residuals, Residuals):
        raise TypeError(f"residuals must be Residuals, got {type(residuals).__name__}")
    cdef LeastSquaresSpace space = LeastSquaresSpace(map, n_outputs, reg, forgetting, reach,
                                                     residuals, flag_of("wide", wide))
    space.set_state(entered, state)
    return space
