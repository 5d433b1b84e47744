"""Compare OLLA, its solver 'smo' and scikit-learn's SVC: error, support vectors, time.

    python benchmarks/olla_table.py [--data DIR] [--sets NAME ...] [--repeats N]

All are fitted in one process, in turns, with the same width and C; samples are float32. Times are
medians of CPU time. Without --data the sets are two normal classes (15,000 samples, distance 2.8),
a chess board (8,000) and two noisy spirals (5,000), each with a separate test set of the same
size, for the losses and regularisers of OLLA. The soft threshold of |w|_1 equals a logistic step of
C = 2, so nothing is learnt at C = 1: that line is missing there.

With --data the sets are those of `FILES`, read from LIBSVM files in DIR (compressed or not), for
OLLA with 10 epochs, SMO, LIBSVM with caches of 200 and 2,000 megabytes, and the SVC of
scikit-learn-intelex on one thread if it is installed. Of sets without a test file every fifth
sample is kept for the test. Several classes are learnt one against the rest by OLLA, pair by pair
by the others. The dual objective is the sum over all problems.
"""

import statistics
import time
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from command import read_options
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import gen_even_slices

from onlinekern import OLLAClassifier
from onlinekern.streams import chess_board, open_source, two_normals, two_spirals

try:
    import daal4py
    from sklearnex.svm import SVC as IntelSVC

    daal4py.daalinit(1)
except ImportError:
    IntelSVC = None

SETS = {
    "two normals": (lambda seed: two_normals(15_000, distance=2.8, random_state=seed), 0.5, 1.0),
    "chess board": (lambda seed: chess_board(8_000, random_state=seed), 8.0, 100.0),
    "two spirals": (lambda seed: two_spirals(5_000, noise=0.02, random_state=seed), 16.0, 100.0),
}
VARIANTS = {
    "SVC": None,
    "SMO": {"solver": "smo"},
    "OLLA L1": {},
    "OLLA L1, 3 epochs": {"n_epochs": 3},
    "OLLA L1, no regulariser": {"penalty": "none"},
    "OLLA L1, 30 epochs": {"n_epochs": 30},
    "OLLA L2": {"loss": "squared_hinge"},
    "SMO L2": {"solver": "smo", "loss": "squared_hinge"},
    "OLLA huberised": {"loss": "smooth_hinge", "delta": 0.5},
    "SMO huberised": {"solver": "smo", "loss": "smooth_hinge", "delta": 0.5},
    "OLLA logistic": {"loss": "logistic"},
    "OLLA logistic, |w|_1": {"loss": "logistic", "penalty": "l1"},
}


class File(NamedTuple):
    """Names of the files, how features are scaled, and the setting."""

    train: str
    test: str | None
    standardised: bool
    gamma: float
    C: float
    most: int | None = None


FILES = {
    "a9a": File("a9a.train", "a9a.test", False, 0.03, 1.0),
    "a9a, 12,000": File("a9a.train", "a9a.test", False, 0.03, 1.0, 12_000),
    "ijcnn1": File("ijcnn1.train", "ijcnn1.test", False, 2.0, 10.0),
    "cod-rna": File("cod-rna.train", "cod-rna.test", True, 0.3, 10.0),
    "covtype, 25,000": File("covtype50.sample25k", None, True, 0.1, 10.0),
    "usps": File("usps.train", "usps.test", False, 0.01, 10.0),
}


class Fitted(NamedTuple):
    """What a learner came to: error in %, support vectors, dual objective, CPU seconds."""

    error: float
    support: int
    objective: float
    seconds: float


def read(folder, name, width=None):
    """Return samples and labels of a LIBSVM file, dense if at least a third is stored."""
    path = next(Path(folder).glob(f"{name}.libsvm*"))
    with open_source(path, scale="none", dtype="float32", n_features=width) as source:
        X, y = source.head(source.n_samples, None)
    return (X.toarray() if sp.issparse(X) and X.nnz > np.prod(X.shape) / 3 else X), y


