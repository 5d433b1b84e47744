"""CellExperts: linear learners on the cells of a forest, and a weighted sum of their scores.

There is an expert for each noise r that sees the leaves only, and one that also sees the upper
cells. All share one walk down the trees and one update rule; an expert of noise r divides sample
weights by r. The weights of the scores minimise the squared error of their sum, measured on each
sample before it is learnt (`Combination`).
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

# Discount of past errors per sample: the weights of the scores remember about 1,000 samples.
cdef double KEEP = 0.999
# Errors are clipped here, so that one outlier among the targets does not decide all weights.
cdef double MOST_ERROR = 2
# Sample weights are clipped here, so that sums of errors stay finite, in exported C in float32 too.
cdef double MOST_WEIGHT = 1e30
# A larger step, in units of the targets, is an error. Weights of cells are float32: even many steps
# of this size do not add up to infinity.
cdef double MOST_STEP = 1e30
# Classification: the penalty that pulls the weights to equal ones is worth at least one mistake.
# Scores are clipped at -1 and 1 to measure errors, but summed unclipped. Weights that follow a few
# errors would differ so much that the sum has the wrong sign.
cdef double LEAST_ERROR = 1

# Replaced trees and blocks of cells that are freed with each sample.
cdef Py_ssize_t FREED = 16


cdef class Generation:
    """A forest, its weights, and what the next renewal takes from it: metric and target units."""

    def __cinit__(self, Forest forest, ForestCells leaves, ForestCells upper, metric, importances,
                  offset, unit):
        self.forest, self.leaves, self.upper = forest, leaves, upper
        self.metric, self.importances = metric, importances
        self.offset, self.unit = np.array(offset), np.array(unit)
        self.exact_times = 1

    def copy(self):
        """A shallow copy: it shares trees and cells, which either may replace by others."""
        cdef Generation made
        made = Generation(
            self.forest.copy(), self.leaves.copy(),
            None if self.upper is None else self.upper.copy(), self.metric, self.importances,
            self.offset, self.unit)
        made.exact_times = self.exact_times
        return made

    def tree(self, Py_ssize_t t):
        """Tree t, its leaves and its upper cells (or None)."""
        return (self.forest.trees[t], self.leaves.blocks[t],
                None if self.upper is None else self.upper.blocks[t])

    def parts(self):
        """A list of all trees and blocks of cells."""
        return (self.forest.trees + self.leaves.blocks
                + ([] if self.upper is None else self.upper.blocks))

    def put_tree(self, Py_ssize_t t, Tree tree not None, CellWeights leaves not None,
                 CellWeights upper):
        """Replace tree t and its cells."""
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


cdef class Discarded:
    """Queue of replaced trees and cells to free; empty at first."""

    def __cinit__(self):
        self.parts = []

    cdef void take(self, Generation before, list replaced) noexcept:
        """Queue all parts of a generation (or None), and single trees that were replaced.

        If the list cannot grow for lack of memory, they are freed at once.
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
        """Free `FREED` parts for each of n samples."""
        cdef Py_ssize_t n = max(0, self.n - FREED * n_samples)
        if self.n > n:
            with gil:
                try:
                    del self.parts[n:]
                    self.n = n
                except MemoryError:  # the list could not shrink: the next samples free the parts
                    pass


