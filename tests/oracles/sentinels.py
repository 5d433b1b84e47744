"""Sentinels, written from their definition: all values are kept, and looked at anew in each row."""

import numpy as np

NONE, LOW, HIGH = 0, 1, 2


class Sentinels:
    """Numbers that stand for missing values of one feature, and the moments of the others."""

    def __init__(self, forgetting=1.0):
        self.forgetting = forgetting
        self.values, self.weights = [], []
        self.n_ends = 0  # values that were among the two lowest or highest ones as they came
        self.side, self.number = NONE, np.nan
        self.mean = self.variance = 0.0

    def learn(self, x, weight=1.0):
        known = np.unique(self.values)
        self.values.append(x)
        self.weights = [self.forgetting * a for a in self.weights] + [weight]
        distinct = np.unique(self.values)
        if len(distinct) > len(known):
            self.n_ends += x in (*distinct[:2], *distinct[-2:])
        before = self.number
        self.side = self.found(distinct)
        self.number = {NONE: np.nan, LOW: distinct[0], HIGH: distinct[-1]}[self.side]
        if not np.array_equal(self.number, before, equal_nan=True):
            left = np.array([value != self.number for value in self.values])
            values, weights = np.array(self.values)[left], np.array(self.weights)[left]
            self.mean = np.average(values, weights=weights)
            self.variance = np.average((values - self.mean) ** 2, weights=weights)
        elif x != self.number:
            # West's recursion, by the share of all rows.
            share, delta = weight / sum(self.weights), x - self.mean
            self.variance = (1 - share) * (self.variance + share * delta**2)
            self.mean += share * delta

    def found(self, distinct):
        n, at = len(self.values), [self.values.count(end) for end in (distinct[0], distinct[-1])]
        ends = ((LOW, distinct[0], distinct[1:], at[0]), (HIGH, distinct[-1], distinct[:-1], at[1]))
        for side, end, others, count in ends if len(distinct) > 1 else ():
            gap, span = np.abs(others - end).min(), others[-1] - others[0]
            if self.side == side and self.number == end and gap >= 3 * span:
                return side
            many = 3 <= count <= n / 2 and count * 1000 >= n and n - sum(at) >= 48
            if gap >= 7 * span and many and self.n_ends > 6:
                return side
        return NONE