def files(folder, wanted):
    """Yield name, the four parts of the set, gamma and C."""
    for name, item in FILES.items():
        if wanted and name not in wanted:
            continue
        X, y = read(folder, item.train)
        if item.test is None:
            test = np.arange(len(y)) % 5 == 0
            parts = X[~test], y[~test], X[test], y[test]
        else:
            parts = X[: item.most], y[: item.most], *read(folder, item.test, X.shape[1])
        if item.standardised:
            dense = [part.toarray() if sp.issparse(part) else part for part in parts]
            scaler = StandardScaler().fit(dense[0])
            parts = scaler.transform(dense[0]), dense[1], scaler.transform(dense[2]), dense[3]
        yield name, parts, item.gamma, item.C


def objective_of(model, X):
    """Return the dual objective of a model of the hinge; of SVC from its coefficients."""
    if isinstance(model, OLLAClassifier):
        return float(np.sum(getattr(model, "dual_objective_", np.nan)))
    coefficients = model.dual_coef_.toarray() if sp.issparse(model.dual_coef_) else model.dual_coef_
    starts = np.concatenate([[0], np.cumsum(model.n_support_)])
    total = 0.0
    for i, j in combinations(range(len(model.classes_)), 2):
        # A support vector has a coefficient for each other class.
        own = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
        a = np.concatenate([coefficients[j - 1, own[0]], coefficients[i, own[1]]])
        rows = X[np.concatenate([model.support_[part] for part in own])]
        total += np.abs(a).sum()
        for part in gen_even_slices(len(a), 1 + len(a) // 1000):
            total -= a[part] @ rbf_kernel(rows[part], rows, model.gamma) @ a / 2
    return total


def fit(model, parts):
    """Fit a model; return what it came to."""
    X, y, X_test, y_test = parts
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    error = 100 - 100 * model.score(X_test, y_test)
    return Fitted(error, len(model.support_), objective_of(model, X), seconds)


def measure(learners, parts, repeats):
    """Return name -> `Fitted`, with the median time of some fits in turns."""
    runs = [{name: fit(make(), parts) for name, make in learners.items()} for _ in range(repeats)]
    return {
        name: runs[0][name]._replace(seconds=statistics.median(run[name].seconds for run in runs))
        for name in learners
    }


def print_lines(lines, other):
    """Print a line for each learner; the ratio is the time of `other` over its own."""
    print(f"{'':26s} error %     SVs  dual objective   seconds  ratio")
    for name, line in lines.items():
        ratio = lines[other].seconds / line.seconds
        objective = "" if np.isnan(line.objective) else f"{line.objective:.3f}"
        print(
            f"{name:26s} {line.error:7.2f} {line.support:7d} {objective:>15s} "
            f"{line.seconds:9.3f} {ratio:6.1f}"
        )
    print(flush=True)


def main():
    """Print a table for each set."""
    options = read_options(__doc__, data=None, sets={"nargs": "*", "choices": [*FILES]}, repeats=3)
    if options.data is not None:
        for name, parts, gamma, C in files(options.data, options.sets):
            shared = {"gamma": gamma, "C": C}
            learners = {
                "OLLA": lambda shared=shared: OLLAClassifier(**shared, random_state=0),
                "SMO": lambda shared=shared: OLLAClassifier(
                    **shared, solver="smo", multi_class="ovo"
                ),
                "LIBSVM": lambda shared=shared: SVC(**shared),
                "LIBSVM, 2,000 MB": lambda shared=shared: SVC(**shared, cache_size=2000),
            }
            if IntelSVC is not None:
                learners["scikit-learn-intelex"] = lambda shared=shared: IntelSVC(**shared)
            print(f"{name}, {len(parts[1])} samples, gamma={gamma:.3g}, C={C:g}")
            print_lines(measure(learners, parts, options.repeats), "LIBSVM")
        return
    for name, (draw, gamma, C) in SETS.items():
        (X, y), (X_test, y_test) = draw(0), draw(1)
        parts = X.astype(np.float32), y, X_test.astype(np.float32), y_test
        learners = {
            variant: lambda settings=settings, gamma=gamma, C=C: (
                SVC(gamma=gamma, C=C)
                if settings is None
                else OLLAClassifier(gamma=gamma, C=C, random_state=0, **settings)
            )
            for variant, settings in VARIANTS.items()
            if C > 1 or "penalty" not in (settings or {}) or settings["penalty"] != "l1"
        }
        print(f"{name}, {len(y)} samples, gamma={gamma:.3g}, C={C:g}")
        print_lines(measure(learners, parts, options.repeats), "SVC")


if __name__ == "__main__":
    main()
