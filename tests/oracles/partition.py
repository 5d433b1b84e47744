"""Partitions whose cells are features, sample by sample.

Written from the notes of `PartitionFeatures`: trees are added at absolute numbers of samples, each
from all samples so far, and stay. How a tree grows is the oracle of kernel forests.
"""

from types import SimpleNamespace

import numpy as np

from .fourier import splitmix
from .kernel_forest import Grower, Scale, Teacher, Tree, directions_of, units_of, units_of_targets

single = np.float32


def look(X, Y, metric, draws):
    """Return units with directions, slopes of rows and their mean, and the metric for the next."""
    d, taught = X.shape[1], min(len(X), max(256, min(2048, 2**20 // X.shape[1])))
    center, factor = units_of(X)
    Z = np.clip((X[-taught:] - center) * factor, -8, 8)
    Y = few(Y, draws)
    landmarks = draws.permutation(taught)[:200]
    gradients = Teacher(Z, Y[-taught:], landmarks, metric).gradients()
    directions = directions_of(Z, gradients)
    squares = (gradients**2).sum(axis=0)
    if directions is not None:
        squares = np.hstack([squares, ((gradients @ directions.astype(float)) ** 2).sum(axis=0)])
    mean = squares.mean(axis=0)
    mixed = np.tile(mean, (len(X) + 1, 1))
    mixed[len(X) - taught : -1] = 0.9 * squares + 0.1 * mean
    slopes = np.sqrt(np.maximum(mixed / mean.mean(), 1e-4)).astype(single)
    own = np.maximum(np.sqrt(mean[:d] / mean[:d].mean()), 1e-3)
    return Scale(center, factor, directions), slopes, own / own.mean()


def few(Y, draws):
    """Return at most eight outputs: random sums of them, if there are more."""
    if Y.shape[1] <= 8:
        return Y
    return Y @ (draws.randint(2, size=(Y.shape[1], 8)) * 2.0 - 1.0) / np.sqrt(8)


class Partition:
    """Trees in groups; `labels` says whether y are class numbers, None that there are none."""

    def __init__(self, at, trees, *, max_leaf, n_candidates, share, labels, seed):
        self.plan = list(zip(at, trees, strict=True))
        self.max_leaf, self.n_candidates, self.share = max_leaf, n_candidates, share
        self.labels, self.seed = labels, seed
        self.rows, self.targets, self.groups = [], [], []

    def drawn(self, n):
        return min(n, max(64, int(self.share * n)))

    def cells(self, x):
        """Return (group, tree, leaf) of a row in each tree that has grown."""
        found = []
        for g, group in enumerate(self.groups):
            z = group.scale.rows(x[None, :])[0]
            found += [(g, t, tree.cells(z)[0]) for t, tree in enumerate(group.trees)]
        return found

    def columns(self, x):
        """Return the columns of the cells of a row.

        A tree of n samples has n columns at most, but those of a group come one after another.
        """
        starts = np.cumsum([0, *(trees * self.drawn(n) for n, trees in self.plan)])
        found = []
        for g, t, leaf in self.cells(x):
            trees = self.groups[g].trees
            before = sum(tree.is_leaf(k) for tree in trees[:t] for k in range(len(tree.left)))
            found.append(starts[g] + before + sum(trees[t].is_leaf(k) for k in range(leaf)))
        return found

    def learn(self, x, y):
        if len(self.groups) == len(self.plan):
            return
        self.rows.append(x)
        self.targets.append(y)
        if len(self.rows) == self.plan[len(self.groups)][0]:
            self.grow(self.plan[len(self.groups)][1])

    def grow(self, n_trees):
        X, y = np.array(self.rows), np.array(self.targets)
        seed = splitmix(self.seed, len(X))
        goals, has_margin, n_candidates = np.zeros((len(X), 1)), False, self.n_candidates
        if self.labels is None or len(X) < 32:
            scale, n_candidates = Scale(*units_of(X)), 1
            slopes = np.ones((len(X) + 1, X.shape[1]), dtype=single)
        else:
            if self.labels:
                # Classes are those that have come so far.
                known, labels = np.unique(y, return_inverse=True)
                Y = np.where(labels[:, None] == np.arange(len(known)), 1.0, -1.0)
                Y = Y[:, 1:] if len(known) == 2 else Y
            else:
                largest = np.abs(y).max()
                offset, unit = units_of_targets(y / largest)
                Y = ((y / largest - offset) / unit)[:, None]
            draws = np.random.RandomState(splitmix(self.seed, len(X)) >> 32)
            scale, slopes, metric = look(X, Y, np.ones(X.shape[1]), draws)
            scale, slopes, _ = look(X, Y, metric, draws)
            goals = few(Y, np.random.RandomState(splitmix(self.seed, len(X)) >> 32))
            has_margin = bool(self.labels) and goals.shape[1] == Y.shape[1]
        grower = Grower(scale.rows(X), X.shape[1], slopes, goals, has_margin, n_candidates,
                        self.max_leaf)  # fmt: skip
        trees = [Tree() for _ in range(n_trees)]
        for t, tree in enumerate(trees):
            grower.grow(tree, self.drawn(len(X)), splitmix(seed, t))
        self.groups.append(SimpleNamespace(scale=scale, trees=trees))
