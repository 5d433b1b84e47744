"""ForestSpace: learners on the cells of a forest that grows where the function changes.

Trees cut space into cells; a sample is in one cell of each tree, and in the node above it at a
fixed depth. Experts of second order learn linear functions of these cells, jointly for all trees:
one for each noise r, with the leaves alone and with the upper cells beside them. Their scores are
mixed by shares, which follow their losses on samples that they had not seen (exponential weights,
Herbster and Warmuth 1998).

At absolute numbers of samples, powers of two, the forest is renewed: gradients of a small kernel
machine say where the function changes, trees grow from the last samples, and the experts learn
those again. Once the stream is longer than the memory of samples, trees go on to grow at their
leaves instead, and new cells begin as the one that they are part of.
"""
from libc.math cimport exp, fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, RAISED, Status
from onlinekern.core.base.random cimport counted
from onlinekern.core.base.state cimport (
    check_kind, count_of, doubles_of_shape, fields_of, finite_number, positive_number)
from onlinekern.core.learning.heads cimport Update, sign_of
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.models.cells cimport Cells, CellWeights
from onlinekern.core.models.space cimport Space, raised_by_signals
from onlinekern.core.partitions.trees cimport N_DIRECTIONS, Forest, Scale
from onlinekern.core.partitions.growing cimport Grower
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

from onlinekern.core.features.gradients import (
    MOST_LINEAR, KernelGradients, few_outputs, leading_directions)

# A forest is renewed at this sample, and whenever there are twice as many.
cdef int64_t FIRST_RENEWAL = 32
# The kernel machine that tells where the function changes: rows, numbers, landmarks, width.
cdef Py_ssize_t TAUGHT = 2048
cdef Py_ssize_t TAUGHT_NUMBERS = 1 << 20
cdef Py_ssize_t LEAST_TAUGHT = 256
cdef Py_ssize_t LANDMARKS = 200
cdef double WIDTH = 0.25
# Scaled values beyond do not count for it.
cdef double FARTHEST_TAUGHT = 8
# Of a row's slopes, so much is the mean of all rows: one gradient may err.
cdef double COMMON_SLOPE = 0.1
cdef double LEAST_SLOPE = 1e-4
# The shares of the experts: how much a loss counts, and how much is given back to all.
cdef double RATE = 0.2
cdef double GIVEN_BACK = 0.001
cdef Py_ssize_t ROWS = 64
# Candidates of a node, and replays: more would not come to an end.
cdef Py_ssize_t MOST_TURNS = 1000
cdef Py_ssize_t MOST = 1 << 48

STATE = ("entered", "rows", "targets", "weights", "shares", "center", "factor", "directions",
         "cuts", "features", "left", "first", "cells", "metric", "importances", "offset", "unit")


cdef class Generation:
    """A forest with its weights, and what the next one needs to know of it."""

    def __cinit__(self, Forest forest, CellWeights cells, metric, importances, double offset,
                  double unit):
        self.forest, self.cells = forest, cells
        self.metric, self.importances = metric, importances
        self.offset, self.unit = offset, unit


cdef class Walked:
    """Memory for the cells of `capacity` rows at a time.

    Parameters
    ----------
    n_trees, width : int
        Of the forest.
    capacity : int
    n_sums : int
        How many sums the records of a sample have.
    """

    def __cinit__(self, Py_ssize_t n_trees, Py_ssize_t width, Py_ssize_t capacity,
                  Py_ssize_t n_sums):
        self.n_trees, self.width, self.capacity = n_trees, width, capacity
        self.rows = <float *> calloc(capacity * width, sizeof(float))
        self.leaves = <int32_t *> calloc(2 * capacity * n_trees, sizeof(int32_t))
        self.sums = <double *> calloc(n_sums, sizeof(double))
        if self.rows == NULL or self.leaves == NULL or self.sums == NULL:
            raise MemoryError(f"no memory for the cells of {capacity} samples")
        self.upper = self.leaves + capacity * n_trees

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
            forest.scale.load(rows, order[first + i] if order else first + i,
                              self.rows + i * width)
        forest.walk_rows(self.rows, n, self.leaves, self.upper)

    cdef Cells cells(self, Py_ssize_t i) noexcept nogil:
        cdef Cells cells
        cells.leaves = self.leaves + i * self.n_trees
        cells.upper = self.upper + i * self.n_trees
        cells.n_trees = self.n_trees
        return cells


