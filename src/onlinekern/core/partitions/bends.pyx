"""Bends: a logarithm replaces features that have heavy tails.

Amounts of money, counts and waiting times have most values close together and a few far off.
Thresholds uniform between two values, slopes and directions would then depend on the few. So the
trees see sign(u) log2(1 + |u|) instead ("bent"), where u is the distance from a center in units of
the feature. The logarithm is linear between powers of two, so it has the same bits on all machines.
Three centers are tried. The best one is used if a line through the bent feature explains enough
more of the variance of the targets than a line through the feature itself.
"""
from libc.math cimport floor
from libc.stdint cimport int32_t

import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape
from onlinekern.core.partitions.loops cimport forest_loops

# Names of the arrays of bends in a state.
BENDS = ("bend_features", "bend_centers", "bend_factors")
# A feature has heavy tails if its excess kurtosis is larger than this. Values farther than REACH
# deviations are removed first, twice over, because a few wrong values are not tails.
cdef double LEAST_KURTOSIS = 3.5
cdef double REACH = 4.0
# The bent feature must explain a tenth more of the variance of the targets, and this share of the
# variance more: LEAST_GAIN + GAIN_OF_CHANCE / n. By chance a feature explains 1 / n in n samples.
cdef double LEAST_RATIO = 1.1
cdef double LEAST_GAIN = 0.005
cdef double GAIN_OF_CHANCE = 4.0
# At most this many of the last samples are used.
MOST_ASKED = 2048
# Quantiles that are tried as centers: near either end, for a tail on the other side, and the
# median. The unit is the median distance from the center, without zeros, times this factor.
CENTERS = 0.01, 0.5, 0.99
UNITS = 0.125, 1.0, 0.125
# A center whose unit is not between 1 / FARTHEST and FARTHEST is not tried.
cdef double FARTHEST = 1e30


cdef class Bends:
    """Centers and factors of the bent features.

    Parameters
    ----------
    features : ndarray of shape (n,), int32
        Ascending.
    centers, factors : ndarray of shape (n,)
        u = (x - center) * factor.
    d : int
        Number of all features.
    """

    def __cinit__(self, const int32_t[::1] features, const double[::1] centers,
                  const double[::1] factors, Py_ssize_t d):
        cdef Py_ssize_t k
        self.features, self.centers, self.factors = features, centers, factors
        self.n = features.shape[0]
        self.center_of, self.factor_of = np.zeros(d), np.zeros(d)
        for k in range(self.n):
            self.center_of[features[k]] = centers[k]
            self.factor_of[features[k]] = factors[k]

    def fields(self):
        """Features, centers and factors: the arguments of `Bends` without d."""
        return np.array(self.features), np.array(self.centers), np.array(self.factors)

    def rows(self, X):
        """A copy of the rows X in double with the features bent, ndarray (n_rows, d)."""
        features, centers, factors = self.fields()
        X, features = X.astype(np.float64), features.astype(np.intp)
        X[:, features] = all_bent((X[:, features] - centers) * factors)
        return X


cdef class BendLearner:
    """Finds which features to bend: for each, call `look`, `ask` for each center, and `take`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The samples. The attribute `bent` holds them with bent features, in the same type.
    goals : ndarray of shape (n, n_outputs)
        Targets of a few outputs.
    known : Bends or None
        Features that are bent already; they are not tried again.
    """

    cdef readonly object bent
    cdef object X, found, features, best, goals, known
    cdef Py_ssize_t first
    # Of the present feature, without missing values: its values, these sorted, and a transform.
    cdef double[::1] x, in_order, u
    cdef double[:, ::1] own_goals
    cdef double most
    cdef bint is_heavy

    def __init__(self, X, goals, Bends known):
        self.X = self.bent = X
        self.known, self.features = known, set()
        if known is not None:
            self.bent = known.rows(X).astype(X.dtype)
            self.features.update(known.fields()[0].tolist())
        self.first = max(0, len(X) - MOST_ASKED)
        self.goals = np.ascontiguousarray(goals[self.first:])
        self.found = []

    def look(self, j):
        """Test whether feature j has heavy tails; if so, measure what it explains unbent."""
        cdef Py_ssize_t i
        self.is_heavy, self.best = False, None
        x = self.X[self.first:, j].astype(np.float64)
        there = ~np.isnan(x)
        is_whole = there.all()
        self.x, self.own_goals = (x, self.goals) if is_whole else (x[there], self.goals[there])
        self.u = np.empty(len(self.x))
        cdef double size = np.abs(self.x).max(initial=0)
        if not size > 0:
            return
        for i in range(self.x.shape[0]):
            self.u[i] = self.x[i] / size
        self.is_heavy = forest_loops().kurtosis(&self.u[0], self.u.shape[0],
                                                REACH) > LEAST_KURTOSIS
        if self.is_heavy:
            explained = explained_share(self.u, self.own_goals)
            self.most = max(LEAST_RATIO * explained,
                            explained + LEAST_GAIN + GAIN_OF_CHANCE / len(self.x))
            self.in_order = np.sort(self.x)

    def ask(self, k):
        """Measure how much the feature explains if it is bent from center k; keep the best."""
        cdef Py_ssize_t i
        if not self.is_heavy:
            return
        cdef double center = quantile(self.in_order, CENTERS[k])
        cdef double unit = UNITS[k] * median_distance(self.in_order, center)
        if not 1 / FARTHEST < unit < FARTHEST:
            return
        cdef double factor = 1 / unit
        for i in range(self.x.shape[0]):
            self.u[i] = bent((self.x[i] - center) * factor)
        explained = explained_share(self.u, self.own_goals)
        if explained > self.most:
            self.most, self.best = explained, (center, factor)

    def take(self, j):
        """Bend feature j from the best center, if one of them explains enough."""
        if self.best is None:
            return
        if not self.found:
            self.bent = self.X.copy(order="K")
        center, factor = self.best
        self.bent[:, j] = all_bent((self.X[:, j].astype(np.float64) - center) * factor)
        self.found.append((j, center, factor))
        self.features.add(j)

    def has(self, j):
        """Whether a feature is bent."""
        return j in self.features

    def bends(self):
        """All bends found and known before, or None."""
        if not self.found:
            return self.known
        features, centers, factors = zip(*self.found)
        return Bends(np.array(features, dtype=np.int32), np.array(centers), np.array(factors),
                     self.X.shape[1])


