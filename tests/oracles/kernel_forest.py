"""Kernel forests, sample by sample: trees that cut where the function changes, learnt jointly.

Written from docs/kernel_forests.md and the notes of `KernelForestClassifier`. Rows, cuts, weights
and variances are float32, sums are float64 and in the order of the trees. Random numbers are those
of splitmix64 by their number, so that this twin draws the same ones: number 1, 2, ... of the seed
of each tree.

.. [1] P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.
.. [2] K. Crammer, A. Kulesza, M. Dredze, "Adaptive regularization of weight vectors", NIPS 2009.
.. [3] J. Bates, C. Granger, "The combination of forecasts", Operational Research Quarterly, 1969.
.. [4] J. Friedman, "Greedy function approximation", Annals of Statistics 29, 2001.
.. [5] L. Breiman et al., "Classification and regression trees", Wadsworth, 1984.
"""

import copy
from dataclasses import dataclass, field

import numpy as np

from . import second_order
from .forest_bends import Bends
from .forest_groups import Groups, metric_on
from .forest_tables import Gaps, learnt_tables
from .fourier import splitmix
from .held_targets import HeldTargets
from .losses import LOSSES
from .rules import AROW, RULES

single = np.float32
UPPER_LEVEL = 4
DEEPEST = 40
N_DIRECTIONS = 8
MOST_SOUGHT = 16
LEAST_ROWS = 3
TURNS = ["axes", "steep axes", "axes", "steep axes", "directions"]


def in_turn(values):
    """Add numbers up one after the other."""
    return np.add.accumulate(np.append(0.0, values))[-1]


