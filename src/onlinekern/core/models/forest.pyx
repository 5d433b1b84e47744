"""ForestSpace: linear learners on the cells of a forest whose splits follow the function's changes.

The trees split space into cells. A sample lies in a leaf of each tree, and in the node above it at
a fixed depth (its upper cell). Experts learn the weights of these cells, jointly for all trees: for
each noise r, one sees the leaves only and one sees both kinds of cells. The prediction is a sum of
their scores, with weights that minimise the squared error on samples before they are learnt.

A renewal of the forest begins when the number of samples reaches a power of two (`Renewal`). The
gradients of a small kernel machine say where the function changes, new trees grow from the last
samples, and the experts learn these samples again. The work is spread over the samples that follow;
the old forest predicts meanwhile. Once the stream is longer than the memory of samples, the leaves
of the trees are split further instead, or new trees grow again and again from the last samples.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport OK, RAISED, Status
from onlinekern.core.base.state cimport doubles_of_shape, fields_of, finite_number
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.models.cell_experts cimport (
    FEWEST_TOGETHER, CellExperts, Cells, Discarded, Generation, Walked, rows_together)
from onlinekern.core.models.cell_numbers cimport numbers_of, set_numbers
from onlinekern.core.models.forest_renewal cimport Renewal
from onlinekern.core.models.space cimport Space
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.partitions.scale cimport N_DIRECTIONS, Scale, check_codes
from onlinekern.core.partitions.trees cimport Forest
from onlinekern.core.samples.rows cimport Rows

from onlinekern.core.partitions.costs import samples_spread_over
from onlinekern.core.partitions.renewal import (
    COUNTS, check_labels, check_reach, check_seen, check_settings, check_sizes, check_weights,
    completed, exact_among, number_or_array, renewal_to_do, restored_counts, restored_metric,
    restored_units)
from onlinekern.core.partitions.scale import SCALE, fields_of_scale, restored_scale
from onlinekern.core.partitions.tables import check_categories, most_further, most_gaps

# The first renewal begins after this many samples, each later one after twice as many.
cdef int64_t FIRST_RENEWAL = 32

STATE = (*COUNTS, "rows", "targets", "weights", "errors", "met", "held", *SCALE,
         "cuts", "features", "left", "first", "cells", "metric", "importances", "offset", "unit")


cdef class ForestSpace(Space):
    """A forest, and experts on its cells.

    Parameters
    ----------
    d, dtype
        Number of features, and type of the samples.
    n_outputs : int
    n_labels : int
        Number of classes; 0 in regression, with one target for each output.
    rule : Rule
        With r = 1, or C = 1: an expert of noise r divides sample weights by r.
    noises : tuple of float > 0
    levels : tuple of bool
        False: experts that see the leaves; True: experts that see the upper cells too.
    n_trees, most_in_leaf, n_candidates : int
        A node of more than `most_in_leaf` rows gets the best of `n_candidates` random splits.
    share, most_rows : float, int
        A tree grows from this share of the kept samples, and from at most `most_rows`.
    memory, replays : int
        Samples that are kept, and how often a renewal learns them again.
    spread : float
        A renewal that begins after n samples is spread over `spread` * min(n, memory) samples.
    early : int
        A renewal after at most `early` samples is spread over fewer, see `samples_spread_over`.
    anew : bool
        Whether new trees grow after each `memory` samples once the stream is longer than that.
    seed : int
    categories : tuple of int
        Features that hold the numbers of categories, ascending.
    n_exact, exact_from : int
        The last trees have exact splits once there are enough samples, see `exact_among`. New
        ones grow from at most `exact_share` of the kept samples.
    n_seen, exact_variances : tuple of int, tuple of float > 0
        For each expert: how many of the first trees it sees, and the initial variance of its
        cells in exact trees. (): every expert sees all trees, and 1.
    is_light, holds : bool
        Whether the kernel machine that places splits is the light one, see `features.looking`;
        and whether targets that are outliers are clipped, see `learning.held_targets`.
    cut_weights : tuple of float >= 0
        Splits are scored by the sum of all targets, each times its weight; (): by every target.
    """

    def __cinit__(self, Py_ssize_t d, dtype, Py_ssize_t n_outputs, Py_ssize_t n_labels,
                  Rule rule not None, noises, levels, Py_ssize_t n_trees, Py_ssize_t most_in_leaf,
                  Py_ssize_t n_candidates, double share, Py_ssize_t most_rows, Py_ssize_t memory,
                  Py_ssize_t replays, double spread, Py_ssize_t early, bint anew, seed,
                  categories=(), Py_ssize_t n_exact=0, Py_ssize_t exact_from=1, is_light=False,
                  cut_weights=(), double exact_share=1, n_seen=(), exact_variances=(), holds=False):
        check_sizes(d=d, n_outputs=n_outputs, n_noises=len(noises), n_levels=len(levels),
                    most_in_leaf=most_in_leaf, most_rows=most_rows, memory=memory)
        check_settings(n_outputs, n_labels, share, spread, n_exact, n_trees, n_candidates, replays,
                       exact_from, exact_share)
        self.settings = (tuple(map(float, noises)), tuple(map(bool, levels)), n_trees,
                         most_in_leaf, n_candidates, share, most_rows, memory, replays, spread,
                         early, bool(anew), seed)
        self.categories = check_categories(categories, d)
        self.n_exact, self.exact_from, self.exact_share = n_exact, exact_from, exact_share
        self.is_light, n = bool(is_light), len(self.categories)
        self.cut_weights = check_weights(cut_weights, n_outputs, n_labels)
        self.n_seen, self.exact_variances = check_seen(n_seen, exact_variances,
                                                       len(noises) * len(levels), n_trees)
        self.most_columns = d + most_further(d, n) + N_DIRECTIONS + 2 * most_gaps(d, n)
        self.d, self.n_outputs, self.n_labels = d, n_outputs, n_labels
        self.rule, self.memory, self.anew = rule, memory, anew
        # A model that is loaded in the midst of a renewal repeats it from the same samples.
        spread_over = self.samples_of_renewal(max(memory, early + 1))
        self.recent = RecentRows(d, dtype, memory + spread_over, 1 if n_labels else n_outputs)
        self.itemsize, self.y = self.recent.itemsize, np.zeros(self.recent.n_targets)
        self.experts = CellExperts(n_outputs, n_labels, rule, self.settings[0], self.settings[1],
                                   n_trees, self.n_seen, self.exact_variances, holds)
        forest = Forest.stumps(n_trees, Scale(np.zeros(d), np.zeros(d)))
        self.now = Generation(forest, *self.experts.new_cells(forest), np.ones(d), np.zeros(d),
                              np.zeros(n_outputs), np.ones(n_outputs))
        self.together = rows_together(self.most_columns)
        self.walked, self.replaced, self.discarded = self.new_walked(1), [], Discarded()

    def components(self):
        return (self.rule,)

    def new_walked(self, Py_ssize_t capacity):
        """Buffers for the cells of `capacity` samples."""
        return Walked(self.now.forest.n_trees, self.most_columns, capacity,
                      self.experts.n_experts, self.n_outputs)

    cdef tuple sample_form(self):
        return self.d, self.itemsize

    cdef bint takes_missing(self) noexcept nogil:
        return True

    cdef bint takes_targets(self, Py_ssize_t n):
        return n == self.recent.n_targets

    cdef int check_row(self, const Rows *rows) except -1:
        return check_codes(rows, self.categories)

    cdef Py_ssize_t size(self) noexcept nogil:
        """Cost of a sample, in units of one kernel value of about 16 features."""
        return 4 * self.now.forest.n_trees * (1 + self.experts.n_experts * self.n_outputs // 4)

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        rows = self.together if rows >= FEWEST_TOGETHER else rows
        if self.walked.capacity < rows:
            self.walked = self.new_walked(rows)
        return 0

    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil:
        return min(wanted if 0 < wanted < self.together else self.together, left)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        Space.open(self, rows, order, first, n)
        self.walked_from, self.opened, self.is_walked = 0, n, True
        self.walked.walk(self.now.forest, rows, order, first, n)
        return OK

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        cdef Py_ssize_t at
        if not self.is_walked:
            # The forest was replaced within the block: find the cells in the new one.
            self.walked_from, self.is_walked, at = i, True, self.first + i
            self.walked.walk(self.now.forest, &self.rows, self.order, at, self.opened - i)
        at = i - self.walked_from
        self.experts.predict(self.now, self.walked, at, current)
        memcpy(averaged, current, self.n_outputs * sizeof(double))

    cdef void observe(self, Py_ssize_t i, double y, double weight) noexcept nogil:
        self.y[0], self.weight = y, weight

    cdef void observe_targets(self, Py_ssize_t i, const double *targets,
                              double weight) noexcept nogil:
        memcpy(&self.y[0], targets, self.n_outputs * sizeof(double))
        self.weight = weight

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Learn the sample scored last. Each expert computes its own step; `update` is not used."""
        cdef Status status
        cdef Cells cells = self.walked.cells(i - self.walked_from)
        if self.n_labels == 0 and self.entered == 0:
            # Before the first renewal targets are centred at the first one, later at their mean.
            self.now.offset[:] = self.y
        # The scale of the targets is unknown before the first renewal is finished.
        if self.n_labels > 0 or self.renewed > 0:
            self.experts.hold(self.now, self.walked.scored, &self.y[0])
            self.experts.combine(self.now, self.walked.scored, &self.y[0], self.weight)
        status = self.experts.learn(self.now, &cells, self.walked, &self.y[0], self.weight, True)
        if status == OK:
            status = self.recent.keep(&self.rows, self.row_number(i), &self.y[0], self.weight)
        if status != OK:
            return status
        self.entered += 1
        self.learnt = i - self.walked_from + 1
        return self.renew_at_times()

    cdef int64_t last_due(self, int64_t entered) noexcept nogil:
        """Latest number of samples <= `entered` at which a renewal has to begin; 0: none."""
        cdef int64_t number = FIRST_RENEWAL
        if entered < FIRST_RENEWAL:
            return 0
        if self.anew and entered >= self.memory:
            return entered // self.memory * self.memory
        while number <= entered // 2:
            number *= 2
        return number

    cdef bint is_due(self, int64_t entered) noexcept nogil:
        """Whether a renewal is under way, or has to begin, after `entered` samples."""
        return self.renewal is not None or self.last_due(entered) > self.renewed

    cdef Status renew_at_times(self) noexcept nogil:
        """Continue the renewal under way, or begin the next one; it may begin where one ends."""
        cdef Status status = OK
        while status == OK and self.is_due(self.entered):
            if self.renewal is None:
                with gil:
                    try:
                        self.renewal = self.new_renewal(self.begun())
                    except BaseException as error:
                        self.interruption = error
                        return RAISED
            status = self.advance()
            if self.renewal is not None:
                return status
        return status

    def begun(self):
        """Number of samples after which the renewal to do now began, or begins."""
        due = self.last_due(self.entered - 1), self.last_due(self.entered)
        return renewal_to_do(due, self.renewed, self.entered, self.recent.n(),
                             self.samples_of_renewal)

    def samples_of_renewal(self, int64_t begun):
        """Number of samples that a renewal beginning after `begun` samples is spread over."""
        n_trees, _, _, share, most_rows, memory, replays, spread, early = self.settings[2:11]
        return samples_spread_over(
            begun, spread, early, memory, n_trees, share, most_rows, replays,
            self.exact_trees(min(begun, memory)), self.n_outputs)

    def exact_trees(self, Py_ssize_t n):
        """Number of trees with exact splits in a renewal from n samples."""
        return exact_among(self.n_exact, self.exact_from, n)

    def new_renewal(self, int64_t begun, lag=None):
        """The renewal that begins after `begun` samples, spread over `lag` (None: by settings)."""
        cdef bint is_whole = self.anew or begun <= self.memory
        settings, seed = (*self.settings[2:7], self.settings[8]), self.settings[12]
        n = min(self.recent.n() - (self.entered - begun), self.memory)
        if lag is None:
            lag = max(self.samples_of_renewal(begun), self.entered - begun)
        return Renewal(self.now, self.experts, self.recent, begun, n, lag, is_whole, self.n_grown,
                       self.n_labels, settings, seed, self.categories, self.exact_trees(n),
                       self.is_light, self.cut_weights, self.exact_share)

    cdef Status advance(self) noexcept nogil:
        """Do this sample's share of the renewal; take the trees or the forest that are finished."""
        cdef Status status = OK
        while status == OK and self.renewal is not None:
            status = self.renewal.advance(self.entered)
            if status == OK and not (self.renewal.has_tree or self.renewal.is_done):
                return OK
            with gil:
                if status != OK:
                    self.interruption, self.renewal = self.renewal.interruption, None
                    return status
                try:
                    self.take_over()
                except BaseException as error:
                    self.interruption = error
                    return RAISED
        return status

    def take_over(self):
        """Put the tree that the renewal has split into the forest, or take the finished forest."""
        cdef Renewal renewal = self.renewal
        cdef Py_ssize_t t = renewal.tree
        if renewal.has_tree:
            # Undo puts the tree back, unless it returns to another generation anyway.
            if not self.is_changed:
                self.replaced.append((t, *self.now.tree(t)))
                self.n_replaced += 1
            renewal.take_tree(self.now)
            self.n_grown += 1
            if self.is_walked:
                # Samples of the open block that are not learnt yet need their cells in this tree.
                self.walked.walk_tree(self.now.forest, t, self.learnt)
            return
        self.is_walked = False
        # Keep the generation of the checkpoint for undo before it is replaced.
        if not self.is_changed:
            self.before, self.is_changed = self.now, True
        if renewal.is_whole:
            self.now = renewal.fresh
        else:
            self.now = self.now.copy()
            self.now.metric, self.now.importances = renewal.fresh.metric, renewal.fresh.importances
        self.n_grown, self.renewed, self.renewal = 0, renewal.begun, None

    def renew(self):
        """Renew the whole forest now, from the samples that are kept."""
        self.renewal = self.new_renewal(self.entered, 0)
        self.do_renewal()

    def finish_renewal(self):
        """Finish the renewal under way now, if there is one."""
        if self.last_due(self.entered) > self.renewed:
            begun = self.begun()
            self.renewal = self.new_renewal(begun, self.entered - begun)
            self.do_renewal()

    def do_renewal(self):
        status = self.advance()
        if status == RAISED:
            raise self.interruption
        if status != OK:
            raise FloatingPointError("a step on the samples that are kept is not finite")

    def is_looking(self):
        """Whether the next sample may call BLAS: the kernel machine of a renewal is fitted then."""
        if self.renewal is not None:
            return self.renewal.looks_after(self.entered + 1)
        # A renewal that is spread over samples fits it from the sample after its first one on.
        is_lost, due = self.last_due(self.entered) > self.renewed, self.last_due(self.entered + 1)
        return is_lost or (due > self.renewed and self.samples_of_renewal(due) == 0)

    cdef void checkpoint(self) noexcept nogil:
        if self.is_changed or self.n_replaced > 0:
            with gil:
                self.discarded.take(self.before, self.replaced)
                self.before = None
            self.is_changed, self.n_replaced = False, 0
        self.discarded.free_some(self.entered - self.saved_entered)
        self.saved_entered, self.saved_renewed = self.entered, self.renewed
        self.saved_grown = self.n_grown
        self.now.checkpoint()
        self.recent.checkpoint()
        self.experts.checkpoint()

    cdef void rollback(self) noexcept nogil:
        with gil:
            if self.is_changed:
                self.now, self.before = self.before, None
            while self.replaced:
                self.now.put_tree(*self.replaced.pop())
            self.renewal = None
        self.is_changed, self.is_walked, self.n_replaced = False, False, 0
        self.entered, self.renewed = self.saved_entered, self.saved_renewed
        self.n_grown = self.saved_grown
        if self.entered == 0:
            self.now.offset[:] = 0
        self.now.rollback()
        self.recent.rollback()
        self.experts.rollback()

    cdef object new_window(self, Py_ssize_t rows):
        return self.new_walked(min(rows, self.together))

    cdef Py_ssize_t scored_together(self, Py_ssize_t left) noexcept nogil:
        return min(self.together, left)

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        cdef Py_ssize_t i
        (<Walked> window).walk(self.now.forest, rows, NULL, first, n)
        for i in range(n):
            self.experts.predict(self.now, <Walked> window, i, out + i * self.n_outputs)
        return OK

    def arguments(self):
        """Arguments that construct the same space without samples."""
        return (self.d, self.recent.dtype, self.n_outputs, self.n_labels, self.rule, *self.settings,
                self.categories, self.n_exact, self.exact_from, self.is_light, self.cut_weights,
                self.exact_share, self.n_seen, self.exact_variances, len(self.experts.held) > 0)

    def get_state(self):
        """Learnt state, as a dictionary."""
        rows, targets, weights = self.recent.arrays()
        cuts, features, left, first = self.now.forest.arrays()
        return {
            "entered": self.entered, "renewed": self.renewed, "n_grown": self.n_grown,
            "rows": rows, "targets": targets, "weights": weights,
            **self.experts.get_state(), **fields_of_scale(self.now.forest.scale),
            "cuts": cuts, "features": features, "left": left, "first": first,
            "cells": numbers_of(self.experts, self.now), "metric": self.now.metric.copy(),
            "importances": self.now.importances.copy(),
            "offset": number_or_array(self.now.offset, self.recent.n_targets),
            "unit": number_or_array(self.now.unit, self.recent.n_targets),
        }

    def set_state(self, state):
        """Restore the result of `get_state`.

        Raises
        ------
        TypeError, ValueError
            If a field is missing, or is not as `get_state` would give it.
        """
        fields_of(state, "a forest", STATE)
        errors = doubles_of_shape("errors", state["errors"], 2 * (self.experts.n_experts,))
        met = finite_number("met", state["met"])
        scale = restored_scale(state, self.d, self.most_columns)
        forest = Forest.of_arrays(*map(state.get, ("cuts", "features", "left", "first")), scale)
        if forest.n_trees != self.settings[2]:
            raise ValueError(f"there must be {self.settings[2]} trees, got {forest.n_trees}")
        metric, importances = restored_metric(state, scale.n_axes, self.d)
        entered, renewed, n_grown = restored_counts(state, forest.n_trees)
        if self.last_due(entered) > renewed:
            check_reach(state["rows"], entered, self.last_due(entered))
        offset, unit = restored_units(state, self.recent.n_targets, self.n_outputs)
        if self.n_labels:
            check_labels(state["targets"], self.n_labels)
        now = Generation(forest, None, None, metric, importances, offset, unit)
        set_numbers(self.experts, now, state["cells"])
        self.experts.combination.set_arrays(errors, met)
        self.experts.held.set_numbers(state["held"])
        self.recent.set_arrays(entered, state["rows"], state["targets"], state["weights"], True)
        self.now = now
        self.before, self.is_changed, self.is_walked, self.renewal = None, False, False, None
        self.replaced, self.n_replaced = [], 0
        self.entered = self.saved_entered = entered
        self.renewed, self.n_grown = renewed, n_grown
        self.experts.checkpoint()

    def __reduce__(self):
        return _restore, (self.arguments(), self.get_state())

    @property
    def importances(self):
        """Share of each feature in the mean square of the gradient, ndarray of shape (d,)."""
        return self.now.importances.copy()

    def expert_weights(self):
        """Weight of each expert's score, ndarray of shape (n_levels, n_noises)."""
        return self.experts.combination.get_weights().reshape(len(self.settings[1]), -1)


def _restore(arguments, state):
    cdef ForestSpace space = ForestSpace(*arguments)
    space.set_state(completed(state, space.experts.held.get_numbers()))
    return space
