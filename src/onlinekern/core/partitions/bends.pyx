"""Bends: features with heavy tails, which are told by the logarithm of how far they are.

Sums of money, counts and waiting times have most values close together and a few far off. Cuts
whose places are uniform between two values, slopes and directions then tell of the few. So such a
feature is seen as sign(u) log2(1 + |u|), where u is how far it is from a center, in units of the
feature. The logarithm is linear between powers of two: it has the same bits on all machines. A
feature is bent where its tails are heavy, and from the center from which it tells most of the
targets, if that is more than it tells as it is.
"""
from libc.stdint cimport int32_t

import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape

# The fields of bends in a state.
BENDS = ("bend_features", "bend_centers", "bend_factors")
# The excess kurtosis of heavy tails, without values that are farther than four deviations, twice
# over: a few wrong values are not tails.
LEAST_KURTOSIS = 3.5
REACH = 4.0
# Bent, a feature tells more of the variance of the targets: by a tenth, and by a share of all of it
# that chance does not reach, which tells of a share 1 / n in n samples.
LEAST_RATIO = 1.1
LEAST_GAIN = 0.005
GAIN_OF_CHANCE = 4.0
# The last samples tell it, so many at most.
MOST_ASKED = 2048
# Where the distances begin: near an end of the values, for a tail on the other side, or in the
# middle. The unit is the median of those that are not 0, or an eighth of it.
CENTERS = 0.01, 0.5, 0.99
UNITS = 0.125, 1.0, 0.125
# Units beyond it are those of no feature.
FARTHEST = 1e30


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
        X = X.astype(np.float64)
        X[:, features] = all_bent((X[:, features] - centers) * factors)
        return X


class BendLearner:
    """Bends of samples, found feature by feature: `look`, then `ask` of each center, then `take`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The samples. `bent` are these, or others of the same type with features that are bent.
    goals : ndarray of shape (n, n_outputs)
        Targets of a few outputs.
    """

    def __init__(self, X, goals):
        self.X = self.bent = X
        self.first = max(0, len(X) - MOST_ASKED)
        self.goals = goals[self.first:]
        self.found = []

    def look(self, j):
        """Look whether a feature has heavy tails, and at what it tells as it is."""
        x = self.X[self.first:, j].astype(np.float64)
        there = ~np.isnan(x)
        self.x, self.told, self.best = x[there], self.goals[there], None
        size = np.abs(self.x).max(initial=0)
        self.is_heavy = size > 0 and kurtosis(self.x / size) > LEAST_KURTOSIS
        if self.is_heavy:
            told = told_by(self.x / size, self.told)
            self.most = max(LEAST_RATIO * told, told + LEAST_GAIN + GAIN_OF_CHANCE / len(self.x))

    def ask(self, k):
        """Ask whether it tells more if it is bent from a center."""
        if not self.is_heavy:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            center = np.quantile(self.x, CENTERS[k])
            far = np.abs(self.x - center)
            unit = UNITS[k] * np.median(far[far > 0])
        if not 1 / FARTHEST < unit < FARTHEST:
            return
        told = told_by(all_bent((self.x - center) * (1 / unit)), self.told)
        if told > self.most:
            self.most, self.best = told, (center, 1 / unit)

    def take(self, j):
        """Bend the feature, from the best of the centers, if it tells more."""
        if self.best is None:
            return
        if not self.found:
            self.bent = self.X.copy()
        center, factor = self.best
        self.bent[:, j] = all_bent((self.X[:, j].astype(np.float64) - center) * factor)
        self.found.append((j, center, factor))

    def bends(self):
        """The bends of all features, or None."""
        if not self.found:
            return None
        features, centers, factors = zip(*self.found)
        return Bends(np.array(features, dtype=np.int32), np.array(centers), np.array(factors),
                     self.X.shape[1])


def all_bent(u):
    """`bent` of all numbers of an array, float64."""
    sizes = 1 + np.minimum(np.abs(u), 1e300)
    sizes = (sizes.view(np.int64) - (1023 << 52)) * 2.0 ** -52
    return np.where(np.isnan(u), u, np.copysign(sizes, u))


def kurtosis(u):
    """The excess kurtosis of numbers without those that are far off."""
    for _ in range(2):
        from_mean = np.abs(u - u.mean())
        u = u[from_mean <= REACH * np.sqrt((from_mean ** 2).mean())]
    squares = (u - u.mean()) ** 2
    variance = squares.mean()
    return (squares ** 2).mean() / variance ** 2 - 3 if variance > 0 else 0


def told_by(u, goals):
    """Which share of the variance of the goals a line through a feature tells."""
    u, goals = u - u.mean(), goals - goals.mean(axis=0)
    size, variance = np.sqrt((u ** 2).sum()), (goals ** 2).sum()
    return (((u / size) @ goals) ** 2).sum() / variance if size > 0 and variance > 0 else 0


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
