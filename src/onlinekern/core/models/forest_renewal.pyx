"""Renewal: a forest grows while samples come, and then replaces the one that answers.

It takes a look at the samples that are kept (units, a kernel machine and its gradients), lets trees
grow from them, one after another, and lets experts on their cells learn these samples, and those
that have come meanwhile. What is done at a sample depends on the sample's number alone: a renewal
that is lost, as a model that was saved loses it, is done again and comes to the same.

A stream that is longer than the memory of samples keeps its trees. Their leaves are cut further,
tree by tree, and new cells begin as the one that they are part of: no score changes.
"""
from libc.math cimport floor
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport OK, RAISED, Status
from onlinekern.core.base.random cimport counted
from onlinekern.core.models.cell_experts cimport CellExperts, Cells, Generation, Walked
from onlinekern.core.models.cells cimport CellWeights
from onlinekern.core.partitions.growing cimport Grower
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.partitions.scale cimport Scale
from onlinekern.core.partitions.trees cimport (
    UPPER_CELLS, UPPER_LEVEL, Forest, Tree, is_leaf, number_of)
from onlinekern.core.samples.rows cimport Rows

from onlinekern.core.features.gradients import BLOCK, few_outputs
from onlinekern.core.features.looking import (
    LANDMARKS, directions_of, machine_of, metric_of, number_taught, signs_of)
from onlinekern.core.partitions.renewal import slopes_of, spread, units_of_each
from onlinekern.core.partitions.tables import TableLearner, of_features, on_axes

