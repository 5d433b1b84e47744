"""Learn streams in their own order: accuracy and kappas of our learners and of river's.

Every sample is predicted before it is learnt, and all methods see the same rows: at most `--rows`
of each stream. river's forests need milliseconds per sample, so results are kept in a JSON file,
and the table can be made in pieces:

    nice python benchmarks/streams_leaderboard.py --data DIR --methods hat,arf
    python benchmarks/streams_leaderboard.py --data DIR

The time is processor time of the learner alone, on one thread; river's learners get rows that are
dicts already. Bananas, Phishing and ImageSegments come with river (``pip install
'onlinekern[river]'``).
"""

import json
import lzma
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from time import process_time

import numpy as np
from command import read_options
from second_order.sets import running_standard
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file

import onlinekern
from onlinekern.evaluate import prequential
from onlinekern.evaluate.baselines import BASELINES
from onlinekern.streams import LED, Agrawal, ConceptDrift, Hyperplane, RandomRBF

FILES = {
    "Elec2": "elec2",
    "weather": "weather",
    "SEA": "sea",
    "outdoor": "outdoor",
    "covtype": "covtype.first20k",
    "poker": "poker.train",
}
BUNDLED = ("Bananas", "Phishing", "ImageSegments")
QUARTERS = [2_500, 5_000, 7_500]
GENERATED = {
    "RBF drift": RandomRBF(n_classes=5, speed=0.001, random_state=0, model_state=0),
    "hyperplane": Hyperplane(n_drift_features=10, speed=0.001, random_state=0),
    # Gradual, and abrupt.
    "Agrawal": ConceptDrift(
        [Agrawal(concept=k, random_state=k) for k in range(4)], QUARTERS, 500, random_state=0
    ),
    "LED": ConceptDrift(
        [
            LED(noise=0.1, irrelevant_features=True, n_drift_features=k, random_state=k)
            for k in (0, 3, 5, 7)
        ],
        QUARTERS,
        0,
        random_state=0,
    ),
}
STREAMS = (*FILES, *BUNDLED, *GENERATED)
BLOCK = 1_000


@lru_cache(maxsize=1)
def load(folder, name, rows):
    """Return at most so many rows of a stream, dense float64, and its labels as 0, 1, ..."""
    if name in GENERATED:
        return GENERATED[name].take(rows)
    if name in BUNDLED:
        from river import datasets

        pairs = list(getattr(datasets, name)())[:rows]
        X = np.array([list(x.values()) for x, _ in pairs], dtype=np.float64)
        labels = np.array([str(label) for _, label in pairs])
    else:
        with lzma.open(Path(folder) / f"{FILES[name]}.libsvm.xz") as packed:
            X, labels = load_svmlight_file(packed)
        X, labels = X[:rows].toarray(), labels[:rows]
    return X, np.unique(labels, return_inverse=True)[1]


class Timed:
    """A learner of streams that counts its processor time.

    Attributes
    ----------
    seconds : float
    """

    def __init__(self, model):
        self.model, self.seconds = model, 0.0

    def partial_fit_predict(self, X, y, classes):
        rows = self.rows_of(X)
        began = process_time()
        predicted = self.learn(rows, y, classes)
        self.seconds += process_time() - began
        return predicted

    def rows_of(self, X):
        return X

    def learn(self, rows, y, classes):
        return self.model.partial_fit_predict(rows, y, classes=classes)


class River(Timed):
    """A learner of river's, which gets row by row, as dicts."""

    def rows_of(self, X):
        return [dict(enumerate(row)) for row in X.tolist()]

    def learn(self, rows, y, classes):
        predicted = np.full(len(y), classes[0])
        for k, (row, label) in enumerate(zip(rows, y.tolist(), strict=True)):
            found = self.model.predict_one(row)
            if found is not None:
                predicted[k] = found
            self.model.learn_one(row, label)
        return predicted


def river_learner(name, n_classes, seed=0):
    """Return one of river's learners, with its own defaults."""
    from river import ensemble, forest, linear_model, multiclass, preprocessing, tree

    if name == "hat":
        return tree.HoeffdingAdaptiveTreeClassifier(seed=seed)
    if name == "arf":
        return forest.ARFClassifier(n_models=10, seed=seed)
    if name == "srp":
        return ensemble.SRPClassifier(n_models=10, seed=seed)
    linear = {"alma": linear_model.ALMAClassifier, "logistic": linear_model.LogisticRegression}
    model = linear[name]()
    if n_classes > 2 or name == "alma":
        model = multiclass.OneVsRestClassifier(model)
    return preprocessing.StandardScaler() | model


def plain(cls, **parameters):
    """Return a function that builds a learner of onlinekern."""
    return lambda: getattr(onlinekern, cls)(random_state=0, **parameters)


