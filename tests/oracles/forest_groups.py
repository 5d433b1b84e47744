"""Groups of one-hot columns of a kernel forest: which columns they are, and their orders.

Columns of which at most one is on in any sample, as no chance leaves them: `evidence` is in how
many samples two of them would be on together, if they were independent.
"""

import numpy as np


class Groups:
    """Groups of columns; the first of each have its orders.

    A member is on beyond its middle; what it adds then is `steps`. Without any there is `bases`.
    Features that are seen in `other` ways are no members.
    """

    def __init__(self, X, other):
        self.X, self.n, self.other = X.astype(float), len(X), other
        middles = middles_of(self.X)
        self.middles = {j: middle for j, middle in middles.items() if j not in other}
        self.on = {j: self.X[:, j] > middle for j, middle in self.middles.items()}
        self.counts = {j: int(on.sum()) for j, on in self.on.items()}
        self.groups = self.found()
        self.bases, self.steps = [], []

    def evidence(self, group):
        counts = np.array([self.counts[j] for j in group], dtype=float)
        products = np.outer(counts, counts)
        return (products.sum() - np.trace(products)) / 2 / self.n

    def meets(self, group, j):
        return any((self.on[j] & self.on[k]).any() for k in group)

    def found(self):
        """Return the groups: runs of neighbours, then what the columns between choose."""
        chance = np.log(max(len(self.on), 1))
        runs = [run for run in self.runs() if len(run) >= 3 and self.evidence(run) >= 8 + chance]
        free = [j for j in sorted(self.on) if not any(j in run for run in runs)]
        kept = []
        for g, group in enumerate(self.joined(runs, free)):
            size, least = self.size(group), (2 + chance) * self.n
            rests = {j: self.counts[j] * (size - self.counts[j]) for j in group}
            own = [j for j in group if j not in free or rests[j] >= least]
            chosen = g < len(runs) or self.evidence(own) >= 8 + len(own) * chance
            if len(own) >= 3 and chosen:
                kept.append(sorted(own))
        return sorted(kept)

    def size(self, group):
        return sum(self.counts[j] for j in group)

    def joined(self, runs, free):
        """Return groups; columns, the most frequent first, join the largest they do not meet."""
        groups = [list(run) for run in runs]
        order = sorted(range(len(groups)), key=lambda g: -self.size(groups[g]))
        for j in sorted(free, key=lambda j: -self.counts[j]):
            looked_at = order if len(order) <= 256 else order[:128] + order[-128:]
            g = next((g for g in looked_at if not self.meets(groups[g], j)), len(groups))
            if g == len(groups):
                groups.append([])
            else:
                order.remove(g)
            groups[g].append(j)
            # It comes behind those that are as large.
            sizes = [self.size(groups[other]) for other in order]
            own = self.size(groups[g])
            order.insert(next((k for k, other in enumerate(sizes) if other < own), len(sizes)), g)
        return groups

    def runs(self):
        """Return stretches of neighbours that do not meet; constant columns stand between."""
        run = []
        for j in range(self.X.shape[1]):
            if j not in self.on:
                values = np.unique(self.X[:, j])
                if len(values) > 2 or np.isnan(values).any() or j in self.other:
                    yield run
                    run = []
                continue
            if self.meets(run, j):
                yield run
                run = []
            run = [*run, j]
        yield run

    def codes(self, group):
        """Return which member is on in each sample, or how many there are."""
        codes = np.full(self.n, float(len(group)))
        for place, j in enumerate(group):
            codes[self.on[j]] = place
        return codes

    def take(self, places):
        """Take the orders of the next group: of each code its places."""
        self.bases.append(places[-1].astype(np.float32))
        self.steps.append((places[:-1] - places[-1]).astype(np.float32))

    def pad(self):
        """Give all groups as many orders as the one that has most: the others are 0."""
        most = max(map(len, self.bases), default=0)
        self.bases = [np.pad(base, (0, most - len(base))) for base in self.bases]
        self.steps = [np.pad(each, ((0, 0), (0, most - each.shape[1]))) for each in self.steps]

    def members(self):
        return [j for group in self.groups for j in group]

    def axes(self):
        """Return the axes of each group that have orders."""
        return [group[: len(base)] for group, base in zip(self.groups, self.bases, strict=True)]

    def without_axes(self):
        axes = {j for own in self.axes() for j in own}
        return [j for j in self.members() if j not in axes]

    def fill(self, X, Z):
        """Write the orders of rows into scaled rows, in their type."""
        parts = zip(self.groups, self.axes(), self.bases, self.steps, strict=True)
        for group, axes, base, steps in parts:
            own = np.tile(base[: len(axes)], (len(X), 1)).astype(Z.dtype)
            for j, step in zip(group, steps, strict=True):
                own += (X[:, j : j + 1] > self.middles[j]) * step[: len(axes)]
            Z[:, axes] = own

    def shared(self, shares):
        """Return shares of the axes with those of the orders shared among the members."""
        shares = shares.copy()
        for group, axes, steps in zip(self.groups, self.axes(), self.steps, strict=True):
            told = shares[axes]
            shares[group] = 0
            rate = np.array([self.counts[j] / self.n for j in group])
            for order, share in enumerate(told):
                part = rate * (1 - rate) * steps[:, order].astype(float) ** 2
                shares[group] += share * part / max(part.sum(), 1e-300)
        return shares


def middles_of(X):
    """Return the middle of the two values of each column that has two, if it is not below 0."""
    found = {}
    for j, column in enumerate(X.T):
        values = np.unique(column)
        if len(values) == 2 and not np.isnan(values).any() and values.sum() >= 0:
            middle = values.sum() / 2
            found[j] = values[0] if middle == values[1] else middle
    return found


def metric_on(known, before, after, metric):
    """Return a metric where groups have changed.

    `known` has the numbers of the axes before, and `metric` what the axes would have of these.
    """
    old = dict(zip(map(tuple, before.axes()), before.groups, strict=True)) if before else {}
    alone = metric.copy()
    for axes, group in old.items():
        alone[group] = max(known[j] for j in axes)
    found = alone.copy()
    for axes, group in zip(after.axes(), after.groups, strict=True) if after else ():
        found[axes] = metric[axes] if tuple(axes) in old else max(alone[group])
    return found
