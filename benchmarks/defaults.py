"""Measure what the defaults rest on: prequential error of each candidate, on many sets.

    python benchmarks/defaults.py FOLDER [--rows 5000] [--only gamma,...] [--sets chosen|others]

FOLDER holds the sets (LIBSVM text, packed with xz). Each is shuffled, cut to its first rows, and
its features are standardised; targets too. A cell is the share of mistakes (%), or the root mean
square error in units of the target's deviation, of one pass, each sample predicted before it is
learnt: the mean over three orders. `CHOSEN` are the sets that the defaults were chosen on, `OTHERS`
were not looked at before.
"""

import lzma
from functools import partial
from pathlib import Path

import numpy as np
from command import read_options
from sklearn.base import is_classifier
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import StandardScaler

import onlinekern
from onlinekern.estimators.kernel_width import median_width

# File -> number of features.
CHOSEN = {
    "a9a.train": 123,
    "ijcnn1.train": 22,
    "cod-rna.train": 8,
    "usps.train": 256,
    "satimage.train": 36,
    "segment": 19,
    "spambase": 57,
    "phishing": 68,
    "eeg-eye-state": 14,
    "covtype.sample10k": 54,
    "optdigits": 64,
    "svmguide3.train": 21,
}
OTHERS = {
    "waveform5000": 40,
    "shuttle.train": 9,
    "page-blocks": 10,
    "htru2": 8,
    "susy.sample30k": 18,
    "higgs-lgbm.train": 28,
    "mushrooms": 112,
    "poker.train": 10,
    "dna.train": 180,
    "german.numer": 24,
}
CHOSEN_TARGETS = {
    "cadata": 8, "cpusmall": 12, "kin40k": 8, "abalone_scale": 8, "elevators": 18,
}  # fmt: skip
OTHER_TARGETS = {
    "ailerons": 40, "house8L": 8, "bank32nh": 32, "puma32H": 32, "fried": 10,
}  # fmt: skip
ORDERS = 3


def width(factor):
    """Return X -> gamma, `factor` over the median of the squared distances of the first 200."""
    return lambda X: factor / 2 * median_width(X[:200], "gaussian")


def scale(X):
    """Return gamma="scale" of all rows."""
    return 1 / (X.shape[1] * X.var())


WIDTHS = {
    "scale of a row": lambda X: scale(X[:1]),
    "scale": scale,
    **{f"{c:g} / median": width(c) for c in (0.5, 1.0, 2.0)},
}


def with_width(name, **parameters):
    """Return candidate -> X -> estimator, for each way to choose gamma."""
    return {
        label: lambda X, of=of: make(name, gamma=of(X), **parameters)
        for label, of in WIDTHS.items()
    }


def each_width(name, factors):
    """Return candidate -> X -> estimator, for each factor over the median."""
    found = {f"{factor:g} / median": width(factor) for factor in factors}
    return {label: lambda X, of=of: make(name, gamma=of(X)) for label, of in found.items()}


def best(name, X):
    """Return an estimator that tries widths."""
    return make(name, gamma="best")


def make(name, **parameters):
    cls = getattr(onlinekern, name)
    if "random_state" in cls().get_params():
        parameters = {"random_state": 0, **parameters}
    return cls(**parameters)


def settings(name, candidates):
    """Return candidate -> X -> estimator, for each setting."""
    return {
        label: lambda X, given=given: make(name, **given) for label, given in candidates.items()
    }


def changed(name, **before):
    """Return the defaults as they were, `before` among them, and as they are."""
    old = {**before, "gamma": "scale"} if hasattr(getattr(onlinekern, name), "gamma") else before
    return settings(name, {"before": old, "after": {}})


AVERAGES = {name: {"average": name if name != "last" else False}
            for name in ("last", "uniform", "decay")}  # fmt: skip
