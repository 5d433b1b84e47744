"""Print errors of kernel forests on tables with categories, and with missing values.

    python benchmarks/forest_tables.py [FOLDER] [--orders 3]

Categories: functions of the membership of two of K categories in random sets, and of four normal
features, 8,000 rows to learn and 4,000 to test; then, with a FOLDER of sets (LIBSVM text, packed
with xz), a9a with its one-hot columns put together again, splice and dna, 70 % to learn. Forests
see the categories as they are, as numbers, and in one column each; beside them
HistGradientBoosting of 300 rounds.
Missing: sets of FOLDER of which values are taken away: 5 and 30 % at random, most of the largest
fifth of each feature, and more of some labels than of others. Forests see them missing, or with
the mean in their place. Prints test errors in per cent (of targets: the root mean square error
over their deviation), means of a few orders.
"""

import argparse
import itertools
import warnings

import numpy as np
from forests import TARGETS, error_of, load
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.preprocessing import OneHotEncoder

from onlinekern import KernelForestClassifier, KernelForestRegressor

MADE = ("a set and a number", "a set xor a number", "two sets, xor", "a sum of effects")
SIZES = (30, 250)
ADULT = (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)
INCOMPLETE = ("segment", "spambase", "phishing", "eeg-eye-state", "pol", "cadata")
WAYS = ("5 %", "30 %", "the largest", "by label")


def made(kind, n_categories, order, n=12000):
    """Return rows whose first two columns are categories, and labels or targets."""
    rng = np.random.default_rng(order)
    codes, X = rng.integers(0, n_categories, (n, 2)), rng.normal(size=(n, 4))
    sets, effects = rng.random((2, n_categories)) < 0.5, rng.normal(size=(2, n_categories))
    one, two = sets[0][codes[:, 0]], sets[1][codes[:, 1]]
    y = {
        MADE[0]: (one & (X[:, 0] > 0)) | (two & (X[:, 1] > 0.5)),
        MADE[1]: one ^ (X[:, 0] > 0),
        MADE[2]: one ^ two,
        MADE[3]: effects[0][codes[:, 0]] + effects[1][codes[:, 1]] * X[:, 0] + np.sin(2 * X[:, 1]),
    }[kind]
    return np.hstack([codes, X]), y.astype(float)


def put_together(name, X):
    """Return the categories of one-hot columns, 41 or less in each column."""
    if name == "splice":
        return X
    sizes = ADULT if name == "a9a" else (3,) * 60
    ends = np.cumsum([0, *sizes])
    parts = [X[:, first:last] for first, last in itertools.pairwise(ends)]
    absent = np.nan if name == "a9a" else 3
    return np.column_stack([np.where(p.any(1), p.argmax(1), absent) for p in parts])


def categories(X, y, Z, v, coded, number, seed):
    """Return the errors of forests and of boosted trees."""
    forest = KernelForestRegressor if number else KernelForestClassifier
    boosting = HistGradientBoostingRegressor if number else HistGradientBoostingClassifier
    others = np.setdiff1d(np.arange(X.shape[1]), coded)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(X[:, coded])
    hot = [np.hstack([encoder.transform(rows[:, coded]), rows[:, others]]) for rows in (X, Z)]
    coding = {"categorical_features": coded}
    own = forest(random_state=seed, **coding).fit(X, y)
    numbers = forest(random_state=seed).fit(X, y)
    wide = forest(random_state=seed).fit(hot[0], y)
    rounds = boosting(max_iter=300, **coding, random_state=0).fit(X, y)
    given = ((own, Z), (numbers, Z), (wide, hot[1]), (rounds, Z))
    return [error_of(model.predict(rows), v, y, number) for model, rows in given]


def without_some(X, y, way, rng):
    """Return rows of which some values are missing."""
    if way.endswith("%"):
        missing = rng.random(X.shape) < float(way[:-2]) / 100
    elif way == WAYS[2]:
        missing = (np.quantile(X, 0.8, axis=0) < X) & (rng.random(X.shape) < 0.7)
    else:
        missing = rng.random(X.shape) < np.where(y > np.median(y), 0.3, 0.1)[:, None]
    return np.where(missing, np.nan, X)


def incomplete(folder, name, way, order):
    """Return the errors of a forest with missing values, one with means, and boosted trees."""
    X, y, Z, v = load(folder, name, 5000, order)
    both = without_some(np.vstack([X, Z]), np.append(y, v), way, np.random.default_rng(order))
    X, Z = both[: len(y)], both[len(y) :]
    means = np.nan_to_num(np.nanmean(X, axis=0))
    number = name in TARGETS
    forest = KernelForestRegressor if number else KernelForestClassifier
    boosting = HistGradientBoostingRegressor if number else HistGradientBoostingClassifier
    own = forest(random_state=order).fit(X, y)
    filled = forest(random_state=order).fit(np.where(np.isnan(X), means, X), y)
    rounds = boosting(max_iter=300, random_state=0).fit(X, y)
    given = ((own, Z), (filled, np.where(np.isnan(Z), means, Z)), (rounds, Z))
    return [error_of(model.predict(rows), v, y, number) for model, rows in given]


def row(title, errors):
    print(f"| {title} | " + " | ".join(f"{one:.2f}" for one in np.mean(errors, axis=0)) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--orders", type=int, default=3)
    given = parser.parse_args()
    warnings.filterwarnings("ignore", message="Mean of empty slice")
    orders = range(given.orders)
    print("| | categories | as numbers | one-hot | boosting 300 |\n|---|---|---|---|---|")
    for kind in MADE:
        for size in SIZES:
            made_rows = [made(kind, size, order) for order in orders]
            row(f"{kind}, {size}", [
                categories(X[:8000], y[:8000], X[8000:], y[8000:], [0, 1], kind == MADE[3], seed)
                for seed, (X, y) in enumerate(made_rows)
            ])  # fmt: skip
    for name in ("a9a", "splice", "dna") if given.folder else ():
        found = []
        for order in orders:
            X, y, Z, v = load(given.folder, name, 10000, order)
            X, Z = put_together(name, X), put_together(name, Z)
            found.append(categories(X, y, Z, v, list(range(X.shape[1])), False, order))
        row(name, found)
    print("\n| | missing | the mean instead | boosting 300 |\n|---|---|---|---|")
    for name in INCOMPLETE if given.folder else ():
        for way in WAYS:
            row(f"{name}, {way}", [incomplete(given.folder, name, way, k) for k in orders])


if __name__ == "__main__":
    main()
