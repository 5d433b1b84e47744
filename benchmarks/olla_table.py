"""OLLA against scikit-learn's SVC: error, support vectors, training time, in one process.

    python benchmarks/olla_table.py [--data DIR] [--repeats N]

The sets are two normal classes (15,000 samples, distance 2.8), a chess board (8,000) and two noisy
spirals (5,000), each with a separate test set of the same size, and, with --data, sonar in five
folds. Samples are float32. On one set all learners have the same width and C. Times are medians of
CPU time, the learners in turns; the ratio is SVC's time over the learner's. The soft threshold of
|w|_1 equals a logistic step of C = 2, so nothing is learnt at C = 1.
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from onlinekern import OLLAClassifier
from onlinekern.streams import chess_board, open_source, two_normals, two_spirals

SETS = {
    "two normals": (lambda seed: two_normals(15_000, distance=2.8, random_state=seed), 0.5, 1.0),
    "chess board": (lambda seed: chess_board(8_000, random_state=seed), 8.0, 100.0),
    "two spirals": (lambda seed: two_spirals(5_000, noise=0.02, random_state=seed), 16.0, 100.0),
}
SONAR = (0.1, 10.0)  # gamma and C, for features in [-1, 1]
LEARNERS = {
    "SVC": None,
    "OLLA L1": {},
    "OLLA L1, 3 epochs": {"n_epochs": 3},
    "OLLA L1, no regulariser": {"penalty": "none"},
    "OLLA L1, 30 epochs": {"n_epochs": 30},
    "OLLA L2": {"loss": "squared_hinge"},
    "OLLA huberised": {"loss": "smooth_hinge", "delta": 0.5},
    "OLLA logistic": {"loss": "logistic"},
    "OLLA logistic, |w|_1": {"loss": "logistic", "penalty": "l1"},
}


def folds(data):
    """Yield (name, splits into training and test rows, gamma, C)."""
    for name, (draw, gamma, C) in SETS.items():
        (X, y), (X_test, y_test) = draw(0), draw(1)
        yield name, [(X.astype(np.float32), y, X_test.astype(np.float32), y_test)], gamma, C
    if data is not None:
        with open_source(Path(data) / "sonar.libsvm.xz", scale="minmax", dtype="float32") as source:
            X, y = source.head(source.n_samples, None)
        parts = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
        yield "sonar", [(X[a], y[a], X[b], y[b]) for a, b in parts], *SONAR


def build(settings, gamma, C):
    """Return the learner of a line of the table."""
    if settings is None:
        return SVC(gamma=gamma, C=C)
    return OLLAClassifier(gamma=gamma, C=C, random_state=0, **settings)


def measure(divisions, gamma, C, repeats):
    """Return name -> (error in %, support vectors, CPU seconds), means over the splits."""
    found = {}
    seconds = {name: [] for name in LEARNERS}
    for _ in range(repeats):
        for name, settings in LEARNERS.items():
            errors, supports, elapsed = [], [], 0.0
            for X, y, X_test, y_test in divisions:
                model = build(settings, gamma, C)
                start = time.process_time()
                model.fit(X, y)
                elapsed += time.process_time() - start
                errors.append(100 - 100 * model.score(X_test, y_test))
                supports.append(len(model.support_))
            seconds[name].append(elapsed / len(divisions))
            found[name] = statistics.mean(errors), statistics.mean(supports)
    return {name: (*found[name], statistics.median(seconds[name])) for name in LEARNERS}


def main():
    """Print a table for each set."""
    parser = argparse.ArgumentParser(description="OLLA against scikit-learn's SVC.")
    parser.add_argument("--data", metavar="DIR", help="folder with sonar.libsvm.xz")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for name, divisions, gamma, C in folds(options.data):
        print(f"{name}, {len(divisions[0][1])} samples, gamma={gamma:.3g}, C={C:g}")
        print(f"{'':26s} error %     SVs  seconds  ratio")
        lines = measure(divisions, gamma, C, options.repeats)
        for learner, (error, support, elapsed) in lines.items():
            ratio = lines["SVC"][2] / elapsed
            print(f"{learner:26s} {error:7.2f} {support:7.0f} {elapsed:8.4f} {ratio:6.1f}")
        print(flush=True)


if __name__ == "__main__":
    main()
