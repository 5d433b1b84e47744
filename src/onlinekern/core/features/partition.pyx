"""Partition: trees that are added along a stream, and whose leaves are features (cells).

Some of the trees grow at each of a few absolute numbers of samples, from all samples so far. A
grown tree never changes: a column of the features means the same leaf for ever, and later trees get
later columns. So a learner of these features does not have to forget anything.
"""
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from onlinekern.core.base.random cimport counted
from onlinekern.core.base.state cimport (
    check_width, doubles_of_shape, fields_of, integer_within, rows_of_form)
from onlinekern.core.features.taught cimport TaughtFeatures
from onlinekern.core.partitions.growing cimport Grower
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.partitions.scale cimport MOST_COLUMNS, N_DIRECTIONS, Scale
from onlinekern.core.partitions.trees cimport MOST_NODES, Forest, Tree
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

from onlinekern.core.base.lock import Reading
from onlinekern.core.features.gradients import few_outputs
from onlinekern.core.features.looking import Look, goals_of, look, signs_of
from onlinekern.core.partitions.renewal import spread
from onlinekern.core.partitions.scale import scale_of, scaled_rows

cdef Py_ssize_t MOST_FEATURES = MOST_COLUMNS - N_DIRECTIONS
# Trees grow from at most this many samples, because node numbers have 16 bits.
cdef Py_ssize_t MOST_KEPT = 1 << 14
# With fewer samples trees grow at random: gradients would be noise.
cdef Py_ssize_t LEAST_TOLD = 32
# A tree grows from at least this many samples, or from all if there are fewer.
cdef Py_ssize_t LEAST_DRAWN = 64
# Rows of a block that is walked tree by tree.
cdef Py_ssize_t ROWS = 64
# A limit for `Grower.grow` that no tree reaches.
cdef Py_ssize_t ALL = (<Py_ssize_t> 1) << 62
cdef tuple KINDS = ("none", "auto", "labels", "numbers")

STATE = ("entered", "rows", "targets", "shares", "centers", "factors", "directions", "cuts",
         "features", "left", "first")


