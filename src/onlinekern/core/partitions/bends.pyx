"""Bends: features with heavy tails, which are told by the logarithm of how far they are.

Sums of money, counts and waiting times have most values close together and a few far off. Cuts
whose places are uniform between two values, slopes and directions then tell of the few. So such a
feature is seen as sign(u) log2(1 + |u|), where u is how far it is from a center, in units of the
feature. The logarithm is linear between powers of two: it has the same bits on all machines. A
feature is bent where its tails are heavy, and from the center from which it tells most of the
targets, if that is more than it tells as it is.
"""
from libc.math cimport floor
from libc.stdint cimport int32_t

import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape
from onlinekern.core.partitions.loops cimport forest_loops

# The fields of bends in a state.
BENDS = ("bend_features", "bend_centers", "bend_factors")
# The excess kurtosis of heavy tails, without values that are farther than four deviations, twice
# over: a few wrong values are not tails.
cdef double LEAST_KURTOSIS = 3.5
cdef double REACH = 4.0
# Bent, a feature tells more of the variance of the targets: by a tenth, and by a share of all of it
# that chance does not reach, which tells of a share 1 / n in n samples.
cdef double LEAST_RATIO = 1.1
cdef double LEAST_GAIN = 0.005
cdef double GAIN_OF_CHANCE = 4.0
# The last samples tell it, so many at most.
MOST_ASKED = 2048
# Where the distances begin: near an end of the values, for a tail on the other side, or in the
# middle. The unit is the median of those that are not 0, or an eighth of it.
CENTERS = 0.01, 0.5, 0.99
UNITS = 0.125, 1.0, 0.125
# Units beyond it are those of no feature.
cdef double FARTHEST = 1e30


cdef class Bends:
    """Features that are bent.

    Parameters
    ----------
    features : ndarray of shape (n,), int32
        Ascending.
    centers, factors : ndarray of shape (n,)
        u is (x - center) factor.
    d : int
        All features.
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
        """The arguments that make such bends, but d."""
        return np.array(self.features), np.array(self.centers), np.array(self.factors)

    def rows(self, X):
        """Rows of samples in double, ndarray (n_rows, d), their features bent."""
        features, centers, factors = self.fields()
        X, features = X.astype(np.float64), features.astype(np.intp)
        X[:, features] = all_bent((X[:, features] - centers) * factors)
        return X


cdef class BendLearner:
    """Bends of samples, found feature by feature: `look`, then `ask` of each center, then `take`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The samples. `bent` are these, or others of the same type with features that are bent.
    goals : ndarray of shape (n, n_outputs)
        Targets of a few outputs.
    known : Bends or None
        Bends of features, which are not asked.
    """

    cdef readonly object bent
    cdef object X, found, features, best, goals, known
    cdef Py_ssize_t first
    cdef double[::1] x, in_order, u      # of a feature, where it is not missing
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
        """Look whether a feature has heavy tails, and at what it tells as it is."""
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
            told = told_by(self.u, self.own_goals)
            self.most = max(LEAST_RATIO * told, told + LEAST_GAIN + GAIN_OF_CHANCE / len(self.x))
            self.in_order = np.sort(self.x)

    def ask(self, k):
        """Ask whether it tells more if it is bent from a center."""
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
        told = told_by(self.u, self.own_goals)
        if told > self.most:
            self.most, self.best = told, (center, factor)

    def take(self, j):
        """Bend the feature, from the best of the centers, if it tells more."""
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
        """The bends of all features, or None."""
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


cdef double told_by(const double[::1] u, const double[:, ::1] goals) noexcept nogil:
    """Which share of the variance of the goals a line through a feature tells."""
    cdef Py_ssize_t i, k, n = u.shape[0]
    cdef double mean = 0, squares = 0, told = 0, variance = 0, product, goal, square
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
        told += product ** 2
    return told / squares / variance if squares > 0 and variance > 0 else 0


cdef double quantile(const double[::1] x, double share) noexcept nogil:
    """A quantile of numbers in ascending order, with the bits of NumPy's, which takes longer."""
    cdef double place = share * (x.shape[0] - 1), part = place - floor(place)
    cdef Py_ssize_t low = <Py_ssize_t> floor(place), high = min(low + 1, x.shape[0] - 1)
    if part >= 0.5:
        return x[high] - (x[high] - x[low]) * (1 - part)
    return x[low] + (x[high] - x[low]) * part


cdef double median_distance(const double[::1] x, double center) noexcept nogil:
    """The median of the distances of numbers in ascending order from a center, but for 0."""
    cdef Py_ssize_t low = 0, high, n = x.shape[0]
    cdef double near = 0, next_one = 0
    while low < n and x[low] < center:
        low += 1
    high = low
    while high < n and x[high] == center:
        high += 1
    n -= high - low
    low -= 1
    # Nearest first: from the center to both ends.
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
    """The arrays that `BENDS` names, empty where nothing is bent."""
    if bends is not None:
        return bends.fields()
    return np.zeros(0, np.int32), np.zeros(0), np.zeros(0)


def bends_of(features, centers, factors, Py_ssize_t d):
    """The bends that `fields_of_bends` tells of, checked; None: nothing is bent."""
    if not isinstance(features, np.ndarray) or features.dtype != np.int32 or features.ndim != 1 \
            or ((features < 0) | (features >= d)).any() or (np.diff(features) <= 0).any():
        raise ValueError(f"bend_features must be features, 0 ... {d - 1}, ascending, of int32")
    centers = doubles_of_shape("bend_centers", centers, features.shape)
    factors = doubles_of_shape("bend_factors", factors, features.shape)
    if not (factors > 0).all():
        raise ValueError("bend_factors must be > 0")
    return Bends(np.array(features), centers, factors, d) if len(features) else None
