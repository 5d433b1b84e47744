"""Terms of a score: kernels, explicit features, and functions that are added up.

A term computes `n_outputs` numbers from a row. The evaluation here, in plain NumPy and in double,
defines the meaning of the fields; generated code is compared with it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from onlinekern.estimators.types import Array, Floats, Sparse

# The kernels that `KernelFunction`, the C code and the ONNX graphs implement.
FORMULAS = ("gaussian", "exponential", "laplacian", "polynomial", "linear", "sigmoid", "cosine")


def dense(rows: Any) -> Floats:
    """Return rows as an ndarray of float64."""
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class KernelFunction:
    """Kernel of the library by its name in `onlinekern.core.KERNELS`.

    Attributes
    ----------
    name : str
        One of `FORMULAS`.
    gamma : float
    degree : int
        Degree of the polynomial.
    coef0 : float
        Constant of the polynomial and the sigmoid.
    """

    name: str
    gamma: float = 1.0
    degree: int = 1
    coef0: float = 0.0

    def values(self, X: Floats, Z: Array | Sparse) -> Floats:
        """Return the kernel values of the rows of X with those of Z, ndarray (n, m)."""
        Z = dense(Z)
        if self.name == "laplacian":
            distances = [np.abs(X - z).sum(axis=1) for z in Z]
            return np.exp(-self.gamma * np.array(distances).reshape(len(Z), len(X)).T)
        if self.name in ("gaussian", "exponential"):
            distances = [np.square(X - z).sum(axis=1) for z in Z]
            exponents = self.gamma * np.array(distances).reshape(len(Z), len(X)).T
            return np.exp(-(exponents if self.name == "gaussian" else np.sqrt(exponents)))
        if self.name == "cosine":
            return X @ Z.T * inverse_norms(X)[:, np.newaxis] * inverse_norms(Z)
        return self.of_products(X @ Z.T)

    def of_products(self, products: Floats) -> Floats:
        """Return kernel values from inner products x . z, for kernels of these alone."""
        if self.name == "polynomial":
            return (self.gamma * products + self.coef0) ** self.degree
        if self.name == "sigmoid":
            return np.tanh(self.gamma * products + self.coef0)
        return products


def inverse_norms(X: Floats) -> Floats:
    """Return 1 / ||x|| of the rows, 0 for rows of zeros."""
    squares = np.square(X).sum(axis=1)
    return np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1)), 0)


@dataclass(frozen=True, eq=False)
class Fourier:
    """Features [cos(omega_j . x), sin(omega_j . x)] / sqrt(D), the cosines first.

    Attributes
    ----------
    frequencies : ndarray of shape (D, n_features)
    """

    frequencies: Floats

    @property
    def n_features(self) -> int:
        """Number of features of a row."""
        return 2 * len(self.frequencies)

    def features(self, X: Floats) -> Floats:
        """Return the features of rows, ndarray (n, n_features)."""
        angles = X @ self.frequencies.T
        return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(len(self.frequencies))


@dataclass(frozen=True, eq=False)
class Projected:
    """Nystroem features P k(x), with the kernel values k(x) of x with landmarks.

    Attributes
    ----------
    kernel : KernelFunction
    landmarks : ndarray or CSR matrix of shape (m, n_features of a row)
    projection : ndarray of shape (n_features, m)
    """

    kernel: KernelFunction
    landmarks: Array | Sparse
    projection: Floats

    @property
    def n_features(self) -> int:
        """Number of features of a row."""
        return len(self.projection)

    def features(self, X: Floats) -> Floats:
        """Return the features of rows, ndarray (n, n_features)."""
        return self.kernel.values(X, self.landmarks) @ self.projection.T


Map: TypeAlias = Fourier | Projected


@dataclass(frozen=True, eq=False)
class Constant:
    """Term that has the same numbers for every row.

    Attributes
    ----------
    values : ndarray of shape (n_outputs,)
    """

    values: Floats

    def scores(self, X: Floats) -> Floats:
        """Return what the term adds to the scores of rows, ndarray (n, n_outputs)."""
        return np.tile(self.values, (len(X), 1))


@dataclass(frozen=True, eq=False)
class Linear:
    """Linear term W x.

    Attributes
    ----------
    weights : ndarray of shape (n_outputs, n_features)
    """

    weights: Floats

    def scores(self, X: Floats) -> Floats:
        """Return what the term adds to the scores of rows, ndarray (n, n_outputs)."""
        return X @ self.weights.T


@dataclass(frozen=True, eq=False)
class Expansion:
    """Kernel expansion sum_i a_i kappa(s_i, x).

    Attributes
    ----------
    kernel : KernelFunction
    vectors : ndarray or CSR matrix of shape (m, n_features)
        The support vectors, the oldest first.
    coefficients : ndarray of shape (n_outputs, m)
    """

    kernel: KernelFunction
    vectors: Array | Sparse
    coefficients: Floats

    def scores(self, X: Floats) -> Floats:
        """Return what the term adds to the scores of rows, ndarray (n, n_outputs)."""
        return self.kernel.values(X, self.vectors) @ self.coefficients.T


@dataclass(frozen=True, eq=False)
class Mapped:
    """Term W z(x), with the features z of a map.

    Attributes
    ----------
    map : Fourier or Projected
    weights : ndarray of shape (n_outputs, n_features of the map)
    """

    map: Map
    weights: Floats

    def scores(self, X: Floats) -> Floats:
        """Return what the term adds to the scores of rows, ndarray (n, n_outputs)."""
        return self.map.features(X) @ self.weights.T

    def simplest(self) -> Mapped | Expansion:
        """Return the same term, an expansion if there are landmarks.

        Weights of P k(x) are coefficients of k(x).
        """
        own = self.map
        if isinstance(own, Fourier):
            return self
        return Expansion(own.kernel, own.landmarks, self.weights @ own.projection)

    def of_waves(self) -> Floats:
        """Return the weights of cosines and sines, ndarray (n_outputs, 2, number of frequencies).

        They include the factor 1 / sqrt(D) of the features.
        """
        count = self.map.n_features // 2
        return self.weights.reshape(len(self.weights), 2, count) / np.sqrt(count)


@dataclass(frozen=True, eq=False)
class Moved:
    """Term of M^(1/2) x, with a metric M.

    Attributes
    ----------
    root : ndarray of shape (n_features,) or (n_features, n_features)
        M^(1/2), which is symmetric, or its diagonal if it is diagonal.
    term : Mapped
        Term whose input is M^(1/2) x.
    """

    root: Floats
    term: Mapped

    def scores(self, X: Floats) -> Floats:
        """Return what the term adds to the scores of rows, ndarray (n, n_outputs)."""
        return self.term.scores(X * self.root if self.root.ndim == 1 else X @ self.root)


@dataclass(frozen=True, eq=False)
class Leverage:
    """Term 1 / (1 + z' M z + max(0, kappa(x, x) - z'z) / reg).

    The part with the maximum is for landmarks only.

    Attributes
    ----------
    map : Fourier or Projected
    matrix : ndarray of shape (n_features, n_features)
        The symmetric matrix M.
    reg : float
    rounding : float
        The part with the maximum counts only if it is above this share of kappa(x, x).
    """

    map: Map
    matrix: Floats
    reg: float
    rounding: float


@dataclass(frozen=True, eq=False)
class Local:
    """Sum over the nearest prototypes of g_j (U_j [x - c_j, 1]), where ||g|| = 1.

    g_j is proportional to exp(-(d_j - d_0) / bandwidth), with the squared distances d to the
    `n_assign` nearest prototypes, of which d_0 is the smallest. With a bandwidth of 0, only the
    nearest prototype counts.

    Attributes
    ----------
    prototypes : ndarray of shape (m, n_features)
    n_assign : int
    bandwidth : float
    centers : ndarray of shape (m, n_features)
        The points c_j.
    weights : ndarray of shape (m, n_outputs, n_features)
    intercepts : ndarray of shape (m, n_outputs)
    """

    prototypes: Floats
    n_assign: int
    bandwidth: float
    centers: Floats
    weights: Floats
    intercepts: Floats


# Scaled values are clipped to +-FARTHEST, as in `core.partitions.scale`.
FARTHEST = 1e6
# Values that guesses are computed from, and guesses, are clipped to +-FARTHEST_GIVEN.
FARTHEST_GIVEN = 4.0
# |u| is clipped at this before the logarithm of `Bends`.
FARTHEST_BENT = 1e300


@dataclass(frozen=True, eq=False)
class Tables:
    """Lookup tables for columns of a scaled row.

    A table has an entry for unknown values, one for NaN, and one for each of the values 0, 1, ...

    Attributes
    ----------
    sources, columns : ndarray of shape (n,)
        Feature that is looked up, and column that is written. Columns after those of the features
        are in order.
    starts : ndarray of shape (n + 1,)
        Index of the first entry of each table, and the number of all entries.
    entries : ndarray of float32
    """

    sources: Array
    columns: Array
    starts: Array
    entries: Array

    def fill(self, X: Floats, Z: Array) -> None:
        """Write the columns of rows X into the scaled rows Z."""
        sizes = np.diff(self.starts)
        for source, column, first, size in zip(
            self.sources, self.columns, self.starts[:-1], sizes, strict=True
        ):
            value = X[:, source]
            known = (value >= 0) & (value < size - 2)
            code = np.where(known, np.floor(np.where(known, value, 0)) + 2, np.isnan(value))
            Z[:, column] = self.entries[first + code.astype(np.intp)]


@dataclass(frozen=True, eq=False)
class Bends:
    """Replaces features x with heavy tails by sign(u) log2(1 + |u|), u = (x - center) factor.

    The logarithm is interpolated linearly between powers of two, and |u| is clipped at
    `FARTHEST_BENT`.

    Attributes
    ----------
    features : ndarray of shape (n,)
    centers, factors : ndarray of shape (n,)
    """

    features: Array
    centers: Floats
    factors: Floats

    @property
    def any(self) -> bool:
        """Whether a feature is bent."""
        return len(self.features) > 0

    def fill(self, X: Floats) -> Floats:
        """Return the rows with these features transformed."""
        X = X.copy()
        own = (X[:, self.features] - self.centers) * self.factors
        mantissas, exponents = np.frexp(1 + np.minimum(np.abs(own), FARTHEST_BENT))
        X[:, self.features] = np.copysign(exponents - 1 + (2 * mantissas - 1), own)
        return X


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of one-hot columns, replaced by positions of the category in a few orders.

    The orders of a group are written to the columns of its first members.

    Attributes
    ----------
    members : ndarray of shape (n_members,)
        Features, group by group.
    starts : ndarray of shape (n + 1,)
        Index of the first member of each group, and the number of all members.
    middles : ndarray of shape (n_members,)
        A member is on if its value is above this threshold.
    bases : ndarray of shape (n, n_orders), float32
        Positions if no member is on. A group has at most as many orders as members.
    steps : ndarray of shape (n_members, n_orders), float32
        Added to the positions if a member is on.
    """

    members: Array
    starts: Array
    middles: Floats
    bases: Array
    steps: Array

    @property
    def any(self) -> bool:
        """Whether there are groups."""
        return len(self.members) > 0

    @property
    def has(self) -> Array:
        """Mask of the orders that each group has, ndarray of shape (n, n_orders)."""
        return np.arange(self.bases.shape[1]) < np.diff(self.starts)[:, np.newaxis]

    @property
    def axes(self) -> Array:
        """The columns of the orders, group by group, ndarray of shape (has.sum(),)."""
        places = self.starts[:-1, np.newaxis] + np.arange(self.bases.shape[1])
        return self.members[places[self.has]]

    @property
    def owners(self) -> Array:
        """The group of each member."""
        return np.repeat(np.arange(len(self.bases)), np.diff(self.starts))

    def fill(self, X: Floats, Z: Array) -> None:
        """Write the orders of rows X into the scaled rows Z."""
        has = self.has
        Z[:, self.axes] = self.bases[has]
        steps = zip(self.members, self.owners, self.middles, self.steps, strict=True)
        for member, group, middle, step in steps:
            own = step[has[group]]
            axes = self.members[self.starts[group] + np.arange(len(own))]
            Z[np.ix_(X[:, member] > middle, axes)] += own


