"""Compare kernel least squares of several targets with a model for each.

    python benchmarks/least_squares_targets.py [--rows 8000] [--targets 1,4,16]
        [--components 200,400] [--filters]

With `--filters`, the adaptive filters with 200 support vectors take the place of kernel least
squares (who leaves the fixed budget and KRLS-T is chosen for all targets, which differs).

The targets are sines of random directions of ten features, each of its own scale, and noise. One
pass in calls of 500 rows; median of three runs, in turn, on one thread. Prints microseconds of CPU
time a row, what a model of each costs, and the largest difference of predictions over the
deviation of their target. `reg` is 0.1: with "auto" all targets share the one that is chosen.
"""

import time

import numpy as np
from command import read_options
from sklearn.base import clone
from sklearn.multioutput import MultiOutputRegressor
from threadpoolctl import threadpool_limits

from onlinekern import (
    FixedBudgetKRLSRegressor,
    KAPARegressor,
    KernelRLSRegressor,
    KLMSRegressor,
    KRLSRegressor,
    KRLSTRegressor,
    QKLMSRegressor,
    SlidingWindowKRLSRegressor,
)

FILTERS = [
    KLMSRegressor(max_support=200),
    QKLMSRegressor(epsilon=0.5, budget=200),
    KAPARegressor(budget=200),
    KRLSRegressor(nu=1e-3, budget=200),
    SlidingWindowKRLSRegressor(budget=200),
    FixedBudgetKRLSRegressor(budget=200),
    KRLSTRegressor(budget=200),
]
CALL, RUNS = 500, 3


def made(rows, n_targets):
    """Return rows, and targets of several scales."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 10))
    Y = np.sin(X @ rng.normal(size=(10, n_targets)) / 2)
    Y += 0.1 * rng.normal(size=Y.shape)
    return X, 10.0 ** np.linspace(-2, 4, n_targets) * Y + np.arange(n_targets)


def taught(model, X, Y):
    """Return a model that has learnt all rows, and the CPU seconds that this took."""
    start = time.process_time()
    for first in range(0, len(X), CALL):
        model.partial_fit(X[first : first + CALL], Y[first : first + CALL])
    return model, time.process_time() - start


def row_of(rows, n_targets, title, model):
    """Return a line of the table."""
    X, Y = made(rows, n_targets)
    one, each = [], []
    for _ in range(RUNS):
        together, seconds = taught(clone(model), X, Y)
        one.append(1e6 * seconds / rows)
        apart, seconds = taught(MultiOutputRegressor(clone(model)), X, Y)
        each.append(1e6 * seconds / rows)
    found = together.predict(X[:500]).reshape(500, -1)
    difference = np.abs((found - apart.predict(X[:500])) / Y.std(axis=0)).max()
    one, each = np.median(one), np.median(each)
    cells = n_targets, title, f"{one:.1f}", f"{each:.1f}", f"{each / one:.1f}"
    return f"| {' | '.join(map(str, cells))} | {difference:.0e} |"


def main():
    """Print the table."""
    options = read_options(
        __doc__, rows=8000, targets=("1", "4", "16"), components=("200", "400"), filters=False
    )
    models = [
        (number, KernelRLSRegressor(n_components=int(number), reg=0.1, random_state=0))
        for number in options.components
    ]
    title = "components"
    if options.filters:
        title, models = "learner", [(type(model).__name__, model) for model in FILTERS]
    print(f"| targets | {title} | µs a row, one model | µs, a model of each | ratio | difference |")
    print("|---:|---:|---:|---:|---:|---:|")
    with threadpool_limits(1):
        for name, model in models:
            model.set_params(gamma=0.05)
            for n_targets in options.targets:
                print(row_of(options.rows, int(n_targets), name, model), flush=True)


if __name__ == "__main__":
    main()
