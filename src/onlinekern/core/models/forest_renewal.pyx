"""Renewal: a forest grows while samples come, and then replaces the one that answers.

It takes a look at the samples that are kept (units, a kernel machine and its gradients), lets trees
grow from them, one after another, and lets experts on their cells learn these samples, and those
that have come meanwhile. What is done at a sample depends on the sample's number alone: a renewal
that is lost, as a model that was saved loses it, is done again and comes to the same.

A stream that is longer than the memory of samples keeps its trees. Their leaves are cut further,
tree by tree, and new cells begin as the one that they are part of: no score changes.
"""
from libc.math cimport floor
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport OK, RAISED, Status
from onlinekern.core.base.random cimport counted
from onlinekern.core.models.cell_experts cimport CellExperts, Cells, Generation, Walked
from onlinekern.core.partitions.growing cimport Grower
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.partitions.scale cimport Scale
from onlinekern.core.partitions.trees cimport Forest, Tree
from onlinekern.core.samples.rows cimport Rows

from onlinekern.core.features.gradients import BLOCK, MOST_OUTPUTS, few_outputs, n_equations
from onlinekern.core.features.looking import (
    LANDMARKS, directions_of, machine_of, metric_of, number_taught, signs_of)
import onlinekern.core.partitions.costs as costs
from onlinekern.core.partitions.exact_cuts import MOST_SOUGHT, steepest
from onlinekern.core.partitions.renewal import Spread, common_slopes, own_slopes, units_of_each
from onlinekern.core.partitions.tables import TableLearner, most_further, of_features, on_axes

# Rows of a unit of the look that copies them, or makes others of them, and of a step of the replay.
cdef Py_ssize_t COPIED = 64
cdef Py_ssize_t MIXED = 256
cdef Py_ssize_t REPLAYED = 64
# Of the samples that a renewal is spread over, the share in which it looks, where leaves are cut.
cdef double LOOKED = 0.15
# More work than any tree is.
cdef Py_ssize_t ALL = (<Py_ssize_t> 1) << 62
# The work on a row of the first tree, before any is known.
cdef Py_ssize_t WORK_OF_ROW = 500
# A tree takes up to so many times the work of the one before.
cdef double MOST_MORE = 1.15


