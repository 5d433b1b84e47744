"""What permutation importances along a stream say, and cost.

    nice python benchmarks/importances.py

The first table has the importances of Agrawal's nine features, in hundredths of mistakes, after
each of five rules, which look at the features in brackets. The second has the time of a sample with
them, as a multiple of learning alone: medians of five turns, processor time, calls of 1,000.
"""

from statistics import median
from time import process_time

import numpy as np
from sklearn.base import clone

from onlinekern import (
    KernelForestClassifier,
    KernelPAClassifier,
    KernelRLSClassifier,
    PAClassifier,
    StreamClassifier,
)
from onlinekern.evaluate import StreamImportance
from onlinekern.streams import Agrawal, RandomRBF
from onlinekern.streams.generators.agrawal import Applicant

RULES = {
    0: ("age",),
    1: ("age", "salary"),
    2: ("age", "level"),
    4: ("age", "salary", "loan"),
    7: ("level", "salary", "commission"),
}
ROWS, CALL, TURNS = 5_000, 1_000, 5
MODELS = {
    "linear PA": PAClassifier(random_state=0),
    "kernel PA, 500": KernelPAClassifier(max_support=500, random_state=0),
    "KernelRLS": KernelRLSClassifier(random_state=0),
    "kernel forest": KernelForestClassifier(random_state=0),
    "StreamClassifier": StreamClassifier(random_state=0),
}


def calls(X, y):
    """Yield the samples in calls."""
    for first in range(0, len(y), CALL):
        yield X[first : first + CALL], y[first : first + CALL]


def print_importances():
    """Print what a race says while the rule changes."""
    learner = StreamClassifier(random_state=0)
    model = StreamImportance(learner, n_features=3, random_state=0)
    print(f"| rule | {' | '.join(Applicant._fields)} |\n|---|{'---|' * 9}")
    for rule, features in RULES.items():
        X, y = Agrawal(concept=rule, random_state=rule).take(ROWS)
        for rows, labels in calls(X, y):
            model.partial_fit(rows, labels, classes=[0, 1])
        cells = [f"{100 * value:.1f}" for value in model.feature_importances_]
        print(f"| {rule} ({', '.join(features)}) | {' | '.join(cells)} |", flush=True)


def seconds(model, X, y):
    """Return the time that a model takes to learn a stream."""
    began = process_time()
    for rows, labels in calls(X, y):
        model.partial_fit(rows, labels, classes=[0, 1])
    return process_time() - began


def print_times():
    """Print the cost of explaining, by how many features are exchanged."""
    X, y = RandomRBF(n_features=20, random_state=0, model_state=0).take(ROWS)
    kinds = (1, 5, 20)
    print(f"\n| learner | µs alone | {' | '.join(f'{k} of 20' for k in kinds)} |")
    print("|---|---|---|---|---|")
    for name, model in MODELS.items():
        alone, ratios = [], {k: [] for k in kinds}
        for _ in range(TURNS):
            alone.append(seconds(clone(model), X, y))
            for k in kinds:
                one = StreamImportance(clone(model), n_features=k, random_state=0)
                ratios[k].append(seconds(one, X, y) / alone[-1])
        cells = [f"{median(ratios[k]):.1f}" for k in kinds]
        print(f"| {name} | {1e6 * median(alone) / len(y):.1f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    print_importances()
    print_times()
