"""Renewal: a new forest grows while samples come, and then replaces the one that predicts.

A renewal has three stages. The look scales the kept samples, and trains a kernel machine on them
for its gradients. Then trees grow from these samples, one after another. In the replay, the experts
on the new cells learn these samples, and the late ones, which came meanwhile. The result, and the
sample at which it takes over, depend on the samples alone. So a renewal that is lost, as by saving
a model, is repeated with the same result. A clock determines only how much of a tree grows at each
sample.

If the stream is longer than the memory of samples, the trees are kept, and their leaves are split
further, tree by tree. New cells inherit the weights of the split leaf, so no score changes.
"""
from libc.math cimport floor
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport OK, RAISED, Status
from onlinekern.core.base.random cimport counted
from onlinekern.core.models.cell_experts cimport CellExperts, Cells, Generation, Walked
from onlinekern.core.models.forest_look cimport ForestLook
from onlinekern.core.models.inheritance cimport Inheritance
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.partitions.trees cimport Tree
from onlinekern.core.samples.rows cimport Rows

import onlinekern.core.partitions.costs as costs

# Rows of a step of the replay.
cdef Py_ssize_t REPLAYED = 64
# Share of the lag that is for the look, if leaves are split further.
cdef double LOOKED = 0.15
# More work than any tree takes.
cdef Py_ssize_t ALL = (<Py_ssize_t> 1) << 62
# First estimate of the work per row: of a new tree, and of one that is split further. Later
# estimates are a running mean over about RECENT new trees, or the last tree that was split further.
cdef Py_ssize_t WORK_OF_ROW = 115
cdef Py_ssize_t WORK_OF_GROWTH = 85
cdef Py_ssize_t RECENT = 8
# Margins of the estimate. The last tree may take up to this share more than the estimate. In
# regression later trees take longer: all trees together take MORE_LATER more than estimated from
# recent ones.
cdef double MOST_MORE = 0.15
cdef double MORE_LATER = 0.12
# Largest ratio between the measured and the planned work of exact trees, either way.
cdef double MOST_OFF = 3
# Work to put a tree into a forest: per node and per cell of a new tree, and per cell that inherits
# weights. INHERITED cells are done at a time.
cdef Py_ssize_t WORK_OF_NODE = 3
cdef Py_ssize_t WORK_OF_CELL = 8
cdef Py_ssize_t WORK_OF_HEIR = 10
cdef Py_ssize_t INHERITED = 512


