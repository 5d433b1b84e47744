"""Errors and cost of races on made rows of hundreds of features.

    python benchmarks/wide_rows.py [--rows 2000] [--features 200 500 1000] [--draws 2]

70 % of the rows are learnt in one pass, in calls of 100; the others test. Errors are in %, of
targets the root mean squared error in % of their deviation, means of the draws; beside them the
processor time of a learnt row in microseconds.
"""

import time

import numpy as np
from command import read_options
from sklearn.datasets import make_classification, make_friedman1, make_regression
from threadpoolctl import threadpool_limits

from onlinekern import StreamClassifier, StreamRegressor

CALL = 100


def clusters(n, d, seed):
    """Two classes, each of two clusters, in ten of the features."""
    return make_classification(n, d, n_informative=10, random_state=seed)


def many_clusters(n, d, seed):
    """Five classes in fifty of the features."""
    return make_classification(n, d, n_informative=50, n_classes=5, random_state=seed)


def linear_labels(n, d, seed):
    """The sign of a sum over all features, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sign(X @ rng.standard_normal(d) + 5 * rng.standard_normal(n))


def linear_targets(n, d, seed):
    """A sum over thirty of the features, with noise."""
    return make_regression(n, d, n_informative=30, noise=10, random_state=seed)


def friedman(n, d, seed):
    """Friedman's first function, of five of the features."""
    return make_friedman1(n, d, noise=1, random_state=seed)


MADE = {
    "two classes": (StreamClassifier, clusters),
    "five classes": (StreamClassifier, many_clusters),
    "linear labels": (StreamClassifier, linear_labels),
    "linear targets": (StreamRegressor, linear_targets),
    "Friedman 1": (StreamRegressor, friedman),
}


def measured(make, X, y):
    """Return the error on the last 30 % of the rows, and the processor time of a learnt one."""
    n, model = int(0.7 * len(X)), make(random_state=0)
    given = {"classes": np.unique(y)} if make is StreamClassifier else {}
    start = time.process_time()
    for first in range(0, n, CALL):
        last = min(first + CALL, n)
        model.partial_fit(X[first:last], y[first:last], **given)
    spent = 1e6 * (time.process_time() - start) / n
    found = model.predict(X[n:])
    if make is StreamClassifier:
        return 100 * np.mean(found != y[n:]), spent
    return 100 * np.sqrt(np.mean((found - y[n:]) ** 2)) / y[n:].std(), spent


def main():
    """Print the table."""
    options = read_options(__doc__, rows=2000, features=[200, 500, 1000], draws=2)
    print("| rows | features | error | us |")
    with threadpool_limits(1):
        for name, (make, draw) in MADE.items():
            for d in options.features:
                runs = [measured(make, *draw(options.rows, d, seed))
                        for seed in range(options.draws)]  # fmt: skip
                error, spent = np.mean(runs, axis=0)
                print(f"| {name} | {d:,} | {error:.1f} | {spent:.0f} |", flush=True)


if __name__ == "__main__":
    main()