# Rows of a unit of the look that copies them, and of a step of the replay.
cdef Py_ssize_t COPIED = 256
cdef Py_ssize_t REPLAYED = 64
# Numbers of a unit of the look that measures features.
cdef Py_ssize_t MEASURED = 1 << 13
# Of the samples that a renewal is spread over, the share in which it looks, where leaves are cut.
cdef double LOOKED = 0.15
# Where trees are new, what a row costs about, in nanoseconds: a feature of the look, a pair of
# landmarks or features that the kernel machine learns, and growth and replay in a tree.
cdef double COST_OF_FEATURE = 100
cdef double COST_OF_PAIR = 0.1
cdef double COST_OF_GROWTH = 250
cdef double COST_OF_REPLAY = 35
# More work than any tree is.
cdef Py_ssize_t ALL = (<Py_ssize_t> 1) << 62
# The work on a row of the first tree, before any is known.
cdef Py_ssize_t WORK_OF_ROW = 300


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
    """

    def __cinit__(self, Generation before not None, CellExperts experts not None,
                  RecentRows recent not None, int64_t begun, Py_ssize_t n, Py_ssize_t lag,
                  bint is_whole, Py_ssize_t n_grown, Py_ssize_t n_labels,
                  tuple settings not None, uint64_t seed, tuple categories not None):
        self.before, self.experts, self.recent = before, experts, recent
        self.begun, self.n, self.lag, self.is_whole = begun, n, lag, is_whole
        self.n_grown, self.n_labels, self.n_outputs = n_grown, n_labels, experts.n_outputs
        self.d, self.settings = recent.d, settings
        self.n_trees, self.replays = settings[0], settings[5]
        self.seed = counted(seed, <uint64_t> begun)
        self.estimate = WORK_OF_ROW * min(n, <Py_ssize_t> settings[4])
        self.tables = TableLearner(n, self.d, categories,
                                   np.random.RandomState(self.seed & 0xffffffff))
        self.units = self.plan()
        self.n_units = len(self.units)
        self.fresh = Generation(None, None, None, None, None, before.offset, before.unit)
        self.looked, self.grown = LOOKED, 1
        if is_whole:
            self.looked, self.grown = self.stages()

    def stages(self):
        """After which share of its samples a renewal has looked, and its trees have grown.

        Only how evenly the work is spread depends on it.
        """
        n_trees, _, _, share, most_rows, replays = self.settings
        count = min(max(64, share * self.n), most_rows)
        look = COST_OF_FEATURE * self.n * self.d
        look += COST_OF_PAIR * self.n_taught * (LANDMARKS + self.d) ** 2
        growth = COST_OF_GROWTH * count * n_trees
        costs = np.cumsum([look, growth, COST_OF_REPLAY * replays * self.n * n_trees])
        return costs[:2] / costs[2]

    def plan(self):
        """What the look is made of: functions, and what they get."""
        n, d, taught = self.n, self.d, self.n_taught
        copied = [slice(first, min(first + COPIED, n)) for first in range(0, n, COPIED)]
        learnt = [slice(first, min(first + BLOCK, taught)) for first in range(0, taught, BLOCK)]
        found = [(self.copy, rows) for rows in copied]
        if self.is_whole:
            some = max(1, MEASURED // max(n, 1))
            found += [(self.measure, slice(j, min(j + some, d))) for j in range(0, d, some)]
            found += [(self.code, None), *self.tables.plan()]
        found += [(self.ask, None)]
        found += [(self.absorb, rows) for rows in learnt] + [(self.solve, None)]
        found += [(self.differentiate, rows) for rows in learnt] + [(self.turn, None)]
        found += [(self.slope, rows) for rows in learnt] + [(self.scale, rows) for rows in copied]
        return [*found, (self.plant, None), *[(self.load, rows) for rows in copied]]

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
            self.center, self.factor, _ = self.before.forest.scale.arrays()
        self.X[rows], y, self.weight[rows] = self.recent.part(
            self.begun - self.n + rows.start, rows.stop - rows.start)
        self.y[rows] = y.reshape(-1, self.recent.n_targets)

    def measure(self, columns):
        """Find centers and spreads of some features, and how many of their values are missing."""
        self.center[columns], self.factor[columns] = spread(self.X[:, columns])
        self.tables.miss(self.X, columns)

    def code(self, _):
        """Find the units of the targets, and begin with the tables."""
        if self.n_labels == 0:
            self.fresh.offset, self.fresh.unit = units_of_each(self.y[:self.n])
        categories = self.tables.categories
        if len(categories):
            self.factor[categories] = 0
            self.tables.begin(self.X, self.center, self.factor,
                              few_outputs(self.goals(self.y[:self.n]), self.tables.draws))

    def ask(self, _):
        """Begin with the kernel machine that tells where the function changes."""
        before = self.before
        self.axes = before.forest.scale
        if self.is_whole:
            self.axes = Scale(self.center, self.factor, None, self.tables.arrays())
        last = slice(self.n - self.n_taught, self.n)
        draws = np.random.RandomState(self.seed >> 32)
        self.teacher = machine_of(self.axes.axes(self.X[last]), self.goals(self.y[last]),
                                  on_axes(before.metric, before.forest.scale, self.axes), draws,
                                  self.is_whole)

    def goals(self, y):
        """Targets of the outputs, ndarray of shape (n, n_outputs)."""
        if self.n_labels == 0:
            return (y - np.asarray(self.fresh.offset)) / np.asarray(self.fresh.unit)
        return signs_of(y[:, 0], self.n_labels)

    def absorb(self, rows):
        self.teacher.absorb(rows)

    def solve(self, _):
        self.teacher.solve()

    def differentiate(self, rows):
        self.teacher.differentiate(rows)

    def turn(self, _):
        """Find the directions along which the function changes most, and the metric."""
        cdef Scale scale = self.axes
        if self.is_whole:
            scale = scale.directed(directions_of(self.teacher))
        self.fresh.forest = Forest.stumps(self.n_trees, scale)
        self.fresh.metric, shares = metric_of(self.teacher)
        self.fresh.importances = of_features(shares, scale)
        self.along = np.empty((self.n_taught, scale.width()))
        width = scale.width()
        self.scaled = np.empty((self.n + self.lag, width), dtype=np.float32)
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

    def plant(self, _):
        """Begin with the trees."""
        n = self.n
        slopes, slope_of = slopes_of(self.along, self.along.mean(axis=0), n)
        _, most_in_leaf, n_candidates, _, _, _ = self.settings
        # The sums that stand for many outputs are those that the kernel machine has learnt.
        goals = few_outputs(self.goals(self.y[:n]), np.random.RandomState(self.seed >> 32))
        has_margin = self.n_labels > 0 and goals.shape[1] == self.n_outputs
        self.grower = Grower(self.scaled[:n], self.axes.n_axes, slopes, slope_of, goals, has_margin,
                             n_candidates, most_in_leaf)
        self.targets, self.weights = self.y, self.weight
        if self.is_whole:
            self.fresh.leaves, self.fresh.upper = self.experts.new_cells(self.fresh.forest)
            self.walked = Walked(self.n_trees, 1, n + self.lag, self.experts.n_experts,
                                 self.n_outputs)
        self.X = self.teacher = self.along = self.tables = None

    def load(self, rows):
        self.grower.load(rows.start, rows.stop)

    cdef bint looks(self) noexcept nogil:
        """Whether the look, which calls BLAS, is not done."""
        return self.n_looked < self.n_units

    cdef Status advance(self, int64_t entered) noexcept nogil:
        """Do what is due after so many samples.

        Returns early where a tree has grown that the caller is to take (`has_tree`).
        """
        cdef Status status
        cdef double share = 1
        if entered < self.begun + self.lag:
            share = <double> (entered - self.begun) / self.lag
        status = self.look_until(share / self.looked)
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
        cdef Py_ssize_t goal = <Py_ssize_t> (min(share, 1.0) * self.n_units)
        if self.n_looked >= goal:
            return OK
        with gil:
            try:
                for function, rows in self.units[self.n_looked:goal]:
                    function(rows)
                    self.n_looked += 1
                if not self.looks():
                    self.units = None
            except BaseException as error:
                self.interruption = error
                return RAISED
        return OK

    cdef Status grow_until(self, double share) noexcept nogil:
        """Have grown a share of the trees."""
        cdef double due
        cdef Py_ssize_t work
        while self.tree < self.n_trees and not self.has_tree:
            due = min(share, 1.0) * self.n_trees - self.tree
            if due <= 0:
                return OK
            work = ALL if due >= 1 else <Py_ssize_t> (due * self.estimate)
            # When a tree is taken does not depend on when it was whole.
            if self.is_growing and not (self.grower.grow(work) and due >= 1):
                return OK
            with gil:
                try:
                    self.begin_or_end_tree()
                except BaseException as error:
                    self.interruption = error
                    return RAISED
        return OK

    def begin_or_end_tree(self):
        """Begin the next tree, or let the one that has grown wait to be taken."""
        if not self.is_growing:
            self.begin_tree()
            return
        self.is_growing, self.has_tree = False, True
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
            self.grower.begin(before, count, counted(self.seed, <uint64_t> self.tree))
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
            inherit(self.experts, now, self.tree, tree)
        now.forest.put(self.tree, tree)
        self.tree += 1
        self.has_tree = False
        return 0

    cdef Status replay_until(self, double share) noexcept nogil:
        """Have learnt a share of the samples that are replayed, those that came meanwhile last."""
        cdef Status status
        cdef int64_t goal, again = <int64_t> self.replays * self.n
        cdef Py_ssize_t first, m
        if share <= 0:
            return OK
        goal = again + self.lag if share >= 1 else <int64_t> floor(share * (again + self.lag))
        while self.n_replayed < goal:
            m = <Py_ssize_t> min(goal - self.n_replayed, REPLAYED)
            if self.n_replayed < again:
                first = <Py_ssize_t> (self.n_replayed % self.n)
                m = min(m, self.n - first)
            else:
                first = self.n + <Py_ssize_t> (self.n_replayed - again)
            if self.n_replayed < self.n or first >= self.n:
                self.find_cells(first, m)
            status = self.learn_rows(first, m)
            if status != OK:
                return status
            self.n_replayed += m
        return OK

    cdef void find_cells(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Walk some rows, of which those behind the first `n` have come since the renewal began."""
        cdef Py_ssize_t i
        cdef Rows row
        cdef const double *record
        for i in range(max(first, self.n), first + n):
            record = <const double *> self.recent.record(self.begun + i - self.n)
            row = self.recent.row(self.begun + i - self.n)
            self.fresh.forest.scale.load(&row, 0, &self.rows[i, 0])
            memcpy(&self.targets[i, 0], record, self.recent.n_targets * sizeof(double))
            self.weights[i] = record[self.recent.n_targets]
        self.fresh.forest.walk_rows(&self.rows[first, 0], n,
                                    self.walked.leaves + first * self.n_trees,
                                    self.walked.upper + first * self.n_trees)

    cdef Status learn_rows(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Let the experts of the new forest learn some rows, whose cells have been found."""
        cdef Py_ssize_t i
        cdef Cells cells
        cdef Status status
        for i in range(first, first + n):
            cells = self.walked.cells(i)
            self.experts.score(self.fresh, &cells, self.walked)
            status = self.experts.learn(self.fresh, &cells, self.walked, &self.targets[i, 0],
                                        self.weights[i])
            if status != OK:
                return status
        return OK


cdef int inherit(CellExperts experts, Generation now, Py_ssize_t t, Tree after) except -1:
    """Give a tree that has grown cells that begin as the one that they are part of.

    A leaf that got an upper cell, to which its numbers went, begins without weights for the experts
    that see both.
    """
    cdef Tree before = now.forest.trees[t]
    cdef CellWeights old = now.leaves.blocks[t], fresh = experts.new_leaves(after.n_leaves)
    cdef CellWeights old_upper, upper = None
    cdef Py_ssize_t i, child, n = after.n_nodes, n_old = before.n_nodes
    cdef Py_ssize_t n_lower = experts.n_lower * experts.n_outputs
    cdef float *record
    cdef int32_t *origin = <int32_t *> calloc(3 * n, sizeof(int32_t))
    cdef int32_t *depth = origin + n
    cdef int32_t *turns = origin + 2 * n
    if origin == NULL:
        raise MemoryError(f"no memory for a tree of {n} nodes")
    if now.upper is not None:
        old_upper, upper = now.upper.blocks[t], experts.new_upper()
        memcpy(upper.values, old_upper.values,
               (UPPER_CELLS + 1) * upper.length * sizeof(float))
    for i in range(n_old):
        origin[i] = <int32_t> i
    turns[0] = 1
    for i in range(n):
        if is_leaf(after.nodes, i):
            record = fresh.record(number_of(after.nodes + i))
            memcpy(record, old.record(number_of(before.nodes + origin[i])),
                   fresh.length * sizeof(float))
            if depth[i] > UPPER_LEVEL >= depth[origin[i]]:
                memset(record + n_lower, 0, (fresh.n_weights - n_lower) * sizeof(float))
            continue
        if upper is not None and depth[i] == UPPER_LEVEL and is_leaf(before.nodes, origin[i]):
            experts.copy_both(old.record(number_of(before.nodes + origin[i])),
                              upper.record(turns[i] - UPPER_CELLS))
        # Parents come before their children.
        for child in range(2):
            depth[after.nodes[i].left + child] = depth[i] + 1
            turns[after.nodes[i].left + child] = 2 * turns[i] + <int32_t> child
            if after.nodes[i].left >= n_old:
                origin[after.nodes[i].left + child] = origin[i]
    free(origin)
    fresh.forget_copies()
    now.leaves.put(t, fresh)
    if upper is not None:
        upper.forget_copies()
        now.upper.put(t, upper)
    return 0