def in_lanes(values):
    """Add float32 numbers up in eight lanes, number j in lane j % 8."""
    lanes = np.zeros((-(-len(values) // 8), 8), dtype=single)
    lanes.flat[: len(values)] = values
    return np.add.accumulate(lanes)[-1]


@dataclass
class Tree:
    """A binary tree; a leaf is its own left child, and has an infinite cut."""

    cuts: list = field(default_factory=lambda: [single(np.inf)])
    features: list = field(default_factory=lambda: [0])
    left: list = field(default_factory=lambda: [0])

    def is_leaf(self, node):
        return self.left[node] == node

    def step(self, node, z):
        return self.left[node] + int(z[self.features[node]] > self.cuts[node])

    def cells(self, z):
        """Return the leaf of a row, and the node at the upper level (or the leaf above it)."""
        path = [0]
        while not self.is_leaf(path[-1]):
            path.append(self.step(path[-1], z))
        return path[-1], path[min(UPPER_LEVEL, len(path) - 1)]

    def divide(self, node, feature, at):
        """Turn a leaf into a cut with two leaves; return these."""
        first = len(self.left)
        self.cuts[node], self.features[node], self.left[node] = at, feature, first
        self.cuts += [single(np.inf)] * 2
        self.features += [0, 0]
        self.left += [first, first + 1]
        return first, first + 1

    def copy(self):
        return Tree(list(self.cuts), list(self.features), list(self.left))


@dataclass
class Scale:
    """Units of the features, tables and groups of others, gaps, and directions beside them."""

    center: np.ndarray
    factor: np.ndarray
    directions: np.ndarray | None = None
    tables: list = field(default_factory=list)
    gaps: Gaps | None = None
    groups: Groups | None = None
    bends: Bends | None = None

    def sources(self):
        """Return the feature that each axis tells of; -1 is what is missing in all."""
        d = len(self.center)
        further = [table.source for table in self.tables if table.column >= d]
        return [*range(d), *further, *([-1, -1] if self.gaps else [])]

    def sides(self, n_drawn):
        """Return the first of the two last columns of each feature with gaps."""
        sources = self.gaps.sources if self.gaps else []
        return {j: n_drawn + 2 * k for k, j in enumerate(sources)}

    def axes(self, X):
        """Return the rows in double, without directions."""
        Z = self.looked_up(X)
        if self.groups:
            self.groups.fill(X, Z)
        return self.gaps.fill(X, Z)[0] if self.gaps else Z

    def looked_up(self, X):
        """Return the rows in double, without directions and groups, 0 where values are missing."""
        Z = np.zeros((len(X), len(self.sources()) - 2 * bool(self.gaps)))
        own = self.bends.fill(X.astype(float)) if self.bends else X.astype(float)
        Z[:, : X.shape[1]] = np.nan_to_num((own - self.center) * self.factor)
        for table in self.tables:
            Z[:, table.column] = [table.look_up(value) for value in X[:, table.source]]
        return Z

    def rows(self, X):
        Z, sides = np.clip(self.looked_up(X), -1e6, 1e6).astype(single), np.zeros((len(X), 0))
        if self.groups:
            self.groups.fill(X, Z)
        if self.gaps:
            Z, sides = self.gaps.fill(X, Z)
        sides = sides.astype(single)
        if self.directions is None:
            return np.hstack([Z, sides])
        products = np.zeros((len(X), N_DIRECTIONS), dtype=single)
        for j in range(Z.shape[1]):
            products += Z[:, j : j + 1] * self.directions[j]
        return np.hstack([Z, products, sides])


def units_of(X):
    """Return centers and factors: of the samples within four deviations, found twice."""
    inside = ~np.isnan(X)
    X = X.astype(float)
    center = scale = None
    for _ in range(3):
        n = np.maximum(inside.sum(axis=0), 1)
        mean = np.where(inside, X, 0).sum(axis=0) / n
        deviation = np.sqrt((np.where(inside, X - mean, 0) ** 2).sum(axis=0) / n)
        deviation[deviation <= 1e-12 * np.abs(mean)] = 0
        if center is None:
            center, scale = mean, deviation
        else:
            center, scale = (np.where(deviation > 0, *pair)
                             for pair in ((mean, center), (deviation, scale)))  # fmt: skip
        inside = np.abs(X - center) <= 4 * scale
    return center, np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)


def without_outliers(y):
    """Return targets: a few that lie apart from all others are as far as the farthest of these."""
    ordered = np.sort(y)
    first, end = len(y) // 4, len(y) - len(y) // 4
    kept = ordered[first:end]
    if kept.std() <= 1e-12 * abs(kept.mean()):
        return y
    while first > 0 or end < len(y):
        mean, deviation = ordered[first:end].mean(), ordered[first:end].std()
        lower = mean - ordered[first - 1] if first > 0 else np.inf
        upper = ordered[end] - mean if end < len(y) else np.inf
        if min(lower, upper) > 30 * deviation:
            break
        first, end = (first - 1, end) if lower <= upper else (first, end + 1)
    if len(y) - (end - first) > 1 + len(y) // 256:
        return y
    return np.clip(y, ordered[first], ordered[end - 1])


def units_of_targets(y):
    """Return mean and deviation, to the bit of the core: cuts of equal gain are told by it."""
    largest = np.abs(y).max()
    mean = (y / largest).mean()
    return mean * largest, np.sqrt(((y / largest - mean) ** 2).mean()) * largest


class Teacher:
    """Kernel least squares with a linear part, and its gradients.

    f(x) = sum_j a_j exp(-gamma |x - c_j|^2_M) + b . x + b_0, where the precision of the prior is
    0.05 K for a (with 1e-6 on its diagonal), and 0.05 for b in units of 0.3 / sqrt(d), and b_0.
    Without a linear part b is 0.
    """

    def __init__(self, X, Y, landmarks, metric, gamma=None, linear=True):
        d = X.shape[1]
        self.X, self.C, self.metric = X, X[landmarks], metric
        self.gamma = 0.25 / d if gamma is None else gamma
        self.K = self.kernel(X)
        unit = linear * 0.3 / np.sqrt(d)
        features = np.hstack([self.K, unit * X, np.ones((len(X), 1))])
        prior = np.eye(features.shape[1])
        m = len(landmarks)
        prior[:m, :m] = self.kernel(self.C) + 1e-6 * np.eye(m)
        weights = np.linalg.solve(features.T @ features + 0.05 * prior, features.T @ Y)
        self.a, self.b = weights[:m], unit * weights[m : m + d]

    def kernel(self, X):
        apart = X[:, None, :] - self.C
        return np.exp(-self.gamma * (apart**2 * self.metric).sum(axis=2))

    def gradients(self):
        """Return the gradients of all outputs at the rows, ndarray (n_outputs, n, d)."""
        apart = (self.X[:, None, :] - self.C) * self.metric
        return np.stack([
            -2 * self.gamma * ((self.K * a)[:, :, None] * apart).sum(axis=1) + b
            for a, b in zip(self.a.T, self.b.T, strict=True)
        ])  # fmt: skip


def leading_of(gradients):
    """Return the leading eigenvectors of the mean outer product of gradients."""
    return leading(sum(each.T @ each for each in gradients) / gradients.shape[1])


def iterated(gradients):
    """Return about the same, by three rounds of orthogonal iteration."""
    rows = np.concatenate(gradients)
    found = np.linalg.qr(rows[:: max(1, len(rows) // N_DIRECTIONS)][:N_DIRECTIONS].T)[0]
    for _ in range(3):
        found = np.linalg.qr(rows.T @ rows @ found)[0]
    return with_signs(found)


def directions_of(Z, gradients, find=leading_of, n_empty=0):
    """Return directions.

    They mix the features of which less than a sixth of pairs of rows agree, and the others too if
    there are fifty rows for each of these but those that are empty.
    """
    half = len(Z) // 2
    if half == 0:
        return None
    ties = (Z[:half] == Z[half : 2 * half]).mean(axis=0)
    mixed = [j for j in range(Z.shape[1]) if ties[j] < 1 / 6]
    if 50 * (Z.shape[1] - n_empty - len(mixed)) <= len(Z):
        mixed = list(range(Z.shape[1]))
    if len(mixed) < 2:
        return None
    out = np.zeros((Z.shape[1], N_DIRECTIONS), dtype=single)
    out[mixed] = find(gradients[:, :, mixed])
    return out


def leading(matrix):
    """Return the eigenvectors of the eight largest eigenvalues; their largest coordinate is > 0."""
    return with_signs(np.linalg.eigh(matrix)[1][:, ::-1][:, :N_DIRECTIONS])


def with_signs(vectors):
    """Return vectors whose largest coordinate is > 0."""
    out = np.zeros((len(vectors), N_DIRECTIONS))
    for k, vector in enumerate(vectors.T):
        out[:, k] = vector * np.sign(vector[np.abs(vector).argmax()])
    return out.astype(single)


class Grower:
    """Grow trees from rows, by the best of a few cuts of what the trees before leave of goals.

    A tree that `is_exact` has the best of all cuts along the axes `sought` [5]_. Slopes are those
    of each row, and last their mean.
    """

    def __init__(
        self, rows, n_axes, slopes, goals, has_margin, n_candidates, max_leaf, sought=(), sides=None
    ):
        self.sought, self.is_exact, self.sides = sought, False, sides or {}
        self.rows, self.n_axes, self.slopes = rows, n_axes, slopes
        self.goals, self.has_margin = goals.astype(single), has_margin
        self.scores = np.zeros_like(self.goals)
        # What is left of the goals; of those with a margin nothing beyond it.
        self.left = self.goals.copy()
        self.n_candidates, self.max_leaf = n_candidates, max_leaf
        self.pool = list(range(len(rows)))
        # Of each axis: what cuts gained beyond chance, rows that told, and how many cuts.
        self.gains = np.zeros((3, n_axes))
        # Factors of differences, with and without slopes.
        self.shares = np.ones((2, slopes.shape[1]), dtype=single)

    def uniform(self):
        self.drawn += 1
        return (splitmix(self.seed, self.drawn) >> 11) / 2**53

    def choose(self, count):
        """Draw rows without repetition; the order of the last draw is that of the next."""
        for i in range(count):
            j = i + int((len(self.pool) - i) * self.uniform())
            self.pool[i], self.pool[j] = self.pool[j], self.pool[i]
        return self.pool[:count]

    def grow(self, tree, count, seed, is_new=True):
        """Cut the leaves of a tree further, by `count` of the rows."""
        self.seed, self.drawn = seed, 0
        if is_new:
            self.follow()
        if self.is_exact:
            self.begin_exact()
        self.most_nodes = min(len(tree.left) + 2 * count, 65535)
        chosen = self.choose(count)
        leaves = [tree.cells(self.rows[row])[0] for row in chosen]
        for leaf in range(len(tree.left)):
            own = [row for row, at in zip(chosen, leaves, strict=True) if at == leaf]
            self.grow_leaf(tree, leaf, own)
        if self.n_candidates > 1:
            self.absorb(tree)

    def follow(self):
        """Draw axes by what cuts along them have gained in the trees before."""
        gain, rows, cuts = self.gains
        own = np.maximum(gain - 2 * np.sqrt(2 * cuts), 0) / np.maximum(rows, 1)
        if in_turn(own) == 0:
            return
        own, slopes = own / in_turn(own), self.slopes[-1, : self.n_axes].astype(float) ** 2
        slopes /= in_turn(slopes)
        missed = 1 - in_turn(slopes * own) / in_turn(own * own)
        missed = np.sqrt(missed) if missed > 0.3 else 0.0
        self.shares[0, : self.n_axes] = np.sqrt(1 - missed + missed * self.n_axes * own)
        self.shares[1, : self.n_axes] = np.sqrt(1 - missed + missed * own / slopes)

    def absorb(self, tree):
        """Add a share of the means of what is left in its leaves to the scores [4]_."""
        leaves = np.array([tree.cells(row)[0] for row in self.rows])
        for leaf in np.unique(leaves):
            own = leaves == leaf
            total = np.add.accumulate(self.left[own])[-1]
            self.scores[own] += single(0.05 / (own.sum() + 2)) * total
        self.left = self.goals - self.scores
        if self.has_margin:
            self.left[self.goals * self.scores >= 1] = 0

    def grow_leaf(self, tree, leaf, own):
        waiting = [(leaf, own, 0)]
        while waiting:
            node, own, depth = waiting.pop()
            full = len(tree.left) + 2 > self.most_nodes
            if len(own) <= self.max_leaf or depth >= DEEPEST or full:
                continue
            cut = self.best_cut(own)
            if cut is None:
                continue
            low, high = self.divide(own, *cut)
            if not low or not high:
                continue
            first, second = tree.divide(node, *cut)
            waiting += [(first, low, depth + 1), (second, high, depth + 1)]

    def divide(self, own, feature, at):
        """Return the rows on both sides; those of the right change places, as in Lomuto's way."""
        own, middle = list(own), 0
        for i, row in enumerate(own):
            if self.rows[row, feature] <= at:
                own[i], own[middle] = own[middle], row
                middle += 1
        return own[:middle], own[middle:]

    def best_cut(self, own):
        if self.is_exact:
            return self.exact_cut(own)
        if len(own) < 8 or self.n_candidates == 1:
            return self.draw(TURNS[int(5 * self.uniform())], own)
        scored = own
        if len(own) > 255:
            first = int((len(own) - 254) * self.uniform())
            scored = own[first : first + 255]
        ones = np.ones(len(scored), dtype=single)
        best, most, total = None, -1.0, self.sums(scored, ones)
        squares = in_turn(self.sums(scored, ones, 2))
        together = in_turn(total * total) / len(scored)
        deviations = squares - together
        for e in range(min(self.n_candidates, len(own) // 4)):
            cut = self.draw(TURNS[e % 5], own)
            gain = -1.0 if cut is None else self.gain(scored, total, *cut)
            if gain > most:
                best, most = cut, gain
            if cut is not None and cut[0] < self.n_axes and deviations > 1e-4 * squares:
                beyond = (gain - together) * ((len(scored) - 1) / deviations) - 1
                self.gains[:, cut[0]] += beyond, len(scored), 1
        return best

    def code_rows(self):
        """Give the rows codes along each axis: of the rank of the first equal one, 15 bits."""
        self.codes = np.zeros((len(self.rows), len(self.sought)), dtype=int)
        for a, axis in enumerate(self.sought):
            values = self.rows[:, axis]
            firsts = np.searchsorted(np.sort(values), values)
            self.codes[:, a] = firsts * 32768 // len(values)

    def begin_exact(self):
        """Write what is left of the goals as whole numbers, in units that are powers of two."""
        if not hasattr(self, "codes"):
            self.code_rows()
        bits = min(14, 30 - len(self.rows).bit_length())
        self.unit = 2.0 ** (bits - max(np.frexp(np.abs(self.left).max())[1], -40))
        scaled = self.left * single(self.unit)
        self.whole = np.zeros((len(self.rows), 8), dtype=int)
        half = np.copysign(single(0.5), scaled)
        self.whole[:, : self.left.shape[1]] = np.trunc(scaled + half)

    def exact_cut(self, own):
        """Return the best cut that leaves three rows on each side, in the middle of two.

        Of more than 512 rows it is the best in the two bins, of 256, beside the best edge of bins
        along each axis.
        """
        own, near = np.array(own), (0, 32768)
        best = single(1e-6 * self.unit**2), None, 0, 0
        for a in range(len(self.sought)):
            codes = self.codes[own, a]
            if len(own) > 512:
                edge = self.best_between(codes // 128, own, a, (0, None, 0, 0))[2]
                near = 128 * edge, 128 * (edge + 2)
            best = self.best_between(codes, own, a, best, near)
        _, a, low, high = best
        if a is None:
            return None
        values, codes = self.rows[:, self.sought[a]], self.codes[:, a]
        low, high = values[codes == low][0], values[codes == high][0]
        at = single(float(low) + (float(high) - float(low)) / 2)
        return self.sought[a], low if at >= high else at

    def best_between(self, codes, own, a, best, near=(0, 32768)):
        """Return the best cut (gain, axis, codes beside it) of rows, by codes along an axis."""
        n = len(own)
        order = np.argsort(codes, kind="stable")
        codes, sums = codes[order], self.whole[own[order]].cumsum(axis=0)
        mean = sums[-1].astype(single) / single(n)
        below = np.flatnonzero(codes[:-1] < codes[1:]) + 1
        below = below[(below >= LEAST_ROWS) & (n - below >= LEAST_ROWS)]
        for i in below[(codes[below] > near[0]) & (codes[below - 1] < near[1])]:
            squares = (sums[i - 1].astype(single) - single(i) * mean) ** 2
            gain = squares.reshape(2, 2, 2).sum(axis=0).sum(axis=0).sum()
            gain *= single(1) / (single(i) * single(n - i))
            if gain > best[0]:
                best = gain, a, codes[i - 1], codes[i]
        return best

    def draw(self, kind, own):
        """Draw a cut between two rows, by how much they differ and how steep the function is."""
        n_drawn = self.slopes.shape[1]
        if kind == "directions" and n_drawn == self.n_axes:
            kind = "steep axes"
        columns = slice(self.n_axes, None) if kind == "directions" else slice(0, self.n_axes)
        one = own[int(len(own) * self.uniform())]
        for _ in range(3):
            other = own[int(len(own) * self.uniform())]
            weights = np.abs(self.rows[one, :n_drawn] - self.rows[other, :n_drawn])
            if kind != "axes":
                weights = weights * (self.slopes[one] + self.slopes[other])
            weights = (weights * self.shares[int(kind != "axes")])[columns]
            lanes = in_lanes(weights)
            total = in_turn(lanes.astype(float))
            if total > 0:
                break
        else:
            return None
        feature = self.column_at(total * self.uniform(), lanes, weights) + columns.start
        if feature in self.sides:
            # Half of the cuts take the guesses, the others one of the sides, if it tells.
            turn = int(4 * self.uniform())
            side = self.sides[feature] + turn
            if turn < 2 and self.rows[one, side] != self.rows[other, side]:
                feature = side
        low, high = sorted((self.rows[one, feature], self.rows[other, feature]))
        at = single(float(low) + (float(high) - float(low)) * self.uniform())
        return feature, low if at >= high else at

    def column_at(self, left, lanes, weights):
        """Return the column at which the sum of the weights, lane by lane, reaches `left`."""
        j = 0
        while j < 7 and left >= lanes[j]:
            left -= float(lanes[j])
            j += 1
        while j + 8 < len(weights) and left >= weights[j]:
            left -= float(weights[j])
            j += 8
        if j >= len(weights) or weights[j] == 0:
            j = max(np.flatnonzero(weights))
        return j

    def gain(self, own, total, feature, at):
        """Return by how much a cut lowers the squared deviations, up to a constant.

        `total` is the sum of what is left of all these rows.
        """
        inside = (self.rows[own, feature] <= at).astype(single)
        n_left = int(inside.sum())
        left = self.sums(own, inside)
        rest = total - left
        return in_turn(left * left) / max(n_left, 1) + in_turn(rest * rest) / max(
            len(own) - n_left, 1
        )

    def sums(self, own, inside, power=1):
        """Sum what is left of some rows, float32: one output lane by lane, several row by row."""
        part = self.left[own] ** power * inside[:, None]
        if part.shape[1] > 1:
            return np.add.accumulate(part)[-1].astype(float)
        return np.array([in_turn(in_lanes(part[:, 0]).astype(float))])


class Experts:
    """Linear functions of cells: for each level and noise a weight an output, and a variance.

    A cell is a feature that is 1 / sqrt(number of cells of a sample) in the samples it holds. An
    expert may see the first trees alone; the cells of the others have the variance 0. Cells of the
    last `n_exact` trees, which are exact, may begin with smaller variances than 1.
    """

    def __init__(
        self, sizes, noises, levels, n_outputs, n_seen=(), n_exact=0, exact_variances=()
    ):  # fmt: skip
        self.noises, self.levels = noises, levels
        self.kinds = [(both, noise) for both in levels for noise in noises]
        self.numbers = [np.zeros((n, len(self.kinds), 1 + n_outputs), dtype=single) for n in sizes]
        self.n_seen = np.array(n_seen or [len(sizes)] * len(self.kinds))
        for t, numbers in enumerate(self.numbers):
            numbers[:, :, 0] = t < self.n_seen
            if exact_variances and t >= len(sizes) - n_exact:
                numbers[:, :, 0] *= np.array(exact_variances, dtype=single)
        pairs = zip(self.kinds, self.n_seen, strict=True)
        self.share = [1 / np.sqrt((2.0 if both else 1.0) * seen) for (both, _), seen in pairs]

    def cells(self, e, found):
        """Return (tree, cell) of a sample for an expert: leaves, then the upper cells."""
        found = found[: self.n_seen[e]]
        leaves = [(t, leaf) for t, (leaf, _) in enumerate(found)]
        upper = [(t, upper) for t, (leaf, upper) in enumerate(found) if upper != leaf]
        return leaves, upper if self.kinds[e][0] else []

    def scores(self, found):
        """Return the scores (n_experts, n_outputs) and the variances (n_experts,) of a sample."""
        scores, variances = [], []
        for e, share in enumerate(self.share):
            sums = 0.0
            for cells in self.cells(e, found):
                each = np.array([self.numbers[t][cell, e] for t, cell in cells], dtype=float)
                sums = sums + (each.cumsum(axis=0)[-1] if len(each) else 0.0)
            scores.append(share * sums[1:])
            variances.append(share * share * sums[0])
        return np.array(scores), np.array(variances)

    def learn(self, found, goals, weight, rule):
        """Let each expert step by the rule [2]_: one variance serves all outputs, and falls once.

        An expert of noise r sees the weight of the sample divided by r.
        """
        scores, variances = self.scores(found)
        for e, (_, noise) in enumerate(self.kinds):
            given = variances[e], 1, weight / noise
            pairs = list(zip(scores[e], goals, strict=True))
            steps = np.array([rule.coefficient(f, y, *given) for f, y in pairs])
            contraction = max(rule.contraction(f, y, *given) for f, y in pairs)
            leaves, upper = self.cells(e, found)
            for t, cell in [*leaves, *upper]:
                own = self.numbers[t][cell, e]
                variance = float(own[0])
                own[1:] += (self.share[e] * steps * variance).astype(single)
                fall = contraction * self.share[e] * self.share[e]
                own[0] = variance - fall * variance * variance


class SquaredAROW(AROW):
    """AROW on the squared error, whose step along the sample is that of least squares."""

    def coefficient(self, f, y, q, t, importance=1.0):
        return (y - f) * self.contraction(f, y, q, t, importance)


def rule_of(name, n_classes):
    """Return the rule of the experts, for classes or for targets."""
    absolute = LOSSES["epsilon_insensitive"](epsilon=0.0)
    loss = LOSSES["hinge"]() if n_classes else absolute
    if name == "least_squares" or (name == "arow" and not n_classes):
        return SquaredAROW(absolute, r=1.0)
    if name == "logistic":
        return RULES["gradient"](LOSSES["logistic"](), eta=1.0)
    if name in second_order.RULES:
        return second_order.RULES[name](loss, C=1.0, confidence=0.9)
    return RULES[name](loss, C=1.0, r=1.0)


def numbered(sources):
    """Return each feature with the number of its axis among those of the feature."""
    return [(source, sources[:k].count(source)) for k, source in enumerate(sources)]


@dataclass
class Result:
    """Result of a run.

    Attributes
    ----------
    predictions : ndarray of shape (n,)
        Class number or target of each sample, predicted before it was learnt.
    mistakes : int
    cumulative_loss : float
    model : KernelForest
    """

    predictions: np.ndarray
    mistakes: int
    cumulative_loss: float
    model: object


class KernelForest:
    """The forest, its experts, and the samples that are kept."""

    def __init__(
        self, d, n_classes, n_targets, *, n_trees, noises, levels, memory, max_samples, max_rows,
        max_leaf, n_candidates, n_replays, renewal_spread, when_full, early, seed,
        categories, rule, n_exact, exact_from, teacher, cut_weights, exact_share, n_seen,
        exact_variances, holds,
    ):  # fmt: skip
        self.is_light, self.cut_weights = teacher == "light", cut_weights
        self.n_exact, self.exact_from = n_exact, exact_from
        self.exact_share, self.n_seen = exact_share, n_seen
        self.exact_variances = exact_variances
        self.rule = rule_of(rule, n_classes)
        self.categories = categories
        self.early, self.spread, self.anew = early, renewal_spread, when_full == "renew"
        self.renewed, self.pending = 0, None
        self.n_classes = n_classes
        self.n_outputs = n_classes if n_classes > 2 else 1 if n_classes else n_targets
        self.noises, self.levels, self.memory = noises, levels, memory
        self.max_samples, self.max_rows, self.max_leaf = max_samples, max_rows, max_leaf
        self.n_candidates, self.n_replays, self.seed = n_candidates, n_replays, seed
        self.scale = Scale(np.zeros(d), np.zeros(d))
        self.trees = [Tree() for _ in range(n_trees)]
        self.experts = self.new_experts()
        n_experts = len(self.experts.kinds)
        self.errors, self.met = np.zeros((n_experts, n_experts)), 0.0
        self.metric, self.importances = np.ones(d), np.zeros(d)
        self.offset, self.unit = np.zeros(self.n_outputs), np.ones(self.n_outputs)
        self.kept, self.entered = [], 0
        self.held = [HeldTargets() for _ in range(n_targets if holds and not n_classes else 0)]

    def new_experts(self, n_exact=0):
        sizes = [len(tree.left) for tree in self.trees]
        seen = self.n_seen, n_exact, self.exact_variances
        return Experts(sizes, self.noises, self.levels, self.n_outputs, *seen)

    def cells(self, x):
        z = self.scale.rows(x[None, :])[0]
        return [tree.cells(z) for tree in self.trees]

    def answer(self, scores):
        """Return the scores that predict, of those of the experts."""
        return self.offset + self.unit * (self.weights() @ scores)

    def goals(self, y):
        """Return the targets of the outputs."""
        if self.n_classes == 0:
            return (y - self.offset) / self.unit
        if self.n_outputs == 1:
            return np.array([1.0 if y > 0 else -1.0])
        return np.where(y == np.arange(self.n_classes), 1.0, -1.0)

    def few_goals(self, y, draws):
        """Return the targets of the outputs, a weighted sum, or eight random sums of them."""
        Y = np.array([self.goals(target) for target in y])
        if self.cut_weights:
            return sum(w * Y[:, k : k + 1] for k, w in enumerate(self.cut_weights))
        if self.n_outputs <= 8:
            return Y
        return Y @ (draws.randint(2, size=(self.n_outputs, 8)) * 2.0 - 1.0) / np.sqrt(8)

    def learn(self, x, y, weight, found, scores):
        """Learn a sample that is in the cells `found`, and has these scores of the experts."""
        if self.n_classes == 0 and self.entered == 0:
            self.offset = np.full(self.n_outputs, y, dtype=float)
        if self.held and self.renewed:
            said = zip(np.ravel(y), self.weights() @ scores, self.offset, self.unit, strict=True)
            y = [own.hold(*each) for own, each in zip(self.held, said, strict=True)]
            y = np.array(y) if len(y) > 1 else y[0]
        self.note_errors(scores, self.goals(y), weight)
        self.teach(self.experts, found, y, weight)
        self.kept = [*self.kept, (x, y, weight)][-self.memory :]
        self.entered += 1
        if self.pending:
            self.pending.later.append((x, y, weight))
            self.go_on()
        if not self.pending and self.last_due() > self.renewed:
            self.pending = Renewal(self)
            self.go_on()

    def teach(self, experts, found, y, weight):
        experts.learn(found, self.goals(y), weight, self.rule)

    def note_errors(self, scores, goals, weight):
        """Note the errors of the experts, before they learn the sample."""
        if len(scores) == 1 or (self.n_classes == 0 and self.renewed == 0):
            return
        if self.n_classes:
            scores = np.clip(scores, -1, 1)
        missed = np.clip(scores - goals, -2, 2)
        self.errors = 0.999 * self.errors + weight * missed @ missed.T
        self.met = 0.999 * self.met + weight

    def weights(self):
        """Return the weights w of the scores [3]_: w' E w is least, and they sum to 1.

        E holds the mean products of the errors; the weights stay near equal ones by as much as ten
        samples of the best expert's error are worth, with classes at least one that is missed.
        """
        n = len(self.errors)
        if self.met == 0:
            return np.full(n, 1 / n)
        mean = self.errors / self.met
        least = 1 if self.n_classes else 0
        level = max(10 * mean.diagonal().min(), least) / self.met
        matrix = np.zeros((n + 1, n + 1))
        matrix[:n, :n] = mean + level * np.eye(n)
        matrix[n, :n] = matrix[:n, n] = 1
        if np.linalg.cond(matrix) > 1e15:
            return np.full(n, 1 / n)
        return np.linalg.solve(matrix, [*np.full(n, level / n), 1])[:n]

    def last_due(self):
        """Return at how many samples a renewal was due last."""
        if self.entered < 32:
            return 0
        if self.anew and self.entered >= self.memory:
            return self.entered // self.memory * self.memory
        return 1 << (self.entered.bit_length() - 1)

    def go_on(self):
        """Take trees that are due, and all of a renewal where it ends."""
        pending = self.pending
        share = len(pending.later) / pending.lag if pending.lag else 1.0
        n_trees = len(self.trees)
        while not pending.anew and pending.taken < n_trees:
            # Of the samples 15 % are for the look.
            due = min((share - 0.15) / (1 - 0.15), 1.0) * pending.work_of(n_trees)
            if due < pending.work_of(pending.taken + 1):
                return
            self.take_tree(pending.taken, pending.trees[pending.taken])
            pending.taken += 1
        if share >= 1:
            pending.finish(self)
            self.renewed, self.pending = pending.begun, None

    def take_tree(self, t, tree):
        """Replace a tree by one that has grown from it.

        New cells begin with the numbers of the cell that they are part of. Where that was its own
        upper cell and another node is now, the node has the weights, and the leaves below begin
        without.
        """
        size, old = len(self.trees[t].left), self.experts.numbers[t]
        both = [both for both, _ in self.experts.kinds]
        numbers = np.zeros((len(tree.left), *old.shape[1:]), dtype=single)
        numbers[:size] = old
        depth, origin = [0] * len(tree.left), list(range(len(tree.left)))
        for node, left in enumerate(tree.left):
            if left == node:
                continue
            for child in (left, left + 1):
                depth[child] = depth[node] + 1
                if child >= size:
                    numbers[child], origin[child] = numbers[node], origin[node]
        for node in range(len(tree.left)):
            below = depth[node] > UPPER_LEVEL >= depth[origin[node]]
            if tree.is_leaf(node) and below:
                numbers[node, both, 1:] = 0
        self.trees[t], self.experts.numbers[t] = tree, numbers

    def numbers(self):
        """Return the numbers of all nodes, those that are no cells as cells begin."""
        found = []
        both = np.array([both for both, _ in self.experts.kinds])
        for tree, numbers in zip(self.trees, self.experts.numbers, strict=True):
            own, depth = numbers.copy(), [0] * len(tree.left)
            for node, left in enumerate(tree.left):
                if left == node:
                    continue
                depth[left] = depth[left + 1] = depth[node] + 1
                unused = np.ones(len(both), bool) if depth[node] != UPPER_LEVEL else ~both
                own[node, unused] = [1, *[0] * self.n_outputs]
            found.append(own)
        return np.concatenate(found)


class Renewal:
    """A renewal of a forest: what replaces it, and the samples that have come since it began."""

    def __init__(self, forest):
        self.begun, self.anew = forest.entered, forest.anew or forest.entered <= forest.memory
        n, least = len(forest.kept), forest.exact_from
        most = min(8 * least, max(2 * least, 16384))
        self.n_exact = 0 if n < least else forest.n_exact // 2 if n < most else forest.n_exact
        self.lag = self.samples_spread_over(forest)
        self.later, self.taken = [], 0
        self.fresh = fresh = copy.copy(forest)
        X, y, self.weight = (np.array(column) for column in zip(*forest.kept, strict=True))
        self.X, self.y = X, y
        if self.anew:
            if fresh.n_classes == 0:
                columns = [without_outliers(one) for one in y.reshape(len(y), -1).T]
                self.y = y = np.transpose(columns).reshape(y.shape)
                fresh.offset, fresh.unit = np.transpose([units_of_targets(one) for one in columns])
            self.take_scale(X, y)
        slopes = self.look()
        self.rows = fresh.scale.rows(X)
        n_axes = len(fresh.scale.sources())
        goals = fresh.few_goals(y, np.random.RandomState(splitmix(fresh.seed, self.begun) >> 32))
        has_margin = fresh.n_classes > 0 and fresh.n_outputs <= 8
        grower = Grower(self.rows, n_axes, slopes, goals, has_margin, fresh.n_candidates,
                        fresh.max_leaf, self.sought,
                        fresh.scale.sides(slopes.shape[1]))  # fmt: skip
        count = min(len(X), max(64, int(fresh.max_samples * len(X))))
        if self.anew:
            count = min(count, fresh.max_rows)
        self.trees = [Tree() if self.anew else tree.copy() for tree in forest.trees]
        fewer = min(count, max(64, int(fresh.exact_share * len(X)))) if self.anew else count
        seed = splitmix(fresh.seed, self.begun)
        for t, tree in enumerate(self.trees):
            grower.is_exact = t >= len(self.trees) - self.n_exact
            seed_of_tree = splitmix(seed, t)
            grower.grow(tree, fewer if grower.is_exact else count, seed_of_tree, self.anew)

    def samples_spread_over(self, forest):
        """Return over how many samples it is spread; where the memory is full by its work."""
        n = min(forest.entered, forest.memory)
        least = int(forest.spread * n)
        if forest.entered <= forest.early:
            least = int(forest.spread * n / 16)
            return least if least > 1 else 0
        if forest.entered < forest.memory or least == 0:
            return least
        again = 3 + 3 * forest.n_outputs
        growth = 270 + 30 * MOST_SOUGHT * self.n_exact / len(forest.trees)
        rows = min(n, max(64, int(forest.max_samples * n)), forest.max_rows)
        work = growth * rows + again * forest.n_replays * n
        return min(max(least, int(work / (7.6 * (again + 114)))), n)

    def work_of(self, n):
        """Return the work on the first n trees, in units of one that is not cut exactly."""
        return n + 9 * len(self.sought) / 270 * max(0, n - len(self.trees) + self.n_exact)

    def take_scale(self, X, y):
        """Take units and tables of the samples; an axis that is new has its feature's metric."""
        fresh = self.fresh
        few = np.random.RandomState(splitmix(fresh.seed, self.begun) >> 32)
        few_goals = fresh.few_goals(y, few)
        # Once samples are kept no more, features stay bent as they are.
        bends = fresh.scale.bends if self.begun > len(X) else None
        bends = bends or Bends(X, few_goals, fresh.categories)
        X = bends.fill(X)
        center, factor = units_of(X)
        groups = Groups(X, {*fresh.categories, *bends.units})
        factor[[*fresh.categories, *groups.members()]] = 0
        draws = np.random.RandomState(splitmix(fresh.seed, self.begun) & 0xFFFFFFFF)
        Y = fresh.few_goals(y, draws) if fresh.categories or groups.groups else None
        tables = learnt_tables(X, center, factor, fresh.categories, Y, draws, groups)
        before, known = fresh.scale, dict(enumerate(fresh.metric))
        known |= dict(zip(numbered(before.sources()), fresh.metric, strict=True))
        without = [*fresh.categories, *groups.without_axes()]
        numbers = [j for j in range(X.shape[1]) if j not in without]
        Z = (X - center) * factor
        groups.fill(X, Z)
        gaps = Gaps(Z, np.isnan(X), numbers, few_goals)
        fresh.scale = Scale(center, factor, tables=tables, gaps=gaps if gaps.sources else None,
                            groups=groups if groups.groups else None, bends=bends)  # fmt: skip
        axes, mean = numbered(fresh.scale.sources()), np.mean(fresh.metric)
        metric = np.array([known.get(key, known.get((key[0], 0), mean)) for key in axes])
        fresh.metric = metric_on(known, before.groups, fresh.scale.groups, metric)

    def finish(self, forest):
        """Let the new forest learn the samples, and replace the old one."""
        fresh = self.fresh
        forest.metric, forest.importances = fresh.metric, fresh.importances
        if not self.anew:
            return
        forest.scale, forest.offset, forest.unit = fresh.scale, fresh.offset, fresh.unit
        forest.trees = self.trees
        forest.experts = forest.new_experts(self.n_exact)
        found = [[tree.cells(z) for tree in self.trees] for z in self.rows]
        for _ in range(forest.n_replays):
            for i in range(len(self.X)):
                forest.teach(forest.experts, found[i], self.y[i], self.weight[i])
        for x, y, weight in self.later:
            forest.teach(forest.experts, forest.cells(x), y, weight)

    def look(self):
        """Ask the teacher where the function changes; return slopes of rows, and their mean."""
        fresh, X, y = self.fresh, self.X, self.y
        taught = min(len(X), max(256, min(2048, 2**20 // X.shape[1])))
        draws = np.random.RandomState(splitmix(fresh.seed, self.begun) >> 32)
        Z = fresh.scale.axes(X[-taught:])
        Y = fresh.few_goals(y[-taught:], draws)
        landmarks = draws.permutation(taught)[: 100 if fresh.is_light else 200]
        Z = np.clip(Z, -8, 8)
        teacher = Teacher(Z, Y, landmarks, fresh.metric, linear=not fresh.is_light)
        gradients = teacher.gradients()
        squares = (gradients**2).sum(axis=0)
        own = squares.mean(axis=0)
        if self.anew and Z.shape[1] > 1 and not (fresh.is_light and fresh.n_classes):
            find = iterated if fresh.is_light else leading_of
            groups = fresh.scale.groups
            n_empty = len(groups.without_axes()) if groups else 0
            fresh.scale.directions = directions_of(Z, gradients, find, n_empty)
        if fresh.scale.directions is not None:
            along = ((gradients @ fresh.scale.directions.astype(float)) ** 2).sum(axis=0)
            squares = np.hstack([squares, along])
        fresh.importances = np.zeros(X.shape[1])
        shares, n = own / own.sum(), len(own) - 2 * bool(fresh.scale.gaps)
        if fresh.scale.groups:
            shares = fresh.scale.groups.shared(shares)
        np.add.at(fresh.importances, fresh.scale.sources()[:n], shares[:n])
        for k, share in enumerate(shares[n:]):
            # Features with gaps have parts of it by their weights.
            parts = np.abs(fresh.scale.gaps.weights[:, k].astype(float))
            fresh.importances[fresh.scale.gaps.sources] += share * parts / max(parts.sum(), 1e-300)
        metric = np.maximum(np.sqrt(own / own.mean()), 1e-3)
        fresh.metric = metric / metric.mean()
        mean = squares.mean(axis=0)
        steep = np.argsort(-mean[: Z.shape[1]], kind="stable")
        self.sought = sorted(steep[:MOST_SOUGHT])
        mixed = np.tile(mean, (len(X) + 1, 1))
        mixed[len(X) - taught : -1] = 0.9 * squares + 0.1 * mean
        return np.sqrt(np.maximum(mixed / mean.mean(), 1e-4)).astype(single)


def kernel_forest(
    X, y, n_classes, seed, sample_weight=None, *, noise="auto", levels="both", n_trees=100,
    memory=16384, max_samples=0.5, max_rows=2048, max_leaf=4, n_candidates=10, n_replays=3,
    renewal_spread=0.25, when_full="grow", early=512,
    categorical_features=(), rule="arow", exact="auto", n_exact=0, exact_from=1, teacher="full",
    cut_weights=(), exact_share=1.0, n_seen=(), exact_variances=(),
    hold_outliers=False,
):  # fmt: skip
    """Learn samples one after the other; `n_classes` is 0 of a regression.

    `n_exact` trees are exact if `exact` is not their share. The columns of y are targets, if there
    are several; with `cut_weights` their sum tells where to cut, each times its weight. Exact trees
    grow from `exact_share` of the samples at most; expert e sees the first ``n_seen[e]`` trees,
    and the variance of its cells of exact trees is ``exact_variances[e]`` at first. Targets that
    are outliers are held with `hold_outliers`.
    """
    model = KernelForest(
        X.shape[1], n_classes, y[0].size, n_trees=n_trees, seed=seed, memory=memory,
        max_samples=max_samples, noises=(0.2, 4.0) if noise == "auto" else (noise,),
        levels={"leaf": [False], "upper": [True], "both": [False, True]}[levels],
        max_rows=max_rows, max_leaf=max_leaf, n_candidates=n_candidates, n_replays=n_replays,
        renewal_spread=renewal_spread, when_full=when_full, early=early, rule=rule,
        n_exact=n_exact if exact == "auto" else max(round(exact * n_trees), int(exact > 0)),
        exact_from=exact_from,
        teacher=teacher, cut_weights=cut_weights, exact_share=exact_share, n_seen=n_seen,
        exact_variances=exact_variances, holds=hold_outliers,
        categories=[] if categorical_features == "from_dtype" else list(categorical_features),
    )  # fmt: skip
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    predictions, mistakes, total = [], 0, 0.0
    for x, target, weight in zip(X, y, weights, strict=True):
        found = model.cells(x)
        each, _ = model.experts.scores(found)
        scores = model.answer(each)
        winner = int(scores[0] > 0) if n_classes == 2 else int(scores.argmax())
        predictions.append(winner if n_classes else scores if y.ndim == 2 else scores[0])
        if weight == 0:
            continue
        if n_classes:
            mistakes += int(winner != target)
            total += weight * np.maximum(1 - model.goals(target) * scores, 0).sum()
        else:
            total += weight * np.sum((target - scores) ** 2) / 2
        model.learn(x, target, weight, found, each)
    return Result(np.array(predictions), mistakes, total, model)
