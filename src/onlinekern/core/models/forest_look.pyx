"""ForestLook: first stage of a renewal of a forest, done in small units of work.

It computes from the kept samples all that trees need to grow: scales of features and targets,
groups of one-hot columns, tables of categories, and the gradients of a kernel machine.
"""
from libc.stdint cimport int64_t, uint64_t

import numpy as np

from onlinekern.core.base.part cimport OK, RAISED, Status
from onlinekern.core.base.plan cimport Plan
from onlinekern.core.base.random cimport counted
from onlinekern.core.models.cell_experts cimport CellExperts, Generation
from onlinekern.core.partitions.growing cimport Grower
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.partitions.scale cimport N_DIRECTIONS, Scale
from onlinekern.core.partitions.trees cimport Forest
from onlinekern.core.samples.rows cimport Rows

from onlinekern.core.base.plan import UNIT, by_rows, by_steps, once
from onlinekern.core.base.random import seeded
from onlinekern.core.features.gradients import BLOCK, MOST_OUTPUTS, few_outputs, n_equations
from onlinekern.core.features.looking import (
    bounded, directions_of, drawn_for, drawn_machine, leading_of, metric_of, mixed_features,
    n_landmarks, number_taught, signs_of)
import onlinekern.core.partitions.costs as costs
from onlinekern.core.partitions.exact_cuts import MOST_SOUGHT, RANK_STEPS, steepest
from onlinekern.core.partitions.bends import CENTERS, MOST_ASKED, BendLearner
from onlinekern.core.partitions.gaps import GapLearner
from onlinekern.core.partitions.groups import GroupLearner
from onlinekern.core.partitions.renewal import (
    Spread, common_slopes, own_slopes, units_of_bulk, weighted_sum)
from onlinekern.core.partitions.tables import (
    TableLearner, most_further, most_gaps, of_features, on_axes, steps_of_tables)

# Rows per unit of work that copies rows, and that transforms them.
cdef Py_ssize_t COPIED = 64
cdef Py_ssize_t MIXED = 256
# Columns per unit that finds groups of one-hot columns.
cdef Py_ssize_t JOINED = 64
# Steps to bend a feature, to measure its spread, and to teach the kernel machine a block of rows.
cdef Py_ssize_t STEPS_OF_BEND = 2 + len(CENTERS)
cdef Py_ssize_t STEPS_OF_SPREAD = 4
cdef Py_ssize_t STEPS_OF_BLOCK = 2
# The plan is made in PARTS_OF_PLAN parts, one per sample if the lag is at least LONG samples.
cdef Py_ssize_t PARTS_OF_PLAN = 2
cdef Py_ssize_t LONG = 64