PAPERS_LOL = {
    "n_prototypes": 60, "n_assign": 1, "center": False, "fit_intercept": False, "step": "pa",
    "average": False,
}  # fmt: skip
PAPERS_STEP = {"eta": 0.5, "schedule": "constant", "average": False}
# Learner -> candidate -> X -> estimator.
EXPERIMENTS = {
    "all": {
        "kernel PA": changed("KernelPAClassifier", average=False),
        "SPA": changed("SPAClassifier", beta=5.0, average=True),
        "FOGD": changed("FOGDClassifier", loss="hinge", **PAPERS_STEP),
        "LOL": changed("LOLClassifier", **PAPERS_LOL),
        "kernel RLS": changed("KernelRLSClassifier"),
        "kernel PA, targets": changed("KernelPARegressor", average=False),
        "kernel RLS, targets": changed("KernelRLSRegressor"),
    },
    "gamma": {
        "kernel PA": with_width("KernelPAClassifier", average=False),
        "SPA": with_width("SPAClassifier", average=True),
        "FOGD": with_width("FOGDClassifier", loss="hinge", **PAPERS_STEP),
        "kernel RLS": with_width("KernelRLSClassifier"),
        "kernel PA, targets": with_width("KernelPARegressor", average=False),
        "kernel RLS, targets": with_width("KernelRLSRegressor"),
    },
    "spa": {
        "SPA": settings("SPAClassifier", {
            **{f"beta {beta:g}": {"beta": beta, "average": True} for beta in (5.0, 2.0, 1.0)},
            "decay": {},
            "decay, 1000": {"max_support": 1000, "when_full": "stop"},
            "decay, 1000 youngest": {"max_support": 1000, "when_full": "oldest"},
        }),
    },
    # What a bound costs long streams: --only bound --rows 50000 --orders 1.
    "bound": {
        "SPA": settings("SPAClassifier", {
            "all": {"max_support": None}, "the nearest of 10,000 moves": {},
            "the first 10,000": {"when_full": "stop"},
            "the last 10,000": {"when_full": "oldest"},
        }),
    },
    # Learners that keep many vectors and have no regulariser: one width for all, and "best".
    "widths": {
        learner: {**each_width(name, (1.0, 2.0, 4.0, 8.0, 16.0)), "best": partial(best, name)}
        for learner, name in (
            ("SPA", "SPAClassifier"), ("kernel PA", "KernelPAClassifier"),
            ("SPA, targets", "SPARegressor"), ("kernel PA, targets", "KernelPARegressor"),
        )
    },
    # What a full set of 1,000 does with a sample: --only full --rows 20000 --orders 1.
    "full": {
        learner: settings(name, {
            how: {"max_support": 1000, "when_full": how, "gamma": "median"}
            for how in ("nearest", "oldest", "stop")
        })
        for learner, name in (
            ("SPA", "SPAClassifier"), ("kernel PA", "KernelPAClassifier"),
            ("Perceptron", "KernelPerceptronClassifier"), ("Pegasos", "KernelPegasosClassifier"),
            ("OGD", "KernelOGDClassifier"), ("kernel PA, targets", "KernelPARegressor"),
            ("OGD, targets", "KernelOGDRegressor"),
        )
    },
    "average": {
        "kernel PA": settings("KernelPAClassifier", AVERAGES),
        "linear PA": settings("PAClassifier", AVERAGES),
        "kernel PA, targets": settings("KernelPARegressor", AVERAGES),
        "linear PA, targets": settings("PARegressor", AVERAGES),
    },
    "lol": {
        "LOL": settings("LOLClassifier", {
            "paper": PAPERS_LOL, "paper, averaged": {**PAPERS_LOL, "average": True},
            "better form": {"average": False}, "averaged": {"average": True}, "decay": {},
            "offset": {"local_features": "offset", "average": False},
            "offset, averaged": {"local_features": "offset", "average": True},
        }),
    },
    "fogd": {
        "FOGD": settings("FOGDClassifier", {
            "hinge, 0.5": {"loss": "hinge", **PAPERS_STEP},
            "logistic, 0.5": {"loss": "logistic", **PAPERS_STEP},
            **{f"logistic, {eta:g} / sqrt(t)": {"eta": eta, "schedule": "invsqrt",
                                                "average": False} for eta in (16.0, 32.0)},
            **{f"logistic, {eta:g} / t^0.25": {"eta": eta, "average": False}
               for eta in (4.0, 8.0, 16.0)},
            **{f"logistic, {eta:g} / t^0.25, decay": {"eta": eta} for eta in (4.0, 8.0, 16.0)},
            **{f"logistic, {eta:g}, decay": {"eta": eta, "schedule": "constant"}
               for eta in (2.0, 4.0)},
            **{f"hinge, {eta:g}, decay": {"loss": "hinge", "eta": eta, "schedule": "constant"}
               for eta in (0.5, 1.0)},
            "logistic, 8 / t^0.25, uniform": {"average": True},
        }),
        "FOGD, targets": settings("FOGDRegressor", {
            "squared, 0.5": PAPERS_STEP,
            "squared, 0.5, decay": {}, "squared, 0.5, uniform": {"average": True},
            **{f"{eta:g} / sqrt(t)": {"eta": eta, "schedule": "invsqrt", "average": False}
               for eta in (1.0, 2.0)},
            **{f"{eta:g} / t^0.25": {"eta": eta, "power": 0.25, "schedule": "power",
                                     "average": False} for eta in (0.5, 1.0)},
        }),
    },
}  # fmt: skip


def read(folder, name, n_features, rows, order):
    """Return standardised rows and labels or targets, in a random order."""
    with lzma.open(Path(folder) / f"{name}.libsvm.xz") as packed:
        X, y = load_svmlight_file(packed, n_features=n_features)
    chosen = np.random.RandomState(order).permutation(X.shape[0])[:rows]
    return StandardScaler().fit_transform(X[chosen].toarray()), y[chosen]


def error(model, X, y):
    """Return the share of mistakes in %, or the relative root mean square error."""
    if is_classifier(model):
        predicted = model.partial_fit_predict(X, y, classes=np.unique(y))
        return 100 * np.mean(predicted != y)
    y = (y - y.mean()) / y.std()
    return np.sqrt(np.mean((model.partial_fit_predict(X, y) - y) ** 2))


def table(title, candidates, sets, options):
    """Print the errors of the candidates on the sets, and their means."""
    print(f"\n{title}\n\n| set | {' | '.join(candidates)} |\n|---|{'---:|' * len(candidates)}")
    means = []
    for name, n_features in sets.items():
        runs = []
        for order in range(options.orders):
            X, y = read(options.folder, name, n_features, options.rows, order)
            runs.append([error(candidate(X), X, y) for candidate in candidates.values()])
        means.append(np.mean(runs, axis=0))
        print(f"| {name} | {' | '.join(f'{value:.3g}' for value in means[-1])} |", flush=True)
    overall = np.mean(means, axis=0)
    print(f"| **mean** | {' | '.join(f'{value:.4g}' for value in overall)} |", flush=True)


def main():
    options = read_options(
        __doc__,
        "folder",
        rows=5000,
        orders={"type": int, "default": ORDERS},
        only=tuple(EXPERIMENTS),
        sets={"choices": ["chosen", "others"], "default": "chosen"},
    )
    known = [(CHOSEN, CHOSEN_TARGETS), (OTHERS, OTHER_TARGETS)][options.sets == "others"]
    for experiment in options.only:
        for learner, candidates in EXPERIMENTS[experiment].items():
            targets = learner.endswith("targets")
            table(f"{experiment}: {learner}", candidates, known[targets], options)


if __name__ == "__main__":
    main()
