"""CellExperts: learners on the cells of a forest, under any rule, whose scores add up.

One expert for each noise r, with the leaves alone and with the upper cells beside them, all on one
walk. An expert of noise r sees weights of samples that are divided by r. Each score has the weight
by which the sum had the least squared error on samples that the experts had not seen
(`Combination`).
"""
from libc.math cimport NAN, fabs, isfinite, sqrt
from libc.stdint cimport int32_t, uint8_t, uint16_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport positive_number
from onlinekern.core.learning.combination cimport Combination
from onlinekern.core.learning.held_targets cimport HeldTargets
from onlinekern.core.learning.heads cimport sign_of
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.models.cells cimport LANES, CellWeights, ForestCells
from onlinekern.core.partitions.trees cimport UPPER_CELLS, Forest, Tree
from onlinekern.core.samples.rows cimport Rows

# The weights of the experts remember some thousand samples.
cdef double KEEP = 0.999
# An error counts as at most so large: a target that is far off must not weigh for all.
cdef double MOST_ERROR = 2
# So is a weight: sums of errors must stay finite, in float32 too where C goes on with them.
cdef double MOST_WEIGHT = 1e30
# A step in units of the targets. Numbers of cells are float32: many of the largest steps must not
# add up to infinity.
cdef double MOST_STEP = 1e30
# A classifier's weights stay near equal ones by at least one sample that is missed. Its scores
# count as within [-1, 1], but are added up as they are: weights that a few errors drive apart turn
# signs.
cdef double LEAST_ERROR = 1

# Parts of a forest that are freed with each sample.
cdef Py_ssize_t FREED = 16


cdef class Generation:
    """A forest with its weights, and what the next one needs to know of it."""

    def __cinit__(self, Forest forest, ForestCells leaves, ForestCells upper, metric, importances,
                  offset, unit):
        self.forest, self.leaves, self.upper = forest, leaves, upper
        self.metric, self.importances = metric, importances
        self.offset, self.unit = np.array(offset), np.array(unit)

    def copy(self):
        """The same trees and cells; those of either may be replaced."""
        return Generation(
            self.forest.copy(), self.leaves.copy(),
            None if self.upper is None else self.upper.copy(), self.metric, self.importances,
            self.offset, self.unit)

    def tree(self, Py_ssize_t t):
        """A tree, its leaves and its upper cells."""
        return (self.forest.trees[t], self.leaves.blocks[t],
                None if self.upper is None else self.upper.blocks[t])

    def parts(self):
        """All trees and their cells, a list."""
        return (self.forest.trees + self.leaves.blocks
                + ([] if self.upper is None else self.upper.blocks))

    def put_tree(self, Py_ssize_t t, Tree tree not None, CellWeights leaves not None,
                 CellWeights upper):
        """Replace a tree and its cells."""
        self.forest.put(t, tree)
        self.leaves.put(t, leaves)
        if upper is not None:
            self.upper.put(t, upper)

    cdef void checkpoint(self) noexcept nogil:
        self.leaves.checkpoint()
        if self.upper is not None:
            self.upper.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.leaves.rollback()
        if self.upper is not None:
            self.upper.rollback()


cdef class Leaving:
    """Nothing at first."""

    def __cinit__(self):
        self.parts = []

    cdef void take(self, Generation before, list replaced) noexcept:
        """Take the parts of a forest, if it is not None, and single trees that were replaced.

        Where there is no memory to keep them, they are freed at once.
        """
        try:
            if before is not None:
                self.parts += before.parts()
            self.parts += replaced
        except MemoryError:
            pass
        replaced.clear()
        self.n = len(self.parts)

    cdef void free_some(self, Py_ssize_t n_samples) noexcept nogil:
        """Free what is due after so many samples."""
        cdef Py_ssize_t n = max(0, self.n - FREED * n_samples)
        if self.n > n:
            with gil:
                try:
                    del self.parts[n:]
                    self.n = n
                except MemoryError:  # of the list: the next samples free them
                    pass


