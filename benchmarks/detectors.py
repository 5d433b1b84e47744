"""How well detectors of one class rank outliers: the area under the ROC curve, on labelled sets.

    python benchmarks/detectors.py --data DIR [--rows N] [--orders N] [--raw] [--only TEXT]

DIR holds the sets as NAME.libsvm.xz. A set is standardised, unless --raw. Its rows come in random
orders, in batches of 50 that are scored before they are learnt. IsolationForest and OneClassSVM,
which learn no streams, score the rows that they were fitted on. No detector sees a label or a
parameter chosen by one. The half-space trees need river, and are left out without it. Prints a
line per set: mean area over the orders, in per cent, of each detector.
"""

import argparse
import lzma
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler, minmax_scale
from sklearn.svm import OneClassSVM

from onlinekern import KernelMeanDetector, SPAOneClass

# Name -> files, the labels of the outliers, labels that are left out.
SETS = {
    "shuttle": (["shuttle.train", "shuttle.test"], {2, 3, 5, 6, 7}, {4}),
    "htru2": (["htru2"], {1}, set()),
    "page-blocks": (["page-blocks"], {2, 3, 4, 5}, set()),
    "breast-cancer": (["breast-cancer-wisconsin"], {1}, set()),
    "ionosphere": (["ionosphere"], {-1}, set()),
    "satimage": (["satimage.train", "satimage.test"], {2}, set()),
    "optdigits": (["optdigits"], {0}, set()),
    "segment": (["segment"], {1}, set()),
    "diabetes": (["diabetes"], {1}, set()),
    "spambase": (["spambase"], {1}, set()),
}


def arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="DIR", required=True, help="folder with NAME.libsvm.xz")
    parser.add_argument("--rows", type=int, default=20_000, help="rows of a set at most")
    parser.add_argument("--orders", type=int, default=5)
    parser.add_argument("--raw", action="store_true", help="do not standardise")
    parser.add_argument("--only", default="", help="sets whose name contains this")
    return parser.parse_args()


def load(folder, name, raw):
    """Return rows of a set, standardised unless `raw`, and which of them are outliers."""
    files, outliers, left_out = SETS[name]
    parts = []
    for file in files:
        with lzma.open(Path(folder) / f"{file}.libsvm.xz") as packed:
            parts.append(load_svmlight_file(packed))
    width = max(X.shape[1] for X, _ in parts)
    X = sparse.vstack([sparse.csr_matrix((X.data, X.indices, X.indptr), (X.shape[0], width))
                       for X, _ in parts]).toarray()  # fmt: skip
    y = np.concatenate([y for _, y in parts])
    kept = ~np.isin(y, list(left_out))
    rows = X[kept] if raw else StandardScaler().fit_transform(X[kept])
    return rows, np.isin(y[kept], list(outliers))


def prequential(model, X, step=50):
    """Return the scores of rows in batches, each scored before it is learnt."""
    model.partial_fit(X[:step])
    found = [np.zeros(step)]
    for first in range(step, len(X), step):
        found.append(model.score_samples(X[first : first + step]))
        model.partial_fit(X[first : first + step])
    return np.concatenate(found)


def half_space_trees(X):
    """Return the scores of river's half-space trees, each before its row is learnt."""
    from river.anomaly import HalfSpaceTrees

    trees, scores = HalfSpaceTrees(seed=0), []
    for row in minmax_scale(X).tolist():
        features = dict(enumerate(row))
        scores.append(-trees.score_one(features))
        trees.learn_one(features)
    return np.array(scores)


def detectors(seed):
    """Return name -> function from rows to scores that are low for outliers."""
    found = {
        "kernel mean": lambda X: prequential(KernelMeanDetector(random_state=seed), X),
        "SPAOneClass": lambda X: prequential(SPAOneClass(random_state=seed), X),
        "IsolationForest": lambda X: IsolationForest(random_state=seed).fit(X).score_samples(X),
        "OneClassSVM": lambda X: OneClassSVM(nu=0.1).fit(X).score_samples(X),
    }
    try:
        import river  # noqa: F401
    except ImportError:
        return found
    return {**found, "half-space trees": half_space_trees}


def main():
    options = arguments()
    names = list(detectors(0))
    print(f"{'':14} rows  outliers %  " + "  ".join(names) + "   (µs per row)")
    for name in SETS:
        if options.only not in name:
            continue
        X, outlier = load(options.data, name, options.raw)
        areas, seconds = {n: [] for n in names}, dict.fromkeys(names, 0.0)
        for order in range(options.orders):
            rows = np.random.default_rng(order).permutation(len(X))[: options.rows]
            for detector, score in detectors(order).items():
                start = time.process_time()
                found = score(X[rows])
                seconds[detector] += time.process_time() - start
                areas[detector].append(roc_auc_score(~outlier[rows][50:], found[50:]))
        costs = [1e6 * seconds[n] / (options.orders * len(rows)) for n in names]
        line = "  ".join(
            f"{100 * np.mean(areas[n]):{len(n)}.1f}" for n in names
        ) + "   (" + ", ".join(f"{cost:.1f}" for cost in costs) + ")"  # fmt: skip
        print(f"{name:14} {len(rows):5} {100 * outlier.mean():8.1f}    {line}", flush=True)


if __name__ == "__main__":
    main()