cdef class Partition(TaughtFeatures):
    """Trees over samples of d features; none at first.

    Parameters
    ----------
    d : int
    dtype : dtype
        Type of the samples.
    at : tuple of int
        Numbers of samples at which trees grow, ascending.
    trees : tuple of int
        How many trees grow at each.
    most_in_leaf, n_candidates : int
        A node of more than `most_in_leaf` rows is split, by the best of `n_candidates`.
    share : float
        A tree grows from this share of the samples.
    kind : {'none', 'auto', 'labels', 'numbers'}
        Kind of the targets; 'none': there are none; 'auto': labels if they are few integers.
    seed : int
    """

    def __cinit__(self, d, dtype, at, trees, most_in_leaf, n_candidates, double share, kind, seed):
        if not 1 <= d <= MOST_FEATURES:
            raise ValueError(f"trees split rows of at most {MOST_FEATURES} features, got {d}")
        if len(at) != len(trees) or len(at) == 0 or list(at) != sorted(set(at)):
            raise ValueError(f"trees must grow at ascending numbers of samples, got {at}")
        for number, count in zip(at, trees):
            integer_within("at", number, 1, MOST_KEPT)
            integer_within("trees", count, 1, 1 << 40)
        integer_within("most_in_leaf", most_in_leaf, 1, 1 << 48)
        integer_within("n_candidates", n_candidates, 1, 1000)
        if not 0 < share <= 1:
            raise ValueError(f"share must be in (0, 1], got {share}")
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {KINDS}, got {kind!r}")
        self.seed, self.kind = seed, kind
        self.settings = (tuple(at), tuple(trees), most_in_leaf, n_candidates, share, kind, seed)
        self.last = max(at)
        if self.n_features >= 1 << 31:
            raise ValueError(f"{sum(trees)} trees of {self.last} samples have more cells than "
                             "there are numbers of columns")
        self.recent = RecentRows(d, dtype, self.last)
        self.forests, self.shares = (), np.zeros(d)
        self.checkpoint()

    @property
    def is_complete(self):
        """Whether all trees have grown."""
        return len(self.forests) == len(self.settings[0])

    def drawn(self, Py_ssize_t n):
        """Number of the n samples that a tree grows from."""
        return min(n, max(LEAST_DRAWN, int(self.settings[4] * n)))

    def reserved(self):
        """The first column of the trees of each number in `at`, and the number of all columns.

        Columns are reserved for as many leaves as the trees may get. If all trees grow at once,
        there are as many as they have.
        """
        at, trees = self.settings[:2]
        # A leaf has one row at least, and a tree of n leaves has 2 n - 1 nodes.
        sizes = [count * min(self.drawn(n), (MOST_NODES + 1) // 2) for n, count in zip(at, trees)]
        if len(sizes) == 1 and self.forests:
            sizes = [self.forests[0].n_leaves]
        starts, end = [0], 0
        for size in sizes:
            end += size
            starts.append(end)
        return tuple(starts)

    def learn(self, X, y=None, bint transform=False):
        """Learn rows, until all trees have grown; later rows change nothing.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated
        y : ndarray of shape (n,), float64, or None
            Finite; not used if there are no targets, or once all trees have grown.
        transform : bool
            Whether to return the cells of each row, by the trees before it is learnt.

        Returns
        -------
        cells : ndarray, int32
            Row after row, or None.
        counts : ndarray of shape (n,), int64
            How many cells each row has, or None.
        """
        if self.kind == "none":
            y = None
        return TaughtFeatures.learn(self, X, y, transform)

    cdef object run(self, Samples samples, const double[::1] y, bint transform):
        """Learn rows in segments that end where trees grow; return (cells, counts) or Nones."""
        cdef Py_ssize_t first = 0, last, n = samples.rows.n
        cells, counts = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int64)]
        while first < n:
            last = n
            if not self.is_complete:
                last = min(n, first + self.settings[0][len(self.forests)] - self.entered)
            if transform:
                found = self.walk(&samples.rows, first, last - first)
                cells.append(found.reshape(-1))
                counts.append(np.full(last - first, found.shape[1], dtype=np.int64))
            if not self.is_complete:
                self.keep(&samples.rows, first, last - first, &y[first])
                self.entered += last - first
                if self.entered == self.settings[0][len(self.forests)]:
                    self.grow()
            first = last
        if transform:
            return np.concatenate(cells), np.concatenate(counts)
        return None, None

    def grow(self):
        """Grow the next trees from all samples so far."""
        _, trees, most_in_leaf, n_candidates, _, kind, _ = self.settings
        X, y, _ = self.recent.arrays()
        cdef Grower grower
        cdef uint64_t seed = counted(self.seed, <uint64_t> self.entered)
        goals, has_margin = None, False
        if kind == "none" or len(X) < LEAST_TOLD:
            scale, n_candidates = Scale(*spread(X)), 1
            slopes, slope_of = np.ones((1, self.d), np.float32), np.zeros(len(X), np.int32)
        else:
            labels, targets, n_classes = goals_of(y, kind)
            goals = targets[:, None] if labels is None else signs_of(labels, n_classes)
            draws = np.random.RandomState(seed >> 32)
            few = few_outputs(goals, np.random.RandomState(seed >> 32))
            has_margin = labels is not None and few is goals
            # The second look uses the metric of the first one.
            found = Look(None, None, None, np.ones(self.d), None)
            for _ in range(2):
                found = look(X, goals, found.metric, draws)
            scale, slopes, slope_of, _, self.shares = found
            goals = np.ascontiguousarray(few)
        grower = Grower(scaled_rows(scale, X), self.d, slopes, slope_of, goals, has_margin,
                        n_candidates, most_in_leaf)
        grower.load(0, len(X))
        grown = []
        for t in range(trees[len(self.forests)]):
            grower.begin(None, self.drawn(len(X)), counted(seed, t))
            with nogil:
                grower.grow(ALL)
            grown.append(grower.grown())
        self.forests += (Forest(scale, grown),)
        if self.is_complete:
            self.recent = None

    cdef object walk(self, const Rows *rows, Py_ssize_t first, Py_ssize_t n):
        """The columns of n rows in all grown trees, ndarray of shape (n, n_trees), int32."""
        cdef Forest forest
        cdef Py_ssize_t done = 0
        cells = np.empty((n, sum([forest.n_trees for forest in self.forests])), dtype=np.int32)
        cdef int32_t[:, ::1] view = cells
        for forest, start in zip(self.forests, self.reserved()):
            if n > 0:
                walk_forest(forest, rows, first, n, start, &view[0, done], view.shape[1])
            done += forest.n_trees
        return cells

    def transform(self, X):
        """The columns of rows in all grown trees, ndarray of shape (n, n_trees), int32."""
        cdef Samples samples = samples_of(X, self.dtype)
        check_width("X", samples.rows.d, self.d)
        with Reading(self.access):
            return self.walk(&samples.rows, 0, samples.rows.n)

    @property
    def n_features(self):
        """Number of columns, including those reserved for trees that have not grown."""
        return self.reserved()[len(self.settings[0])]

    @property
    def n_trees(self):
        """Number of grown trees."""
        return sum([forest.n_trees for forest in self.forests])

    def importances(self):
        """Share of each feature in the mean squared gradient, ndarray of shape (d,).

        Zeros as long as no gradients have been computed.
        """
        with Reading(self.access):
            return self.shares.copy()

    cdef void checkpoint(self):
        self.saved_forests, self.saved_entered = self.forests, self.entered
        self.saved_shares = self.shares
        TaughtFeatures.checkpoint(self)

    cdef void rollback(self):
        self.forests, self.entered = self.saved_forests, self.saved_entered
        self.shares = self.saved_shares
        TaughtFeatures.rollback(self)

    def get_state(self):
        """Learnt state, as a dictionary; the nodes of all trees are concatenated."""
        with Reading(self.access):
            nodes = [forest.arrays() for forest in self.forests]
            scales = [forest.scale.arrays() for forest in self.forests]
            rows, targets = np.empty((0, self.d), dtype=self.dtype), np.empty(0)
            if self.recent is not None:
                rows, targets, _ = self.recent.arrays()
            cuts, features, left, ends = joined(nodes)
            turned = [scale[2] for scale in scales if scale[2] is not None]
            return {
                "entered": self.entered, "rows": rows, "targets": targets,
                "shares": self.shares.copy(),
                "centers": stacked([scale[0] for scale in scales], (self.d,)),
                "factors": stacked([scale[1] for scale in scales], (self.d,)),
                "directions": np.stack(turned) if turned else None,
                "cuts": cuts, "features": features, "left": left, "first": ends,
            }

    def set_state(self, state):
        """Restore the result of `get_state`.

        Raises
        ------
        TypeError, ValueError
            If a field is missing, or is not as `get_state` would give it.
        """
        fields_of(state, "a partition", STATE)
        at, trees = self.settings[:2]
        entered = integer_within("entered", state["entered"], 0, self.last)
        shares = doubles_of_shape("shares", state["shares"], (self.d,))
        count = sum([entered >= number for number in at])
        forests = forests_of(state, trees[:count], self.d)
        recent = None
        if count < len(at):
            recent = RecentRows(self.d, self.dtype, self.last)
            recent.set_arrays(entered, state["rows"], state["targets"], np.ones(entered))
        elif len(rows_of_form("rows", state["rows"], self.d, self.dtype, False)):
            raise ValueError("a partition whose trees have grown keeps no samples")
        else:
            doubles_of_shape("targets", state["targets"], (0,))
        for forest, n, trees in zip(forests, at, trees):
            if forest.n_leaves > trees * self.drawn(n):
                raise ValueError(
                    f"{trees} trees of {n} samples do not have {forest.n_leaves} cells")
        self.forests, self.entered, self.recent = forests, entered, recent
        self.shares = shares.copy()
        self.checkpoint()

    def __reduce__(self):
        return _restore, (self.arguments(), self.get_state())


