"""Compare bounds on SPA's support vectors on long streams: mistakes and time.

    python benchmarks/spa_bounds.py DIR [--rows N] [--sets NAME ...]

At most 200,000 first rows of each set, standardised and shuffled once, and a million samples of 8
normal features whose labels are noisy ("generated"). All else is the default. Columns: samples,
bound, support vectors, mistakes in %, CPU microseconds a sample, test-then-train.
"""

import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from command import read_options

import onlinekern
from onlinekern.streams import open_source

SETS = [
    "covtype50.sample25k", "susy.sample30k", "poker.train", "elec2", "kddcup99_10pct.train",
    "skin_nonskin", "generated",
]  # fmt: skip
BOUNDS = (2_000, 5_000, 10_000)
MOST_ROWS, GENERATED, BLOCK = 200_000, 1_000_000, 10_000


def generated(n):
    """Return n samples whose labels are noisy."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 8)).astype(np.float32)
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * random.standard_normal(n) > 0).astype(int)


def load(folder, name):
    """Return standardised rows of a set, shuffled, and their labels."""
    path = next(Path(folder).glob(f"{name}.libsvm*"))
    with open_source(path, scale="none", dtype="float32") as source:
        X, y = source.head(source.n_samples, None)
    X, y = (X.toarray() if sp.issparse(X) else X)[:MOST_ROWS], y[:MOST_ROWS]
    order = np.random.default_rng(0).permutation(len(y))
    deviation = X.std(axis=0)
    X = (X[order] - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    return np.ascontiguousarray(X, np.float32), y[order]


def measure(X, y, bound):
    """Return mistakes in %, support vectors, and microseconds a sample."""
    model = onlinekern.SPAClassifier(random_state=0, max_support=bound)
    classes, start = np.unique(y), time.process_time()
    for first in range(0, len(y), BLOCK):
        model.partial_fit(X[first : first + BLOCK], y[first : first + BLOCK], classes=classes)
    seconds = time.process_time() - start
    return 100 * model.n_mistakes_ / len(y), model.n_support_, 1e6 * seconds / len(y)


def main():
    """Print a line for each set and bound."""
    options = read_options(
        __doc__, "folder", sets={"nargs": "*", "choices": SETS, "default": SETS}, rows=int
    )
    warnings.simplefilter("ignore")
    for name in options.sets:
        X, y = generated(GENERATED) if name == "generated" else load(options.folder, name)
        X, y = X[: options.rows], y[: options.rows]
        for bound in BOUNDS:
            mistakes, size, us = measure(X, y, bound)
            print(f"{name:22}{len(y):>9,}{bound:>8,}{size:>8,}{mistakes:9.2f}{us:8.2f}", flush=True)


if __name__ == "__main__":
    main()
