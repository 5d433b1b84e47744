"""Sequential minimal optimisation (SMO) of the duals of kernel machines.

For n points with the kernel matrix K, the problem is

    minimise  b'(K + R) b / 2 - t'b + e |b|_1   over  lower <= b <= upper,

with a diagonal matrix R, and with sum_i b_i = 0 if the machine has an offset. The variables are the
signed coefficients b of the model, so the loops do not use labels. `onlinekern.estimators.duals`
computes t, R, e and the bounds of each loss.

With the negative gradient a = t - (K + R) b, the objective falls at the rate a_i + up_i if b_i
increases, and at -(a_i + down_i) if it decreases. up and down are minus the one-sided slopes of
e |b|, and infinite at bounds. Pairs are chosen by Fan, Chen and Lin (2005, WSS 2): i has the
largest a_i + up_i, and j the largest decrease of the objective to second order. Without an offset,
one variable moves at a time, that of the largest decrease. The loop ends if the largest a_i + up_i
is at most tol above the least a_j + down_j.

A step makes two passes over the active points. The first reads the slopes and the kernel row of i,
to find j. The second reads the rows of i and j, updates the slopes and finds the next i.

Shrinking leaves out points at a bound whose slopes exclude a step. When the others have converged,
the slopes of these points are computed from the support vectors, and all points are active again.

R.-E. Fan, P.-H. Chen, C.-J. Lin (2005). Working set selection using second order information for
training support vector machines. JMLR 6, 1889-1918.
T. Joachims (1999). Making large-scale SVM learning practical. Advances in Kernel Methods.
"""
from libc.math cimport INFINITY

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, NOT_FINITE, OK, RAISED, Status
from onlinekern.core.base.state cimport doubles_of_shape, not_negative
from onlinekern.core.base.vector cimport OK_LEAST_BEND, OK_PANEL, ops_for
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.models.active_rows cimport TOGETHER, ActiveRows
from onlinekern.core.models.space cimport raised_by_signals

# Elements of the passes between two checks for signals (Ctrl-C), some tens of milliseconds.
cdef Py_ssize_t ELEMENTS_BETWEEN_SIGNALS = 1 << 25
# Steps between two attempts to shrink, as in LIBSVM. Points are left out only if at most this share
# stays active; otherwise copying the cached kernel rows costs more than it saves.
cdef Py_ssize_t MOST_STEPS_BEFORE_SHRINKING = 1000
cdef double WORTH_SHRINKING = 0.8

# Results of `descend`; negative ones are a status.
cdef enum:
    CONVERGED = 0
    SHRINKS = 1
    STOPPED = 2


