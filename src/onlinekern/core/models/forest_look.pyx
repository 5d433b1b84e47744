"""ForestLook: where the function of the samples that are kept changes, found a little at a time.

It is what a renewal of a forest begins with: the units of features and targets (`ForestUnits`), a
kernel machine and its gradients, and what trees grow from.
"""
from libc.stdint cimport int64_t

import numpy as np

from onlinekern.core.base.part cimport OK, RAISED, Status
from onlinekern.core.base.plan cimport Plan
from onlinekern.core.models.forest_units cimport ForestUnits
from onlinekern.core.partitions.growing cimport Grower
from onlinekern.core.partitions.scale cimport Scale
from onlinekern.core.partitions.trees cimport Forest
from onlinekern.core.samples.rows cimport Rows

from onlinekern.core.base.plan import UNIT, by_rows, by_steps, by_turns, once
from onlinekern.core.base.random import seeded
from onlinekern.core.features.gradients import BLOCK, n_equations
from onlinekern.core.features.looking import (
    bounded, directions_of, drawn_for, drawn_machine, leading_of, metric_of, mixed_features,
    n_landmarks)
from onlinekern.core.models.forest_units import COPIED, TOLD
import onlinekern.core.partitions.costs as costs
from onlinekern.core.partitions.exact_cuts import MOST_SOUGHT, RANK_STEPS, steepest
from onlinekern.core.partitions.renewal import common_slopes, own_slopes
from onlinekern.core.partitions.tables import most_further, of_features, on_axes

# Rows of a unit that the kernel machine is to see, or that makes others of them.
cdef Py_ssize_t SEEN = 128
cdef Py_ssize_t MIXED = 256
# Rows are learnt by the kernel machine in so many steps.
cdef Py_ssize_t STEPS_OF_BLOCK = 2
# Parts that the plan is made in, one a sample, where a renewal is spread over so many samples.
cdef Py_ssize_t PARTS_OF_PLAN = 3
cdef Py_ssize_t LONG = 64


