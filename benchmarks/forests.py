"""Print errors of kernel forests after one pass, beside trees that are fitted in batch.

    python benchmarks/forests.py FOLDER [--orders 5] [--rows 20000] [--only NAME,...] [--batch]
                                        [--cells]

FOLDER holds the sets (LIBSVM text, packed with xz). Each is put into random orders; of its first
rows, 70 % are learnt in one pass as they are, and the others test. Prints test errors in per cent
(of targets: the root mean square error over their deviation), their mean and spread over the
orders, and microseconds of processor time a row. --batch adds HistGradientBoosting of 100 and of
500 rounds, and 300 extremely randomised trees, on the first order. --cells shows linear AROW
instead: on standardised rows, on the cells of random trees, and on those of trees that saw y.
"""

import argparse
import lzma
import time
from pathlib import Path

import numpy as np
from scipy.sparse import vstack
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from onlinekern import (
    AROWClassifier,
    AROWRegressor,
    KernelForestClassifier,
    KernelForestRegressor,
    OnlineStandardScaler,
    PartitionFeatures,
)

LABELS = [
    "segment", "splice", "spambase", "phishing", "eeg-eye-state", "satimage", "ijcnn1",
    "covtype.first20k", "a9a",
]  # fmt: skip
TARGETS = ["pol", "kin40k", "protein", "elevators", "cadata", "puma32H"]


def load(folder, name, number, rows, order):
    """Return rows and labels to learn, and rows and labels to test on."""
    paths = [Path(folder) / f"{name}{part}.libsvm.xz" for part in ("", ".train", ".test")]
    parts = []
    for path in filter(Path.exists, paths):
        with lzma.open(path) as packed:
            parts.append(load_svmlight_file(packed))
    d = max(X.shape[1] for X, _ in parts)
    for X, _ in parts:
        X.resize(X.shape[0], d)
    X, y = vstack([X for X, _ in parts], "csr"), np.concatenate([y for _, y in parts])
    chosen = np.random.default_rng(order).permutation(len(y))[:rows]
    X, y = X[chosen].toarray(), y[chosen]
    n = int(0.7 * len(y))
    return X[:n], y[:n], X[n:], y[n:]


def error(model, learnt, X, y, number):
    predicted = model.predict(X)
    if number:
        return float(np.sqrt(np.mean((predicted - y) ** 2)) / np.std(learnt))
    return 100 * float(np.mean(predicted != y))


def batch_models(number):
    boosting = HistGradientBoostingRegressor if number else HistGradientBoostingClassifier
    trees = ExtraTreesRegressor if number else ExtraTreesClassifier
    return {
        "boosting 100": boosting(max_iter=100, early_stopping=False),
        "boosting 500": boosting(max_iter=500, early_stopping=False),
        "extra trees 300": trees(300, random_state=0),
    }


def timed(model, X, y):
    """Fit a model; return it, and microseconds a row."""
    began = time.process_time()
    model.fit(X, y)
    return model, 1e6 * (time.process_time() - began) / len(X)


def show(folder, name, number, arguments):
    forest = KernelForestRegressor if number else KernelForestClassifier
    errors, costs = [], []
    for order in range(arguments.orders):
        X, y, Z, v = load(folder, name, number, arguments.rows, order)
        model, cost = timed(forest(shuffle=False, random_state=order), X, y)
        errors.append(error(model, y, Z, v, number))
        costs.append(cost)
    form = ".3f" if number else ".2f"
    cells = [name, f"{len(X)} x {X.shape[1]}", f"{np.mean(errors):{form}}",
             f"{np.std(errors):{form}}", f"{np.median(costs):.0f}"]  # fmt: skip
    if arguments.batch:
        X, y, Z, v = load(folder, name, number, arguments.rows, 0)
        for model in batch_models(number).values():
            model, cost = timed(model, X, y)
            cells.append(f"{error(model, y, Z, v, number):{form}} ({cost:.0f})")
    print("| " + " | ".join(cells) + " |", flush=True)


def cells_of(X, y, Z, v, number, seed):
    """Return errors of AROW on rows, on the cells of random trees and of trees that saw y."""
    learner, target = (AROWRegressor, "numbers") if number else (AROWClassifier, "labels")
    classes = {} if number else {"classes": np.unique(y)}
    found = []
    transformers = [OnlineStandardScaler(), PartitionFeatures(random_state=seed),
                    PartitionFeatures(target=target, random_state=seed)]  # fmt: skip
    for transformer, told in zip(transformers, (None, None, y), strict=True):
        rows = transformer.learn_transform(X, told)
        model = learner(random_state=seed).partial_fit(rows, y, **classes)
        found.append(error(model, y, transformer.transform(Z), v, number))
    return found


def show_cells(folder, name, number, arguments):
    errors = [cells_of(*load(folder, name, number, arguments.rows, order), number, order)
              for order in range(arguments.orders)]  # fmt: skip
    form = ".3f" if number else ".2f"
    cells = [name, *(f"{value:{form}}" for value in np.mean(errors, axis=0))]
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--orders", type=int, default=5)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--batch", action="store_true")
    parser.add_argument("--cells", action="store_true")
    arguments = parser.parse_args()
    heads = ["set", "rows x features", "error", "spread", "us a row"]
    heads += list(batch_models(False)) if arguments.batch else []
    if arguments.cells:
        heads = ["set", "rows", "cells", "cells of y"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for name in [*LABELS, *TARGETS]:
        if not arguments.only or name in arguments.only.split(","):
            (show_cells if arguments.cells else show)(
                arguments.folder, name, name in TARGETS, arguments
            )


if __name__ == "__main__":
    main()
