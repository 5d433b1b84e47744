"""Gaps: what a row that trees cut has in the place of missing values.

A feature with gaps has a guess in their place, which is linear in the other features: so a row goes
where rows like it go. Two further columns have the lowest and the highest value there instead: a
cut of these puts what is missing on a side, or apart. Two columns tell of all features together:
how many values of a row are missing, and what that says of the target where it says something.
"""
from cython cimport floating
from libc.stdint cimport int32_t

import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape
from onlinekern.core.base.vector cimport ok_sparse_row
from onlinekern.core.samples.rows cimport Rows, dense_row, is_sparse, sparse_row

# The fields of gaps in a state.
GAPS = ("gap_sources", "gap_givers", "gap_guesses", "gap_places", "gap_weights", "gap_means")
# Features with gaps, those with the most, and features that guesses come from.
MOST_GAPS = 256
# Values that guesses come from are cut off at so many spreads, and so are guesses.
cdef double FARTHEST_GIVEN = 4.0
# The variance that is added to each feature's, in units of its own, and some for each equation of a
# row: few rows tell little of how features hang together.
RIDGE = 0.05
RIDGE_OF_FEW = 0.5
# The deviation of the numbers of missing values. What is missing in a feature says something of the
# target if their correlation is so many times that of chance.
NUMBER_UNIT = 0.5
LEAST_SAID = 3.0
# Points differ in directions in which they differ by more than this part of what they do in the
# first: all else is rounding.
LEAST_SPREAD = 1e-9


cdef class Gaps:
    """Features with gaps, and what stands there.

    Parameters
    ----------
    sources : ndarray of shape (n,), int32
    givers : ndarray of shape (n_givers,), int32
    guesses : ndarray of shape (n, n_givers), float32
        Weights of the givers' scaled values.
    places : ndarray of shape (n, 2), float32
        The lowest scaled value of each feature, and its highest.
    weights : ndarray of shape (n, 2), float32
        Of missing values in each feature: two sums of them are columns.
    means : ndarray of shape (2,)
        Of these sums.
    """

    def __cinit__(self, const int32_t[::1] sources, const int32_t[::1] givers,
                  const float[:, ::1] guesses, const float[:, ::1] places,
                  const float[:, ::1] weights, const double[::1] means):
        self.sources, self.givers = sources, givers
        self.guesses, self.places = guesses, places
        self.n, self.n_givers = sources.shape[0], givers.shape[0]
        self.weights, self.means = weights, means

    cdef void fill(self, const Rows *rows, Py_ssize_t i, float *z, float *numbers,
                   float *sides) noexcept nogil:
        """Write what stands for missing values of row i, where z has 0, and numbers of them.

        `sides` gets two values of each feature.
        """
        cdef Py_ssize_t j, k
        cdef double total, value, first = 0, second = 0
        for k in range(self.n):
            value = value_at(rows, i, self.sources[k])
            sides[2 * k], sides[2 * k + 1] = z[self.sources[k]], 0
            if value == value:
                continue
            # In double, where products of float are exact: the order of the sum does not tell.
            total = 0
            for j in range(self.n_givers):
                total += <double> self.guesses[k, j] * cut_off(z[self.givers[j]])
            sides[2 * k], sides[2 * k + 1] = <float> cut_off(total), 1
            first += self.weights[k, 0]
            second += self.weights[k, 1]
        numbers[0] = <float> (first - self.means[0])
        numbers[1] = <float> (second - self.means[1])
        # Guesses come from what is there, not from guesses.
        for k in range(self.n):
            z[self.sources[k]] = sides[2 * k]
            if sides[2 * k + 1]:
                sides[2 * k], sides[2 * k + 1] = self.places[k, 0], self.places[k, 1]
            else:
                sides[2 * k + 1] = sides[2 * k]

    def fields(self):
        """The arguments that make such gaps."""
        return (np.array(self.sources), np.array(self.givers), np.array(self.guesses),
                np.array(self.places), np.array(self.weights), np.array(self.means))

    def fill_axes(self, X, Z):
        """Write guesses into scaled rows in double, and numbers of missing values behind."""
        sources, givers, guesses, _, weights, means = self.fields()
        sources, givers = sources.astype(np.intp), givers.astype(np.intp)
        missing = np.isnan(X[:, sources])
        found = np.clip(Z[:, givers], -FARTHEST_GIVEN, FARTHEST_GIVEN) @ guesses.T.astype(float)
        found = np.clip(found, -FARTHEST_GIVEN, FARTHEST_GIVEN)
        Z[:, sources] = np.where(missing, found, Z[:, sources])
        Z[:, Z.shape[1] - N_NUMBERS:] = missing @ weights.astype(float) - means


