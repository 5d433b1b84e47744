"""Measure what a sample costs with 10, 100 and 1,000 classes.

    python benchmarks/many_classes.py [--classes N ...] [--rows N] [--learners NAME ...]

One process, one thread, float32. Each class is a ball of samples in 32 features, around a centre of
its own. After so many rows, or twice as many as classes, the next ones are timed in calls of 500:
the table has the median of CPU µs per sample, the share of mistakes and the support vectors.
"""

import argparse
import functools
import statistics
import warnings

import numpy as np
from ratio import cpu_us
from threadpoolctl import threadpool_limits

import onlinekern

FEATURES = 32
SPREAD = 0.35
CALLS = 4
ROWS_OF_A_CALL = 500
LEARNERS = {
    "kernel PA, each class against the rest": ("KernelPAClassifier", {}),
    "kernel PA, margin": ("KernelPAClassifier", {"multi_class": "margin"}),
    "SPA, each class against the rest": ("SPAClassifier", {"random_state": 0}),
    "SPA, margin": ("SPAClassifier", {"random_state": 0, "multi_class": "margin"}),
    "BSGD, margin, budget 500": ("BSGDClassifier", {"budget": 500}),
    "FOGD, each class against the rest": ("FOGDClassifier", {"random_state": 0}),
    "FOGD, margin": ("FOGDClassifier", {"random_state": 0, "multi_class": "margin"}),
    "KernelRLS": ("KernelRLSClassifier", {}),
    "AROW, each class against the rest": ("AROWClassifier", {}),
    "AROW, margin": ("AROWClassifier", {"multi_class": "margin"}),
    "StreamClassifier": ("StreamClassifier", {"random_state": 0}),
}


def arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", type=int, nargs="+", default=[10, 100, 1_000])
    parser.add_argument("--rows", type=int, default=4_000, help="learnt before")
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=list(LEARNERS))
    return parser.parse_args()


def samples(n, classes, seed=0):
    """Generate n samples of so many classes."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((classes, FEATURES))
    y = random.integers(0, classes, n)
    X = centres[y] + SPREAD * random.standard_normal((n, FEATURES))
    return X.astype(np.float32), y


def measure(learner, classes, rows):
    """Return µs per sample, the share of mistakes, and the support vectors if there are any."""
    name, parameters = LEARNERS[learner]
    first = max(rows, 2 * classes)
    X, y = samples(first + CALLS * ROWS_OF_A_CALL, classes)
    model = getattr(onlinekern, name)(**parameters)
    model.partial_fit(X[:first], y[:first], classes=range(classes))
    before, times = model.n_mistakes_, []
    for begin in range(first, len(y), ROWS_OF_A_CALL):
        part = slice(begin, begin + ROWS_OF_A_CALL)
        call = functools.partial(model.partial_fit, X[part], y[part])
        times.append(cpu_us(call, ROWS_OF_A_CALL)[0])
    mistakes = (model.n_mistakes_ - before) / (len(y) - first)
    return statistics.median(times), mistakes, getattr(model, "n_support_", None)


def main():
    """Measure and print."""
    options = arguments()
    onlinekern.show_config()
    warnings.simplefilter("ignore")
    print(f"{'':42}" + "".join(f"{count:>10,} classes{'':10}" for count in options.classes))
    with threadpool_limits(1):
        for learner in options.learners:
            print(f"{learner:42}", end="", flush=True)
            for count in options.classes:
                us, mistakes, support = measure(learner, count, options.rows)
                print(f"{us:>10.1f}{mistakes:>8.1%}{support or '':>10}", end="", flush=True)
            print()


if __name__ == "__main__":
    main()
