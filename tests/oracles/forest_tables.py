"""Tables of a kernel forest: places of categories in three orders, and which values are missing.

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


def learnt_tables(X, center, factor, categories, targets, draws):
    """Return the tables of samples: of categories first, then those of missing values.

    `targets` are those of at most eight outputs, ndarray (n, n_outputs).
    """
    X, d = X.astype(float), X.shape[1]
    found, column = [], d
    numbers = [j for j in range(d) if j not in categories]
    columns = [np.nan_to_num(np.clip((X[:, j] - center[j]) * factor[j], -8, 8)) for j in numbers]
    first = {}
    for j in categories:
        means = mean_deviations(X[:, j], targets)
        first[j] = standardised(X[:, j], along_leading(X[:, j], means))
        columns.append(np.array([first[j][entry(value)] for value in X[:, j]]))
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
        second = standardised(X[:, j], along_leading(X[:, j], means))
        there = sorted({entry(value) for value in X[:, j]})
        ranks = dict(zip(there, draws.permutation(len(there)), strict=True))
        random = standardised(X[:, j], ranks)
        for turn, (unit, places) in enumerate([(1, first[j]), (1 / 2, second), (1 / 3, random)]):
            size = 3 + int(np.nanmax(X[:, j], initial=-1))
            entries = [unit * places.get(e, 0.0) for e in range(size)]
            found.append(Table(j, j if turn == 0 else column, entries))
            column += turn > 0
    share = {j: np.isnan(X[:, j]).mean() for j in numbers}
    for j in sorted(sorted(share, key=lambda j: -share[j])[:256]):
        if 0 < share[j] < 1:
            found.append(Table(j, column, [-share[j] / 2, (1 - share[j]) / 2]))
            column += 1
    return found


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


def along_leading(values, points):
    """Return the coordinates of points along the direction in which they differ most."""
    entries = [entry(value) for value in values]
    matrix = np.array([points[e] for e in entries])
    if matrix.shape[1] == 1:
        return {e: point[0] for e, point in points.items()}
    vector = np.linalg.eigh(matrix.T @ matrix)[1][:, -1]
    vector = vector * np.sign(vector[np.abs(vector).argmax()])
    return {e: point @ vector for e, point in points.items()}


def standardised(values, places):
    """Return places with mean 0 and deviation 1 over the samples."""
    of_rows = np.array([places[entry(value)] for value in values], dtype=float)
    mean, deviation = of_rows.mean(), of_rows.std()
    if not deviation > 1e-12:
        return dict.fromkeys(places, 0.0)
    return {e: (place - mean) / deviation for e, place in places.items()}
