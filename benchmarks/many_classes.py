"""Measure what a sample costs with 10, 100 and 1,000 classes.

    python benchmarks/many_classes.py [--classes N ...] [--rows N] [--learners NAME ...]

One process, one thread, float32. Each class is a ball of samples in 32 features, around a centre of
its own. After so many rows, or twice as many as classes, the next ones are timed in calls of 500:
the table has the median of CPU µs per sample, the share of mistakes and the support vectors, in
brackets that of the mistakes in classes that had none before, and the number of these classes.
"""

import functools
import statistics
import warnings

import numpy as np
from command import read_options
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
    "SPA, each class against the rest, beta 5": ("SPAClassifier", {"random_state": 0, "beta": 5.0}),
    "SPA, each class against the rest, beta 20": (
        "SPAClassifier",
        {"random_state": 0, "beta": 20.0},
    ),
    "SPA, margin, beta 20": (
        "SPAClassifier",
        {"random_state": 0, "beta": 20.0, "multi_class": "margin"},
    ),
    "SPA, margin": ("SPAClassifier", {"random_state": 0, "multi_class": "margin"}),
    "BSGD, margin, budget 500": ("BSGDClassifier", {"budget": 500}),
    "FOGD, each class against the rest": ("FOGDClassifier", {"random_state": 0}),
    "FOGD, margin": ("FOGDClassifier", {"random_state": 0, "multi_class": "margin"}),
    "KernelRLS": ("KernelRLSClassifier", {}),
    "AROW, each class against the rest": ("AROWClassifier", {}),
    "AROW, margin": ("AROWClassifier", {"multi_class": "margin"}),
    "StreamClassifier": ("StreamClassifier", {"random_state": 0}),
}


def samples(n, classes, seed=0):
    """Generate n samples of so many classes."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((classes, FEATURES))
    y = random.integers(0, classes, n)
    X = centres[y] + SPREAD * random.standard_normal((n, FEATURES))
    return X.astype(np.float32), y


def measure(learner, classes, rows):
    """Return µs per sample, and what is printed of mistakes and support vectors."""
    name, parameters = LEARNERS[learner]
    first = max(rows, 2 * classes)
    X, y = samples(first + CALLS * ROWS_OF_A_CALL, classes)
    model = getattr(onlinekern, name)(**parameters)
    model.partial_fit(X[:first], y[:first], classes=range(classes))
    support = hasattr(model, "n_support_") and classes > 2
    without = ~(model.dual_coef_ > 0).any(axis=1) if support else np.zeros(classes, dtype=bool)
    wrong, times = np.empty(0, dtype=bool), []
    for begin in range(first, len(y), ROWS_OF_A_CALL):
        part = slice(begin, begin + ROWS_OF_A_CALL)
        call = functools.partial(model.partial_fit_predict, X[part], y[part])
        us, predicted = cpu_us(call, ROWS_OF_A_CALL)
        times.append(us)
        wrong = np.append(wrong, predicted != y[part])
    shown = f"{wrong.mean():.1%}"
    if without.any():
        shown += f" ({(wrong & without[y[first:]]).mean():.1%}, {without.sum()})"
    return statistics.median(times), shown, getattr(model, "n_support_", "")


def main():
    """Measure and print."""
    options = read_options(
        __doc__,
        classes=[10, 100, 1_000],
        rows=4_000,
        learners={"nargs": "+", "default": list(LEARNERS), "choices": list(LEARNERS)},
    )
    onlinekern.show_config()
    warnings.simplefilter("ignore")
    print(f"{'':42}" + "".join(f"{count:>20,} classes{'':7}" for count in options.classes))
    with threadpool_limits(1):
        for learner in options.learners:
            print(f"{learner:42}", end="", flush=True)
            for count in options.classes:
                us, mistakes, support = measure(learner, count, options.rows)
                print(f"{us:>9.1f}{mistakes:>20}{support:>6}", end="", flush=True)
            print()


if __name__ == "__main__":
    main()
