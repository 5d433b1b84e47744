"""Gaps: what replaces missing values in the input of trees.

A missing value is replaced by a guess, a linear function of the other features, so that the row
goes the way of similar rows. Two further columns of the feature have its lowest and its highest
value instead: splits of these send rows with missing values to one side, or separate them from all
others. Two more columns are for all features together: the number of missing values of a row, and a
sum that weights each missing value by its effect on the target.
"""
from cython cimport floating
from libc.stdint cimport int32_t

import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape
from onlinekern.core.base.vector cimport ok_sparse_row
from onlinekern.core.samples.rows cimport Rows, dense_row, is_sparse, sparse_row

# The fields of gaps in a state.
GAPS = ("gap_sources", "gap_givers", "gap_guesses", "gap_places", "gap_weights", "gap_means")
# Most features that guesses are computed from, those with gaps included.
MOST_GAPS = 256
# Scaled values that guesses are computed from, and guesses, are clipped at +-FARTHEST_GIVEN.
cdef double FARTHEST_GIVEN = 4.0
# Ridge of the least squares, for features of unit spread. RIDGE_OF_FEW times the number of features
# over that of rows is added: few rows give uncertain correlations.
RIDGE = 0.05
RIDGE_OF_FEW = 0.5
# Standard deviation of the two counts. Missing values of a feature have an effect on the target if
# their correlation is at least LEAST_SAID standard errors.
NUMBER_UNIT = 0.5
LEAST_SAID = 3.0
# Eigenvalues below this share of the largest are rounding errors.
LEAST_SPREAD = 1e-9


cdef class Gaps:
    """Replacements for the missing values of features with gaps.

    Parameters
    ----------
    sources : ndarray of shape (n,), int32
    givers : ndarray of shape (n_givers,), int32
    guesses : ndarray of shape (n, n_givers), float32
        Weights of the givers' scaled values.
    places : ndarray of shape (n, 2), float32
        The lowest scaled value of each feature, and its highest.
    weights : ndarray of shape (n, 2), float32
        Weights of a missing value of each feature in the two counts.
    means : ndarray of shape (2,)
        Means of the counts, which are subtracted.
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
        """Write guesses for missing values of row i into z, and the two counts into `numbers`.

        z has 0 for missing values. `sides` gets two values for each feature with gaps.
        """
        cdef Py_ssize_t j, k
        cdef double total, value, first = 0, second = 0
        for k in range(self.n):
            value = value_at(rows, i, self.sources[k])
            sides[2 * k], sides[2 * k + 1] = z[self.sources[k]], 0
            if value == value:
                continue
            # In double, in which products of floats are exact: the sum hardly depends on its order.
            total = 0
            for j in range(self.n_givers):
                total += <double> self.guesses[k, j] * cut_off(z[self.givers[j]])
            sides[2 * k], sides[2 * k + 1] = <float> cut_off(total), 1
            first += self.weights[k, 0]
            second += self.weights[k, 1]
        numbers[0] = <float> (first - self.means[0])
        numbers[1] = <float> (second - self.means[1])
        # z is written after all guesses are computed: no guess is computed from another one.
        for k in range(self.n):
            z[self.sources[k]] = sides[2 * k]
            if sides[2 * k + 1]:
                sides[2 * k], sides[2 * k + 1] = self.places[k, 0], self.places[k, 1]
            else:
                sides[2 * k + 1] = sides[2 * k]

    def fields(self):
        """The constructor arguments."""
        return (np.array(self.sources), np.array(self.givers), np.array(self.guesses),
                np.array(self.places), np.array(self.weights), np.array(self.means))

    def fill_axes(self, X, Z):
        """Write guesses into scaled rows Z in double, and the two counts into its last columns."""
        sources, givers, guesses, _, weights, means = self.fields()
        sources, givers = sources.astype(np.intp), givers.astype(np.intp)
        missing = np.isnan(X[:, sources])
        found = np.clip(Z[:, givers], -FARTHEST_GIVEN, FARTHEST_GIVEN) @ guesses.T.astype(float)
        found = np.clip(found, -FARTHEST_GIVEN, FARTHEST_GIVEN)
        Z[:, sources] = np.where(missing, found, Z[:, sources])
        Z[:, Z.shape[1] - N_NUMBERS:] = missing @ weights.astype(float) - means


cdef double share_missing(const floating[:, :] X, Py_ssize_t column) noexcept:
    """Share of missing values in a column."""
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
    """Coordinates of weighted points along their first n principal directions (about 0).

    ndarray of shape (size, n), with fewer columns if the points have a lower rank.
    """
    if points.shape[1] == 1:
        return points
    weighted = np.sqrt(counts)[:, None] * points
    # The smaller of two matrices with the same nonzero eigenvalues.
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
    """Learns `Gaps` from samples, some rows at a time.

    G is the mean of z z' over the rows z of scaled features, with 0 for missing values. With
    P = (G + ridge)^-1, the least squares regression of feature j on the others has the weights
    -P_ij / P_jj. Rows in which j is missing add 0 to the products with j, but not to those of the
    others. So the weights are divided by the share of rows in which j is present.

    Parameters
    ----------
    n, d : int
        Samples and features.
    numbers : ndarray
        The features that may have gaps.
    room : int
        Most features with gaps that get guesses and further columns.
    """

    def __init__(self, Py_ssize_t n, Py_ssize_t d, numbers, Py_ssize_t room):
        self.n, self.numbers, self.room = n, numbers, room
        self.share = np.zeros(d)

    def miss(self, X, column):
        """Store the share of missing values of a column."""
        if X.dtype == np.float32:
            self.share[column] = share_missing[float](X, column)
        else:
            self.share[column] = share_missing[double](X, column)

    def choose(self, without_axes):
        """Choose the features with gaps, and the givers: these, and the first of the others.

        Call it after `miss` for all columns, and before `absorb`. Features in `without_axes` are
        left out: members of groups whose columns are always 0.
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
        """Add up products of some rows; `groups` are their one-hot groups, or None."""
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
        """Compute the gaps from the sums of `absorb`.

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
        """Effect of a missing value of each feature on the targets, ndarray (n_sources,).

        It is the regression slope of the targets on this missing value alone, or 0 if it may be due
        to chance. Several targets are projected to the principal direction of their slopes.
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
        # Fix the sign of the direction: it may depend on rounding.
        return slopes * np.sign(slopes[np.abs(slopes).argmax()])


def fields_of_gaps(gaps):
    """The arrays that `GAPS` names; empty ones for None."""
    if gaps is not None:
        return gaps.fields()
    return (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 0), np.float32),
            np.zeros((0, 2), np.float32), np.zeros((0, N_NUMBERS), np.float32), np.zeros(0))


def gaps_of(sources, givers, guesses, places, weights, means, Py_ssize_t d):
    """Check a result of `fields_of_gaps` for d features, and make the gaps; None if empty."""
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