cdef double share_missing(const floating[:, :] X, Py_ssize_t column) noexcept:
    """Which share of the values of a column is missing."""
    cdef Py_ssize_t i, n = 0
    for i in range(X.shape[0]):
        n += X[i, column] != X[i, column]
    return <double> n / X.shape[0]


cdef inline double cut_off(double value) noexcept nogil:
    return max(min(value, FARTHEST_GIVEN), -FARTHEST_GIVEN)


cdef double value_at(const Rows *rows, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Element j of row i."""
    cdef ok_sparse_row x
    cdef Py_ssize_t low = 0, high, middle
    cdef const void *values
    if is_sparse(rows):
        x = sparse_row(rows, i)
        high = x.count
        while low < high:
            middle = (low + high) // 2
            if x.columns[middle] < j:
                low = middle + 1
            else:
                high = middle
        if low == x.count or x.columns[low] != j:
            return 0
        values, j = x.values, low
    else:
        values = dense_row(rows, i)
    return (<const float *> values)[j] if rows.itemsize == 4 else (<const double *> values)[j]


def leading(points, counts, Py_ssize_t n=1):
    """Coordinates along the directions in which weighted points differ most, the most first.

    ndarray of shape (size, n), of fewer columns where points differ in fewer directions.
    """
    if points.shape[1] == 1:
        return points
    weighted = np.sqrt(counts)[:, None] * points
    # The smaller of two matrices that have the same values.
    is_wide = points.shape[0] < points.shape[1]
    values, vectors = np.linalg.eigh(weighted @ weighted.T if is_wide else weighted.T @ weighted)
    spread = np.count_nonzero(values > LEAST_SPREAD * values[len(values) - 1])
    directions = vectors[:, ::-1][:, :min(n, max(1, spread))]
    if is_wide:
        directions = weighted.T @ directions
        directions /= np.maximum(np.sqrt((directions ** 2).sum(axis=0)), 1e-300)
    largest = np.abs(directions).argmax(axis=0)
    return points @ (directions * np.sign(directions[largest, np.arange(len(largest))]))


class GapLearner:
    """Gaps of samples, learnt in pieces.

    Features of z in their units, 0 where a value is missing, have the matrix of products G. With
    P = (G + ridge)^-1 the least squares of feature j from the others has the weights
    -P_ij / P_jj. In G the products with j leave out the rows where it is missing, those of the
    others do not: so weights are divided by the share of the rows in which j is there.

    Parameters
    ----------
    n, d : int
        Samples and features.
    numbers : ndarray
        The features that may have gaps.
    room : int
        The most features with gaps that have columns of their own.
    """

    def __init__(self, Py_ssize_t n, Py_ssize_t d, numbers, Py_ssize_t room):
        self.n, self.numbers, self.room = n, numbers, room
        self.share = np.zeros(d)

    def miss(self, X, column):
        """Note how many values of a column are missing."""
        if X.dtype == np.float32:
            self.share[column] = share_missing[float](X, column)
        else:
            self.share[column] = share_missing[double](X, column)

    def choose(self, without_axes):
        """Choose features with gaps, and givers: these and others, the first ones.

        Before, all columns are told of (`miss`); after it `absorb` has its turn. Features without
        axes, of groups that have orders in others, tell nothing.
        """
        self.sources = np.zeros(0, dtype=np.intp)
        if not self.share.any():
            return
        self.numbers = np.setdiff1d(self.numbers, without_axes)
        share = self.share[self.numbers]
        partly = self.numbers[(share > 0) & (share < 1)]
        most = np.argsort(-self.share[partly], kind="stable")[:self.room]
        self.sources = np.sort(partly[most])
        others = np.setdiff1d(self.numbers, self.sources)[:MOST_GAPS - len(self.sources)]
        self.givers = np.sort(np.concatenate([self.sources, others]))
        self.products = np.zeros((len(self.givers), len(self.givers)))
        self.places = np.repeat([[np.inf, -np.inf]], len(self.sources), axis=0)
        self.missing = np.zeros((self.n, len(self.sources)), dtype=bool)

    def absorb(self, X, center, factor, groups, rows):
        """Add up what some rows tell, whose one-hot columns are those of `groups`, or None."""
        if not len(self.sources):
            return
        own, X = self.givers, np.ascontiguousarray(X[rows])
        missing, at = np.isnan(X[:, own]), np.searchsorted(own, self.sources)
        Z = np.nan_to_num((X - center) * factor)
        if groups is not None:
            groups.fill_axes(X, Z)
        Z = Z[:, own]
        Z = np.clip(Z, -FARTHEST_GIVEN, FARTHEST_GIVEN)
        for side, most in enumerate((np.fmin, np.fmax)):
            there = np.where(missing, np.nan, Z)[:, at]
            self.places[:, side] = most(self.places[:, side], most.reduce(there, axis=0))
        self.products += Z.T @ Z
        self.missing[rows] = missing[:, at]

    def solve(self, goals):
        """The gaps, which `choose` has found.

        `goals` are the targets of a few outputs, ndarray (n, n_outputs).
        """
        size, at = len(self.givers), np.searchsorted(self.givers, self.sources)
        ridge = RIDGE + RIDGE_OF_FEW * size / self.n
        inverse = np.linalg.inv(self.products / self.n + ridge * np.eye(size))
        there = np.maximum(1 - self.share[self.sources], RIDGE)
        guesses = -inverse[at] / (inverse[at, at] * there)[:, None]
        guesses[np.arange(len(at)), at] = 0
        weights = np.column_stack([np.ones(len(at)), self.say(goals)])
        deviations = np.std(self.missing @ weights, axis=0)
        weights *= np.divide(NUMBER_UNIT, deviations, out=np.zeros(N_NUMBERS),
                             where=deviations > 1e-9)
        weights = weights.astype(np.float32)
        means = self.share[self.sources] @ weights.astype(float)
        return Gaps(self.sources.astype(np.int32), self.givers.astype(np.int32),
                    np.ascontiguousarray(guesses, dtype=np.float32),
                    self.places.astype(np.float32), weights, means)

    def say(self, goals):
        """What missing values of each feature say of the targets, in the direction that tells most.

        They are the slopes of the targets by each of them alone, 0 where chance may be the reason.
        """
        share = self.share[self.sources]
        targets = goals - goals.mean(axis=0)
        spreads = np.sqrt((targets ** 2).mean(axis=0))
        targets /= np.where(spreads > 1e-9, spreads, 1)
        variances = share * (1 - share)
        products = self.missing.T.astype(float) @ targets / self.n
        said = np.abs(products).max(axis=1) ** 2 * self.n
        products[said < LEAST_SAID ** 2 * variances] = 0
        slopes = leading(products / variances[:, None], variances)[:, 0]
        # The sign is free: of a direction it may hang on rounding.
        return slopes * np.sign(slopes[np.abs(slopes).argmax()])


def fields_of_gaps(gaps):
    """The arrays that `GAPS` names, empty without gaps."""
    if gaps is not None:
        return gaps.fields()
    return (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 0), np.float32),
            np.zeros((0, 2), np.float32), np.zeros((0, N_NUMBERS), np.float32), np.zeros(0))


def gaps_of(sources, givers, guesses, places, weights, means, Py_ssize_t d):
    """The gaps of d features that `fields_of_gaps` tells of, checked; None: there are none."""
    for name, array in (("gap_sources", sources), ("gap_givers", givers)):
        if not isinstance(array, np.ndarray) or array.dtype != np.int32 or array.ndim != 1 \
                or ((array < 0) | (array >= d)).any() or (np.diff(array) <= 0).any():
            raise ValueError(f"{name} must be features, 0 ... {d - 1}, ascending, of int32")
    n = len(sources)
    shapes = (("gap_guesses", guesses, (n, len(givers))), ("gap_places", places, (n, 2)),
              ("gap_weights", weights, (n, N_NUMBERS)))
    for name, array, shape in shapes:
        if not isinstance(array, np.ndarray) or array.dtype != np.float32 \
                or array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite, float32 and of shape {shape}")
    means = doubles_of_shape("gap_means", means, (N_NUMBERS if n else 0,))
    if not n:
        return None
    return Gaps(*[np.array(array, order="C")
                  for array in (sources, givers, guesses, places, weights, means)])
