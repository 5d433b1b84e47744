"""Measure how well detectors of one class rank outliers: the area under the ROC curve.

    python benchmarks/detectors.py --data DIR [--rows N] [--orders N] [--reg R] [--raw]
                                   [--only NAME,...]

DIR holds the sets as NAME.libsvm.xz. A set is standardised, unless --raw. Its rows come in random
orders, in batches of 50 that are scored before they are learnt. IsolationForest and OneClassSVM,
which learn no streams, score the rows that they were fitted on. No detector sees a label or a
parameter chosen by one. The half-space trees need river, and are left out without it: a line says
so. Prints a line per set: median area over the orders, in per cent, of each detector.
"""

import lzma
import time
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from command import read_options
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler, minmax_scale
from sklearn.svm import OneClassSVM

from onlinekern import KernelMeanDetector, SPAOneClass

# Of the largest sets, so many rows are chosen at random.
MOST_ROWS = 100_000


class Labelled(NamedTuple):
    """A set: its files, the labels of the outliers, labels that are left out.

    With a share, so many of the outliers are left out that the rest are this share of the rows.
    """

    files: list
    outliers: set
    left_out: set = frozenset()
    share: float | None = None


SETS = {
    "shuttle": Labelled(["shuttle.train", "shuttle.test"], {2, 3, 5, 6, 7}, {4}),
    "htru2": Labelled(["htru2"], {1}),
    "page-blocks": Labelled(["page-blocks"], {2, 3, 4, 5}),
    "breast-cancer": Labelled(["breast-cancer-wisconsin"], {1}),
    "ionosphere": Labelled(["ionosphere"], {-1}),
    "satimage": Labelled(["satimage.train", "satimage.test"], {2}),
    "optdigits": Labelled(["optdigits"], {0}),
    "segment": Labelled(["segment"], {1}),
    "diabetes": Labelled(["diabetes"], {1}),
    "spambase": Labelled(["spambase"], {1}),
    "cod-rna": Labelled(["cod-rna.train"], {1}, share=0.1),
    "covtype": Labelled(["covtype.3vs4"], {1}),
    "ijcnn1": Labelled(["ijcnn1.train"], {1}),
    "kddcup99": Labelled(["kddcup99_10pct.train"], {1}, share=0.05),
    "skin": Labelled(["skin_nonskin"], {1}, share=0.1),
    "waveform": Labelled(["waveform5000"], {0}, share=0.1),
}


def load(folder, name, raw):
    """Return rows of a set, standardised unless `raw`, and which of them are outliers."""
    files, outliers, left_out, share = SETS[name]
    parts = []
    for file in files:
        with lzma.open(Path(folder) / f"{file}.libsvm.xz") as packed:
            parts.append(load_svmlight_file(packed))
    width = max(X.shape[1] for X, _ in parts)
    X = sparse.vstack([sparse.csr_matrix((X.data, X.indices, X.indptr), (X.shape[0], width))
                       for X, _ in parts]).tocsr()  # fmt: skip
    y = np.concatenate([y for _, y in parts])
    draws = np.random.default_rng(0)
    kept = np.flatnonzero(~np.isin(y, list(left_out)))
    if share is not None:
        kept = thinned(kept, np.isin(y[kept], list(outliers)), share, draws)
    kept = draws.permutation(kept)[:MOST_ROWS]
    rows = X[kept].toarray()
    return rows if raw else StandardScaler().fit_transform(rows), np.isin(y[kept], list(outliers))


def thinned(rows, outlier, share, draws):
    """Return all rows but outliers, and so many of these that they are a share of the rows."""
    count = round(share / (1 - share) * np.count_nonzero(~outlier))
    return np.concatenate([rows[~outlier], draws.choice(rows[outlier], count, replace=False)])


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


def streamed(make, **settings):
    """Return a function from rows to the scores of a stream learner."""
    return lambda X: prequential(make(**settings), X)


def fitted(model):
    """Return a function from rows to the scores of a learner that is fitted on them."""
    return lambda X: model.fit(X).score_samples(X)


def own_detectors(seed, reg):
    """Return name -> function for each form of KernelMeanDetector."""
    leverage, nystroem = {"statistic": "leverage", "reg": reg}, {"features": "nystroem"}
    forms = {
        "mean": {},
        "mean, Nystroem": nystroem,
        "leverage": leverage,
        "leverage, Nystroem": leverage | nystroem,
    }
    return {
        name: streamed(KernelMeanDetector, random_state=seed, **settings)
        for name, settings in forms.items()
    }


def detectors(seed, reg=1.0):
    """Return name -> function from rows to scores that are low for outliers."""
    found = {
        **own_detectors(seed, reg),
        "SPAOneClass": streamed(SPAOneClass, random_state=seed),
        "half-space trees": half_space_trees,
        "IsolationForest": fitted(IsolationForest(random_state=seed)),
        "OneClassSVM": fitted(OneClassSVM(nu=0.1)),
    }
    if find_spec("river") is None:
        del found["half-space trees"]
    return found


def measure(X, outlier, options):
    """Return the areas and the seconds of each detector, a number for each order."""
    areas, seconds = defaultdict(list), defaultdict(list)
    for order in range(options.orders):
        rows = np.random.default_rng(order).permutation(len(X))[: options.rows]
        for name, score in detectors(order, options.reg).items():
            start = time.process_time()
            found = score(X[rows])
            seconds[name].append(time.process_time() - start)
            areas[name].append(roc_auc_score(~outlier[rows][50:], found[50:]))
    return areas, seconds


def main():
    options = read_options(
        __doc__,
        data={"required": True},
        rows=10_000,
        orders=5,
        reg=1.0,
        raw=False,
        only=tuple(SETS),
    )
    names = list(detectors(0))
    if "half-space trees" not in names:
        print("no half-space trees: river is not installed")
    print(f"{'':14} rows  outliers %  " + "  ".join(names) + "   (µs per row)")
    for name in options.only:
        X, outlier = load(options.data, name, options.raw)
        areas, seconds = measure(X, outlier, options)
        n_rows = min(len(X), options.rows)
        line = "  ".join(f"{100 * np.median(areas[n]):{len(n)}.1f}" for n in names)
        costs = ", ".join(f"{1e6 * np.median(seconds[n]) / n_rows:.1f}" for n in names)
        print(f"{name:14} {n_rows:5} {100 * outlier.mean():8.1f}    {line}   ({costs})", flush=True)


if __name__ == "__main__":
    main()