cdef class Renewal(ForestLook):
    """A renewal before its first stage.

    Parameters
    ----------
    before : Generation
        The forest that predicts. Its scale, metric and units are reused.
    experts : CellExperts
    recent : RecentRows
    begun : int
        Samples learnt so far.
    n : int
        The forest grows from the last n of them.
    lag : int
        Samples of the stream that the work is spread over; 0: all is done at once.
    is_whole : bool
        Whether all trees are replaced. Otherwise their leaves are split further.
    n_grown : int
        Trees that were split further already, before a renewal was lost.
    n_labels : int
    settings : tuple
        n_trees, most_in_leaf, n_candidates, share, most_rows, replays: as in `ForestSpace`.
    seed : int
    categories : tuple of int
    n_exact : int
        Trees with exact cuts, the last ones.
    is_light, cut_weights, exact_share
        As in `ForestSpace`.
    """

    def __cinit__(self, Generation before not None, CellExperts experts not None,
                  RecentRows recent not None, int64_t begun, Py_ssize_t n, Py_ssize_t lag,
                  bint is_whole, Py_ssize_t n_grown, Py_ssize_t n_labels,
                  tuple settings not None, uint64_t seed, tuple categories not None,
                  Py_ssize_t n_exact, bint is_light, tuple cut_weights not None,
                  double exact_share):
        self.experts, self.n_grown, self.replays = experts, n_grown, settings[5]
        self.estimate = WORK_OF_GROWTH * <Py_ssize_t> costs.rows_of_tree(n, settings[3], n)
        self.looked, self.grown, self.times = LOOKED, 1, 1
        self.exact_share = exact_share if is_whole else 1
        self.work_of_node, self.work_of_cell = WORK_OF_HEIR, WORK_OF_HEIR
        if is_whole:
            self.work_of_node, self.work_of_cell = WORK_OF_NODE, WORK_OF_CELL
            self.estimate = WORK_OF_ROW * <Py_ssize_t> costs.rows_of_tree(n, *settings[3:5])
            n_leaves = costs.leaves_of_tree(n, settings)
            self.late = costs.late_row(n_leaves, self.n_outputs)
            self.cold = costs.TIMES_OF_COLD
            self.all_late, self.n_cold = costs.late_rows(n_leaves, lag, self.n_outputs)

    def begin_look(self):
        ForestLook.begin_look(self)
        if self.is_whole:
            self.looked, self.grown = costs.shares_of_stages(
                self.look.work, self.n, self.d, self.lag, self.settings, self.n_exact,
                self.exact_share, self.n_telling, self.n_outputs)

    def dig(self, _):
        """Allocate memory for new trees and their cells, or for splits of existing leaves."""
        if self.n_exact:
            self.times = costs.times_of_exact(
                len(self.sought), self.is_whole, self.n_telling,
                self.count_of(True) / <double> self.count_of(False))
            if self.is_whole:
                self.times *= self.before.exact_times
        self.targets, self.weights = self.y, self.weight
        if not self.is_whole:
            self.heir = Inheritance(self.experts)
            return
        self.fresh.leaves, self.fresh.upper = self.experts.cells_to_come(self.n_trees)
        self.leaves = np.empty((self.n_trees, self.n), dtype=np.uint16)
        self.upper = np.empty((self.n_trees, self.n), dtype=np.uint8)
        self.walked = Walked(self.n_trees, 1, REPLAYED, self.experts.n_experts, self.n_outputs)
        self.held = -1

    cdef double share_of(self, int64_t entered) noexcept nogil:
        """Share of the renewal that is due after `entered` samples of the stream."""
        if entered >= self.begun + self.lag:
            return 1
        return <double> (entered - self.begun) / self.lag

    cdef double share_of_look(self, int64_t entered) noexcept nogil:
        """Share of the look that is due: it begins after the samples at which it is planned."""
        cdef double share = self.share_of(entered), planned = 0
        if share >= 1:
            return share
        if self.planned_over > 0:
            planned = <double> self.planned_over / self.lag
        return (share - planned) / (self.looked - planned) if planned < self.looked else share

    cdef bint looks_after(self, int64_t entered) noexcept nogil:
        """Whether `advance(entered)` does a part of the look, and so calls BLAS."""
        return self.is_planned() and self.look.has_unit(self.share_of_look(entered))

    cdef Status advance(self, int64_t entered) noexcept nogil:
        """Do the work that is due after `entered` samples.

        Returns early if `has_tree`: the caller must then call `take_tree`.
        """
        cdef double share = self.share_of(entered)
        cdef Status status = self.plan_until(entered)
        self.entered = entered
        if status != OK or not self.is_planned():
            return status
        status = self.look_until(self.share_of_look(entered))
        if status == OK and not self.look.is_left():
            status = self.grow_until((share - self.looked) / (self.grown - self.looked))
        if status != OK or self.has_tree or self.tree < self.n_trees:
            return status
        if self.is_whole:
            status = self.replay_until((share - self.grown) / (1 - self.grown))
        self.is_done = status == OK and share >= 1
        return status

    cdef Status grow_until(self, double share) noexcept nogil:
        """Grow trees until a share of the growth is done."""
        while self.tree < self.n_trees and not self.has_tree:
            if share <= 0 or not self.goes_on(share):
                return OK
            # Trees are taken at fixed shares, whatever time their growth took.
            if not self.is_whole and share * self.share_to(self.n_trees) \
                    < self.share_to(self.tree + self.is_inheriting):
                return OK
            with gil:
                try:
                    self.begin_or_end_tree(share)
                except BaseException as error:
                    self.interruption = error
                    return RAISED
        return OK

    cdef bint goes_on(self, double share) noexcept nogil:
        """Do the due work on the present tree. Returns whether to call `begin_or_end_tree`."""
        cdef Py_ssize_t due
        if not self.is_growing:
            return True
        due = self.due(share)
        if not self.grower.grow(due):
            return False
        if not self.is_inheriting:
            return due >= self.grower.took + self.work_of_node * self.grower.n_nodes
        while self.grower.took < due:
            self.grower.took += self.work_of_cell * INHERITED
            if self.begin_cells() if self.is_whole else self.heir.go_on(INHERITED):
                return True
        return False

    cdef bint begin_cells(self) noexcept nogil:
        """Initialise some more leaves of a grown tree. Returns whether all are initialised.

        The first write to new memory is slow, so it is spread over several calls.
        """
        cdef Py_ssize_t last = min(self.n_begun + INHERITED, self.whole.n_leaves)
        self.fresh_leaves.begin(self.n_begun, last)
        self.n_begun = last
        return last == self.whole.n_leaves

    cdef double work_left(self) noexcept nogil:
        """Estimated work on the present tree and all after it, from the start of the present one.

        It includes a margin: work beyond an estimate would all be done at the last sample.
        """
        cdef double whole = self.share_to(self.n_trees), rest = whole - self.share_to(self.tree)
        if self.n_labels == 0:
            rest *= 1 + MORE_LATER * rest / whole
        # The last term is the margin of the last tree, which may be an exact one.
        return self.estimate * (rest + MOST_MORE * (whole - self.share_to(self.n_trees - 1)))

    cdef Py_ssize_t due(self, double share) noexcept nogil:
        """Work on the present tree that is due after a share of the growth."""
        cdef double work
        if self.is_whole:
            work = self.work_left()
            share = (share - self.since) / (1 - self.since)
        else:
            # Each tree has a fixed share of the growth.
            work = self.estimate * (1 + MOST_MORE)
            share = share * self.share_to(self.n_trees) - self.share_to(self.tree)
            share /= self.share_to(self.tree + 1) - self.share_to(self.tree)
        return ALL if share >= 1 else <Py_ssize_t> (share * work)

    cdef double share_to(self, Py_ssize_t n) noexcept nogil:
        """Work on the first n trees; unit: a tree without exact cuts."""
        return n + (self.times - 1) * max(0, n - self.n_trees + self.n_exact)

    def begin_or_end_tree(self, double share):
        """Do the next step: begin a tree, begin its cells, or finish it."""
        if not self.is_growing:
            self.begin_tree()
            return
        if not self.is_inheriting:
            self.whole, self.is_inheriting = self.grower.grown(), True
            if self.is_whole:
                self.fresh_leaves = self.experts.new_leaves(self.tree, self.whole.n_leaves, False,
                                                            self.grower.is_exact)
                self.n_begun = 0
            else:
                self.heir.begin(self.before, self.tree, self.whole, self.entered)
            self.grower.took += self.work_of_node * self.grower.n_nodes
            return
        self.is_growing, self.is_inheriting, self.has_tree = False, False, True
        if not self.is_whole:
            self.grower.took += self.work_of_node * self.grower.n_nodes
            self.estimate = self.grower.took
            return
        # A tree that took less than estimated leaves the rest of the time to the next one.
        self.since += (1 - self.since) * self.grower.took / self.work_left()
        self.since = min(self.since, share, 0.999)
        own = self.grower.took / (self.share_to(self.tree + 1) - self.share_to(self.tree))
        self.estimate += (own - self.estimate) / min(self.tree + 1, RECENT)
        self.took[self.grower.is_exact] += self.grower.took
        self.take_tree(self.fresh)
        if self.tree == self.n_trees:
            self.fresh.exact_times = self.exact_times()

    cdef double exact_times(self) noexcept nogil:
        """Measured over planned work of exact trees. The next renewal plans with it."""
        cdef Py_ssize_t others = self.n_trees - self.n_exact
        cdef double planned = self.times / self.before.exact_times
        if self.n_exact == 0 or others == 0:
            return self.before.exact_times
        return min(MOST_OFF, max(1 / MOST_OFF, self.took[1] / self.n_exact * others
                                   / (self.took[0] * planned)))

    cdef Py_ssize_t count_of(self, bint is_exact) except -1:
        """Number of rows that a tree grows from."""
        _, _, _, share, most_rows, _ = self.settings
        count = costs.rows_of_tree(self.n, share, most_rows if self.is_whole else self.n)
        return min(count, costs.rows_of_tree(self.n, self.exact_share, self.n)) if is_exact \
            else count

    def begin_tree(self):
        """Begin the next tree that was not grown before a renewal was lost."""
        cdef Tree before
        while not self.is_growing:
            before = None if self.is_whole else self.before.forest.trees[self.tree]
            self.grower.is_exact = self.tree >= self.n_trees - self.n_exact
            count = self.count_of(self.grower.is_exact)
            self.grower.begin(before, count, counted(self.seed, <uint64_t> self.tree))
            if self.is_whole:
                self.grower.write_to(&self.leaves[self.tree, 0], &self.upper[self.tree, 0])
            if self.is_whole or self.tree >= self.n_grown:
                self.is_growing = True
                if self.tree == self.n_trees - self.n_exact and not self.is_whole:
                    self.estimate *= self.times
            else:
                # It was grown before: only its random draws and the residuals are repeated.
                self.grower.skip()
                self.tree += 1

    cdef int take_tree(self, Generation now) except -1:
        """Put the grown tree and its cells into a forest, in place of an earlier tree."""
        cdef int64_t number
        cdef Rows row
        if self.is_whole:
            now.leaves.put(self.tree, self.fresh_leaves)
            if now.upper is not None:
                now.upper.put(self.tree, self.experts.new_upper(self.tree, self.grower.is_exact))
            now.forest.put(self.tree, self.whole)
        else:
            for number in range(self.heir.begun, self.entered):
                row = self.recent.row(number)
                self.fresh.forest.scale.load(&row, 0, &self.rows[self.n, 0])
                self.heir.update(&self.rows[self.n, 0])
            self.heir.put(now)
        self.tree += 1
        self.has_tree = False
        return 0

    cdef Status replay_until(self, double share) noexcept nogil:
        """Learn samples until a share of the replay is done, late samples last."""
        cdef Status status
        cdef int64_t goal, again = <int64_t> self.replays * self.n
        cdef double due = share * (again + self.all_late)
        cdef Py_ssize_t first, at, m
        if share <= 0:
            return OK
        if due > again:
            due = (due - again) / self.late
            # The first late rows take longer: cache misses.
            due = again + max(due / self.cold, due - (self.cold - 1) * self.n_cold)
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
        """Find the cells of n late rows; growth has found those of the other rows.

        `first` counts from the first row that the trees grew from.
        """
        cdef Py_ssize_t i
        cdef Rows row
        cdef const double *record
        for i in range(first, first + n):
            record = <const double *> self.recent.record(self.begun + i - self.n)
            row = self.recent.row(self.begun + i - self.n)
            self.fresh.forest.scale.load_axes(&row, 0, &self.rows[i, 0])
            memcpy(&self.targets[i, 0], record, self.recent.n_targets * sizeof(double))
            self.weights[i] = record[self.recent.n_targets]
        self.fresh.forest.scale.direct(&self.rows[first, 0], n)
        self.fresh.forest.walk_rows(&self.rows[first, 0], n, self.walked.leaves, self.walked.upper)
        self.held = -1

    cdef Status learn_rows(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t at) noexcept nogil:
        """Let the new experts learn n rows from `first`. Their cells begin at `at` in `walked`."""
        cdef Py_ssize_t i
        cdef Cells cells
        cdef Status status
        for i in range(n):
            cells = self.walked.cells(at + i)
            self.experts.fetch(self.fresh, self.walked, at + i, i == 0, at + n)
            self.experts.score(self.fresh, &cells, self.walked)
            # No undo: after a failed call the new forest is grown again.
            status = self.experts.learn(self.fresh, &cells, self.walked,
                                        &self.targets[first + i, 0], self.weights[first + i], False)
            if status != OK:
                return status
        return OK