cdef class Renewal:
    """A renewal that has not begun to look.

    Parameters
    ----------
    before : Generation
        The forest that answers, of which scale, metric and units are taken.
    experts : CellExperts
    recent : RecentRows
    begun : int
        Samples learnt.
    n : int
        How many of the last of them it grows from.
    lag : int
        Samples that it is spread over; 0: all is done at once.
    is_whole : bool
    n_grown : int
        Trees whose leaves it had cut, before it was lost.
    n_labels : int
    settings : tuple
        n_trees, most_in_leaf, n_candidates, share, most_rows, replays: as of `ForestSpace`.
    seed : int
    categories : tuple of int
    n_exact : int
        Trees that are cut exactly, the first ones.
    """

    def __cinit__(self, Generation before not None, CellExperts experts not None,
                  RecentRows recent not None, int64_t begun, Py_ssize_t n, Py_ssize_t lag,
                  bint is_whole, Py_ssize_t n_grown, Py_ssize_t n_labels,
                  tuple settings not None, uint64_t seed, tuple categories not None,
                  Py_ssize_t n_exact):
        self.before, self.experts, self.recent = before, experts, recent
        self.begun, self.n, self.lag, self.is_whole = begun, n, lag, is_whole
        self.n_grown, self.n_labels, self.n_outputs = n_grown, n_labels, experts.n_outputs
        self.d, self.settings = recent.d, settings
        self.n_trees, self.replays, self.n_exact = settings[0], settings[5], n_exact
        self.seed = counted(seed, <uint64_t> begun)
        self.estimate = WORK_OF_ROW * min(n, <Py_ssize_t> settings[4])
        self.spread = Spread(n, self.d)
        self.tables = TableLearner(n, self.d, categories,
                                   np.random.RandomState(self.seed & 0xffffffff))
        self.units = self.plan()
        self.costs = np.cumsum([cost for _, _, cost in self.units])
        self.n_units = len(self.units)
        self.fresh = Generation(None, None, None, None, None, before.offset, before.unit)
        self.looked, self.grown, self.times = LOOKED, 1, 1
        if is_whole:
            self.looked, self.grown = self.stages()

    def stages(self):
        """After which share of its samples a renewal has looked, and its trees have grown."""
        n_trees, _, _, share, most_rows, replays = self.settings
        count = min(max(64, share * self.n), most_rows)
        again = (costs.REPLAY + costs.OUTPUT * self.n_outputs) * n_trees
        # A row that has come meanwhile is walked too.
        self.late = 1 + costs.WALK * n_trees / again
        replay = again * (replays * self.n + self.late * self.lag)
        growth = costs.GROWTH * n_trees + costs.EXACT * MOST_SOUGHT * self.n_exact
        ends = np.cumsum([self.costs[self.n_units - 1], growth * count, replay])
        return ends[:2] / ends[2]

    def plan(self):
        """What the look is made of: functions, what they get, and what they take."""
        n, d, taught = self.n, self.d, self.n_taught
        once, by_rows = costs.once, costs.by_rows
        equations = n_equations(min(taught, LANDMARKS), d)
        most = equations + most_further(d, len(self.tables.categories))
        of_gradient = costs.SLOPE * LANDMARKS * d * min(self.n_outputs, MOST_OUTPUTS)
        of_equation = costs.PAIR * equations ** 2
        measures = once(self.code, *self.tables.plan()) if self.is_whole else []
        return [
            *by_rows(self.copy, n, COPIED, costs.COPY * d),
            *[(function, j, costs.MEASURE * n) for j in range(d if self.is_whole else 0)
              for function in (self.measure, self.spread.look_closer, self.spread.take)],
            *measures, *by_rows(self.see, taught, MIXED, costs.SCALE * d),
            *once(self.ask), *by_rows(self.teach("absorb"), taught, BLOCK, of_equation),
            *by_rows(self.teach("factor"), most, BLOCK, of_equation), *once(self.teach("solve")),
            *by_rows(self.teach("differentiate"), taught, BLOCK, of_gradient),
            *once(self.turn, self.weigh), *by_rows(self.slope, taught, BLOCK, costs.SCALE * d),
            *by_rows(self.scale, n, COPIED, costs.SCALE * d), *once(self.prepare),
            *by_rows(self.mix, taught, MIXED, costs.SCALE * d), *once(self.tell, self.plant),
            *by_rows(self.load, n, COPIED, costs.LOAD * d),
            *[(self.rank, a, costs.RANK * n)
              for a in range(MOST_SOUGHT if self.n_exact else 0)]]

    @property
    def n_taught(self):
        """Rows that the kernel machine learns, the last ones."""
        return number_taught(self.n, self.d)

    def copy(self, rows):
        """Copy some samples."""
        if self.X is None:
            self.X = np.empty((self.n, self.d), dtype=self.recent.dtype)
            self.y = np.empty((self.n + self.lag, self.recent.n_targets))
            self.weight = np.empty(self.n + self.lag)
        self.X[rows], y, self.weight[rows] = self.recent.part(
            self.begun - self.n + rows.start, rows.stop - rows.start)
        self.y[rows] = y.reshape(-1, self.recent.n_targets)

    def measure(self, j):
        """Find the center and spread of a feature, and how many of its values are missing."""
        self.spread.look(self.X, j)
        self.tables.miss(self.X, slice(j, j + 1))

    def code(self, _):
        """Find the units of the targets, and begin with the tables."""
        if self.n_labels == 0:
            self.fresh.offset, self.fresh.unit = units_of_each(self.y[:self.n])
        categories = self.tables.categories
        if len(categories):
            self.spread.factor[categories] = 0
            self.tables.begin(self.X, self.spread.center, self.spread.factor,
                              few_outputs(self.goals(self.y[:self.n]), self.tables.draws))

    def see(self, rows):
        """Bring some rows to the units in which the kernel machine sees them."""
        if self.axes is None:
            self.axes = self.before.forest.scale if not self.is_whole else Scale(
                self.spread.center, self.spread.factor, None, self.tables.arrays())
            self.seen = np.empty((self.n_taught, self.axes.n_axes))
        first = self.n - self.n_taught
        self.seen[rows] = self.axes.axes(self.X[first + rows.start:first + rows.stop])

    def ask(self, _):
        """Begin with the kernel machine that tells where the function changes."""
        metric = on_axes(self.before.metric, self.before.forest.scale, self.axes)
        self.teacher = machine_of(self.seen, self.goals(self.y[self.n - self.n_taught:self.n]),
                                  metric, np.random.RandomState(self.seed >> 32), self.is_whole)
        self.seen = None

    def goals(self, y):
        """Targets of the outputs, ndarray of shape (n, n_outputs)."""
        if self.n_labels > 0:
            return signs_of(y[:, 0], self.n_labels)
        return (y - np.asarray(self.fresh.offset)) / np.asarray(self.fresh.unit)

    def teach(self, name):
        """A function that lets the kernel machine do a part of its work, once there is one."""
        return lambda part: getattr(self.teacher, name)(part)

    def turn(self, _):
        """Find the directions along which the function changes most."""
        cdef Scale scale = self.axes
        if self.is_whole:
            scale = scale.directed(directions_of(self.teacher))
        self.fresh.forest = Forest.stumps(self.n_trees, scale)

    def weigh(self, _):
        """Find the metric for the next machine."""
        cdef Scale scale = self.fresh.forest.scale
        self.fresh.metric, shares = metric_of(self.teacher)
        self.fresh.importances = of_features(shares, scale)
        self.along = np.empty((self.n_taught, scale.width()))
        self.scaled = np.empty((self.n + self.lag, scale.width()), dtype=np.float32)
        self.rows = self.scaled

    def slope(self, rows):
        """Find the squares of the slopes of some rows, along features and directions."""
        n_axes = self.axes.n_axes
        self.along[rows, :n_axes] = self.teacher.squares[rows]
        _, _, directions = self.fresh.forest.scale.arrays()
        if directions is not None:
            self.along[rows, n_axes:] = self.teacher.squares_along(directions, rows)

    def scale(self, rows):
        """Bring some samples to the units of the trees."""
        cdef Py_ssize_t i
        cdef Rows row
        cdef Scale scale = self.fresh.forest.scale
        for i in range(rows.start, rows.stop):
            row = self.recent.row(self.begun - self.n + i)
            scale.load(&row, 0, &self.rows[i, 0])

    def prepare(self, _):
        """Have mean slopes, the axes of exact cuts, and memory for slopes of the last samples."""
        self.mean = self.along.mean(axis=0)
        self.sought = steepest(self.mean, self.axes.n_axes)
        self.slopes = common_slopes(self.mean, self.n_taught, self.n)

    def mix(self, rows):
        """Have the slopes of some samples."""
        self.slopes[0][1 + rows.start:1 + rows.stop] = own_slopes(self.along[rows], self.mean)

    def tell(self, _):
        """Have the targets that cuts are told by."""
        # The sums that stand for many outputs are those that the kernel machine has learnt.
        draws = np.random.RandomState(self.seed >> 32)
        self.told = few_outputs(self.goals(self.y[:self.n]), draws)
        self.X = self.teacher = self.tables = None

    def plant(self, _):
        """Begin with the trees."""
        _, most_in_leaf, n_candidates, _, _, _ = self.settings
        has_margin = self.n_labels > 0 and self.told.shape[1] == self.n_outputs
        self.grower = Grower(self.scaled[:self.n], self.axes.n_axes, *self.slopes, self.told,
                             has_margin, n_candidates, most_in_leaf)
        if self.n_exact:
            self.grower.seek_along(self.sought)
            self.times = 1 + costs.EXACT * len(self.sought) / costs.GROWTH
            self.estimate = <Py_ssize_t> (self.times * self.estimate)
        self.targets, self.weights = self.y, self.weight
        if self.is_whole:
            self.fresh.leaves, self.fresh.upper = self.experts.new_cells(self.fresh.forest)
            self.leaves = np.empty((self.n_trees, self.n), dtype=np.uint16)
            self.upper = np.empty((self.n_trees, self.n), dtype=np.uint8)
            self.walked, self.held = Walked(self.n_trees, 1, REPLAYED, self.experts.n_experts,
                                            self.n_outputs), -1
        self.along = self.slopes = self.told = None

    def load(self, rows):
        self.grower.load(rows.start, rows.stop)

    def rank(self, axis):
        self.grower.rank(axis)

    cdef bint looks(self) noexcept nogil:
        """Whether the look, which calls BLAS, is not done."""
        return self.n_looked < self.n_units

    cdef double share_of(self, int64_t entered) noexcept nogil:
        """The share of the renewal that is due after so many samples."""
        if entered >= self.begun + self.lag:
            return 1
        return <double> (entered - self.begun) / self.lag

    cdef bint has_unit(self, double share) noexcept nogil:
        """Whether a unit of the look is due where a share of it is."""
        return self.looks() and (
            share >= 1 or self.costs[self.n_looked] <= share * self.costs[self.n_units - 1])

    cdef bint looks_after(self, int64_t entered) noexcept nogil:
        """Whether `advance` looks, and so calls BLAS, after so many samples."""
        return self.has_unit(self.share_of(entered) / self.looked)

    cdef Status advance(self, int64_t entered) noexcept nogil:
        """Do what is due after so many samples.

        Returns early where a tree has grown that the caller is to take (`has_tree`).
        """
        cdef double share = self.share_of(entered)
        cdef Status status = self.look_until(share / self.looked)
        if status == OK and not self.looks():
            status = self.grow_until((share - self.looked) / (self.grown - self.looked))
        if status != OK or self.has_tree or self.tree < self.n_trees:
            return status
        if self.is_whole:
            status = self.replay_until((share - self.grown) / (1 - self.grown))
        self.is_done = status == OK and share >= 1
        return status

    cdef Status look_until(self, double share) noexcept nogil:
        """Have done a share of the look."""
        if not self.has_unit(share):
            return OK
        with gil:
            try:
                while self.has_unit(share):
                    function, part, _ = self.units[self.n_looked]
                    function(part)
                    self.n_looked += 1
                if not self.looks():
                    self.units = None
            except BaseException as error:
                self.interruption = error
                return RAISED
        return OK

    cdef Status grow_until(self, double share) noexcept nogil:
        """Have grown a share of the trees."""
        while self.tree < self.n_trees and not self.has_tree:
            if share <= 0 or self.is_growing and not self.grower.grow(self.due(share)):
                return OK
            # When a tree is taken does not depend on when it was whole.
            if not self.is_whole and share * self.n_trees < self.tree + self.is_growing:
                return OK
            with gil:
                try:
                    self.begin_or_end_tree()
                except BaseException as error:
                    self.interruption = error
                    return RAISED
        return OK

    cdef Py_ssize_t due(self, double share) noexcept nogil:
        """The work on the present tree that is to be done after a share of the growth."""
        # Trees that are taken one by one have an equal share each, for some work more than the one
        # before took: what is left at the end would be done at once.
        cdef double each = self.estimate
        if self.is_whole:
            each = (self.worked if self.tree > 0 else each) / self.share_to(max(self.tree, 1))
            each *= self.share_to(self.n_trees)
            return ALL if share >= 1 else <Py_ssize_t> (share * each) - self.worked
        share = share * self.n_trees - self.tree
        return ALL if share >= 1 else <Py_ssize_t> (MOST_MORE * share * self.estimate)

    cdef double share_to(self, Py_ssize_t n) noexcept nogil:
        """The work on the first n trees, in units of one that is not cut exactly."""
        return n + (self.times - 1) * min(n, self.n_exact)

    def begin_or_end_tree(self):
        """Begin the next tree, or let the one that has grown wait to be taken."""
        if not self.is_growing:
            self.begin_tree()
            return
        self.is_growing, self.has_tree = False, True
        self.worked += self.grower.work
        self.estimate = self.grower.work
        if self.is_whole:
            self.take_tree(self.fresh)

    def begin_tree(self):
        """Begin the next tree that has not been taken."""
        cdef Tree before
        _, _, _, share, most_rows, _ = self.settings
        count = min(self.n, max(64, int(share * self.n)))
        if self.is_whole:
            count = min(count, most_rows)
        while not self.is_growing:
            before = None if self.is_whole else self.before.forest.trees[self.tree]
            self.grower.is_exact = self.tree < self.n_exact
            self.grower.begin(before, count, counted(self.seed, <uint64_t> self.tree))
            if self.is_whole:
                self.grower.write_to(&self.leaves[self.tree, 0], &self.upper[self.tree, 0])
            if self.is_whole or self.tree >= self.n_grown:
                self.is_growing = True
            else:
                # The draw of its rows is part of the draws to come, as is what it tells.
                self.grower.skip()
                self.tree += 1

    cdef int take_tree(self, Generation now) except -1:
        """Let a tree that has grown replace one of a forest, with cells of its own."""
        cdef Tree tree = self.grower.grown()
        if self.is_whole:
            now.leaves.put(self.tree, self.experts.new_leaves(tree.n_leaves))
        else:
            self.experts.inherit(now, self.tree, tree)
        now.forest.put(self.tree, tree)
        self.tree += 1
        self.has_tree = False
        return 0

    cdef Status replay_until(self, double share) noexcept nogil:
        """Have learnt a share of the samples that are replayed, those that came meanwhile last."""
        cdef Status status
        cdef int64_t goal, again = <int64_t> self.replays * self.n
        cdef double due = share * (again + self.late * self.lag)
        cdef Py_ssize_t first, at, m
        if share <= 0:
            return OK
        if due > again:
            due = again + (due - again) / self.late
        goal = again + self.lag if share >= 1 else <int64_t> floor(due)
        while self.n_replayed < goal:
            m = <Py_ssize_t> min(goal - self.n_replayed, REPLAYED)
            if self.n_replayed < again:
                first = <Py_ssize_t> (self.n_replayed % self.n)
                at = first % REPLAYED
                m = min(m, self.n - first, REPLAYED - at)
                if self.held != first - at:
                    self.held = first - at
                    self.walked.take(&self.leaves[0, self.held], &self.upper[0, self.held], self.n,
                                     min(self.n - self.held, REPLAYED))
            else:
                first, at = self.n + <Py_ssize_t> (self.n_replayed - again), 0
                self.find_cells(first, m)
            status = self.learn_rows(first, m, at)
            if status != OK:
                return status
            self.n_replayed += m
        return OK

    cdef void find_cells(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Walk some rows that have come since the renewal began: trees find the cells of others."""
        cdef Py_ssize_t i
        cdef Rows row
        cdef const double *record
        for i in range(first, first + n):
            record = <const double *> self.recent.record(self.begun + i - self.n)
            row = self.recent.row(self.begun + i - self.n)
            self.fresh.forest.scale.load(&row, 0, &self.rows[i, 0])
            memcpy(&self.targets[i, 0], record, self.recent.n_targets * sizeof(double))
            self.weights[i] = record[self.recent.n_targets]
        self.fresh.forest.walk_rows(&self.rows[first, 0], n, self.walked.leaves, self.walked.upper)
        self.held = -1

    cdef Status learn_rows(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t at) noexcept nogil:
        """Let the experts of the new forest learn some rows, whose cells are held from `at` on."""
        cdef Py_ssize_t i
        cdef Cells cells
        cdef Status status
        for i in range(n):
            cells = self.walked.cells(at + i)
            self.experts.fetch(self.fresh, self.walked, at + i, i == 0, at + n)
            self.experts.score(self.fresh, &cells, self.walked)
            # The new forest is not undone, but made again.
            status = self.experts.learn(self.fresh, &cells, self.walked,
                                        &self.targets[first + i, 0], self.weights[first + i], False)
            if status != OK:
                return status
        return OK