cdef class Walked:
    """Memory for the cells of `capacity` rows at a time.

    Parameters
    ----------
    n_trees, width : int
        Of the forest.
    capacity : int
    n_experts, n_outputs : int
    """

    def __cinit__(self, Py_ssize_t n_trees, Py_ssize_t width, Py_ssize_t capacity,
                  Py_ssize_t n_experts, Py_ssize_t n_outputs):
        # Records are added up in whole lanes, of all experts and of those that see both.
        cdef Py_ssize_t n_sums = 2 * (n_experts * (1 + n_outputs) + LANES)
        self.n_trees, self.width, self.capacity = n_trees, width, capacity
        self.rows = <float *> calloc(capacity * width, sizeof(float))
        self.leaves = <int32_t *> calloc(2 * capacity * n_trees, sizeof(int32_t))
        self.sums = <double *> calloc(n_sums + n_experts * (1 + n_outputs), sizeof(double))
        if self.rows == NULL or self.leaves == NULL or self.sums == NULL:
            raise MemoryError(f"no memory for the cells of {capacity} samples")
        self.upper = self.leaves + capacity * n_trees
        self.scored = self.sums + n_sums
        self.variances = self.scored + n_experts * n_outputs

    def __dealloc__(self):
        free(self.rows)
        free(self.leaves)
        free(self.sums)

    cdef void walk(self, Forest forest, const Rows *rows, const Py_ssize_t *order,
                   Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Find the cells of n rows, from `first` of an order on."""
        cdef Py_ssize_t i
        cdef Py_ssize_t width = forest.scale.width()
        for i in range(n):
            forest.scale.load_axes(rows, order[first + i] if order else first + i,
                                   self.rows + i * width)
        forest.scale.direct(self.rows, n)
        forest.walk_rows(self.rows, n, self.leaves, self.upper)
        self.n = n

    cdef void walk_tree(self, Forest forest, Py_ssize_t t, Py_ssize_t first) noexcept nogil:
        """Find the cells in tree t of the rows that were walked last, but of the `first` ones."""
        cdef Py_ssize_t width = forest.scale.width()
        forest.walk_tree(t, self.rows + first * width, self.n - first,
                         self.leaves + first * self.n_trees, self.upper + first * self.n_trees,
                         self.n_trees)

    cdef void take(self, const uint16_t *leaves, const uint8_t *upper, Py_ssize_t stride,
                   Py_ssize_t n) noexcept nogil:
        """Take the cells of n rows, of which each tree tells, `stride` behind those of another."""
        cdef Py_ssize_t i, t
        for t in range(self.n_trees):
            for i in range(n):
                self.leaves[i * self.n_trees + t] = leaves[t * stride + i]
                self.upper[i * self.n_trees + t] = upper[t * stride + i]

    cdef Cells cells(self, Py_ssize_t i) noexcept nogil:
        cdef Cells cells
        cells.leaves = self.leaves + i * self.n_trees
        cells.upper = self.upper + i * self.n_trees
        return cells


cdef class CellExperts:
    """Experts for each noise and level.

    Parameters
    ----------
    n_outputs, n_labels, rule, noises, levels, n_trees, n_seen, exact_variances, holds
        As of `ForestSpace`.
    """

    def __cinit__(self, Py_ssize_t n_outputs, Py_ssize_t n_labels, Rule rule not None, noises,
                  levels, Py_ssize_t n_trees, n_seen=(), exact_variances=(), holds=False):
        cdef Py_ssize_t e, n_noises = len(noises)
        self.n_outputs, self.n_labels, self.rule = n_outputs, n_labels, rule
        self.n_experts = n_noises * len(levels)
        self.n_lower = self.n_experts - n_noises * sum(levels)
        self.n_seen = np.array(n_seen or (n_trees,) * self.n_experts, dtype=np.intp)
        self.first_variances = self.variances_at_first(exact_variances or (1,) * self.n_experts)
        self.combination = Combination(self.n_experts, KEEP, LEAST_ERROR if n_labels > 0 else 0)
        self.held = HeldTargets(n_outputs if holds and n_labels == 0 else 0)
        self.noises = <double *> calloc(self.n_experts * (4 + n_outputs), sizeof(double))
        if self.noises == NULL:
            raise MemoryError(f"no memory for {self.n_experts} experts of {n_outputs} outputs")
        self.missed = self.noises + self.n_experts
        self.falls = self.noises + 2 * self.n_experts
        self.shares = self.noises + 3 * self.n_experts
        self.steps = self.noises + 4 * self.n_experts
        for e in range(self.n_experts):
            self.noises[e] = positive_number("a noise", noises[e % n_noises])
            self.shares[e] = 1 / sqrt((2.0 if e >= self.n_lower else 1.0) * self.n_seen[e])

    def __dealloc__(self):
        free(self.noises)

    cdef bint sees_both(self) noexcept nogil:
        """Whether any expert sees the upper cells."""
        return self.n_lower < self.n_experts

    def new_cells(self, Forest forest):
        """Weights for the leaves of a forest, and for its upper cells."""
        cdef Tree tree
        cdef Py_ssize_t t
        leaves = [self.new_leaves(t, tree.n_leaves) for t, tree in enumerate(forest.trees)]
        upper = [self.new_upper(t) for t in range(forest.n_trees)] if self.sees_both() else None
        return ForestCells(leaves, -1), upper and ForestCells(upper, UPPER_CELLS)

    def cells_to_come(self, Py_ssize_t n_trees):
        """Cells of trees that have not grown: each tree puts its own in the place of these."""
        return (ForestCells([self.new_leaves(0, 1)] * n_trees, -1),
                ForestCells([self.new_upper(0)] * n_trees, UPPER_CELLS)
                if self.sees_both() else None)

    def variances_at_first(self, exact_variances):
        """Variances that cells begin with, of the leaves and of the upper cells of a tree.

        With the variance 0 a cell adds nothing to a score, or to its variance, and never moves: the
        expert does not see it. A renewal makes hundreds of cells: these are arrays of Cython, which
        it takes without a look at them.
        """
        cdef const float[::1] leaves
        found = [[None] * (1 + self.n_experts) for _ in range(2)]
        for t in [0] + list(self.n_seen):
            seen = (t < np.asarray(self.n_seen)).astype(np.float32)
            for is_exact in range(2):
                leaves = seen * np.array(exact_variances, dtype=np.float32) if is_exact else seen
                found[is_exact][self.n_blind(t)] = leaves, leaves[self.n_lower:]
        return found

    cdef Py_ssize_t n_blind(self, Py_ssize_t t) noexcept nogil:
        """How many experts do not see tree t."""
        cdef Py_ssize_t e, n = 0
        for e in range(self.n_experts):
            n += self.n_seen[e] <= t
        return n

    cdef CellWeights new_leaves(self, Py_ssize_t t, Py_ssize_t n_leaves, bint is_begun=True,
                                bint is_exact=False):
        """Weights for the leaves of tree t, as of `CellWeights`."""
        variances, _ = self.first_variances[is_exact][self.n_blind(t)]
        return CellWeights(n_leaves, variances, self.n_outputs, is_begun)

    cdef CellWeights new_upper(self, Py_ssize_t t, bint is_exact=False):
        """Weights for the upper cells of tree t."""
        _, variances = self.first_variances[is_exact][self.n_blind(t)]
        return CellWeights(UPPER_CELLS, variances, self.n_outputs)

    cdef void copy_both(self, const float *leaf, float *upper) noexcept nogil:
        """Give the record of an upper cell what a leaf has for the experts that see both."""
        cdef Py_ssize_t n_both = self.n_experts - self.n_lower, K = self.n_outputs
        memcpy(upper, leaf + self.n_lower * K, n_both * K * sizeof(float))
        memcpy(upper + n_both * K, leaf + self.n_experts * K + self.n_lower, n_both * sizeof(float))

    cdef void fetch(self, Generation now, Walked walked, Py_ssize_t i, bint begins,
                    Py_ssize_t end) noexcept nogil:
        """Let the numbers of the leaves of the row behind row i come nearer, if it is before `end`.

        Where rows begin, those of row i too. Upper cells are few.
        """
        if begins:
            now.leaves.prefetch(walked.cells(i).leaves)
        if i + 1 < end:
            now.leaves.prefetch(walked.cells(i + 1).leaves)

    cdef void score(self, Generation now, const Cells *cells, Walked walked) noexcept nogil:
        """Scores of a sample by each expert, in units of the targets, and its variances."""
        cdef Py_ssize_t e, k, at, K = self.n_outputs
        cdef double share
        cdef double *sums = walked.sums
        cdef double *upper = sums + now.leaves.length
        now.leaves.add(cells.leaves, sums)
        if self.n_lower < self.n_experts:
            now.upper.add(cells.upper, upper)
        for e in range(self.n_experts):
            share = self.shares[e]
            at = (e - self.n_lower) * K
            for k in range(K):
                walked.scored[e * K + k] = share * (
                    sums[e * K + k] + (upper[at + k] if at >= 0 else 0))
            walked.variances[e] = share * share * (
                sums[now.leaves.n_weights + e]
                + (upper[now.upper.n_weights + e - self.n_lower] if at >= 0 else 0))

    cdef void predict(self, Generation now, Walked walked, Py_ssize_t i,
                      double *out) noexcept nogil:
        """The scores that predict row i of those that are walked."""
        cdef Cells cells = walked.cells(i)
        self.fetch(now, walked, i, i == 0, walked.n)
        self.score(now, &cells, walked)
        self.mix(now, walked.scored, out)

    cdef void mix(self, Generation now, const double *scored, double *out) noexcept nogil:
        """The scores that predict: the sum of the experts', each times its weight."""
        cdef Py_ssize_t e, k
        cdef double score
        for k in range(self.n_outputs):
            score = 0
            for e in range(self.n_experts):
                score += self.combination.weights[e] * scored[e * self.n_outputs + k]
            out[k] = now.offset[k] + now.unit[k] * score

    cdef void hold(self, Generation now, const double *scored, double *y) noexcept nogil:
        """Put what is learnt in the places of the targets of the sample scored last."""
        cdef Py_ssize_t e, k
        cdef double score
        for k in range(self.held.n_outputs):
            score = 0
            for e in range(self.n_experts):
                score += self.combination.weights[e] * scored[e * self.n_outputs + k]
            y[k] = self.held.hold(k, y[k], score, now.offset[k], now.unit[k])

    cdef double target(self, Generation now, Py_ssize_t k, const double *y) noexcept nogil:
        """The target of output k."""
        if self.n_labels == 0:
            return (y[k] - now.offset[k]) / now.unit[k]
        if self.n_outputs == 1:
            return sign_of(y[0])
        return 1 if k == <Py_ssize_t> y[0] else -1

    cdef Status learn(self, Generation now, const Cells *cells, Walked walked, const double *y,
                      double weight, bint is_undone) noexcept nogil:
        """Let each expert learn a sample that has been scored. Returns a status.

        `is_undone` says whether a rollback is to undo it.
        """
        cdef Py_ssize_t e, k, K = self.n_outputs
        cdef bint any_moves = False, both = False
        cdef double contraction, share
        for e in range(self.n_experts):
            share = self.shares[e]
            contraction = self.solve(now, e, walked.scored + e * K, walked.variances[e], y,
                                     weight / self.noises[e])
            if not isfinite(contraction):
                return NOT_FINITE
            self.falls[e] = contraction * share * share
            for k in range(e * K, (e + 1) * K):
                self.steps[k] *= share
                if fabs(self.steps[k]) > MOST_STEP:
                    return NOT_FINITE
            any_moves |= contraction >= 0
            both |= contraction >= 0 and e >= self.n_lower
        if any_moves:
            if is_undone and now.leaves.touch(cells.leaves) < 0:
                return NO_MEMORY
            now.leaves.step(cells.leaves, self.steps, self.falls)
        if both:
            if is_undone and now.upper.touch(cells.upper) < 0:
                return NO_MEMORY
            now.upper.step(cells.upper, self.steps + self.n_lower * K,
                           self.falls + self.n_lower)
        return OK

    cdef double solve(self, Generation now, Py_ssize_t e, const double *scored, double variance,
                      const double *y, double importance) noexcept nogil:
        """Set `steps` to the coefficients of an expert; return the largest contraction.

        It is -1 where there is no step, and 0 where a rule of first order steps.
        """
        cdef Py_ssize_t k
        cdef double f, goal, contraction, largest = -1
        cdef double *steps = self.steps + e * self.n_outputs
        for k in range(self.n_outputs):
            f, goal = scored[k], self.target(now, k, y)
            steps[k] = 0
            if self.rule.needs_length(f, goal, importance):
                steps[k] = self.rule.coefficient(f, goal, variance, 1, importance)
                # One variance serves all outputs: it falls once, by the largest contraction.
                contraction = self.rule.contraction(f, goal, variance, importance)
                if steps[k] != 0 or contraction > 0:
                    largest = max(largest, contraction)
                if not isfinite(steps[k]):
                    return NAN
        return largest

    cdef void combine(self, Generation now, const double *scored, const double *y,
                      double weight) noexcept nogil:
        """Let the weights follow the errors of the sample scored last, before it is learnt.

        The score of a classifier counts as within [-1, 1]: the hinge, which the experts lower,
        favours those that fit noise.
        """
        cdef Py_ssize_t e, k
        cdef double f, goal
        if self.n_experts == 1:
            return
        weight = min(weight, MOST_WEIGHT)
        self.combination.meet(weight)
        for k in range(self.n_outputs):
            goal = self.target(now, k, y)
            for e in range(self.n_experts):
                f = scored[e * self.n_outputs + k]
                if self.n_labels > 0:
                    f = max(-1.0, min(f, 1.0))
                self.missed[e] = max(-MOST_ERROR, min(f - goal, MOST_ERROR))
            self.combination.add(self.missed, weight)
        self.combination.weigh()

    cdef void checkpoint(self) noexcept nogil:
        self.combination.checkpoint()
        self.held.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.combination.rollback()
        self.held.rollback()

    def get_state(self):
        """What is known beside the numbers of the cells, as a dictionary."""
        return {**self.combination.get_state(), "held": self.held.get_numbers()}