cdef class ForestLook:
    """The look before its first unit of work. Parameters as in `Renewal`."""

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
        # Planning starts one sample later: the sample that begins a renewal is costly enough.
        self.planned_over = PARTS_OF_PLAN if lag >= LONG else 0
        self.fresh = Generation(None, None, None, None, None, before.offset, before.unit)

    cdef bint is_planned(self) noexcept nogil:
        return self.n_planned == PARTS_OF_PLAN

    cdef Status plan_until(self, int64_t entered) noexcept nogil:
        """Make the parts of the plan that are due after `entered` samples."""
        while not self.is_planned() and (self.planned_over == 0
                                         or self.n_planned < entered - self.begun):
            with gil:
                try:
                    if self.n_planned == 0:
                        self.stages = self.plan()
                    else:
                        self.begin_look()
                    self.n_planned += 1
                except BaseException as error:
                    self.interruption = error
                    return RAISED
        return OK

    def begin_look(self):
        """Begin with the planned stages."""
        self.look, self.stages = Plan(self.stages), None

    def plan(self):
        """The stages of the look for `Plan`: (function, number of units, cost of a unit)."""
        n, d, taught = self.n, self.d, self.n_taught
        landmarks = n_landmarks(taught, self.is_light)
        equations = n_equations(landmarks, d, not self.is_light)
        most = equations + most_further(d, len(self.categories))
        of_gradient = costs.SLOPE * landmarks * d * min(self.n_telling, MOST_OUTPUTS)
        of_equation = costs.PAIR * equations ** 2
        # Features with missing values before usually have them again; so with groups of columns.
        scale = self.before.forest.scale
        of_gap = costs.GAP * d if scale.gaps is not None else 0
        ordered = len(self.categories) + (0 if scale.groups is None else scale.groups.n)
        self.n_orders = steps_of_tables(n, max(1, ordered))
        light, step, long = costs.LIGHT, costs.STEP, costs.LONG
        heavy, arrays = costs.HEAVY, costs.ARRAYS
        first, of_arrays, of_blas = costs.FIRST, costs.FIRST_ARRAYS, costs.FIRST_BLAS
        by_column, by_row = light + costs.COLUMN * d, light + costs.ROW * n
        measures = [
            *once(step, self.gather, self.arrange), *once(light, self.note_gaps),
            *once(UNIT if self.n_labels else heavy, self.know), *once(by_row, self.tell),
            *once(light, self.doubt),
            by_steps(self.bend, 0 if self.is_full else d, STEPS_OF_BEND,
                     costs.BEND * min(n, MOST_ASKED), of_blas),
            by_steps(self.measure, d, STEPS_OF_SPREAD, costs.MEASURE * n, first),
            *once(by_column, self.find_runs),
            by_rows(self.join, d, JOINED, 0), *once(by_column, self.settle, self.code),
            (self.order, self.n_orders, costs.TABLE if ordered else UNIT),
            *once(by_column, self.find_gaps), by_rows(self.miss, n, MIXED, of_gap),
            (self.fill, 1, of_gap * MIXED),
        ] if self.is_whole else []
        blocks = (taught + BLOCK - 1) // BLOCK
        return [
            # The first look begins with cache misses.
            *once(step, self.begin),
            by_rows(self.copy, n, COPIED, costs.COPY * d, 1.3 * UNIT, of_arrays), *measures,
            *once(light, self.view),
            by_rows(self.see, taught, MIXED, costs.SEE * d, arrays, of_blas),
            *once(long, self.aim), *once(light, self.aspire),
            *once(step + costs.ROW * taught, self.land), *once(heavy, self.ask),
            by_steps(self.absorb, blocks, STEPS_OF_BLOCK, BLOCK * of_equation / STEPS_OF_BLOCK,
                     of_blas),
            by_rows(self.teach("factor"), most, BLOCK, of_equation, UNIT, of_blas),
            *once(light, self.teach("solve")),
            by_rows(self.teach("differentiate"), taught, BLOCK, of_gradient, arrays, of_arrays),
            *once(step, self.choose), *once(heavy, self.lead), *once(step, self.turn),
            *once(light, self.direct), *once(step, self.stand), *once(long, self.weigh),
            *once(step, self.reserve),
            by_rows(self.slope, taught, BLOCK, costs.SEE * d, 2 * UNIT, first),
            by_rows(self.scale, n, COPIED, costs.SCALE * d),
            *once(light + costs.AVERAGED * taught, self.average),
            *once(step, self.steepen, self.prepare),
            by_rows(self.mix, taught, MIXED, costs.SEE * d, arrays, first),
            *once(light, self.forget), *once(by_row, self.tell, self.plant),
            *once(step if self.n_exact else light, self.seek), *once(long, self.dig),
            by_rows(self.load, n, COPIED, costs.LOAD * d),
            by_steps(self.rank, MOST_SOUGHT if self.n_exact else 0, RANK_STEPS, costs.RANK * n)]

    @property
    def is_full(self):
        """Whether the memory of samples is full. Features then keep their bends."""
        return self.begun > self.n

    @property
    def n_taught(self):
        """Number of rows that the kernel machine learns: the last ones."""
        return number_taught(self.n, self.d)

    def begin(self, _):
        """Allocate memory for samples."""
        order = "F" if self.is_whole else "C"  # "F": features are measured one by one
        self.X = np.empty((self.n, self.d), dtype=self.recent.dtype, order=order)
        self.y = np.empty((self.n + self.lag, self.recent.n_targets))
        self.weight = np.empty(self.n + self.lag)

    def copy(self, rows):
        """Copy some samples."""
        self.X[rows], y, self.weight[rows] = self.recent.part(
            self.begun - self.n + rows.start, rows.stop - rows.start)
        self.y[rows] = y.reshape(-1, self.recent.n_targets)

    def gather(self, _):
        """Allocate the learners of spreads and of groups."""
        self.spread, self.hot = Spread(self.n, self.d), GroupLearner(self.n)

    def arrange(self, _):
        """Allocate the learner of the orders of categories."""
        self.tables = TableLearner(self.n, self.d, self.categories)

    def note_gaps(self, _):
        """Allocate the learner of guesses for missing values."""
        self.gaps = GapLearner(self.n, self.d, self.tables.numbers,
                               most_gaps(self.d, len(self.categories)))

    def know(self, _):
        """Compute center and scale of the targets, without their outliers."""
        if self.n_labels == 0:
            self.fresh.offset, self.fresh.unit = units_of_bulk(self.y[:self.n])

    def doubt(self, _):
        """Allocate the learner of bends."""
        known = self.before.forest.scale.bends if self.is_full else None
        self.bends = BendLearner(self.X, self.told, known)

    def bend(self, j, step):
        """Do a step of the test whether feature j predicts better with bent tails."""
        if j in self.categories:
            return
        if step == 0:
            self.bends.look(j)
        elif step <= len(CENTERS):
            self.bends.ask(step - 1)
        else:
            self.bends.take(j)

    def measure(self, j, step):
        """Do a step of computing center, spread and share of missing values of feature j."""
        if step == 0:
            self.spread.look(self.bends.bent, j)
        elif step == 1:
            # Categories and bent features are not one-hot columns.
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
        """Find runs of adjacent columns of which at most one is nonzero in each row."""
        self.hot.find_runs()

    def join(self, columns):
        """Let columns that are not adjacent join groups."""
        self.hot.join(columns)

    def settle(self, _):
        """Drop groups of columns that may be due to chance."""
        self.hot.settle()

    def code(self, _):
        """Begin to order categories, and the columns of groups."""
        if self.categories or self.hot.groups:
            draws = np.random.RandomState(self.seed & 0xffffffff)
            self.spread.factor[self.tables.categories] = 0
            self.spread.factor[self.hot.members()] = 0
            self.tables.begin(self.bends.bent, self.spread.center, self.spread.factor,
                              few_outputs(self.goals(self.y[:self.n]), draws), draws,
                              self.hot)

    def order(self, k):
        """Do the steps of unit k of ordering categories."""
        n = self.tables.n_steps
        for step in range(n * k // self.n_orders, n * (k + 1) // self.n_orders):
            self.tables.step(step)

    def find_gaps(self, _):
        """Store the orders of groups, and choose features with missing values."""
        self.groups = self.tables.groups()
        self.gaps.choose([] if self.groups is None else self.groups.without_axes())
        self.hot = None

    def miss(self, rows):
        """Add up products of features over some rows, for guesses of missing values."""
        self.gaps.absorb(self.bends.bent, self.spread.center, self.spread.factor, self.groups,
                         rows)

    def fill(self, _):
        """Compute the guesses for missing values."""
        found = None
        if len(self.gaps.sources):
            found = self.gaps.solve(self.few_goals())
        self.gaps = found

    def view(self, _):
        """Make the scale of the kernel machine's input."""
        self.axes = self.before.forest.scale if not self.is_whole else Scale(
            self.spread.center, self.spread.factor, None, self.tables.arrays(), self.gaps,
            self.groups, self.bends.bends())
        # Their results are in the scale.
        self.bends = self.tables = self.spread = None
        self.seen = np.empty((self.n_taught, self.axes.n_axes))

    def see(self, rows):
        """Scale some rows for the kernel machine."""
        first = self.n - self.n_taught
        X = np.ascontiguousarray(self.X[first + rows.start:first + rows.stop])
        self.seen[rows] = bounded(self.axes.axes(X))

    def aim(self, _):
        """Convert the earlier metric to this scale, for the kernel machine."""
        self.metric = on_axes(self.before.metric, self.before.forest.scale, self.axes)

    def aspire(self, _):
        """Compute the targets that it learns."""
        self.told = self.goals(self.y[self.n - self.n_taught:self.n])

    def land(self, _):
        """Draw the landmarks of the kernel machine."""
        self.told, self.landmarks = drawn_for(self.told, seeded(self.seed >> 32), self.is_light)

    def ask(self, _):
        """Make the kernel machine, whose gradients show where the function changes."""
        self.teacher = drawn_machine(
            self.seen, self.told, self.landmarks, self.metric,
            self.is_whole and not (self.is_light and self.n_labels > 0), self.is_light,
            N_DIRECTIONS, self.axes.n_directions > 0)
        self.seen = self.landmarks = None

    def goals(self, y):
        """Targets of the outputs, or their `cut_weights` sum, ndarray (n, n_told)."""
        if self.n_labels > 0:
            return signs_of(y[:, 0], self.n_labels)
        goals = (y - np.asarray(self.fresh.offset)) / np.asarray(self.fresh.unit)
        return weighted_sum(goals, self.cut_weights) if self.cut_weights else goals

    def few_goals(self):
        """Targets of the outputs, or a few sums of them if there are many outputs."""
        goals = self.goals(self.y[:self.n])
        if goals.shape[1] <= MOST_OUTPUTS:
            return goals
        return few_outputs(goals, seeded(self.seed >> 32))

    def teach(self, name):
        """A function that calls a method of the kernel machine, which is made later."""
        return lambda part: getattr(self.teacher, name)(part)

    def absorb(self, block, step):
        """Let the kernel machine learn a block of rows, in two steps."""
        rows = slice(block * BLOCK, min((block + 1) * BLOCK, self.n_taught))
        if step == 0:
            self.teacher.compare(rows)
        else:
            self.teacher.absorb(rows)

    def choose(self, _):
        """Choose the features that directions are combinations of."""
        if self.is_whole:
            groups = self.axes.groups
            self.mixed = mixed_features(self.teacher, 0 if groups is None else groups.n_empty)

    def lead(self, _):
        """Find the directions along which the function changes most."""
        if self.is_whole:
            self.leading = leading_of(self.teacher, self.mixed)

    def turn(self, _):
        """Write these directions as vectors of all features."""
        if self.is_whole:
            self.directions = directions_of(self.teacher, self.mixed, self.leading)

    def direct(self, _):
        """Make the scale of the trees, with these directions."""
        if self.is_whole:
            self.directed = self.axes.directed(self.directions)

    def stand(self, _):
        """Make a forest of trees with a single leaf each."""
        self.fresh.forest = Forest.stumps(
            self.n_trees, self.axes if self.directed is None else self.directed)

    def weigh(self, _):
        """Compute the metric for the next kernel machine."""
        self.fresh.metric, self.shares = metric_of(self.teacher)

    def reserve(self, _):
        """Compute feature importances, and allocate memory for scaled samples."""
        cdef Scale scale = self.fresh.forest.scale
        self.fresh.importances = of_features(self.shares, scale)
        self.along = self.teacher.along[:, :scale.n_axes + scale.n_directions]
        self.scaled = np.empty((self.n + self.lag, scale.width()), dtype=np.float32)
        self.rows = self.scaled

    def slope(self, rows):
        """Compute squared slopes of some rows along the directions; they follow those of axes."""
        cdef Scale scale = self.fresh.forest.scale
        if scale.n_directions:
            _, _, directions = scale.arrays()
            self.along[rows, scale.n_axes:] = self.teacher.squares_along(directions, rows)

    def scale(self, rows):
        """Scale some samples for the trees."""
        cdef Py_ssize_t i, first = rows.start, last = rows.stop
        cdef Rows row
        cdef Scale scale = self.fresh.forest.scale
        for i in range(first, last):
            row = self.recent.row(self.begun - self.n + i)
            scale.load_axes(&row, 0, &self.rows[i, 0])
        scale.direct(&self.rows[first, 0], last - first)

    def average(self, _):
        """Compute the mean squared slopes along axes and directions."""
        self.mean = self.along.mean(axis=0)

    def steepen(self, _):
        """Choose the axes of exact cuts: those of the steepest slopes."""
        self.sought = steepest(self.mean, self.axes.n_axes)

    def prepare(self, _):
        """Allocate memory for the slopes of the last samples."""
        self.slopes = common_slopes(self.mean, self.n_taught, self.n)

    def mix(self, rows):
        """Compute the slopes of some samples."""
        self.slopes[0][1 + rows.start:1 + rows.stop] = own_slopes(self.along[rows], self.mean)

    def forget(self, _):
        """Free what is not needed any more."""
        self.X = self.teacher = None

    def tell(self, _):
        """Compute the targets by which bends, or cuts, are chosen."""
        self.told = self.few_goals()

    def plant(self, _):
        """Make the grower of the trees."""
        _, most_in_leaf, n_candidates, _, _, _ = self.settings
        has_margin = self.n_labels > 0 and self.told.shape[1] == self.n_outputs
        self.grower = Grower(self.scaled[:self.n], self.axes.n_axes, *self.slopes, self.told,
                             has_margin, n_candidates, most_in_leaf)
        if self.axes.gaps is not None:
            self.grower.put_aside(self.axes.gaps.sources)

    def seek(self, _):
        """Allocate memory for a tree, and for exact cuts."""
        if self.is_whole:
            self.grower.reserve(1 + 2 * costs.rows_of_tree(self.n, *self.settings[3:5]), 1)
        if self.n_exact:
            self.grower.seek_along(self.sought)
        self.along = self.slopes = self.told = None

    def dig(self, _):
        """Allocate memory for new trees: in `Renewal`."""

    def load(self, rows):
        self.grower.load(rows.start, rows.stop)

    def rank(self, a, step):
        self.grower.rank(a, step)

    cdef Status look_until(self, double share) noexcept nogil:
        """Do units of work until a share of the look is done."""
        if not self.look.has_unit(share):
            return OK
        with gil:
            try:
                # Values that overflow are outliers, and are clipped.
                with np.errstate(over="ignore"):
                    while self.look.has_unit(share):
                        self.look.go_on()
            except BaseException as error:
                self.interruption = error
                return RAISED
        return OK