cdef class ForestSpace(Space):
    """A forest, and experts on its cells.

    Parameters
    ----------
    d, dtype
        Of the samples.
    n_outputs : int
    n_labels : int
        Classes; 0 with targets that are numbers.
    rule : Rule
        Of second order, with r = 1; an expert of noise r sees weights that are divided by r.
    noises : tuple of float > 0
    levels : tuple of bool
        False: experts that see the leaves; True: experts that see the upper cells too.
    n_trees, most_in_leaf, n_candidates : int
        A node of more than `most_in_leaf` rows is cut, by the best of `n_candidates`.
    share, most_rows : float, int
        A tree grows from this share of the memory, and from at most so many samples.
    memory : int
        Samples that are kept.
    replays : int
        How often they are learnt again after a renewal.
    seed : int
    """

    def __cinit__(self, Py_ssize_t d, dtype, Py_ssize_t n_outputs, Py_ssize_t n_labels,
                  Rule rule not None, noises, levels, Py_ssize_t n_trees, Py_ssize_t most_in_leaf,
                  Py_ssize_t n_candidates, double share, Py_ssize_t most_rows, Py_ssize_t memory,
                  Py_ssize_t replays, seed):
        cdef Py_ssize_t e, n_noises = len(noises)
        check_sizes(MOST, d=d, n_outputs=n_outputs, n_noises=n_noises, n_levels=len(levels),
                    n_trees=n_trees, most_in_leaf=most_in_leaf, most_rows=most_rows, memory=memory)
        check_sizes(MOST_TURNS, n_candidates=n_candidates, replays=replays)
        if n_outputs != (n_labels if n_labels > 2 else 1) or n_labels < 0 or n_labels == 1:
            raise ValueError(f"{n_labels} classes do not have {n_outputs} outputs")
        if not 0 < share <= 1:
            raise ValueError(f"share must be in (0, 1], got {share}")
        self.settings = (tuple(map(float, noises)), tuple(map(bool, levels)), n_trees,
                         most_in_leaf, n_candidates, share, most_rows, memory, replays, seed)
        self.d, self.n_outputs, self.n_labels = d, n_outputs, n_labels
        self.rule, self.seed = rule, seed
        self.recent = RecentRows(d, dtype, memory)
        self.itemsize = self.recent.itemsize
        self.n_experts = n_noises * len(levels)
        self.noises = <double *> calloc(
            4 * self.n_experts + (self.n_experts + 1) * n_outputs, sizeof(double))
        if self.noises == NULL:
            raise MemoryError(f"no memory for {self.n_experts} experts of {n_outputs} outputs")
        self.shares = self.noises + self.n_experts
        self.variances = self.noises + 3 * self.n_experts
        self.scored = self.noises + 4 * self.n_experts
        self.steps = self.scored + self.n_experts * n_outputs
        for e in range(self.n_experts):
            self.noises[e] = positive_number("a noise", noises[e % n_noises])
            self.shares[e] = self.shares[self.n_experts + e] = 1.0 / self.n_experts
        nothing = np.zeros(d)
        forest = Forest.stumps(n_trees, Scale(nothing, nothing))
        self.now = Generation(forest, self.new_cells(forest), np.ones(d), np.zeros(d), 0, 1)
        self.walked = self.new_walked(1)

    def __dealloc__(self):
        free(self.noises)

    def components(self):
        return (self.rule,)

    def new_cells(self, Forest forest):
        """Weights for the cells of a forest."""
        noises, levels, *_ = self.settings
        n_both = len(noises) * sum(levels)
        return CellWeights(forest.n_nodes, forest.n_trees, self.n_experts - n_both, n_both,
                           self.n_outputs)

    def new_walked(self, Py_ssize_t capacity):
        """Memory for the cells of so many samples."""
        return Walked(self.now.forest.n_trees, self.d + N_DIRECTIONS, capacity,
                      2 * self.n_experts * (1 + self.n_outputs) + self.n_experts
                      * (1 + self.n_outputs))

    cdef tuple sample_form(self):
        return self.d, self.itemsize

    cdef Py_ssize_t size(self) noexcept nogil:
        """Work of a sample, in units of a kernel value of about 16 features."""
        return 4 * self.now.forest.n_trees * (1 + self.n_experts * self.n_outputs // 4)

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        rows = min(rows, ROWS)
        if self.walked.capacity < rows:
            self.walked = self.new_walked(rows)
        return 0

    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil:
        return min(wanted if 0 < wanted < ROWS else ROWS, left)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        Space.open(self, rows, order, first, n)
        self.walked.walk(self.now.forest, rows, order, first, n)
        self.is_walked = True
        return OK

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        cdef Cells cells
        if not self.is_walked:
            # A renewal within the block: the cells found before are those of another forest.
            self.walked.walk(self.now.forest, &self.rows, NULL, self.row_number(i), 1)
        cells = self.walked.cells(i if self.is_walked else 0)
        self.score_experts(self.now.cells, &cells, self.walked.sums, self.scored, self.variances)
        self.mix(self.scored, current)
        memcpy(averaged, current, self.n_outputs * sizeof(double))

    cdef void score_experts(self, CellWeights weights, const Cells *cells, double *sums,
                            double *scored, double *variances) noexcept nogil:
        """Scores and variances of a sample, of each expert, in units of the targets."""
        cdef Py_ssize_t e, k, place
        cdef double share, square
        cdef const double *upper = sums + weights.layout.length
        weights.sum_up(cells, sums)
        for e in range(self.n_experts):
            place = e * (1 + self.n_outputs)
            share = weights.layout.share_lower
            if e >= weights.layout.n_lower:
                share = weights.layout.share_both
                for k in range(1 + self.n_outputs):
                    sums[place + k] += upper[place + k]
            variances[e] = share * share * sums[place]
            for k in range(self.n_outputs):
                scored[e * self.n_outputs + k] = share * sums[place + 1 + k]

    cdef void mix(self, const double *scored, double *out) noexcept nogil:
        """The scores that predict: the mean of the experts' by their shares."""
        cdef Py_ssize_t e, k
        cdef double score
        for k in range(self.n_outputs):
            score = 0
            for e in range(self.n_experts):
                score += self.shares[e] * scored[e * self.n_outputs + k]
            out[k] = self.now.offset + self.now.unit * score

    cdef double target(self, Py_ssize_t k, double y) noexcept nogil:
        """The target of output k."""
        if self.n_labels == 0:
            return (y - self.now.offset) / self.now.unit
        if self.n_outputs == 1:
            return sign_of(y)
        return 1 if k == <Py_ssize_t> y else -1

    cdef void observe(self, Py_ssize_t i, double y, double weight) noexcept nogil:
        self.y, self.weight = y, weight

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Learn the sample scored last, which `observe` told of. Returns a status.

        Each expert has a score, and so a coefficient, of its own: those of the update are not used.
        """
        cdef Status status
        cdef Cells cells = self.walked.cells(i if self.is_walked else 0)
        if self.n_labels == 0 and self.entered == 0:
            # Targets are learnt as deviations: from the first one, and later from their mean.
            self.now.offset = self.y
        self.share_out(self.y, self.weight)
        if not self.renewed and self.now.cells.touch(&cells) < 0:
            return NO_MEMORY
        status = self.learn(self.now.cells, &cells, self.y, self.weight)
        if status == OK:
            status = self.recent.keep(&self.rows, self.row_number(i), self.y, self.weight)
        if status != OK:
            return status
        self.entered += 1
        return self.renew_at_times()

    cdef Status learn(self, CellWeights weights, const Cells *cells, double y,
                      double weight) noexcept nogil:
        """Let each expert learn the sample whose scores `score_experts` has found."""
        cdef Py_ssize_t e, k
        cdef double f, goal, coefficient, contraction, importance, largest
        for e in range(self.n_experts):
            importance = weight / self.noises[e]
            largest = 0
            for k in range(self.n_outputs):
                f, goal = self.scored[e * self.n_outputs + k], self.target(k, y)
                coefficient = contraction = 0
                if self.rule.needs_length(f, goal, importance):
                    coefficient = self.rule.coefficient(f, goal, self.variances[e], self.entered,
                                                        importance)
                    contraction = self.rule.contraction(f, goal, self.variances[e], importance)
                self.steps[k] = coefficient
                largest = max(largest, contraction)
                if not isfinite(coefficient) or not isfinite(contraction):
                    return NOT_FINITE
            # One variance serves all outputs: it falls once, by the largest contraction.
            if largest > 0:
                weights.step(cells, e, self.steps, largest)
        return OK

    cdef void share_out(self, double y, double weight) noexcept nogil:
        """Let the shares follow the losses of the sample scored last, before it is learnt."""
        cdef Py_ssize_t e, k
        cdef double f, goal, loss, least = 0, total = 0
        cdef double *losses = self.walked.sums
        if self.n_experts == 1:
            return
        for e in range(self.n_experts):
            loss = 0
            for k in range(self.n_outputs):
                f, goal = self.scored[e * self.n_outputs + k], self.target(k, y)
                loss += min((f - goal) * (f - goal), 4.0) if self.n_labels == 0 \
                    else max(0.0, min(1 - goal * f, 2.0))
            losses[e] = loss
            least = loss if e == 0 else min(least, loss)
        for e in range(self.n_experts):
            self.shares[e] *= exp(-RATE * min(weight, 1.0) * (losses[e] - least))
            total += self.shares[e]
        for e in range(self.n_experts):
            self.shares[e] = (1 - GIVEN_BACK) * self.shares[e] / total \
                + GIVEN_BACK / self.n_experts

    cdef Status renew_at_times(self) noexcept nogil:
        """Renew the forest if the number of samples is one at which it is renewed."""
        if self.entered < FIRST_RENEWAL or self.entered & (self.entered - 1):
            return OK
        with gil:
            try:
                self.renew()
            except BaseException as error:
                self.interruption = error
                return RAISED
        self.is_walked = False
        return OK

    def renew(self):
        """Begin a new generation, of the samples that are kept."""
        X, y, weight = self.recent.arrays()
        whole = self.entered <= self.recent.capacity
        scale, rows, slopes, slope_of, fresh = self.look(X, y, whole)
        _, _, n_trees, most_in_leaf, n_candidates, share, most_rows, _, _, _ = self.settings
        labels = y.astype(np.int32) if self.n_labels else None
        cdef Grower grower = Grower(rows, self.d, slopes, slope_of, labels,
                                    None if self.n_labels else (y - fresh.offset) / fresh.unit,
                                    self.n_labels, n_candidates, most_in_leaf)
        count = min(len(X), max(64, int(share * len(X))))
        cdef uint64_t seed = counted(self.seed, <uint64_t> self.entered)
        cdef Generation generation = fresh
        if whole:
            generation.forest = grower.grown(None, n_trees, scale, min(count, most_rows), seed)
            generation.cells = self.new_cells(generation.forest)
            self.replay(generation, rows, y, weight)
        else:
            generation.forest = grower.grown(self.now.forest, n_trees, scale, count, seed)
            generation.cells = self.new_cells(generation.forest)
            (<CellWeights> generation.cells).inherit(
                self.now.cells, origins(self.now.forest, generation.forest))
        if not self.renewed:
            self.before, self.renewed = self.now, True
        self.now = generation

    def look(self, X, y, bint whole):
        """What a renewal needs: scale, scaled rows, slopes, and a generation without a forest."""
        cdef Scale scale = self.now.forest.scale
        draws = np.random.RandomState(counted(self.seed, <uint64_t> self.entered) >> 32)
        center, factor = spread(X) if whole else scale.arrays()[:2]
        offset, unit = self.now.offset, self.now.unit
        if whole and self.n_labels == 0:
            offset, unit = units(y)
        n = len(X)
        taught = min(n, max(LEAST_TAUGHT, min(TAUGHT, TAUGHT_NUMBERS // self.d)))
        last = slice(n - taught, n)
        Z = np.clip((X[last] - center) * factor, -FARTHEST_TAUGHT, FARTHEST_TAUGHT)
        targets = self.targets_of(y[last], offset, unit)
        teacher = KernelGradients(Z, few_outputs(targets, draws),
                                  draws.permutation(taught)[:LANDMARKS], self.now.metric,
                                  WIDTH / self.d)
        squares = teacher.squares()
        directions = None if whole else scale.arrays()[2]
        if whole and self.d <= MOST_LINEAR and self.d > 1:
            directions = leading_directions(teacher.outer_product(), N_DIRECTIONS)
            directions = np.ascontiguousarray(directions, dtype=np.float32)
        if directions is not None:
            squares = np.hstack([squares, teacher.squares(directions)])
        mean = squares.mean(axis=0)
        own = mean[:self.d]
        metric = np.maximum(np.sqrt(own / max(own.mean(), 1e-300)), 1e-3)
        slopes, slope_of = slopes_of(squares, mean, n)
        fresh = Generation(None, None, metric / metric.mean(), own / max(own.sum(), 1e-300),
                           offset, unit)
        if whole:
            scale = Scale(center, factor, directions)
        return scale, scaled_rows(scale, X), slopes, slope_of, fresh

    def targets_of(self, y, offset, unit):
        """Targets of the outputs, ndarray of shape (n, n_outputs)."""
        if self.n_labels == 0:
            return ((y - offset) / unit)[:, None]
        if self.n_outputs == 1:
            return np.where(y > 0, 1.0, -1.0)[:, None]
        return np.where(y[:, None] == np.arange(self.n_outputs), 1.0, -1.0)

    cdef int replay(self, Generation fresh, const float[:, ::1] rows, const double[::1] y,
                    const double[::1] weight) except -1:
        """Let the experts of a new generation learn the samples that are kept."""
        cdef Py_ssize_t i, number, n = rows.shape[0]
        cdef Cells cells
        cdef Status status = OK
        cdef Generation now = self.now
        cdef Walked walked = Walked(fresh.forest.n_trees, 1, n, 1)
        # Scores and targets are those of the present generation.
        self.now = fresh
        try:
            with nogil:
                fresh.forest.walk_rows(&rows[0, 0], n, walked.leaves, walked.upper)
            for number in range(self.settings[8]):
                error = raised_by_signals()
                if error is not None:
                    raise error
                with nogil:
                    for i in range(n):
                        cells = walked.cells(i)
                        self.score_experts(fresh.cells, &cells, self.walked.sums, self.scored,
                                           self.variances)
                        status = self.learn(fresh.cells, &cells, y[i], weight[i])
                        if status != OK:
                            break
                if status != OK:
                    raise FloatingPointError("a step on the samples that are kept is not finite")
        finally:
            self.now = now
        return 0

    cdef void checkpoint(self) noexcept nogil:
        if self.renewed:
            with gil:
                self.before = None
            self.renewed = False
        self.saved_entered = self.entered
        self.now.cells.checkpoint()
        self.recent.checkpoint()
        memcpy(self.shares + self.n_experts, self.shares, self.n_experts * sizeof(double))

    cdef void rollback(self) noexcept nogil:
        if self.renewed:
            with gil:
                self.now, self.before = self.before, None
            self.renewed = False
        self.is_walked = False
        self.entered = self.saved_entered
        if self.entered == 0:
            self.now.offset = 0
        self.now.cells.rollback()
        self.recent.rollback()
        memcpy(self.shares, self.shares + self.n_experts, self.n_experts * sizeof(double))

    cdef object new_window(self, Py_ssize_t rows):
        return self.new_walked(min(rows, ROWS))

    cdef Py_ssize_t scored_together(self, Py_ssize_t left) noexcept nogil:
        return min(ROWS, left)

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        cdef Py_ssize_t i
        cdef Cells cells
        cdef double *sums = (<Walked> window).sums
        cdef double *scored = sums + 2 * self.now.cells.layout.length
        (<Walked> window).walk(self.now.forest, rows, NULL, first, n)
        for i in range(n):
            cells = (<Walked> window).cells(i)
            self.score_experts(self.now.cells, &cells, sums, scored,
                               scored + self.n_experts * self.n_outputs)
            self.mix(scored, out + i * self.n_outputs)
        return OK

    def arguments(self):
        """Arguments that construct such a space without samples."""
        return (self.d, self.recent.dtype, self.n_outputs, self.n_labels, self.rule,
                *self.settings)

    def get_state(self):
        """Learnt state, as a dictionary."""
        cdef Py_ssize_t e
        rows, targets, weights = self.recent.arrays()
        center, factor, directions = self.now.forest.scale.arrays()
        cuts, features, left, first = self.now.forest.arrays()
        shares = np.array([self.shares[e] for e in range(self.n_experts)])
        return {
            "entered": self.entered, "rows": rows, "targets": targets, "weights": weights,
            "shares": shares, "center": center, "factor": factor, "directions": directions,
            "cuts": cuts, "features": features, "left": left, "first": first,
            "cells": self.now.cells.to_array(), "metric": self.now.metric.copy(),
            "importances": self.now.importances.copy(), "offset": self.now.offset,
            "unit": self.now.unit,
        }

    def set_state(self, state):
        """Restore the result of `get_state`.

        Raises
        ------
        TypeError, ValueError
            If a field is missing, or is not as `get_state` would give it.
        """
        cdef Py_ssize_t e
        fields_of(state, "a forest", STATE)
        shares = doubles_of_shape("shares", state["shares"], (self.n_experts,))
        if (shares < 0).any() or not shares.any():
            raise ValueError(f"shares must be >= 0, and one of them > 0, got {shares}")
        scale = scale_of(state["center"], state["factor"], state["directions"], self.d)
        forest = Forest.of_arrays(state["cuts"], state["features"], state["left"], state["first"],
                                  scale)
        if forest.n_trees != self.settings[2]:
            raise ValueError(f"there must be {self.settings[2]} trees, got {forest.n_trees}")
        cells = self.new_cells(forest)
        cells.set_array(state["cells"])
        metric = doubles_of_shape("metric", state["metric"], (self.d,))
        if not (metric > 0).all():
            raise ValueError(f"metric must be > 0, got {metric.min()}")
        importances = doubles_of_shape("importances", state["importances"], (self.d,))
        entered = count_of("entered", state["entered"])
        offset = finite_number("offset", state["offset"])
        unit = positive_number("unit", state["unit"])
        if self.n_labels:
            check_labels(state["targets"], self.n_labels)
        self.recent.set_arrays(entered, state["rows"], state["targets"], state["weights"])
        self.now = Generation(forest, cells, metric.copy(), importances.copy(), offset, unit)
        self.before, self.renewed, self.is_walked = None, False, False
        self.entered = self.saved_entered = entered
        for e in range(self.n_experts):
            self.shares[e] = self.shares[self.n_experts + e] = shares[e]

    def __reduce__(self):
        return _restore, (self.arguments(), self.get_state())

    @property
    def importances(self):
        """Share of each feature in the mean square of the gradient, ndarray of shape (d,)."""
        return self.now.importances.copy()

    def expert_shares(self):
        """Share of each expert in the score, ndarray of shape (n_levels, n_noises)."""
        noises, levels, *_ = self.settings
        return self.get_state()["shares"].reshape(len(levels), len(noises))


def check_sizes(Py_ssize_t most, **numbers):
    """Raise ValueError unless each of these numbers is in [1, most]."""
    for name, number in numbers.items():
        if not 1 <= number <= most:
            raise ValueError(f"{name} must be in [1, {most}], got {number}")


def check_labels(labels, Py_ssize_t n_labels):
    """Raise ValueError unless these are class numbers."""
    if isinstance(labels, np.ndarray) and not np.isin(labels, np.arange(n_labels)).all():
        raise ValueError(f"targets must be class numbers, 0 ... {n_labels - 1}")


def scale_of(center, factor, directions, Py_ssize_t d):
    """The scale that `Scale.arrays` tells of, checked."""
    center = doubles_of_shape("center", center, (d,))
    factor = doubles_of_shape("factor", factor, (d,))
    if (factor < 0).any():
        raise ValueError(f"factor must be >= 0, got {factor.min()}")
    if directions is not None:
        if not isinstance(directions, np.ndarray) or directions.dtype != np.float32 \
                or directions.shape != (d, N_DIRECTIONS) or not np.isfinite(directions).all():
            raise ValueError(f"directions must be finite, float32 and of shape {(d, N_DIRECTIONS)}")
        directions = np.ascontiguousarray(directions)
    return Scale(center, factor, directions)


def origins(before, after):
    """The cell of a forest that each cell is part of after trees have grown, ndarray of int32."""
    _, _, _, old_first = before.arrays()
    _, _, children, first = after.arrays()
    found = np.empty(len(children), dtype=np.int32)
    for t in range(after.n_trees):
        n_old = old_first[t + 1] - old_first[t]
        own = np.empty(first[t + 1] - first[t], dtype=np.int32)
        own[:n_old] = np.arange(old_first[t], old_first[t + 1])
        left = children[first[t]:first[t + 1]]
        # Parents come before their children.
        for parent in np.flatnonzero(left != np.arange(len(own))):
            if left[parent] >= n_old:
                own[left[parent]:left[parent] + 2] = own[parent]
        found[first[t]:first[t + 1]] = own
    return found


def spread(X):
    """Centers of features, and factors to units of their spread: two ndarrays of shape (d,).

    Samples farther than four deviations are left out, twice over: a few that are far off would hide
    how the others differ. The factor of a constant feature is 0.
    """
    center, scale = moments(X, np.ones(X.shape, dtype=bool))
    for _ in range(2):
        inside = np.abs(X - center) <= 4 * scale
        closer, smaller = moments(X, inside)
        useful = smaller > 0
        center, scale = np.where(useful, closer, center), np.where(useful, smaller, scale)
    with np.errstate(divide="ignore", over="ignore"):
        factor = np.where(scale > 0, 1 / scale, 0.0)
    factor[~np.isfinite(factor)] = 0
    return np.ascontiguousarray(center, dtype=np.float64), np.ascontiguousarray(factor)


def moments(X, inside):
    """Means and deviations of the columns, of the elements inside, however large they are."""
    size = np.maximum(inside.sum(axis=0), 1)
    X = X.astype(np.float64, copy=False)
    largest = np.where(inside, np.abs(X), 0).max(axis=0)
    largest[largest == 0] = 1
    Z = np.where(inside, X / largest, 0)
    mean = Z.sum(axis=0) / size
    square = (np.where(inside, Z - mean, 0) ** 2).sum(axis=0) / size
    deviation = np.sqrt(square)
    deviation[deviation <= 1e-12 * np.abs(mean)] = 0
    return mean * largest, deviation * largest


def units(y):
    """Mean and deviation of targets; a deviation of 0 is 1."""
    largest = max(np.abs(y).max(), 1e-300)
    mean = (y / largest).mean()
    deviation = np.sqrt((((y / largest) - mean) ** 2).mean())
    return float(mean * largest), float(deviation * largest) if deviation > 1e-12 else 1.0


def slopes_of(squares, mean, Py_ssize_t n):
    """Absolute slopes of rows, float32, and which of them belongs to each of n rows.

    The last rows have their own, mixed with the mean of all, and the rows before have the mean.
    """
    taught = len(squares)
    unit = max(mean.mean(), 1e-300)
    mixed = np.vstack([mean, (1 - COMMON_SLOPE) * squares + COMMON_SLOPE * mean]) / unit
    slopes = np.sqrt(np.maximum(mixed, LEAST_SLOPE)).astype(np.float32)
    slope_of = np.zeros(n, dtype=np.int32)
    slope_of[n - taught:] = np.arange(1, taught + 1)
    return slopes, slope_of


def scaled_rows(Scale scale not None, X):
    """Rows with their directions in the units of a scale, ndarray (n, width), float32."""
    cdef Samples samples = samples_of(X, X.dtype)
    cdef Py_ssize_t i, n = len(X)
    out = np.empty((n, scale.width()), dtype=np.float32)
    cdef float[:, ::1] view = out
    with nogil:
        for i in range(n):
            scale.load(&samples.rows, i, &view[i, 0])
    return out


def _restore(arguments, state):
    cdef ForestSpace space = ForestSpace(*arguments)
    space.set_state(state)
    return space
