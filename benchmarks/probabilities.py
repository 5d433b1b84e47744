"""Measure how good the probabilities are: log loss, calibration error and mistakes.

    python benchmarks/probabilities.py FOLDER [--rows 8000] [--only NAME,...]
                                       [--batch | --ridges | --early]

FOLDER holds the sets (LIBSVM text, packed with xz). Features are standardised. Each learner makes
one pass over 70 % of a random order; the rest is the test. A cell is the mean over three orders of
the log loss; in brackets stand the expected calibration error in per cent, the mean difference
between the probability of the likeliest class and the share of right answers, in 15 bins, and the
share of mistakes in per cent. A * marks the least log loss of a row. Below stands the processor
time of the pass over that of kernel AROW (or the first learner), the median over the sets. The
peers are scikit-learn's: an averaged SGDClassifier with the logistic loss, and
CalibratedClassifierCV (sigmoid, three folds) around the linear PA, which learns four times.
`--batch` compares OLLA's ways to learn several classes by the logistic loss, C = 10; `--ridges`
compares values of r. `--early` tells the log loss after a few rows over that of the shares of the
classes so far, of each of which one more is counted: of every classifier of a stream, the mean and
the worst over sets of two classes and of more, and orders.
"""

import time
import warnings
from functools import partial

import numpy as np
from command import read_options
from defaults import read
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

import onlinekern

# Five sets of two classes, and five of more.
SETS = {
    "a9a.train": 123,
    "spambase": 57,
    "german.numer": 24,
    "eeg-eye-state": 14,
    "ijcnn1.train": 22,
    "satimage.train": 36,
    "usps.train": 256,
    "optdigits": 64,
    "covtype.sample10k": 54,
    "waveform5000": 40,
}
REFERENCE = "kernel AROW"
LEARNERS = {
    "kernel logistic": onlinekern.KernelLogisticClassifier,
    "the same, full": partial(onlinekern.KernelLogisticClassifier, covariance="full"),
    "the same, ovr": partial(onlinekern.KernelLogisticClassifier, multi_class="ovr"),
    REFERENCE: onlinekern.KernelAROWClassifier,
    "kernel RLS": onlinekern.KernelRLSClassifier,
    "kernel PA": onlinekern.KernelPAClassifier,
    "FOGD": onlinekern.FOGDClassifier,
    "race": onlinekern.StreamClassifier,
    "AROW": onlinekern.AROWClassifier,
}
OLLA = {
    way: partial(onlinekern.OLLAClassifier, loss="logistic", C=10.0, multi_class=way)
    for way in ("ovr", "margin", "softmax")
}
RIDGES = {
    f"r {r}": partial(onlinekern.KernelLogisticClassifier, r=r) for r in (0.01, 0.03, 0.1, 0.3)
}
# Further sets after a few rows, and how many.
UNEVEN = {"htru2": 8, "phishing": 68, "page-blocks": 10}
FEW = (20, 50, 100, 200, 500, 2000)
SHARE = 0.7
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
    """Return log loss, calibration error and share of mistakes on the rest, and microseconds."""
    cut = int(SHARE * len(y))
    model = make(random_state=order)
    start = time.process_time()
    if hasattr(model, "partial_fit"):
        model.partial_fit(X[:cut], y[:cut], classes=np.unique(y))
    else:
        model.fit(X[:cut], y[:cut])
    seconds = time.process_time() - start
    found = model.predict_proba(X[cut:])
    right = model.classes_[found.argmax(axis=1)] == y[cut:]
    loss = log_loss(y[cut:], np.clip(found, 1e-15, 1), labels=model.classes_)
    return loss, calibration_error(found, right), 100 * (1 - right.mean()), 1e6 * seconds / cut


def early(options):
    """Print the table of log losses after a few rows."""
    every = dict(onlinekern.all_estimators("classifier"))
    found = {name: kind() for name, kind in every.items() if hasattr(kind, "partial_fit")}
    for name, kind in every.items():
        losses = str(kind.__annotations__.get("loss", ""))
        if name in found and "logistic" in losses and found[name].loss != "logistic":
            found[f"{name}, logistic"] = kind(loss="logistic")
    ratios = {}
    for name, n_features in (SETS | UNEVEN).items():
        for order in range(options.orders - 1):
            X, y = read(options.folder, name, n_features, 3000, order)
            classes, numbers = np.unique(y, return_inverse=True)
            cut = min(FEW[-1], int(SHARE * len(y)))
            for label, learner in found.items():
                model, at = clone(learner).set_params(random_state=order), 0
                for n in (n for n in FEW if n <= cut):
                    model.partial_fit(X[at:n], y[at:n], classes=classes)
                    at, counts = n, np.bincount(numbers[:n], minlength=len(classes)) + 1
                    own = model.predict_proba(X[cut:])[np.arange(len(y) - cut), numbers[cut:]]
                    shares = (counts / counts.sum())[numbers[cut:]]
                    ratio = np.log(np.maximum(own, 1e-15)).mean() / np.log(shares).mean()
                    ratios.setdefault((label, n, len(classes) > 2), []).append(ratio)
    print(f"| learner, classes | {' | '.join(map(str, FEW))} |\n|---|{'---:|' * len(FEW)}")
    for several in (False, True):
        for label in found:
            rows = [ratios[label, n, several] for n in FEW]
            cells = [f"{np.exp(np.log(row).mean()):.2f} ({max(row):.2f})" for row in rows]
            print(f"| {label}, {'more' if several else 'two'} | {' | '.join(cells)} |")


def row_of(learners, name, options):
    """Return the measures of each learner on a set, ndarray of shape (n_learners, 4)."""
    found = []
    for make in learners.values():
        runs = [
            measured(make, *read(options.folder, name, SETS[name], options.rows, order), order)
            for order in range(options.orders)
        ]
        found.append(np.mean(runs, axis=0))
    return np.array(found)


def main():
    options = read_options(
        __doc__, "folder", rows=8000, orders=3, only=None, batch=False, early=False, ridges=False
    )
    warnings.simplefilter("ignore")
    if options.early:
        early(options)
        return
    learners = {**LEARNERS, "SGD, logistic": logistic, "PA, cross-calibrated": cross_calibrated}
    names, reference = list(SETS), list(learners).index(REFERENCE)
    if options.batch:
        learners, names, reference = OLLA, names[5:], 0
    elif options.ridges:
        learners, reference = RIDGES, 0
    print(f"| set | {' | '.join(learners)} |\n|---|{'---:|' * len(learners)}")
    times = []
    for name in options.only.split(",") if options.only else names:
        found = row_of(learners, name, options)
        least = found[:, 0].argmin()
        cells = [
            f"{loss:.3f}{'*' if place == least else ''} ({error:.1f}, {mistakes:.1f})"
            for place, (loss, error, mistakes, _) in enumerate(found)
        ]
        times.append(found[:, 3] / found[reference, 3])
        print(f"| {name.partition('.')[0]} | {' | '.join(cells)} |", flush=True)
    ratios = " | ".join(f"{ratio:.2f}" for ratio in np.median(times, axis=0))
    print(f"| time | {ratios} |")


if __name__ == "__main__":
    main()
