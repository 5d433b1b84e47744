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
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport OK, RAISED, Status
from onlinekern.core.base.random cimport counted
from onlinekern.core.base.state cimport (
    count_of, doubles_of_shape, fields_of, finite_number, positive_number)
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.models.cell_experts cimport CellExperts, Cells, Generation, Walked
from onlinekern.core.models.space cimport Space, raised_by_signals
from onlinekern.core.partitions.growing cimport Grower
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.partitions.trees cimport N_DIRECTIONS, Forest, Scale
from onlinekern.core.samples.rows cimport Rows

from onlinekern.core.features.gradients import (
    MOST_LINEAR, KernelGradients, few_outputs, leading_directions)
from onlinekern.core.partitions.renewal import (
    cells_of, check_labels, check_sizes, inherited, scale_of, scaled_rows, slopes_of, spread, units)

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
cdef Py_ssize_t ROWS = 64
# Candidates of a node, and replays: more would not come to an end.
cdef Py_ssize_t MOST_TURNS = 1000
cdef Py_ssize_t MOST = 1 << 48

STATE = ("entered", "rows", "targets", "weights", "shares", "center", "factor", "directions",
         "cuts", "features", "left", "first", "cells", "metric", "importances", "offset", "unit")


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
        check_sizes(MOST, d=d, n_outputs=n_outputs, n_noises=len(noises), n_levels=len(levels),
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
        self.experts = CellExperts(n_outputs, n_labels, rule, self.settings[0], self.settings[1],
                                   n_trees)
        nothing = np.zeros(d)
        forest = Forest.stumps(n_trees, Scale(nothing, nothing))
        leaves, upper = self.experts.new_cells(forest)
        self.now = Generation(forest, leaves, upper, np.ones(d), np.zeros(d), 0, 1)
        self.walked = self.new_walked(1)

    def components(self):
        return (self.rule,)

    def new_walked(self, Py_ssize_t capacity):
        """Memory for the cells of so many samples."""
        return Walked(self.now.forest.n_trees, self.d + N_DIRECTIONS, capacity,
                      self.experts.n_experts, self.n_outputs)

    cdef tuple sample_form(self):
        return self.d, self.itemsize

    cdef Py_ssize_t size(self) noexcept nogil:
        """Work of a sample, in units of a kernel value of about 16 features."""
        return 4 * self.now.forest.n_trees * (1 + self.experts.n_experts * self.n_outputs // 4)

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
        self.experts.score(self.now, &cells, self.walked)
        self.experts.mix(self.now, self.walked.scored, current)
        memcpy(averaged, current, self.n_outputs * sizeof(double))

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
        # Targets have no unit before the first renewal.
        if self.n_labels > 0 or self.entered >= FIRST_RENEWAL:
            self.experts.share_out(self.now, self.walked.scored, self.y, self.weight)
        status = self.experts.learn(self.now, &cells, self.walked, self.y, self.weight)
        if status == OK:
            status = self.recent.keep(&self.rows, self.row_number(i), self.y, self.weight)
        if status != OK:
            return status
        self.entered += 1
        return self.renew_at_times()

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
            generation.leaves, generation.upper = self.experts.new_cells(generation.forest)
            self.replay(generation, rows, y, weight)
        else:
            generation.forest = grower.grown(self.now.forest, n_trees, scale, count, seed)
            self.set_cells(generation, inherited(
                self.cells(self.now), self.now.forest, generation.forest, self.experts.n_lower))
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
        fresh = Generation(None, None, None, metric / metric.mean(), own / max(own.sum(), 1e-300),
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
        cdef Py_ssize_t i, n = rows.shape[0]
        cdef Cells cells
        cdef Status status = OK
        cdef Walked walked = Walked(fresh.forest.n_trees, 1, n, self.experts.n_experts,
                                    self.n_outputs)
        with nogil:
            fresh.forest.walk_rows(&rows[0, 0], n, walked.leaves, walked.upper)
        for _ in range(self.settings[8]):
            error = raised_by_signals()
            if error is not None:
                raise error
            with nogil:
                for i in range(n):
                    cells = walked.cells(i)
                    self.experts.score(fresh, &cells, walked)
                    status = self.experts.learn(fresh, &cells, walked, y[i], weight[i])
                    if status != OK:
                        break
            if status != OK:
                raise FloatingPointError("a step on the samples that are kept is not finite")
        return 0

    def cells(self, Generation now):
        """Numbers of all nodes, ndarray of shape (n_nodes, n_experts, 1 + n_outputs), float32.

        A leaf has its own, with those of the experts that see both; a node that is an upper cell
        has those of the latter. Every other node has what a cell begins with.
        """
        forest = now.forest
        shape = forest.n_nodes, self.experts.n_experts, 1 + self.n_outputs
        out = np.zeros(shape, dtype=np.float32)
        out[:, :, 0] = 1
        nodes, upper = cells_of(forest)
        out[nodes] = now.leaves.to_array()
        if now.upper is not None:
            there = upper >= 0
            out[upper[there], self.experts.n_lower:] = now.upper.to_array()[there]
        return out

    def set_cells(self, Generation now, array):
        """Give the cells of a generation what `cells` returned."""
        shape = now.forest.n_nodes, self.experts.n_experts, 1 + self.n_outputs
        if not isinstance(array, np.ndarray) or array.dtype != np.float32:
            raise TypeError("cells must be an ndarray of float32")
        if array.shape != shape:
            raise ValueError(f"cells must be of shape {shape}, got {array.shape}")
        nodes, upper = cells_of(now.forest)
        leaves, above = self.experts.new_cells(now.forest)
        leaves.set_array(array[nodes])
        if above is not None:
            there, numbers = upper >= 0, above.to_array()
            numbers[there] = array[upper[there], self.experts.n_lower:]
            above.set_array(numbers)
        now.leaves, now.upper = leaves, above

    cdef void checkpoint(self) noexcept nogil:
        if self.renewed:
            with gil:
                self.before = None
            self.renewed = False
        self.saved_entered = self.entered
        self.now.leaves.checkpoint()
        if self.experts.sees_both():
            self.now.upper.checkpoint()
        self.recent.checkpoint()
        self.experts.checkpoint()

    cdef void rollback(self) noexcept nogil:
        if self.renewed:
            with gil:
                self.now, self.before = self.before, None
            self.renewed = False
        self.is_walked = False
        self.entered = self.saved_entered
        if self.entered == 0:
            self.now.offset = 0
        self.now.leaves.rollback()
        if self.experts.sees_both():
            self.now.upper.rollback()
        self.recent.rollback()
        self.experts.rollback()

    cdef object new_window(self, Py_ssize_t rows):
        return self.new_walked(min(rows, ROWS))

    cdef Py_ssize_t scored_together(self, Py_ssize_t left) noexcept nogil:
        return min(ROWS, left)

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        cdef Py_ssize_t i
        cdef Cells cells
        (<Walked> window).walk(self.now.forest, rows, NULL, first, n)
        for i in range(n):
            cells = (<Walked> window).cells(i)
            self.experts.score(self.now, &cells, <Walked> window)
            self.experts.mix(self.now, (<Walked> window).scored, out + i * self.n_outputs)
        return OK

    def arguments(self):
        """Arguments that construct such a space without samples."""
        return (self.d, self.recent.dtype, self.n_outputs, self.n_labels, self.rule,
                *self.settings)

    def get_state(self):
        """Learnt state, as a dictionary."""
        rows, targets, weights = self.recent.arrays()
        center, factor, directions = self.now.forest.scale.arrays()
        cuts, features, left, first = self.now.forest.arrays()
        return {
            "entered": self.entered, "rows": rows, "targets": targets, "weights": weights,
            "shares": self.experts.get_shares(), "center": center, "factor": factor,
            "directions": directions,
            "cuts": cuts, "features": features, "left": left, "first": first,
            "cells": self.cells(self.now), "metric": self.now.metric.copy(),
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
        fields_of(state, "a forest", STATE)
        shares = doubles_of_shape("shares", state["shares"], (self.experts.n_experts,))
        scale = scale_of(state["center"], state["factor"], state["directions"], self.d)
        forest = Forest.of_arrays(state["cuts"], state["features"], state["left"], state["first"],
                                  scale)
        if forest.n_trees != self.settings[2]:
            raise ValueError(f"there must be {self.settings[2]} trees, got {forest.n_trees}")
        metric = doubles_of_shape("metric", state["metric"], (self.d,))
        if not (metric > 0).all():
            raise ValueError(f"metric must be > 0, got {metric.min()}")
        importances = doubles_of_shape("importances", state["importances"], (self.d,))
        entered = count_of("entered", state["entered"])
        offset = finite_number("offset", state["offset"])
        unit = positive_number("unit", state["unit"])
        if self.n_labels:
            check_labels(state["targets"], self.n_labels)
        now = Generation(forest, None, None, metric.copy(), importances.copy(), offset, unit)
        self.set_cells(now, state["cells"])
        self.experts.set_shares(shares)
        self.recent.set_arrays(entered, state["rows"], state["targets"], state["weights"])
        self.now = now
        self.before, self.renewed, self.is_walked = None, False, False
        self.entered = self.saved_entered = entered
        self.experts.checkpoint()

    def __reduce__(self):
        return _restore, (self.arguments(), self.get_state())

    @property
    def importances(self):
        """Share of each feature in the mean square of the gradient, ndarray of shape (d,)."""
        return self.now.importances.copy()

    def expert_shares(self):
        """Share of each expert in the score, ndarray of shape (n_levels, n_noises)."""
        noises, levels, *_ = self.settings
        return self.experts.get_shares().reshape(len(levels), len(noises))


def _restore(arguments, state):
    cdef ForestSpace space = ForestSpace(*arguments)
    space.set_state(state)
    return space