def all_bent(u):
    """`bent` of all numbers of an array, float64."""
    sizes = 1 + np.minimum(np.abs(u), 1e300)
    sizes = (sizes.view(np.int64) - (1023 << 52)) * 2.0 ** -52
    return np.where(np.isnan(u), u, np.copysign(sizes, u))


cdef double explained_share(const double[::1] u, const double[:, ::1] goals) noexcept nogil:
    """Share of the goals' variance that least-squares lines in the feature u explain."""
    cdef Py_ssize_t i, k, n = u.shape[0]
    cdef double mean = 0, squares = 0, explained = 0, variance = 0, product, goal, square
    for i in range(n):
        mean += u[i] / n
    for i in range(n):
        squares += (u[i] - mean) ** 2
    for k in range(goals.shape[1]):
        product, goal, square = 0, 0, 0
        for i in range(n):
            goal += goals[i, k] / n
        for i in range(n):
            product += (u[i] - mean) * (goals[i, k] - goal)
            square += (goals[i, k] - goal) ** 2
        variance += square
        explained += product ** 2
    return explained / squares / variance if squares > 0 and variance > 0 else 0


cdef double quantile(const double[::1] x, double share) noexcept nogil:
    """A quantile of sorted numbers, bit for bit that of NumPy, but faster."""
    cdef double place = share * (x.shape[0] - 1), part = place - floor(place)
    cdef Py_ssize_t low = <Py_ssize_t> floor(place), high = min(low + 1, x.shape[0] - 1)
    if part >= 0.5:
        return x[high] - (x[high] - x[low]) * (1 - part)
    return x[low] + (x[high] - x[low]) * part


cdef double median_distance(const double[::1] x, double center) noexcept nogil:
    """Median distance of sorted numbers from a center, without distances of 0."""
    cdef Py_ssize_t low = 0, high, n = x.shape[0]
    cdef double near = 0, next_one = 0
    while low < n and x[low] < center:
        low += 1
    high = low
    while high < n and x[high] == center:
        high += 1
    n -= high - low
    low -= 1
    # Merge both sides, nearest first, up to the median.
    for _ in range(n // 2 + 1):
        near = next_one
        if high == x.shape[0] or (low >= 0 and center - x[low] <= x[high] - center):
            if low < 0:
                break
            next_one, low = center - x[low], low - 1
        else:
            next_one, high = x[high] - center, high + 1
    return next_one if n % 2 else (near + next_one) / 2


def fields_of_bends(bends):
    """The arrays that `BENDS` names; empty if no feature is bent."""
    if bends is not None:
        return bends.fields()
    return np.zeros(0, np.int32), np.zeros(0), np.zeros(0)


def bends_of(features, centers, factors, Py_ssize_t d):
    """The bends with the arrays of `fields_of_bends`, which are checked; None if they are empty."""
    if not isinstance(features, np.ndarray) or features.dtype != np.int32 or features.ndim != 1 \
            or ((features < 0) | (features >= d)).any() or (np.diff(features) <= 0).any():
        raise ValueError(f"bend_features must be features, 0 ... {d - 1}, ascending, of int32")
    centers = doubles_of_shape("bend_centers", centers, features.shape)
    factors = doubles_of_shape("bend_factors", factors, features.shape)
    if not (factors > 0).all():
        raise ValueError("bend_factors must be > 0")
    return Bends(np.array(features), centers, factors, d) if len(features) else None