cdef int walk_forest(Forest forest, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                     Py_ssize_t start, int32_t *out, Py_ssize_t stride) except -1:
    """Write the columns of n rows in the trees of a forest; `stride` separates rows of `out`."""
    cdef Py_ssize_t i, t = 0, done = 0, count, trees = forest.n_trees
    cdef Py_ssize_t width = forest.scale.width()
    cdef Tree tree
    cdef float *z = <float *> calloc(ROWS * width, sizeof(float))
    cdef int32_t *leaves = <int32_t *> calloc((2 * ROWS + 1) * trees, sizeof(int32_t))
    cdef int32_t *starts = leaves + 2 * ROWS * trees
    if z == NULL or leaves == NULL:
        free(z)
        free(leaves)
        raise MemoryError(f"no memory for the cells of {ROWS} samples")
    for tree in forest.trees:
        starts[t] = <int32_t> start
        start += tree.n_leaves
        t += 1
    with nogil:
        while done < n:
            count = min(n - done, ROWS)
            for i in range(count):
                forest.scale.load_axes(rows, first + done + i, z + i * width)
            forest.scale.direct(z, count)
            forest.walk_rows(z, count, leaves, leaves + ROWS * trees)
            for i in range(count):
                for t in range(trees):
                    out[(done + i) * stride + t] = starts[t] + leaves[i * trees + t]
            done += count
    free(z)
    free(leaves)
    return 0


