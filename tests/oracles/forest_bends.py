"""Bends of a kernel forest: features with heavy tails, told by a logarithm of their distances.

The logarithm is the binary one of 1 + |u|, linear between powers of two.
"""

import numpy as np


def bent(u):
    """Return sign(u) (e + m), where 1 + |u| is 2^e (1 + m)."""
    mantissas, exponents = np.frexp(1 + np.minimum(np.abs(u), 1e300))
    return np.copysign(exponents - 1 + (2 * mantissas - 1), u)


class Bends:
    """Features that are bent, with their centers and factors."""

    def __init__(self, X, goals, categories):
        self.units = {}
        for j in range(X.shape[1]):
            units = None if j in categories else units_of(X[-2048:, j].astype(float), goals[-2048:])
            if units:
                self.units[j] = units

    def fill(self, X):
        """Return the rows with these features bent, in their type."""
        X = X.copy()
        for j, (center, factor) in self.units.items():
            X[:, j] = bent((X[:, j].astype(float) - center) * factor)
        return X


def units_of(x, goals):
    """Return center and factor if the tails are heavy, and bent values tell enough more."""
    goals, x = goals[~np.isnan(x)], x[~np.isnan(x)]
    if not x.any() or not excess_kurtosis(within(within(x))) > 3.5:
        return None
    raw = told(x, goals)
    found = [(max(1.1 * raw, raw + 0.005 + 4 / len(x)), None)]
    for quantile, share in ((0.01, 1 / 8), (0.5, 1), (0.99, 1 / 8)):
        center = np.quantile(x, quantile)
        far = np.abs(x - center)
        factor = 1 / (share * np.median(far[far > 0]))
        found.append((told(bent((x - center) * factor), goals), (center, factor)))
    return max(found, key=lambda one: one[0])[1]


def within(u):
    return u[np.abs(u - u.mean()) <= 4 * u.std()]


def excess_kurtosis(u):
    deviations = u - u.mean()
    return (deviations**4).mean() / (deviations**2).mean() ** 2 - 3 if u.std() > 0 else 0


def told(u, goals):
    """Return which share of the variance of the goals a line through a feature tells."""
    u, goals = u - u.mean(), goals - goals.mean(axis=0)
    return ((u @ goals) ** 2).sum() / (u @ u) / (goals**2).sum() if u.any() and goals.any() else 0