@dataclass(frozen=True, eq=False)
class Gaps:
    """Replacements for missing values in a scaled row, for the features with gaps.

    A missing value is replaced by a guess, a weighted sum of the givers' scaled values, of which
    missing ones are 0. Values and sum are clipped to +-FARTHEST_GIVEN; the sum is computed in
    float64. Two weighted counts of missing values, minus their means, follow the columns of the
    tables. At the end of the row are two columns for each of these features: its value, or the two
    `places` if it is missing.

    Attributes
    ----------
    sources : ndarray of shape (n,)
        The features, ascending.
    givers : ndarray of shape (n_givers,)
    guesses : ndarray of shape (n, n_givers), float32
    places : ndarray of shape (n, 2), float32
    weights : ndarray of shape (n, 2), float32
    means : ndarray of shape (2,)
    """

    sources: Array
    givers: Array
    guesses: Array
    places: Array
    weights: Array
    means: Floats

    @property
    def any(self) -> bool:
        """Whether a feature has gaps."""
        return len(self.sources) > 0

    def fill(self, X: Floats, Z: Array) -> Array:
        """Write guesses and counts of rows X into the scaled rows Z; return the last columns."""
        missing = np.isnan(X[:, self.sources])
        given = held(Z[:, self.givers].astype(np.float64))
        guesses = held(given @ self.guesses.T.astype(np.float64))
        Z[:, self.sources] = np.where(missing, guesses, Z[:, self.sources])
        sums = missing @ self.weights.astype(np.float64) - self.means
        Z[:, Z.shape[1] - len(self.means) :] = sums
        sides = np.where(missing[:, :, None], self.places, Z[:, self.sources, None])
        return sides.reshape(len(X), -1).astype(np.float32)


