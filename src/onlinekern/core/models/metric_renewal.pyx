"""MetricRenewal: a metric and a model in it, made while samples come.

It finds the gradients of the model as it was when it began, chooses a form of the metric, and, if
the metric has changed, finds new landmarks and puts the samples that are kept into the sums of a
new model, those that have come meanwhile last; the very last ones are learnt where it takes over.
What is done at a sample depends on the sample's number alone: a renewal that is lost, as a model
that was saved loses it, is done again and comes to the same.
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

# The last samples are those whose gradients are taken: so many, or so many numbers.
cdef Py_ssize_t TAUGHT = 2048
cdef Py_ssize_t TAUGHT_NUMBERS = 1 << 20
cdef Py_ssize_t LEAST_TAUGHT = 256
# Rows of a unit that copies them, of one that finds gradients or kernel values, of one that makes
# them orthogonal, and of one that looks at them one by one.
cdef Py_ssize_t COPIED = 256
cdef Py_ssize_t SEEN = 32
cdef Py_ssize_t FACTORED = 16
cdef Py_ssize_t LOOKED_AT = 8
# The last samples that come meanwhile, this share of them or a block, are learnt one by one: beside
# them N is made of the sums of the others.
cdef int64_t LAST_SHARE = 4
# What units take about, in nanoseconds: one that calls functions of arrays, and one that makes
# random numbers, a map or a block; a number that is copied, a product, and a kernel value.
cdef double ARRAYS = 3e4
cdef double HEAVY = 2e5
cdef double COPY = 1
cdef double PRODUCT = 0.05
cdef double VALUE = 3


cdef class MetricRenewal:
    """A renewal of which nothing is done.

    Parameters
    ----------
    space : MetricLeastSquares
    begun : tuple
        Samples before it; the weights whose gradients are taken; r; whether rows were multiplied in
        double.
    n : int
        How many of the samples before it are kept, and learnt anew.
    lag : int
        Samples that it is spread over.
    least : float
        A metric that has changed by less stays.
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
        """The stages that it is made of, as `base.plan` has them."""
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
        """Do what is due after so many samples."""
        self.go_on_until(self.plan, self.share_of_plan(count))
        if not self.ends_after(count):
            return 0
        if self.ending is None:
            self.ending = Plan(self.fresh.stages())
        self.go_on_until(self.ending, self.share_of_ending(count))
        return 0

    cdef bint has_work(self, int64_t count) noexcept nogil:
        """Whether `advance` has something to do after so many samples."""
        if self.plan.has_unit(self.share_of_plan(count)):
            return True
        return self.ends_after(count) and (
            self.ending is None or self.ending.has_unit(self.share_of_ending(count)))

    cdef bint ends_after(self, int64_t count) noexcept nogil:
        """Whether N is made where all samples but the last ones are in the sums."""
        return self.fresh is not None and not self.plan.is_left() \
            and count >= self.begun + self.summed

    cdef double share_of_plan(self, int64_t count) noexcept nogil:
        """The share of the work up to the sums that is due after so many samples."""
        return (count - self.begun) / <double> max(self.summed, 1)

    cdef double share_of_ending(self, int64_t count) noexcept nogil:
        """The share of the work on N that is due after so many samples."""
        return (count - self.begun - self.summed) / <double> max(self.lag - self.summed, 1)

    cdef int go_on_until(self, Plan plan, double share) except -1:
        """Have done a share of the work."""
        while plan.has_unit(share):
            plan.go_on()
        return 0

    def finish(self):
        """Do all that is left, and make the new model of the samples that are in its sums."""
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
            # Some samples are too large: all stays as it is.
            self.fresh = None

    def look_at_once(self):
        """M^(1/2) as the gradients have it, and the choice of the form, without a new model."""
        while self.draws is not None:
            self.plan.go_on()
        return self.root, self.chosen

    def copy(self, rows):
        """Copy some of the samples that are kept."""
        X, y, weight = self.recent.part(self.begun - self.n + rows.start, rows.stop - rows.start)
        if self.X is None:
            self.X, self.weight = np.empty((self.n, self.map.d), X.dtype), np.empty(self.n)
            self.y = np.empty((self.n, *y.shape[1:]))
        self.X[rows], self.y[rows], self.weight[rows] = X, y, weight

    def draw(self, _):
        """Have random numbers."""
        self.draws = np.random.RandomState(self.draws)

    def prepare(self, _):
        """Have the function whose gradients are taken."""
        weights = few_outputs(self.weights[self.first_taught:].T, self.draws).T
        self.gradient, self.total = slopes_at(self.map, weights, self.recent.dtype), 0.0
        if self.look is not None:
            goals = targets_of(self.y, self.n_labels, self.n_outputs)[:, self.first_taught:]
            self.look.begin(self.X, np.ascontiguousarray(goals), self.draws)

    def differentiate(self, rows):
        """Find the gradients at some rows."""
        first = self.n - self.n_taught
        with np.errstate(all="ignore"):
            found = self.gradient(self.X[first + rows.start:first + rows.stop])
            self.total = self.total + sum_of_products(found, self.is_full)

    def average(self, _):
        """Find their mean outer product, or its diagonal."""
        self.total = self.total / self.n_taught

    def decide(self, _):
        """Find the metric, and whether it has changed."""
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
        """Find the rows among which landmarks are sought."""
        if self.X is not None:
            self.search.root = self.root
            self.search.begin(
                candidates(in_metric(self.map).map, self.X, self.weight, self.draws))
        self.draws = None

    def searches(self, name):
        """A function that does a part of the search for landmarks, if the metric has changed."""
        return lambda rows: None if self.X is None else getattr(self.search, name)(rows)

    def start(self, _):
        """Begin with a new model."""
        cdef FeatureMap map
        if self.X is not None:
            map = self.search.map()
            self.fresh = LearntAnew(map, OpenBlock(map.length, *self.block))
        self.X = self.search = self.look = None

    def learn(self, rows):
        """Learn some of the samples that are kept, and of those that have come."""
        self.learn_until(self.begun - self.n + rows.stop)

    cdef int learn_until(self, int64_t last) except -1:
        """Learn samples in the same parts, whenever they have come."""
        cdef int64_t more
        while self.fresh is not None and self.reached < min(last, self.recent.count):
            more = min(<int64_t> ROWS, self.begun + self.summed - self.reached)
            if more <= 0 or self.reached + more > self.recent.count:
                break
            X, y, weight = self.recent.part(self.reached, more)
            self.fresh.learn(X, targets_of(y, self.n_labels, self.n_outputs), weight)
            self.reached += more
        return 0