cdef class ForestLook(ForestUnits):
    """A look that has not begun: the parameters are those of `Renewal`."""

    def __cinit__(self, *_):
        # The sample that a renewal begins at pays for itself alone.
        self.planned_over = PARTS_OF_PLAN if self.lag >= LONG else 0

    cdef bint is_planned(self) noexcept nogil:
        return self.n_planned == PARTS_OF_PLAN

    cdef Status plan_until(self, int64_t entered) noexcept nogil:
        """Make the parts of the plan that are due after so many samples."""
        while not self.is_planned() and (self.planned_over == 0
                                         or self.n_planned < entered - self.begun):
            with gil:
                try:
                    if self.n_planned == 0:
                        self.stages = self.plan_units()
                    elif self.n_planned == 1:
                        self.stages += self.plan()
                    else:
                        self.begin_look()
                    self.n_planned += 1
                except BaseException as error:
                    self.interruption = error
                    return RAISED
        return OK

    def begin_look(self):
        """Begin with the stages that are planned."""
        self.look, self.stages = Plan(self.stages), None

    def plan(self):
        """The stages behind the units: functions, units of work that each does, cost of one."""
        n, d, taught = self.n, self.d, self.n_taught
        landmarks = n_landmarks(taught, self.is_light)
        equations = n_equations(landmarks, d, not self.is_light)
        most = equations + most_further(d, len(self.categories))
        of_gradient = BLOCK * costs.SLOPE * landmarks * d
        self.n_differentiated = max(1, int(costs.MOST_OF_UNIT / of_gradient))
        turns = (self.n_told + self.n_differentiated - 1) // self.n_differentiated
        of_equation = costs.PAIR * equations ** 2
        of_target = costs.GOAL * self.n_told
        light, step, long = costs.LIGHT, costs.STEP, costs.LONG
        heavy, arrays = costs.HEAVY, costs.ARRAYS
        first, of_arrays, of_blas = costs.FIRST, costs.FIRST_ARRAYS, costs.FIRST_BLAS
        blocks = (taught + BLOCK - 1) // BLOCK
        return [
            *once(light, self.view),
            by_steps(self.see, (taught + SEEN - 1) // SEEN, 2,
                     arrays / 2 + SEEN * costs.SEE * d / 2, of_arrays),
            *once(long, self.aim), *once(light + of_target * taught, self.aspire),
            *once(step + costs.ROW * taught, self.land), *once(long, self.ask),
            *once(light, self.teach("place")),
            by_steps(self.absorb, blocks, STEPS_OF_BLOCK, BLOCK * of_equation / STEPS_OF_BLOCK,
                     of_blas),
            by_steps(self.factor, (most + BLOCK - 1) // BLOCK, 2,
                     arrays / 2 + costs.FACTOR * equations ** 2, of_blas),
            *once(light + costs.SOLVE * equations ** 2, self.teach("reduce"), self.teach("solve")),
            by_steps(self.differentiate, blocks, turns,
                     arrays + of_gradient * min(self.n_told, self.n_differentiated), of_arrays),
            *once(step, self.choose), *once(heavy, self.lead), *once(step, self.turn),
            *once(light, self.direct), *once(step, self.stand), by_turns(self.weigh, 2, step),
            by_turns(self.reserve, 2, step / 2),
            by_rows(self.slope, taught, BLOCK, costs.SEE * d, 2 * UNIT, first),
            by_rows(self.scale, n, COPIED, costs.SCALE * d),
            *once(light + costs.AVERAGED * taught, self.average),
            *once(step, self.steepen, self.prepare),
            by_rows(self.mix, taught, MIXED, costs.SEE * d, arrays, first),
            *once(light, self.forget), by_rows(self.tell, n, TOLD, of_target),
            *once(light + costs.ROW * n, self.plant),
            by_turns(self.seek, 2, step / 2 if self.n_exact else light), *once(long, self.dig),
            by_rows(self.load, n, MIXED, costs.LOAD * d + of_target),
            by_steps(self.rank, MOST_SOUGHT if self.n_exact else 0, RANK_STEPS, costs.RANK * n)]

    def view(self, _):
        """Have the units in which the kernel machine sees rows."""
        self.axes = self.before.forest.scale if not self.is_whole else Scale(
            self.spread.center, self.spread.factor, None, self.tables.arrays(), self.gaps,
            self.groups, self.bends.bends())
        # What these know is in the scale.
        self.bends = self.tables = self.spread = None
        self.seen = np.empty((self.n_taught, self.axes.n_axes))

    def see(self, block, step):
        """Bring some rows to these units, or bound them."""
        seen = self.seen[block * SEEN:(block + 1) * SEEN]
        if step == 0:
            first = self.n - self.n_taught + block * SEEN
            seen[:] = self.axes.axes(self.X[first:first + len(seen)])
        else:
            seen[:] = bounded(seen)

    def aim(self, _):
        """Have the metric of the kernel machine."""
        self.metric = on_axes(self.before.metric, self.before.forest.scale, self.axes)

    def aspire(self, _):
        """Have the targets that it learns."""
        self.told = self.goals(self.y[self.n - self.n_taught:self.n])

    def land(self, _):
        """Draw the landmarks of the kernel machine."""
        self.told, self.landmarks = drawn_for(self.told, seeded(self.seed >> 32), self.is_light)

    def ask(self, _):
        """Begin with the kernel machine that tells where the function changes."""
        self.teacher = drawn_machine(
            self.seen, self.told, self.landmarks, self.metric,
            self.is_whole and not (self.is_light and self.n_labels > 0), self.is_light)
        self.seen = self.landmarks = None

    def teach(self, name):
        """A function that lets the kernel machine do a part of its work, once there is one."""
        return lambda part: getattr(self.teacher, name)(part)

    def absorb(self, block, step):
        """Let the kernel machine learn some rows, in two steps."""
        rows = slice(block * BLOCK, min((block + 1) * BLOCK, self.n_taught))
        if step == 0:
            self.teacher.compare(rows)
        else:
            self.teacher.absorb(rows)

    def factor(self, block, step):
        """Let the kernel machine weaken some equations, or factor them."""
        columns = slice(block * BLOCK, (block + 1) * BLOCK)
        if step == 0:
            self.teacher.weaken(columns)
        else:
            self.teacher.factor(columns)

    def differentiate(self, block, step):
        """Find the gradients of some outputs at some rows."""
        rows = slice(block * BLOCK, min((block + 1) * BLOCK, self.n_taught))
        self.teacher.differentiate(rows, step * self.n_differentiated, self.n_differentiated)

    def choose(self, _):
        """Choose the features that directions mix."""
        if self.is_whole:
            groups = self.axes.groups
            self.mixed = mixed_features(self.teacher, 0 if groups is None else groups.n_empty)

    def lead(self, _):
        """Find the directions along which the function changes most."""
        if self.is_whole:
            self.leading = leading_of(self.teacher, self.mixed)

    def turn(self, _):
        """Have these directions as those of all features."""
        if self.is_whole:
            self.directions = directions_of(self.teacher, self.mixed, self.leading)

    def direct(self, _):
        """Have the units of the trees, with these directions."""
        if self.is_whole:
            self.directed = self.axes.directed(self.directions)

    def stand(self, _):
        """Begin with trees that have not grown."""
        self.fresh.forest = Forest.stumps(
            self.n_trees, self.axes if self.directed is None else self.directed)

    def weigh(self):
        """Find the metric for the next machine."""
        own = self.teacher.squares.mean(axis=0)
        yield
        self.fresh.metric, self.shares = metric_of(own)

    def reserve(self):
        """Find the shares of the features, and have memory for slopes and scaled samples."""
        cdef Scale scale = self.fresh.forest.scale
        self.fresh.importances = of_features(self.shares, scale)
        yield
        self.along = np.empty((self.n_taught, scale.n_axes + scale.n_directions))
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

    def average(self, _):
        """Find mean slopes."""
        self.mean = self.along.mean(axis=0)

    def steepen(self, _):
        """Find the axes of exact cuts."""
        self.sought = steepest(self.mean, self.axes.n_axes)

    def prepare(self, _):
        """Have memory for slopes of the last samples."""
        self.slopes = common_slopes(self.mean, self.n_taught, self.n)

    def mix(self, rows):
        """Have the slopes of some samples."""
        self.slopes[0][1 + rows.start:1 + rows.stop] = own_slopes(self.along[rows], self.mean)

    def forget(self, _):
        """Leave what has told its own."""
        self.X = self.teacher = None

    def plant(self, _):
        """Begin with what trees grow from."""
        _, most_in_leaf, n_candidates, _, _, _ = self.settings
        has_margin = self.n_labels > 0 and self.told.shape[1] == self.n_outputs
        self.grower = Grower(self.scaled[:self.n], self.axes.n_axes, *self.slopes, self.told,
                             has_margin, n_candidates, most_in_leaf)
        if self.axes.gaps is not None:
            self.grower.put_aside(self.axes.gaps.sources)

    def seek(self):
        """Have memory for a tree, and for exact cuts."""
        if self.is_whole:
            self.grower.reserve(1 + 2 * costs.rows_of_tree(self.n, *self.settings[3:5]), 1)
        yield
        if self.n_exact:
            self.grower.seek_along(self.sought)
        self.along = self.slopes = self.told = None

    def dig(self, _):
        """Have memory for new trees: `Renewal` does."""

    def load(self, rows):
        self.grower.load(rows.start, rows.stop)

    def rank(self, a, step):
        self.grower.rank(a, step)

    cdef Status look_until(self, double share) noexcept nogil:
        """Have done a share of the look."""
        if not self.look.has_unit(share):
            return OK
        with gil:
            try:
                # What is beyond the largest number is far off, and cut off.
                with np.errstate(over="ignore"):
                    while self.look.has_unit(share):
                        self.look.go_on()
            except BaseException as error:
                self.interruption = error
                return RAISED
        return OK