def held(values: Floats) -> Floats:
    """Return values clipped to +-FARTHEST_GIVEN."""
    return np.clip(values, -FARTHEST_GIVEN, FARTHEST_GIVEN)


@dataclass(frozen=True, eq=False)
class Trees:
    """Sum of the weights of the leaf that a row falls into in each tree.

    Features are bent, and the row is scaled: z_j = (x_j - center_j) factor_j, or 0 for NaN, clipped
    to +-FARTHEST and rounded to float32. Groups replace one-hot columns, gaps replace NaN, and
    tables replace some columns or add further ones. Then follow the products of these columns, the
    axes, with the directions, summed in float32 in the order of the columns, and the last columns
    of gaps. At a node, a row goes left if its value in the node's column is at most the cut.

    Nodes are in preorder: a node, its left subtree, its right subtree. Leaves are not stored: a row
    has reached a leaf when no nodes are left.

    Attributes
    ----------
    center, factor : ndarray of shape (n_features,)
    directions : ndarray of shape (n_axes, n_directions), float32
        The axes are the features, the further columns of tables, and the two counts of gaps.
    tables : Tables
    gaps : Gaps
    groups : Groups
    bends : Bends
    cuts : ndarray of shape (n,), float32
    features : ndarray of shape (n,)
        Column of the scaled row that a node compares with its cut.
    left : ndarray of shape (n,)
        Number of nodes in the left subtree.
    first : ndarray of shape (n_trees + 1,)
        Index of the first node of each tree, and the number of all nodes.
    weights : ndarray of shape (n + n_trees, n_outputs)
        Weights of the leaves of each tree, from left to right.
    """

    center: Floats
    factor: Floats
    directions: Array
    tables: Tables
    gaps: Gaps
    groups: Groups
    bends: Bends
    cuts: Array
    features: Array
    left: Array
    first: Array
    weights: Floats

    def scaled(self, X: Floats) -> Array:
        """Return the scaled rows with all columns, ndarray (n, width) of float32."""
        own = (self.bends.fill(X) if self.bends.any else X) - self.center
        own = np.clip(own * self.factor, -FARTHEST, FARTHEST).astype(np.float32)
        Z = np.zeros((len(X), len(self.directions)), dtype=np.float32)
        Z[:, : X.shape[1]] = np.where(np.isnan(own), 0, own)
        if self.groups.any:
            self.groups.fill(X, Z)
        sides = [self.gaps.fill(X, Z)] if self.gaps.any else []
        self.tables.fill(X, Z)
        products = np.zeros((len(X), self.directions.shape[1]), dtype=np.float32)
        for z, direction in zip(Z.T, self.directions, strict=True):
            products += z[:, np.newaxis] * direction
        return np.hstack([Z, products, *sides])

    def scores(self, X: Floats) -> Floats:
        """Return what the term adds to the scores of rows, ndarray (n, n_outputs)."""
        Z, total = self.scaled(X), np.zeros((len(X), self.weights.shape[1]))
        for t, (first, end) in enumerate(itertools.pairwise(self.first)):
            total += self.weights[t + self.leaves(Z, first, end)]
        return total

    def leaves(self, Z: Array, first: int, end: int) -> Array:
        """Return `first` plus the leaf of each scaled row, in the tree of nodes first ... end."""
        at, ends, leaf = (np.full(len(Z), place) for place in (first, end, first))
        while (rows := np.flatnonzero(at < ends)).size:
            node = at[rows]
            behind = node + 1 + self.left[node]
            right = Z[rows, self.features[node]] > self.cuts[node]
            at[rows] = np.where(right, behind, node + 1)
            ends[rows] = np.where(right, ends[rows], behind)
            # A subtree of n nodes has n + 1 leaves.
            leaf[rows] += np.where(right, self.left[node] + 1, 0)
        return leaf


Term: TypeAlias = Constant | Linear | Expansion | Mapped | Moved | Leverage | Local | Trees
Terms: TypeAlias = tuple[Term, ...]
