"""ForestUnits: the units of the features and targets of the samples that are kept.

They are the first part of the look that a renewal of a forest begins with: features are bent where
that tells more, and measured; one-hot columns become groups, categories tables; and what stands in
the place of missing values is found.
"""
from libc.stdint cimport int64_t, uint64_t

import numpy as np

from onlinekern.core.base.random cimport counted
from onlinekern.core.models.cell_experts cimport CellExperts, Generation
from onlinekern.core.partitions.recent_rows cimport RecentRows

from onlinekern.core.base.plan import UNIT, by_rows, by_steps, by_turns, once
from onlinekern.core.base.random import seeded
from onlinekern.core.features.gradients import MOST_OUTPUTS, few_outputs
from onlinekern.core.features.looking import number_taught, signs_of
import onlinekern.core.partitions.costs as costs
from onlinekern.core.partitions.bends import CENTERS, MOST_ASKED, BendLearner
from onlinekern.core.partitions.gaps import GapLearner
from onlinekern.core.partitions.groups import GroupLearner
from onlinekern.core.partitions.renewal import Spread, units_of_each, weighted_sum
from onlinekern.core.partitions.tables import TableLearner, most_gaps, steps_of_tables

# Rows of a unit that copies them, has their targets, or finds what they have to do with others.
COPIED = 128
TOLD = 1024
cdef Py_ssize_t MISSED = 256
# Columns of a unit that lets them join groups.
cdef Py_ssize_t JOINED = 64
# A feature is bent, and measured, in so many steps.
cdef Py_ssize_t STEPS_OF_BEND = 3 + len(CENTERS)
cdef Py_ssize_t STEPS_OF_SPREAD = 4