# Name -> what the table calls it, whether features are standardised along the stream before, and a
# function that builds it.
OURS: dict[str, tuple[str, bool, Callable]] = {
    "stream": ("StreamClassifier", False, plain("StreamClassifier")),
    "forest": ("KernelForest", False, plain("KernelForestClassifier")),
    "kernel-rls": ("KernelRLS", True, plain("KernelRLSClassifier")),
    "kernel-rls-998": ("KernelRLS .998", True, plain("KernelRLSClassifier", forgetting=0.998)),
    "spa": ("SPA", True, plain("SPAClassifier")),
    "bpa": ("BPA-S 500", True, plain("BPAClassifier", budget=500)),
    "fogd": ("FOGD", True, plain("FOGDClassifier")),
    "linear-pa": ("linear PA", True, plain("PAClassifier")),
    "arow": ("AROW", True, plain("AROWClassifier")),
}
# Forests that keep fewer samples, and grow anew from them again and again.
FORESTS: dict[str, tuple[str, bool, Callable]] = {
    f"forest-{kept}": (
        f"KernelForest {kept:,}, anew",
        False,
        plain("KernelForestClassifier", memory=kept, when_full="renew", begin_anew=False),
    )
    for kept in (2048, 512)
}
FULL = {"variant": "pa1", "max_support": 500, "average": False}
# Ways to forget; a table of their own.
FORGETTING: dict[str, tuple[str, bool, Callable]] = {
    "spa-mean": ("SPA, mean", True, plain("SPAClassifier", average="uniform")),
    "spa-998": ("SPA, average .998", True, plain("SPAClassifier", average=0.998)),
    "spa-last": ("SPA-last", True, plain("SPAClassifier", average=False)),
    "pa-stop": (
        "kernel PA 500, stop",
        True,
        plain("KernelPAClassifier", **FULL, when_full="stop"),
    ),
    "pa-oldest": (
        "kernel PA 500, oldest",
        True,
        plain("KernelPAClassifier", **FULL, when_full="oldest"),
    ),
    "kernel-rls-99": ("KernelRLS .99", True, plain("KernelRLSClassifier", forgetting=0.99)),
    "kernel-rls-anew": ("KernelRLS anew", True, plain("KernelRLSClassifier")),
}
RIVER = {
    "arf": "river ARF",
    "srp": "river SRP",
    "hat": "river HAT",
    "alma": "river ALMA",
    "logistic": "river LR",
}
METHODS = (*OURS, *RIVER, *BASELINES)
LABELS = {name: label for name, (label, *_) in {**OURS, **FORESTS, **FORGETTING}.items()} | RIVER
LABELS |= {name: label for name, (label, *_) in BASELINES.items()}
# What a table shows, its format, and the rows that say nothing in it.
TABLES = {
    "accuracy": ("Accuracy, %", 100, "{:.1f}", ()),
    "kappa_temporal": ("kappa-temporal, %", 100, "{:.1f}", ("no-change",)),
    "kappa_m": ("kappa-M, %", 100, "{:.1f}", ("majority",)),
    "microseconds": ("µs per sample", 1, "{:,.1f}", tuple(BASELINES)),
}


def begin_anew(timed):
    """Return the arguments of `prequential` with which a learner begins anew at each drift."""
    from river.drift import ADWIN

    def on_drift(_, n):
        timed.model = clone(timed.model)

    return {"detector": ADWIN(), "on_drift": on_drift}


def measure(name, X, y):
    """Return the figures of a method on a stream."""
    classes = np.unique(y)
    if name in RIVER:
        model = River(river_learner(name, len(classes)))
    elif name in BASELINES:
        model = Timed(BASELINES[name][-1]())
    else:
        _, standardised, build = {**OURS, **FORESTS, **FORGETTING}[name]
        X, model = running_standard(X) if standardised else X, Timed(build())
    anew = begin_anew(model) if name == "kernel-rls-anew" else {}
    blocks = ((X[i : i + BLOCK], y[i : i + BLOCK]) for i in range(0, len(y), BLOCK))
    figures = prequential(model, blocks, classes, window=None, **anew).figures
    return {
        "rows": len(y),
        "accuracy": 1 - figures["error"],
        "kappa_temporal": figures["kappa_temporal"],
        "kappa_m": figures["kappa_m"],
        "microseconds": 1e6 * model.seconds / len(y),
    }


def measure_all(arguments):
    """Measure what the cache lacks, and keep it."""
    path = Path(arguments.cache)
    for stream in arguments.streams:
        for method in arguments.methods:
            key = key_of(stream, method, arguments.rows)
            if key in kept(path):
                continue
            figures = measure(method, *load(arguments.data, stream, arguments.rows))
            path.write_text(json.dumps(kept(path) | {key: figures}, indent=1) + "\n")
            print(key, figures, flush=True)


def kept(path):
    """Return what a cache holds."""
    return json.loads(path.read_text()) if path.exists() else {}


def key_of(stream, method, rows):
    """Return the name of a method's figures on a stream."""
    return f"{stream}, {method}, {rows}"


def print_tables(arguments):
    """Print a Markdown table of each figure, with the best of each stream in bold."""
    figures = kept(Path(arguments.cache))
    for name, (title, factor, form, without) in TABLES.items():
        methods = [method for method in arguments.methods if method not in without]
        print(f"{title}:\n\n| stream | rows | {' | '.join(LABELS[m] for m in methods)} |")
        print("|---|" + "---:|" * (len(methods) + 1))
        for stream in arguments.streams:
            found = [figures.get(key_of(stream, m, arguments.rows), {}) for m in methods]
            cells = cells_of([item.get(name) for item in found], factor, form, name)
            rows = next((item["rows"] for item in found if item), 0)
            print(f"| {stream} | {rows:,} | {' | '.join(cells)} |")
        print()


def cells_of(values, factor, form, name):
    """Return the cells of a row, the best one in bold."""
    shown = ["" if value is None else form.format(factor * value) for value in values]
    best = max((value for value in values if value is not None), default=None)
    marked = name != "microseconds"
    return [f"**{text}**" if marked and value is not None and value == best else text
            for text, value in zip(shown, values, strict=True)]  # fmt: skip


def main():
    arguments = read_options(
        __doc__,
        data={"default": os.environ.get("ONLINEKERN_DATA", ".")},
        cache="streams_leaderboard.json",
        rows=10_000,
        streams=tuple(STREAMS),
        methods=tuple(METHODS),
    )
    measure_all(arguments)
    print_tables(arguments)


if __name__ == "__main__":
    main()