cdef class DualMinimiser:
    """A dual problem and its present solution.

    Parameters
    ----------
    rows : ActiveRows
        Kernel rows; all points must be active.
    targets, lower, upper, ridge : ndarray of shape (n,)
        t, the bounds (lower <= 0 <= upper) and R.
    insensitivity : float >= 0
        e.
    offset : bool
        Whether the coefficients must sum to 0.
    tol : float > 0
    shrinking : bool
    start : ndarray of shape (n,), optional
        Initial coefficients: within the bounds, with the sum 0 if there is an offset.
    """

    def __cinit__(self, ActiveRows rows not None, targets, lower, upper, ridge,
                  double insensitivity, bint offset, double tol, bint shrinking, start=None):
        shape = (rows.n,)
        self.rows = rows
        self.ops = ops_for(rows.itemsize)
        self.targets = doubles_of_shape("targets", targets, shape)
        self.ridge = doubles_of_shape("ridge", ridge, shape)
        self.lower = np.array(lower, dtype=np.float64)
        self.upper = np.array(upper, dtype=np.float64)
        self.insensitivity = not_negative("insensitivity", insensitivity)
        self.offset = offset
        self.tol = tol
        self.shrinking = shrinking
        self.beta = np.zeros(rows.n)
        self.gradient = np.array(targets, dtype=np.float64)
        rows.restart()
        self.diagonal = rows.diagonal()
        if not np.isfinite(self.diagonal).all():
            raise FloatingPointError(
                "a kernel value is not finite: scale the features, or take another kernel")
        if start is not None:
            self.begin_at(doubles_of_shape("start", start, shape))
        self.place_points()

    @property
    def coefficients(self):
        """The present coefficients, ndarray of shape (n,)."""
        return np.array(self.beta)

    @property
    def slopes(self):
        """t - (K + R) b at the end of `minimise`, ndarray of shape (n,)."""
        return np.array(self.gradient)

    def present(self):
        """State that `minimise` and `change` modify, for `resume`; all points must be active."""
        return (np.array(self.beta), np.array(self.gradient), np.array(self.lower),
                np.array(self.upper))

    def resume(self, present):
        """Restore the result of `present`."""
        self.beta, self.gradient, self.lower, self.upper = map(np.array, present)
        self.place_points()

    def change(self, const Py_ssize_t[::1] points, const double[::1] values, bint fixed):
        """Set coefficients of points; if `fixed`, these do not change any more.

        All points must be active.
        """
        cdef Py_ssize_t p, i
        cdef double step
        for i in range(points.shape[0]):
            p = points[i]
            step = values[i] - self.beta[p]
            if step != 0:
                if self.rows.cache.find(p) == NULL and self.rows.make(&p, 1) < 0:
                    raise MemoryError("no memory for a kernel row")
                self.ops.add(self.rows.cache.find(p), -step, &self.a[0], self.rows.columns)
            self.a[p] -= step * self.ridge[p]
            self.beta[p] = values[i]
            if fixed:
                self.lower[p] = self.upper[p] = values[i]
            self.set_slopes(p)

    def begin_at(self, start):
        """Start at these coefficients, and compute the gradient."""
        self.beta = np.array(start)
        gradient = np.asarray(self.targets) - np.asarray(self.ridge) * start
        gradient -= self.values_at(np.arange(self.rows.n, dtype=np.intp))
        self.gradient = gradient

    def values_at(self, points):
        """(K b)_i for each of these points, ndarray."""
        cdef Py_ssize_t first = 0, width, n = len(points)
        cdef double[::1] values = np.zeros(n)
        chosen = np.flatnonzero(self.beta)
        cdef SupportSet support = self.rows.new_set()
        support.add_rows(self.rows.X, np.asarray(self.beta)[chosen, None], chosen)
        support.reserve_block(OK_PANEL)
        cdef const Py_ssize_t[::1] numbers = points
        cdef Status status = OK
        while first < n and support.n > 0 and status == OK:
            width = min(n - first, OK_PANEL + ELEMENTS_BETWEEN_SIGNALS // support.n)
            with nogil:
                status = self.rows.expansion(support, &numbers[first], width, &values[first])
            first += width
            failure = raised_by_signals()
            if failure is not None:
                raise failure
        if status != OK:
            raise MemoryError(f"no memory for kernel values of {n} points")
        return np.asarray(values)

    cdef int place_points(self) except -1:
        """Copy the numbers of the active points into contiguous, padded arrays for the passes."""
        cdef Py_ssize_t columns = self.rows.columns, place
        points = np.asarray(self.rows.points)
        padding = (0, columns - self.rows.n_active)
        self.a = np.pad(np.asarray(self.gradient)[points], padding)
        lengths = np.asarray(self.diagonal)[points] + np.asarray(self.ridge)[points]
        self.lengths = np.pad(lengths, padding, constant_values=1.0)
        self.up = np.full(columns, -INFINITY)
        self.down = np.full(columns, INFINITY)
        self.best = np.zeros(columns // OK_PANEL)
        self.zeros = np.zeros(columns * self.rows.itemsize, dtype=np.int8)
        self.kept = np.zeros(self.rows.n_active, dtype=np.intp)
        for place in range(self.rows.n_active):
            self.set_slopes(place)
        self.until_shrinking = min(self.rows.n, MOST_STEPS_BEFORE_SHRINKING)
        return 0

    cdef void set_slopes(self, Py_ssize_t place) noexcept nogil:
        """Compute `up` and `down` of a point from its coefficient."""
        cdef Py_ssize_t p = self.rows.points[place]
        cdef double b = self.beta[p], e = self.insensitivity
        self.up[place] = -INFINITY if b >= self.upper[p] else (-e if b >= 0 else e)
        self.down[place] = INFINITY if b <= self.lower[p] else (-e if b > 0 else e)

    cdef double room(self, Py_ssize_t place, bint upwards) noexcept nogil:
        """Distance from a coefficient to its bound, or to 0 before it, where |b| has a kink."""
        cdef Py_ssize_t p = self.rows.points[place]
        cdef double b = self.beta[p]
        if self.insensitivity > 0 and (b < 0 if upwards else b > 0):
            return -b if upwards else b
        return self.upper[p] - b if upwards else b - self.lower[p]

    cdef void move(self, Py_ssize_t place, double step, bint reaches_end) noexcept nogil:
        """Add a step to a coefficient; `reaches_end` sets it to its bound, or 0, exactly."""
        cdef Py_ssize_t p = self.rows.points[place]
        cdef bint to_zero = self.insensitivity > 0 and (self.beta[p] < 0 if step > 0
                                                        else self.beta[p] > 0)
        if not reaches_end:
            self.beta[p] += step
        elif to_zero:
            self.beta[p] = 0
        else:
            self.beta[p] = self.upper[p] if step > 0 else self.lower[p]
        self.a[place] -= step * self.ridge[p]
        self.set_slopes(place)

    cdef double rate(self, Py_ssize_t place, const char *row, Py_ssize_t other) noexcept nogil:
        """Criterion for a place, as in the passes `pair_step`, `pair_gains` and `single_step`."""
        cdef double gap, bend = self.lengths[place]
        if not self.offset:
            gap = max(0.0, max(self.a[place] + self.up[place],
                               -(self.a[place] + self.down[place])))
            return gap * gap / max(bend, OK_LEAST_BEND)
        if row == NULL:
            return self.a[place] + self.up[place]
        gap = max(0.0, self.top - (self.a[place] + self.down[place]))
        bend += self.lengths[other] - 2 * self.rows.value(row, place)
        return gap * gap / max(bend, OK_LEAST_BEND)

    cdef Py_ssize_t best_panel(self) noexcept nogil:
        """The panel of the largest number in `best`, the first of ties."""
        cdef Py_ssize_t q, found = 0
        for q in range(1, self.best.shape[0]):
            if self.best[q] > self.best[found]:
                found = q
        return found

    cdef Py_ssize_t best_place(self, Py_ssize_t panel, const char *row,
                               Py_ssize_t other) noexcept nogil:
        """The place of the largest rate in a panel, the first of ties."""
        cdef Py_ssize_t place, first = panel * OK_PANEL, found = first
        cdef double rate, best = -INFINITY
        for place in range(first, min(first + OK_PANEL, self.rows.n_active)):
            rate = self.rate(place, row, other)
            if rate > best:
                best = rate
                found = place
        return found

    cdef const char *row(self, Py_ssize_t place, const char *of, Py_ssize_t other) noexcept nogil:
        """The kernel row of the point at a place; NULL if there is no memory.

        If it is not cached, it is computed together with those of the best places of other panels,
        which may be needed next. Panels are ranked by `best`, which is overwritten, and places by
        `rate` with the row `of` of the point at `other`.
        """
        cdef Py_ssize_t[TOGETHER] numbers
        cdef Py_ssize_t number = self.rows.points[place], most = self.rows.batch(), _, count = 0
        cdef Py_ssize_t panel, candidate
        cdef const char *found = self.rows.cache.find(number)
        if found != NULL:
            return found
        self.best[place // OK_PANEL] = -INFINITY
        for _ in range(2 * most):
            panel = self.best_panel()
            if count == most - 1 or self.best[panel] <= (0 if of or not self.offset
                                                         else self.least):
                break
            candidate = self.rows.points[self.best_place(panel, of, other)]
            self.best[panel] = -INFINITY
            if self.rows.cache.slot_of[candidate] < 0:
                numbers[count] = candidate
                count += 1
        numbers[count] = number
        return NULL if self.rows.make(numbers, count + 1) < 0 else self.rows.cache.find(number)

    cdef Status pair(self, Py_ssize_t i) noexcept nogil:
        """Increase the coefficient of place i, and decrease that of the best j."""
        cdef Py_ssize_t j, columns = self.rows.columns
        cdef double step, bend, room_i, room_j
        cdef const char *row_i = self.row(i, NULL, 0)
        cdef const char *row_j
        if row_i == NULL:
            return NO_MEMORY
        self.ops.pair_gains(row_i, self.top, self.lengths[i], &self.lengths[0], &self.a[0],
                            &self.down[0], columns, &self.best[0])
        j = self.best_place(self.best_panel(), row_i, i)
        row_j = self.row(j, row_i, i)
        if row_j == NULL:
            return NO_MEMORY
        bend = self.lengths[i] + self.lengths[j] - 2 * self.rows.value(row_i, j)
        room_i, room_j = self.room(i, True), self.room(j, False)
        step = min((self.top - (self.a[j] + self.down[j])) / max(bend, OK_LEAST_BEND),
                   min(room_i, room_j))
        self.move(i, step, step == room_i)
        self.move(j, -step, step == room_j)
        self.least = self.ops.pair_step(row_i, row_j, step, &self.a[0], &self.up[0], &self.down[0],
                                        columns, &self.best[0])
        return OK

    cdef Status single(self, Py_ssize_t i) noexcept nogil:
        """Change the coefficient of place i only."""
        cdef double slope = self.a[i] + self.up[i], bend = max(self.lengths[i], OK_LEAST_BEND)
        cdef bint upwards = slope > 0
        cdef const char *row = self.row(i, NULL, 0)
        cdef double step, room = self.room(i, upwards)
        if row == NULL:
            return NO_MEMORY
        step = min((slope if upwards else -(self.a[i] + self.down[i])) / bend, room)
        self.move(i, step if upwards else -step, step == room)
        self.top = self.ops.single_step(row, step if upwards else -step, &self.lengths[0],
                                        &self.a[0], &self.up[0], &self.down[0], self.rows.columns,
                                        &self.best[0])
        return OK

    cdef void look(self) noexcept nogil:
        """Compute `best` of the panels without a step."""
        cdef const char *zeros = <const char *> &self.zeros[0]
        if self.offset:
            self.least = self.ops.pair_step(zeros, zeros, 0, &self.a[0], &self.up[0], &self.down[0],
                                            self.rows.columns, &self.best[0])
        else:
            self.least = 0
            self.top = self.ops.single_step(zeros, 0, &self.lengths[0], &self.a[0], &self.up[0],
                                            &self.down[0], self.rows.columns, &self.best[0])

    cdef bint pays_to_shrink(self) noexcept nogil:
        """Whether shrinking would leave out enough points; `kept` gets the places of the others."""
        cdef Py_ssize_t place, count = 0
        cdef double top = self.top if self.offset else 0, least = self.least
        for place in range(self.rows.n_active):
            self.kept[count] = place
            count += not (self.a[place] + self.down[place] > top
                          and self.a[place] + self.up[place] < least)
        self.n_kept = count
        return 0 < count <= WORTH_SHRINKING * self.rows.n_active

    cdef int descend(self, Py_ssize_t most) noexcept nogil:
        """Make steps until the active points have converged. Returns the reason for the end."""
        cdef Py_ssize_t i, work = 0
        cdef Status status
        self.look()
        while True:
            i = self.best_place(self.best_panel(), NULL, 0)
            if self.offset:
                self.top = self.a[i] + self.up[i]
            self.gap = self.top - self.least
            if self.gap <= self.tol:
                return CONVERGED
            if self.gap != self.gap:
                return NOT_FINITE
            if self.n_iter >= most:
                return STOPPED
            if self.shrinking and self.until_shrinking == 0:
                self.until_shrinking = min(self.rows.n, MOST_STEPS_BEFORE_SHRINKING)
                if self.pays_to_shrink():
                    return SHRINKS
            status = self.pair(i) if self.offset else self.single(i)
            if status != OK:
                return status
            self.n_iter += 1
            self.until_shrinking -= 1
            work += 4 * self.rows.columns
            if work > ELEMENTS_BETWEEN_SIGNALS:
                work = 0
                if self.interrupted():
                    return RAISED

    cdef bint interrupted(self) noexcept nogil:
        """Whether a signal handler raised an exception, which is then stored."""
        with gil:
            self.interruption = raised_by_signals()
            return self.interruption is not None

    cdef int shrink(self) except -1:
        """Make the points that are not in `kept` inactive."""
        places = np.array(self.kept[:self.n_kept])
        np.asarray(self.gradient)[np.asarray(self.rows.points)] = self.a[:self.rows.n_active]
        self.rows.keep(places)
        self.place_points()
        self.n_shrunk += 1
        return 0

    cdef int restore(self) except -1:
        """Make all points active again; computes the gradient of those that were left out."""
        points = np.asarray(self.rows.points)
        gradient = np.asarray(self.gradient)
        gradient[points] = self.a[:self.rows.n_active]
        missing = np.setdiff1d(np.arange(self.rows.n, dtype=np.intp), points)
        beta = np.asarray(self.beta)[missing]
        gradient[missing] = np.asarray(self.targets)[missing] \
            - np.asarray(self.ridge)[missing] * beta - self.values_at(missing)
        self.rows.restart()
        self.place_points()
        self.until_shrinking = 0
        self.n_restored += 1
        return 0

    def minimise(self, Py_ssize_t most):
        """Make steps until the problem is solved to `tol`, or until there were `most` in total.

        Returns
        -------
        bool
            Whether it is solved.
        """
        cdef int ended
        while True:
            with nogil:
                ended = self.descend(most)
            if ended == RAISED:
                raise self.interruption
            if ended == NOT_FINITE:
                raise FloatingPointError(
                    "a slope of the dual is not finite: scale the features, or take a smaller C")
            if ended < 0:
                raise MemoryError(f"no memory for kernel rows of {self.rows.n_active} points")
            if ended == SHRINKS:
                self.shrink()
            elif self.rows.n_active < self.rows.n:
                self.restore()
            else:
                np.asarray(self.gradient)[:] = self.a[:self.rows.n]
                return ended == CONVERGED
