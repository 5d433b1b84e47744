"""MetricRenewal: computes a new metric and fits a new model in it, a little with each sample.

1. Compute the gradients of the model as it was when the renewal began.
2. Choose a form of the metric, and compute the metric from the gradients.
3. If the metric has changed, choose new landmarks.
4. Add the kept samples to the sums (normal equations) of a new model, then those that have arrived
   since the renewal began, but for the last few.
5. Compute the inverse N. The last few samples are learnt one by one when the new model takes over.

The work at a sample depends on the number of the sample only. A model that is saved does not save
this work: the loaded model repeats it, with the same result.
"""
from libc.stdint cimport int64_t, uint64_t

import numpy as np

from onlinekern.core.base.plan cimport Plan
from onlinekern.core.base.random cimport counted
from onlinekern.core.features.map cimport FeatureMap
from onlinekern.core.linalg.open_block cimport LANES, OpenBlock
from onlinekern.core.models.learnt_anew cimport LearntAnew, targets_of
from onlinekern.core.models.renewed_maps cimport in_metric

from onlinekern.core.base.plan import UNIT, by_rows, once
from onlinekern.core.features.gradients import few_outputs
from onlinekern.core.features.metric import change_of, root_of
from onlinekern.core.features.slopes import slopes_at, sum_of_products
from onlinekern.core.models.learnt_anew import ROWS
from onlinekern.core.models.metric_choice import ChoiceLook
from onlinekern.core.models.renewed_maps import LandmarkSearch, candidates

# Gradients are computed at the last TAUGHT samples; with many features at fewer, TAUGHT_NUMBERS / d
# but at least LEAST_TAUGHT.
cdef Py_ssize_t TAUGHT = 2048
cdef Py_ssize_t TAUGHT_NUMBERS = 1 << 20
cdef Py_ssize_t LEAST_TAUGHT = 256
# Rows of a unit of work: that copies them, computes gradients or kernel values, orthogonalises
# them, or tests them as landmarks one by one.
cdef Py_ssize_t COPIED = 256
cdef Py_ssize_t SEEN = 32
cdef Py_ssize_t FACTORED = 16
cdef Py_ssize_t LOOKED_AT = 8
# The last samples of a renewal, 1 / LAST_SHARE of them but at most a block, are not in the sums: N
# is computed while they arrive.
cdef int64_t LAST_SHARE = 4
# Costs in nanoseconds, roughly: a unit that calls array functions; one that makes random numbers, a
# map or a block; copying a number; a multiplication; a kernel value.
cdef double ARRAYS = 3e4
cdef double HEAVY = 2e5
cdef double COPY = 1
cdef double PRODUCT = 0.05
cdef double VALUE = 3