cdef class Walked:
    """Buffers for `capacity` rows of `width` columns (scaled), and their cells in n_trees trees."""

    def __cinit__(self, Py_ssize_t n_trees, Py_ssize_t width, Py_ssize_t capacity,
                  Py_ssize_t n_experts, Py_ssize_t n_outputs):
        # Two sums of records, each padded to whole lanes: of the leaves and of the upper cells.
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
        """Find the cells of n rows: order[first], order[first + 1], ... (NULL: first, ...)."""
        cdef Py_ssize_t i
        cdef Py_ssize_t width = forest.scale.width()
        for i in range(n):
            forest.scale.load_axes(rows, order[first + i] if order else first + i,
                                   self.rows + i * width)
        forest.scale.direct(self.rows, n)
        forest.walk_rows(self.rows, n, self.leaves, self.upper)
        self.n = n

    cdef void walk_tree(self, Forest forest, Py_ssize_t t, Py_ssize_t first) noexcept nogil:
        """Find the cells in tree t again, for the rows of the last `walk` from row `first` on."""
        cdef Py_ssize_t width = forest.scale.width()
        forest.walk_tree(t, self.rows + first * width, self.n - first,
                         self.leaves + first * self.n_trees, self.upper + first * self.n_trees,
                         self.n_trees)

    cdef void take(self, const uint16_t *leaves, const uint8_t *upper, Py_ssize_t stride,
                   Py_ssize_t n) noexcept nogil:
        """Copy the cells of n rows from arrays that hold them tree by tree, `stride` apart."""
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
    """One expert for each pair of a noise and a level.

    Parameters
    ----------
    n_outputs, n_labels, rule, noises, levels, n_trees, n_seen, exact_variances, holds
        See `ForestSpace`.
    """

    def __cinit__(self, Py_ssize_t n_outputs, Py_ssize_t n_labels, Rule rule not None, noises,
                  levels, Py_ssize_t n_trees, n_seen=(), exact_variances=(), holds=False):
        cdef Py_ssize_t e, n_noises = len(noises)
        self.n_outputs, self.n_labels, self.rule = n_outputs, n_labels, rule
        self.n_experts = n_noises * len(levels)
        self.n_lower = self.n_experts - n_noises * sum(levels)
        self.n_seen = np.array(n_seen or (n_trees,) * self.n_experts, dtype=np.intp)
        self.initial_variances = self.made_variances(exact_variances or (1,) * self.n_experts)
        self.combination = Combination(self.n_experts, KEEP, LEAST_ERROR if n_labels > 0 else 0)
        self.held = HeldTargets(n_outputs if holds and n_labels == 0 else 0)
        self.noises = <double *> calloc(self.n_experts * (4 + n_outputs), sizeof(double))
        if self.noises == NULL:
            raise MemoryError(f"no memory for {self.n_experts} experts of {n_outputs} outputs")
        self.errors = self.noises + self.n_experts
        self.contractions = self.noises + 2 * self.n_experts
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
        """Initial cells of a forest: those of its leaves, and of its upper cells or None."""
        cdef Tree tree
        cdef Py_ssize_t t
        leaves = [self.new_leaves(t, tree.n_leaves) for t, tree in enumerate(forest.trees)]
        upper = [self.new_upper(t) for t in range(forest.n_trees)] if self.sees_both() else None
        return ForestCells(leaves, -1), upper and ForestCells(upper, UPPER_CELLS)

    def cells_to_come(self, Py_ssize_t n_trees):
        """Placeholders for the cells of trees that have not grown; each tree replaces its own."""
        return (ForestCells([self.new_leaves(0, 1)] * n_trees, -1),
                ForestCells([self.new_upper(0)] * n_trees, UPPER_CELLS)
                if self.sees_both() else None)

    def made_variances(self, exact_variances):
        """Initial variances for each kind of tree, as `initial_variances` holds them.

        An expert does not see cells whose variance is 0: they add nothing to its scores and their
        variances, and their weights stay 0. The values are memoryviews made once, because a
        renewal makes hundreds of blocks of cells and each conversion of an array takes time.
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
        """A `CellWeights` for the leaves of tree t."""
        variances, _ = self.initial_variances[is_exact][self.n_blind(t)]
        return CellWeights(n_leaves, variances, self.n_outputs, is_begun)

    cdef CellWeights new_upper(self, Py_ssize_t t, bint is_exact=False):
        """A `CellWeights` for the upper cells of tree t."""
        _, variances = self.initial_variances[is_exact][self.n_blind(t)]
        return CellWeights(UPPER_CELLS, variances, self.n_outputs)

    cdef void copy_both(self, const float *leaf, float *upper) noexcept nogil:
        """Copy to the record of an upper cell what a leaf holds for the experts that see both."""
        cdef Py_ssize_t n_both = self.n_experts - self.n_lower, K = self.n_outputs
        memcpy(upper, leaf + self.n_lower * K, n_both * K * sizeof(float))
        memcpy(upper + n_both * K, leaf + self.n_experts * K + self.n_lower, n_both * sizeof(float))

    cdef void fetch(self, Generation now, Walked walked, Py_ssize_t i, bint begins,
                    Py_ssize_t end) noexcept nogil:
        """Prefetch the records of the leaves of row i + 1, if i + 1 < end.

        `begins` says that row i is the first: its leaves are then prefetched too. Upper cells are
        so few that they stay in the cache.
        """
        if begins:
            now.leaves.prefetch(walked.cells(i).leaves)
        if i + 1 < end:
            now.leaves.prefetch(walked.cells(i + 1).leaves)

    cdef void score(self, Generation now, const Cells *cells, Walked walked) noexcept nogil:
        """Compute each expert's score, in units of the targets, and the variance of the score.

        They are written to `walked.scored` and `walked.variances`.
        """
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
        """Write the combined scores of row i of the last walk to `out`."""
        cdef Cells cells = walked.cells(i)
        self.fetch(now, walked, i, i == 0, walked.n)
        self.score(now, &cells, walked)
        self.mix(now, walked.scored, out)

    cdef void mix(self, Generation now, const double *scored, double *out) noexcept nogil:
        """Combine the experts' scores by their weights, and scale them back to target units."""
        cdef Py_ssize_t e, k
        cdef double score
        for k in range(self.n_outputs):
            score = 0
            for e in range(self.n_experts):
                score += self.combination.weights[e] * scored[e * self.n_outputs + k]
            out[k] = now.offset[k] + now.unit[k] * score

    cdef void hold(self, Generation now, const double *scored, double *y) noexcept nogil:
        """Clip outliers among the targets y, in place, by the scores of the same sample."""
        cdef Py_ssize_t e, k
        cdef double score
        for k in range(self.held.n_outputs):
            score = 0
            for e in range(self.n_experts):
                score += self.combination.weights[e] * scored[e * self.n_outputs + k]
            y[k] = self.held.hold(k, y[k], score, now.offset[k], now.unit[k])

    cdef double target(self, Generation now, Py_ssize_t k, const double *y) noexcept nogil:
        """Target of output k: standardised in regression, 1 or -1 in classification."""
        if self.n_labels == 0:
            return (y[k] - now.offset[k]) / now.unit[k]
        if self.n_outputs == 1:
            return sign_of(y[0])
        return 1 if k == <Py_ssize_t> y[0] else -1

    cdef Status learn(self, Generation now, const Cells *cells, Walked walked, const double *y,
                      double weight, bint is_undone) noexcept nogil:
        """Let each expert learn the sample scored last. Returns a status.

        If `is_undone`, the records are copied first, so that a rollback can undo the step.
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
            self.contractions[e] = contraction * share * share
            for k in range(e * K, (e + 1) * K):
                self.steps[k] *= share
                if fabs(self.steps[k]) > MOST_STEP:
                    return NOT_FINITE
            any_moves |= contraction >= 0
            both |= contraction >= 0 and e >= self.n_lower
        if any_moves:
            if is_undone and now.leaves.touch(cells.leaves) < 0:
                return NO_MEMORY
            now.leaves.step(cells.leaves, self.steps, self.contractions)
        if both:
            if is_undone and now.upper.touch(cells.upper) < 0:
                return NO_MEMORY
            now.upper.step(cells.upper, self.steps + self.n_lower * K,
                           self.contractions + self.n_lower)
        return OK

    cdef double solve(self, Generation now, Py_ssize_t e, const double *scored, double variance,
                      const double *y, double importance) noexcept nogil:
        """Compute the coefficients of expert e into `steps`; return its largest contraction.

        The result is -1 without a step, and 0 for a step of a first-order rule.
        """
        cdef Py_ssize_t k
        cdef double f, goal, contraction, largest = -1
        cdef double *steps = self.steps + e * self.n_outputs
        for k in range(self.n_outputs):
            f, goal = scored[k], self.target(now, k, y)
            steps[k] = 0
            if self.rule.needs_length(f, goal, importance):
                steps[k] = self.rule.coefficient(f, goal, variance, 1, importance)
                # All outputs share one variance: it is reduced once, by the largest contraction.
                contraction = self.rule.contraction(f, goal, variance, importance)
                if steps[k] != 0 or contraction > 0:
                    largest = max(largest, contraction)
                if not isfinite(steps[k]):
                    return NAN
        return largest

    cdef void combine(self, Generation now, const double *scored, const double *y,
                      double weight) noexcept nogil:
        """Update the weights of the scores by the errors on a sample that is not learnt yet.

        Classification scores are clipped to [-1, 1] and their squared errors are compared: the
        hinge loss, which the experts minimise, would favour experts that fit noise.
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
                self.errors[e] = max(-MOST_ERROR, min(f - goal, MOST_ERROR))
            self.combination.add(self.errors, weight)
        self.combination.weigh()

    cdef void checkpoint(self) noexcept nogil:
        self.combination.checkpoint()
        self.held.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.combination.rollback()
        self.held.rollback()

    def get_state(self):
        """State of the combination and of the clipping, as a dictionary."""
        return {**self.combination.get_state(), "held": self.held.get_numbers()}
