"""Tables of a kernel forest: places of categories in three orders; and guesses of missing values.

A table has entries for what it does not know, for NaN, and for the numbers 0, 1, ... of categories.
"""

import numpy as np


class Table:
    """The column of a scaled row that tells of one feature, and its entries."""

    def __init__(self, source, column, places):
        self.source, self.column = source, column
        self.places = np.asarray(places, dtype=np.float32)

    def look_up(self, value):
        if np.isnan(value):
            return self.places[1]
        known = 0 <= value < len(self.places) - 2
        return self.places[2 + int(value)] if known else self.places[0]


def learnt_tables(X, center, factor, categories, targets, draws, groups):
    """Return the tables of samples, and let groups take their orders.

    `targets` are those of at most eight outputs, ndarray (n, n_outputs).
    """
    d, members = X.shape[1], groups.members()
    found, column = [], d
    numbers = [j for j in range(d) if j not in [*categories, *members]]
    # A group is a column of categories behind all others.
    X = np.column_stack([X.astype(float), *map(groups.codes, groups.groups)])
    categories = [*categories, *range(d, X.shape[1])]
    columns = [np.nan_to_num(np.clip((X[:, j] - center[j]) * factor[j], -8, 8)) for j in numbers]
    first = {}
    for j in categories:
        means = mean_deviations(X[:, j], targets)
        first[j] = standardised(X[:, j], along_leading(X[:, j], means, targets.shape[1]))
        columns.append(np.array([first[j][entry(value)][0] for value in X[:, j]]))
    Z = np.column_stack(columns) if columns else np.zeros((len(X), 0))
    signs = np.eye(Z.shape[1])
    if Z.shape[1] > 16:
        signs = draws.randint(2, size=(Z.shape[1], 16)) * 2.0 - 1.0
    for k, j in enumerate(categories):
        others = Z.copy()
        others[:, len(numbers) + k] = 0
        others = others @ signs
        products = np.concatenate([others * y[:, None] for y in targets.T], axis=1)
        means = mean_deviations(X[:, j], products)
        n_further = 3 if targets.shape[1] > 1 else 0
        second = standardised(X[:, j], along_leading(X[:, j], means, 1 + n_further))
        there = sorted({entry(value) for value in X[:, j]})
        own = standardised(X[:, j], {e: [rank] for rank, e in enumerate(there)})
        last = len(groups.groups[j - d]) if j >= d else int(np.nanmax(X[:, j], initial=-1))
        orders = [(1, first[j], 0), (1 / 2, second, 0), (1 / 2, own, 0)]
        orders += [(1, first[j], k) for k in range(1, len(first[j][there[0]]))]
        orders += [(1 / 2, second, k) for k in range(1, len(second[there[0]]))]
        orders = [[unit * places[e][k] if e in places else 0.0 for e in range(3 + last)]
                  for unit, places, k in orders]  # fmt: skip
        if j >= d:
            groups.take(np.transpose(orders[:last])[2:])
            continue
        for turn, entries in enumerate(orders[:3]):
            found.append(Table(j, j if turn == 0 else column, entries))
            column += turn > 0
    groups.pad()
    return found