cdef class MetricRenewal:
    """A renewal of which nothing is done yet.

    Parameters
    ----------
    space : MetricLeastSquares
    begun : tuple
        Samples learnt when it began; the weights whose gradients are computed; r; whether rows were
        multiplied in double.
    n : int
        Samples before `begun` that the new model learns; they are kept.
    lag : int
        Samples that it is spread over.
    least : float
        The metric is replaced if it has changed by more.
    """

    def __cinit__(self, space, tuple begun not None, Py_ssize_t n, int64_t lag, double least):
        count, self.weights, self.reg, wide = begun
        before = space.block
        self.begun, self.n, self.lag, self.least = count, n, lag, least
        self.summed = lag - min(lag // LAST_SHARE, <int64_t> LANES)
        self.reached = self.begun - n
        self.map, self.recent, self.chosen = space.map, space.recent, space.choice
        self.n_outputs, self.n_labels = space.n_outputs, space.n_labels
        self.first_taught, self.exponent = space.first_taught, space.exponent
        self.n_taught = min(n, max(LEAST_TAUGHT, min(TAUGHT, TAUGHT_NUMBERS // max(
            self.map.d, 1))))
        self.is_full = (space.root if self.chosen is None else self.chosen.gradients).ndim == 2
        itemsize = 8 if wide else self.map.itemsize
        self.block = (self.n_outputs, itemsize, space.reg, before.forgetting,
                      before.evidence is not None, before.below)
        self.draws = counted(space.seed, <uint64_t> self.begun) >> 32
        if self.chosen is not None:
            factors = [1.0, 10.0, 0.1] if before.evidence is not None else [1.0]
            self.look = ChoiceLook(self.chosen, self.map, n,
                                   [self.reg * factor for factor in factors], self.n_labels > 0)
        self.search = LandmarkSearch(self.map)
        self.plan = Plan(self.stages())

    def stages(self):
        """The stages of the plan (`base.plan`) up to the sums of the new model."""
        cdef double d = self.map.d, used = self.map.length, n_outputs = self.n_outputs
        cdef double move = d * d * PRODUCT if self.is_full else 0
        cdef double features = self.map.work() * 16 * PRODUCT + move
        landmarks, stages = 0, []
        if self.search.is_nested:
            landmarks = self.n
            if self.search.selection == "first":
                landmarks = min(self.n, self.search.n_components)
        compare, pair = landmarks * (d * PRODUCT + VALUE), landmarks ** 2 * PRODUCT
        return [
            by_rows(self.copy, self.n, COPIED, COPY * d),
            *once(HEAVY, self.draw, self.prepare),
            by_rows(self.differentiate, self.n_taught, SEEN,
                    landmarks * (d * PRODUCT * (1 + n_outputs) + VALUE) + 2 * move, ARRAYS),
            *once(UNIT, self.average),
            *([] if self.look is None else self.look.stages()),
            *once(HEAVY + 10 * d ** 3 * PRODUCT, self.decide),
            *once(HEAVY, self.gather, self.searches("stand")),
            by_rows(self.searches("compare"), landmarks, SEEN, compare, ARRAYS),
            by_rows(self.searches("factor"), landmarks, FACTORED, pair, ARRAYS),
            *once(HEAVY + 2 * landmarks ** 2, self.searches("settle")),
            by_rows(self.searches("consider"), landmarks, LOOKED_AT, pair, ARRAYS),
            *once(HEAVY + used ** 2, self.start),
            by_rows(self.learn, self.n + self.summed, ROWS, features + used ** 2 / 2 * PRODUCT)]

    cdef int advance(self, int64_t count) except -1:
        """Do the work that belongs to the first `count` samples."""
        self.go_on_until(self.plan, self.share_of_plan(count))
        if not self.ends_after(count):
            return 0
        if self.ending is None:
            self.ending = Plan(self.fresh.stages())
        self.go_on_until(self.ending, self.share_of_ending(count))
        return 0

    cdef bint has_work(self, int64_t count) noexcept nogil:
        """Whether `advance(count)` has work to do."""
        if self.plan.has_unit(self.share_of_plan(count)):
            return True
        return self.ends_after(count) and (
            self.ending is None or self.ending.has_unit(self.share_of_ending(count)))

    cdef bint ends_after(self, int64_t count) noexcept nogil:
        """Whether the sums are complete after `count` samples, so that work on N may begin."""
        return self.fresh is not None and not self.plan.is_left() \
            and count >= self.begun + self.summed

    cdef double share_of_plan(self, int64_t count) noexcept nogil:
        """Share of `plan` that must be done after `count` samples."""
        return (count - self.begun) / <double> max(self.summed, 1)

    cdef double share_of_ending(self, int64_t count) noexcept nogil:
        """Share of `ending` that must be done after `count` samples."""
        return (count - self.begun - self.summed) / <double> max(self.lag - self.summed, 1)

    cdef int go_on_until(self, Plan plan, double share) except -1:
        """Do units of a plan until this share of its work is done."""
        while plan.has_unit(share):
            plan.go_on()
        return 0

    def finish(self):
        """Do the rest of the work, with the samples so far; `fresh` is the new model then, or None.
        """
        self.lag = self.recent.count - self.begun
        self.summed = min(self.summed, self.lag)
        self.plan.finish()
        self.learn_until(self.begun + self.summed)
        if self.fresh is None:
            return
        if self.ending is None:
            self.ending = Plan(self.fresh.stages())
        self.ending.finish()
        try:
            self.fresh.finish()
        except FloatingPointError:
            # Some samples are too large: the old model stays.
            self.fresh = None

    def look_at_once(self):
        """Compute and return M^(1/2) and the choice of the form now, without a new model."""
        while self.draws is not None:
            self.plan.go_on()
        return self.root, self.chosen

    def copy(self, rows):
        """Copy some of the kept samples."""
        X, y, weight = self.recent.part(self.begun - self.n + rows.start, rows.stop - rows.start)
        if self.X is None:
            self.X, self.weight = np.empty((self.n, self.map.d), X.dtype), np.empty(self.n)
            self.y = np.empty((self.n, *y.shape[1:]))
        self.X[rows], self.y[rows], self.weight[rows] = X, y, weight

    def draw(self, _):
        """Make the random number generator from its seed."""
        self.draws = np.random.RandomState(self.draws)

    def prepare(self, _):
        """Prepare the function that computes gradients, and the choice of the form."""
        weights = few_outputs(self.weights[self.first_taught:].T, self.draws).T
        self.gradient, self.total = slopes_at(self.map, weights, self.recent.dtype), 0.0
        if self.look is not None:
            goals = targets_of(self.y, self.n_labels, self.n_outputs)[:, self.first_taught:]
            self.look.begin(self.X, np.ascontiguousarray(goals), self.draws)

    def differentiate(self, rows):
        """Add the outer products of the gradients at some rows to their sum."""
        first = self.n - self.n_taught
        with np.errstate(all="ignore"):
            found = self.gradient(self.X[first + rows.start:first + rows.stop])
            self.total = self.total + sum_of_products(found, self.is_full)

    def average(self, _):
        """Divide the sum: the mean outer product of the gradients, or its diagonal."""
        self.total = self.total / self.n_taught

    def decide(self, _):
        """Compute the metric; if it has hardly changed, drop X: there will be no new model."""
        if self.chosen is None:
            self.root = root_of(self.total, self.exponent)
        else:
            kept = np.where(np.isfinite(self.total), self.total, 0.0)
            self.chosen = self.look.found.with_gradients(kept)
            self.root = self.chosen.root(self.total)
        self.gradient = None
        if self.root is None or not change_of(in_metric(self.map).root, self.root) > self.least:
            self.X = None

    def gather(self, _):
        """Choose the rows among which landmarks are searched."""
        if self.X is not None:
            self.search.root = self.root
            self.search.begin(
                candidates(in_metric(self.map).map, self.X, self.weight, self.draws))
        self.draws = None

    def searches(self, name):
        """A function for a stage: calls method `name` of the search if the metric has changed."""
        return lambda rows: None if self.X is None else getattr(self.search, name)(rows)

    def start(self, _):
        """Make the new model, which has learnt nothing yet, if the metric has changed."""
        cdef FeatureMap map
        if self.X is not None:
            map = self.search.map()
            self.fresh = LearntAnew(map, OpenBlock(map.length, *self.block))
        self.X = self.search = self.look = None

    def learn(self, rows):
        """Learn some of the kept samples, or of those that have arrived since."""
        self.learn_until(self.begun - self.n + rows.stop)

    cdef int learn_until(self, int64_t last) except -1:
        """Learn samples up to `last` in pieces of ROWS.

        The pieces begin at fixed sample numbers, so that the sums do not depend on when samples
        arrive.
        """
        cdef int64_t more
        while self.fresh is not None and self.reached < min(last, self.recent.count):
            more = min(<int64_t> ROWS, self.begun + self.summed - self.reached)
            if more <= 0 or self.reached + more > self.recent.count:
                break
            X, y, weight = self.recent.part(self.reached, more)
            self.fresh.learn(X, targets_of(y, self.n_labels, self.n_outputs), weight)
            self.reached += more
        return 0
