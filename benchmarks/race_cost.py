"""Time races that nobody has chosen anything for: microseconds of processor time a sample.

    python benchmarks/race_cost.py [--rows 20000] [--features 8 20 100 800] [--classes 2 7 0]
        [--runs 1] [--one]

The stream has normal features, of which five tell the target or the class, with noise; 0 classes
are targets. All rows come in one call, with --one a row at a time. The least of the runs counts.
Another version is measured by its own Python: take turns.
"""

import time

import numpy as np
from command import read_options
from threadpoolctl import threadpool_limits

from onlinekern import StreamClassifier, StreamRegressor


def stream(n, d, n_classes):
    """Return samples, and their targets or classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    told = np.tanh(X[:, :5]) + 0.5 * X[:, :5] * X[:, 1:6]
    scores = told @ rng.standard_normal((5, max(1, n_classes)))
    scores += 0.5 * rng.standard_normal(scores.shape)
    if n_classes == 0:
        return X, scores[:, 0]
    return X, scores.argmax(axis=1) if n_classes > 2 else (scores[:, 0] > scores[:, 1]).astype(int)


def cost(X, y, n_classes, one):
    """Return microseconds a sample."""
    model = (StreamClassifier if n_classes else StreamRegressor)(random_state=0)
    known = {"classes": np.arange(n_classes)} if n_classes else {}
    rows, targets = list(X), y.tolist()
    began = time.process_time()
    if not one:
        model.partial_fit(X, y, **known)
    else:
        model.learn_one(rows[0], targets[0], **known)
        for row, target in zip(rows[1:], targets[1:], strict=True):
            model.learn_one(row, target)
    return 1e6 * (time.process_time() - began) / len(y)


def main():
    """Print the table."""
    options = read_options(
        __doc__, rows=20_000, features=[8, 20, 100, 800], classes=[2, 7, 0], runs=1, one=False
    )
    print("| features | " + " | ".join(f"{k} classes" if k else "targets" for k in options.classes))
    with threadpool_limits(1):
        for d in options.features:
            found = []
            for n_classes in options.classes:
                X, y = stream(options.rows, d, n_classes)
                runs = [cost(X, y, n_classes, options.one) for _ in range(options.runs)]
                found.append(f"{min(runs):.1f}")
            print(f"| {d} | " + " | ".join(found), flush=True)


if __name__ == "__main__":
    main()