class Gaps:
    """Features with missing values: guesses, two sides, and two sums of what is missing.

    A guess is a weighted sum of the values, in units of their spread, that are there; the weights
    are those of ridge regression on all features, in which missing values are 0. The first sum is
    how many values of a row are missing; in the second each counts by what it says of the target.
    """

    def __init__(self, Z, missing, numbers, targets):
        n, share = len(Z), missing.mean(axis=0)
        most = sorted((j for j in numbers if 0 < share[j] < 1), key=lambda j: -share[j])[:256]
        self.sources = sorted(most)
        others = [j for j in numbers if j not in self.sources]
        self.givers = sorted(self.sources + others[: 256 - len(most)])
        Z = np.clip(np.where(missing, 0, Z), -4, 4)
        own = Z[:, self.givers]
        products = own.T @ own / n
        ridged = products + (0.05 + 0.5 * len(self.givers) / n) * np.eye(len(self.givers))
        self.guesses = np.zeros((len(self.sources), len(self.givers)), dtype=np.float32)
        self.places = np.zeros((len(self.sources), 2), dtype=np.float32)
        for k, j in enumerate(self.sources):
            place = self.givers.index(j)
            rest = [i for i in range(len(self.givers)) if i != place]
            weights = np.linalg.solve(ridged[rest][:, rest], products[rest, place])
            self.guesses[k, rest] = weights / max(1 - share[j], 0.05)
            self.places[k] = Z[~missing[:, j], j].min(), Z[~missing[:, j], j].max()
        own = missing[:, self.sources].astype(float)
        self.weights = np.ones((len(self.sources), 2))
        self.weights[:, 1] = slopes_of_missing(own, targets)
        for weight, deviation in zip(self.weights.T, (own @ self.weights).std(axis=0), strict=True):
            weight *= 0.5 / deviation if deviation > 1e-9 else 0
        self.weights = self.weights.astype(np.float32)
        self.means = own.mean(axis=0) @ self.weights.astype(float)

    def fill(self, X, Z):
        """Return scaled rows with guesses and sums of missing values, and their sides."""
        missing = np.isnan(X[:, self.sources])
        given = np.clip(Z[:, self.givers].astype(float), -4, 4)
        guesses = np.clip(given @ self.guesses.T.astype(float), -4, 4)
        sums = missing @ self.weights.astype(float) - self.means
        filled = np.column_stack([Z, sums]).astype(Z.dtype)
        filled[:, self.sources] = np.where(missing, guesses, Z[:, self.sources])
        sides = np.where(missing[:, :, None], self.places, Z[:, self.sources, None])
        return filled, sides.reshape(len(X), -1)


def entry(value):
    return 1 if np.isnan(value) else 2 + int(value)


def mean_deviations(values, targets):
    """Return by how much the mean target of each entry differs from that of all, smoothed."""
    entries = np.array([entry(value) for value in values])
    mean = targets.mean(axis=0)
    found = {}
    for e in sorted(set(entries.tolist())):
        own = targets[entries == e]
        found[e] = (own - mean).sum(axis=0) / (len(own) + 4)
    return found


def along_leading(values, points, n):
    """Return the coordinates of points along n directions in which they differ most, or fewer."""
    entries = [entry(value) for value in values]
    matrix = np.array([points[e] for e in entries])
    if matrix.shape[1] == 1:
        return points
    spreads, vectors = np.linalg.eigh(matrix.T @ matrix)
    most = np.argsort(-spreads)[:n]
    directions = []
    for k in most:
        if k == most[0] or spreads[k] > 1e-9 * spreads[most[0]]:
            vector = vectors[:, k]
            directions.append(vector * np.sign(vector[np.abs(vector).argmax()]))
    return {e: np.array([point @ vector for vector in directions]) for e, point in points.items()}


def standardised(values, places):
    """Return places with mean 0 over the samples, in units of the deviation of the first ones."""
    of_rows = np.array([places[entry(value)] for value in values], dtype=float)
    mean, deviation = of_rows.mean(axis=0), of_rows[:, 0].std()
    if not deviation > 1e-12:
        return dict.fromkeys(places, np.zeros(len(mean)))
    return {e: (place - mean) / deviation for e, place in places.items()}


def slopes_of_missing(missing, targets):
    """Return the slopes of the targets by each column, 0 below three times what chance has.

    They are along the direction of the targets in which they differ most; the largest is positive.
    """
    n = len(missing)
    deviations = missing - missing.mean(axis=0)
    targets = targets - targets.mean(axis=0)
    spread = targets.std(axis=0)
    targets = targets / np.where(spread > 1e-9, spread, 1)
    slopes = []
    for column in deviations.T:
        correlation = column @ targets / n / column.std()
        told = np.abs(correlation).max() >= 3 / np.sqrt(n)
        slopes.append(correlation / column.std() if told else np.zeros(targets.shape[1]))
    slopes = np.array(slopes).reshape(-1, targets.shape[1])
    weighted = slopes * deviations.std(axis=0)[:, None]
    slopes = slopes @ np.linalg.eigh(weighted.T @ weighted)[1][:, -1]
    return slopes * np.sign(max(slopes, key=abs, default=0.0))
