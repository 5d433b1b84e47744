"""Measure how good the probabilities are: log-loss and calibration error, beside two peers.

    python benchmarks/probabilities.py FOLDER [--rows 8000]

FOLDER holds the sets (LIBSVM text, packed with xz). Features are standardised. Each learner makes
one pass over the first half of a random order; the second half is the test. A cell is the mean
over three orders of the log-loss, and of the expected calibration error in per cent: the mean
difference between the probability of the likeliest class and the share of right answers, in 15
bins. The peers are scikit-learn's: an averaged SGDClassifier with the logistic loss, and
CalibratedClassifierCV (sigmoid, three folds) around the linear PA, which learns four times.
"""

import argparse
import warnings

import numpy as np
from defaults import read
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

import onlinekern

SETS = {
    "a9a.train": 123,
    "spambase": 57,
    "german.numer": 24,
    "satimage.train": 36,
    "usps.train": 256,
    "shuttle.train": 9,
}
LEARNERS = {
    "linear PA": onlinekern.PAClassifier,
    "AROW": onlinekern.AROWClassifier,
    "kernel PA": onlinekern.KernelPAClassifier,
    "SPA": onlinekern.SPAClassifier,
    "kernel RLS": onlinekern.KernelRLSClassifier,
}
BINS = 15


def logistic(random_state):
    """Return the peer that learns the logistic loss."""
    return SGDClassifier("log_loss", average=True, random_state=random_state)


def cross_calibrated(random_state):
    """Return the peer that holds samples out."""
    return CalibratedClassifierCV(OnePass(random_state=random_state), cv=3)


class OnePass(onlinekern.PAClassifier):
    """Linear PA whose `fit` makes one pass, as in the stream."""

    def fit(self, X, y):
        """Learn one pass."""
        return self.partial_fit(X, y, classes=np.unique(y))


def calibration_error(probabilities, right):
    """Return the expected calibration error, in per cent."""
    sure = probabilities.max(axis=1)
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    return 100 * sum(abs((sure - right)[bins == k].sum()) for k in range(BINS)) / len(sure)


def measured(make, X, y, order):
    """Return the log-loss and the calibration error of a learner on the second half."""
    half = len(y) // 2
    model = make(random_state=order)
    if hasattr(model, "partial_fit"):
        model.partial_fit(X[:half], y[:half], classes=np.unique(y))
    else:
        model.fit(X[:half], y[:half])
    found = model.predict_proba(X[half:])
    right = model.classes_[found.argmax(axis=1)] == y[half:]
    loss = log_loss(y[half:], np.clip(found, 1e-15, 1), labels=model.classes_)
    return loss, calibration_error(found, right)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--orders", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    learners = {**LEARNERS, "SGD, logistic": logistic, "PA, cross-calibrated": cross_calibrated}
    print(f"| set | {' | '.join(learners)} |\n|---|{'---:|' * len(learners)}")
    for name, n_features in SETS.items():
        cells = []
        for make in learners.values():
            runs = [
                measured(make, *read(options.folder, name, n_features, options.rows, order), order)
                for order in range(options.orders)
            ]
            loss, error = np.mean(runs, axis=0)
            cells.append(f"{loss:.3f} ({error:.1f})")
        print(f"| {name.partition('.')[0]} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