def stacked(arrays, shape):
    """Arrays of one shape stacked; shape (0, *shape) if there are none."""
    return np.stack(arrays) if arrays else np.empty((0, *shape))


def joined(nodes):
    """The arrays of several forests, concatenated."""
    if not nodes:
        empty = np.empty(0, dtype=np.int32)
        return np.empty(0, dtype=np.float32), empty, empty, np.zeros(1, dtype=np.int32)
    cuts, features, left, firsts = zip(*nodes)
    ends, before = [np.zeros(1, dtype=np.int32)], 0
    for first in firsts:
        ends.append(first[1:] + np.int32(before))
        before += first.max()
    return np.concatenate(cuts), np.concatenate(features), np.concatenate(left), \
        np.concatenate(ends).astype(np.int32)


def forests_of(state, trees, Py_ssize_t d):
    """The forests with these numbers of trees, from the arrays of `joined`, which are checked."""
    centers = doubles_of_shape("centers", state["centers"], (len(trees), d))
    factors = doubles_of_shape("factors", state["factors"], (len(trees), d))
    directions, first = state["directions"], state["first"]
    if directions is None:
        directions = [None] * len(trees)
    if len(directions) != len(trees):
        raise ValueError(f"there must be directions of {len(trees)} forests")
    if not isinstance(first, np.ndarray) or first.dtype != np.int32 \
            or first.shape != (sum(trees) + 1,) or first[0] != 0 or (np.diff(first) < 1).any():
        raise ValueError("first must hold the first node of each tree, from 0 on, and their number")
    nodes, end = [state[name] for name in ("cuts", "features", "left")], first.max()
    if any([not isinstance(one, np.ndarray) or one.shape != (end,) for one in nodes]):
        raise ValueError(f"there must be {end} cuts, features and left children")
    found, begin = [], 0
    for count, center, factor, turned in zip(trees, centers, factors, directions):
        own = slice(first[begin], first[begin + count])
        ends = first[begin:begin + count + 1] - first[begin]
        scale = scale_of(center, factor, turned, d)
        found.append(Forest.of_arrays(*[one[own] for one in nodes], ends, scale))
        begin += count
    return tuple(found)


def _restore(arguments, state):
    cdef Partition partition = Partition(*arguments)
    partition.set_state(state)
    return partition