cdef class ForestUnits:
    """Units that are not found: the parameters are those of `Renewal`."""

    def __cinit__(self, Generation before not None, CellExperts experts not None,
                  RecentRows recent not None, int64_t begun, Py_ssize_t n, Py_ssize_t lag,
                  bint is_whole, Py_ssize_t n_grown, Py_ssize_t n_labels,
                  tuple settings not None, uint64_t seed, tuple categories not None,
                  Py_ssize_t n_exact, bint is_light, tuple cut_weights not None,
                  double exact_share):
        self.before, self.recent = before, recent
        self.begun, self.n, self.lag, self.is_whole = begun, n, lag, is_whole
        self.n_labels, self.n_outputs = n_labels, experts.n_outputs
        self.d, self.settings = recent.d, settings
        self.n_trees, self.n_exact, self.is_light = settings[0], n_exact, is_light
        self.seed = counted(seed, <uint64_t> begun)
        self.categories, self.cut_weights = categories, cut_weights
        self.n_telling = 1 if cut_weights else self.n_outputs
        self.n_told = min(self.n_telling, MOST_OUTPUTS)
        self.fresh = Generation(None, None, None, None, None, before.offset, before.unit)

    @property
    def is_full(self):
        """Whether samples are kept no more, so that features stay bent as they are."""
        return self.begun > self.n

    @property
    def n_taught(self):
        """Rows that the kernel machine learns, the last ones."""
        return number_taught(self.n, self.d)

    def plan_units(self):
        """The stages that samples are copied in, and measured: as of `plan`."""
        n, d = self.n, self.d
        # Where values were missing they are so again, as a rule.
        scale = self.before.forest.scale
        of_gap = costs.GAP * d if scale.gaps is not None else 0
        # So are groups of columns.
        ordered = len(self.categories) + (0 if scale.groups is None else scale.groups.n)
        self.n_orders = steps_of_tables(n, max(1, ordered))
        light, step, by_column = costs.LIGHT, costs.STEP, costs.LIGHT + costs.COLUMN * d
        stages = [
            # What a first look calls is in no cache, before any unit.
            *once(step, self.begin),
            by_rows(self.copy, n, COPIED, costs.COPY * d, 1.3 * UNIT, costs.FIRST_ARRAYS)]
        return stages if not self.is_whole else [
            *stages, *once(step, self.gather, self.arrange), *once(light, self.note_gaps),
            by_turns(self.know, 1 if self.n_labels else 1 + 2 * self.recent.n_targets,
                     UNIT if self.n_labels else costs.HEAVY / 3),
            by_rows(self.tell, n, TOLD, costs.GOAL * self.n_told), *once(light, self.doubt),
            by_steps(self.bend, 0 if self.is_full else d, STEPS_OF_BEND,
                     costs.BEND * min(n, MOST_ASKED), costs.FIRST_BLAS),
            by_steps(self.measure, d, STEPS_OF_SPREAD, costs.MEASURE * n, costs.FIRST),
            *once(by_column, self.find_runs),
            by_rows(self.join, d, JOINED, 0), *once(by_column, self.settle, self.code),
            (self.order, self.n_orders, costs.TABLE if ordered else UNIT),
            *once(by_column, self.find_gaps), by_rows(self.miss, n, MISSED, of_gap),
            (self.fill, 1, of_gap * MISSED)]

    def begin(self, _):
        """Have memory for samples."""
        self.X = np.empty((self.n, self.d), dtype=self.recent.dtype)
        self.y = np.empty((self.n + self.lag, self.recent.n_targets))
        self.weight = np.empty(self.n + self.lag)

    def copy(self, rows):
        """Copy some samples."""
        self.X[rows], y, self.weight[rows] = self.recent.part(
            self.begun - self.n + rows.start, rows.stop - rows.start)
        self.y[rows] = y.reshape(-1, self.recent.n_targets)

    def gather(self, _):
        """Have memory for what samples are measured by."""
        self.spread, self.hot = Spread(self.n, self.d), GroupLearner(self.n)

    def arrange(self, _):
        """Have memory for what categories are ordered by."""
        self.tables = TableLearner(self.n, self.d, self.categories)

    def note_gaps(self, _):
        """Have memory for what stands for missing values."""
        self.gaps = GapLearner(self.n, self.d, self.tables.numbers,
                               most_gaps(self.d, len(self.categories)))

    def know(self):
        """Find the units of the targets."""
        if self.n_labels == 0:
            found = yield from units_of_each(self.y[:self.n])
            self.fresh.offset, self.fresh.unit = found

    def tell(self, rows):
        """Have the targets of some rows that bends, or cuts, are told by; of many outputs sums."""
        goals = self.goals(self.y[rows])
        if rows.start == 0:
            self.told = np.empty((self.n, goals.shape[1]))
        self.told[rows] = goals
        if rows.stop == self.n:
            self.told = self.few_of(self.told)

    def doubt(self, _):
        """Begin to ask what the targets say of features."""
        known = self.before.forest.scale.bends if self.is_full else None
        self.bends = BendLearner(self.X, self.told, known)

    def bend(self, j, step):
        """Ask whether a feature tells more where its tails are bent."""
        if j in self.categories:
            return
        if step == 0:
            self.bends.look(j)
        elif step == 1:
            self.bends.look_closer()
        elif step < STEPS_OF_BEND - 1:
            self.bends.ask(step - 2)
        else:
            self.bends.take(j)

    def measure(self, j, step):
        """Find the center and spread of a feature, and how many of its values are missing."""
        if step == 0:
            self.spread.look(self.bends.bent, j)
        elif step == 1:
            # What is seen in another way is not one-hot.
            if j in self.categories or self.bends.has(j):
                self.hot.part()
            else:
                self.hot.note(self.spread.column, j)
            self.gaps.miss(self.X, j)
        elif step < STEPS_OF_SPREAD - 1:
            self.spread.look_closer()
        else:
            self.spread.take(j)

    def find_runs(self, _):
        """Find neighbours of which at most one is on."""
        self.hot.find_runs()

    def join(self, columns):
        """Find what other columns belong together."""
        self.hot.join(columns)

    def settle(self, _):
        """Keep groups of columns that are no chance."""
        self.hot.settle()

    def code(self, _):
        """Begin with the orders of categories."""
        if self.categories or self.hot.groups:
            draws = np.random.RandomState(self.seed & 0xffffffff)
            self.spread.factor[self.tables.categories] = 0
            self.spread.factor[self.hot.members()] = 0
            self.tables.begin(self.bends.bent, self.spread.center, self.spread.factor,
                              few_outputs(self.goals(self.y[:self.n]), draws), draws,
                              self.hot)

    def order(self, k):
        """Take some steps of what orders categories."""
        n = self.tables.n_steps
        for step in range(n * k // self.n_orders, n * (k + 1) // self.n_orders):
            self.tables.step(step)

    def find_gaps(self, _):
        """Have the orders of groups, and find features with gaps."""
        self.groups = self.tables.groups()
        self.gaps.choose([] if self.groups is None else self.groups.without_axes())
        self.hot = None

    def miss(self, rows):
        """Find what features with gaps have to do with others."""
        self.gaps.absorb(self.bends.bent, self.spread.center, self.spread.factor, self.groups,
                         rows)

    def fill(self, _):
        """Have what stands in the place of missing values."""
        found = None
        if len(self.gaps.sources):
            found = self.gaps.solve(self.few_of(self.goals(self.y[:self.n])))
        self.gaps = found

    def goals(self, y):
        """Targets of the outputs, or the one that tells where to cut, ndarray (n, n_told)."""
        if self.n_labels > 0:
            return signs_of(y[:, 0], self.n_labels)
        goals = (y - np.asarray(self.fresh.offset)) / np.asarray(self.fresh.unit)
        return weighted_sum(goals, self.cut_weights) if self.cut_weights else goals

    def few_of(self, goals):
        """Such targets of few outputs, or the sums for many that the kernel machine learns."""
        if goals.shape[1] <= MOST_OUTPUTS:
            return goals
        return few_outputs(goals, seeded(self.seed >> 32))
