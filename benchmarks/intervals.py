"""Measure the coverage of KernelRLSRegressor's intervals, with and without drift.

    python benchmarks/intervals.py DIR [--rows N] [--coverage C ...]

DIR holds the regressions as NAME.libsvm.xz. Features and target are standardised by the first 1,000
samples. A stream is learnt in calls of 20 samples, in random order and, with drift, in the order of
the sample's first principal component, or with a jump of the target's function half way. Each call
is preceded by the intervals for its samples. Printed are the share covered, the least share of any
1,000 samples in a row, and the mean width in units of the target's standard deviation. "plain" are
the intervals of the normal distribution with the same standard deviations.
"""

import lzma
from pathlib import Path
from statistics import NormalDist

import numpy as np
from command import read_options
from sklearn.datasets import load_svmlight_file
from threadpoolctl import threadpool_limits

from onlinekern import KernelRLSRegressor

SETS = [
    "abalone_scale", "ailerons", "bank32nh", "cadata", "cpusmall", "elevators", "fried", "house8L",
    "kin40k", "puma32H",
]  # fmt: skip
CALL, WARM, RUN = 20, 500, 1_000


def load(folder, name, rows):
    """Return the first rows of a set in random order, standardised by the first 1,000."""
    with lzma.open(Path(folder) / f"{name}.libsvm.xz") as file:
        X, y = load_svmlight_file(file)
    order = np.random.default_rng(0).permutation(len(y))[:rows]
    X, y = X[order].toarray(), y[order]
    spread = X[:1000].std(axis=0)
    X = (X - X[:1000].mean(axis=0)) / np.where(spread > 0, spread, 1)
    return np.clip(X, -8, 8), (y - y[:1000].mean()) / y[:1000].std()


def in_order(X, y):
    """Return the samples in the order of their first principal component."""
    direction = np.linalg.svd(X[:2000] - X[:2000].mean(axis=0), full_matrices=False)[2][0]
    order = np.argsort(X @ direction)
    return X[order], y[order]


def with_jump(X, y):
    """Return a stream whose function changes its sign half way."""
    later = np.arange(len(y)) >= len(y) // 2
    return X, np.where(later, -y, y)


DRIFTS = {"none": lambda X, y: (X, y), "ordered": in_order, "jump": with_jump}


def missed(X, y, coverage, forgetting):
    """Return which samples the intervals miss, which the plain ones miss, and the mean width."""
    model = KernelRLSRegressor(
        standardize_target=False,
        n_components=200,
        gamma=1 / X.shape[1],
        forgetting=forgetting,
        random_state=0,
    )
    z = NormalDist().inv_cdf(0.5 + coverage / 2)
    found, plain, widths = [], [], []
    for first in range(0, len(y), CALL):
        part = slice(first, first + CALL)
        if first >= WARM:
            lower, upper = model.predict_interval(X[part], coverage=coverage)
            mean, std = model.predict(X[part], return_std=True)
            found.append((y[part] < lower) | (y[part] > upper))
            plain.append(np.abs(y[part] - mean) > z * std)
            widths.append(upper - lower)
        model.partial_fit(X[part], y[part])
    return np.concatenate(found), np.concatenate(plain), np.mean(np.concatenate(widths))


def main():
    """Print a line for each set, kind of drift and coverage."""
    options = read_options(__doc__, "folder", rows=8_000, coverage=[0.9], forgetting=1.0)
    print("| stream | drift | asked | covered | worst 1,000 | plain | width |\n" + "|---" * 7 + "|")
    with threadpool_limits(1):
        for name in SETS:
            X, y = load(options.folder, name, options.rows)
            for drift, change in DRIFTS.items():
                for coverage in options.coverage:
                    bad, plain, width = missed(*change(X, y), coverage, options.forgetting)
                    worst = np.convolve(bad, np.ones(RUN) / RUN, "valid").max()
                    print(
                        f"| {name} | {drift} | {coverage:.0%} | {1 - bad.mean():.1%} | "
                        f"{1 - worst:.1%} | {1 - plain.mean():.1%} | {width:.2f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
