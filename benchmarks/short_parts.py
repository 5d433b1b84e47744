"""Print what rounds of many short parts make of each learner, with like and unlike parts.

    python benchmarks/short_parts.py [--parts N] [--rounds N] [--samples N] [--seeds N] [--budget N]
                                     [--unlike NAME,...] [--only NAME,...] [--flat]

All parts begin with one model of the first 500 samples. In a round every part learns its samples,
and all are merged by eights (with --flat, all at once); the next round begins with the merged
model. A row is a learner, with the scores on held-out samples in per cent (accuracy, R2, or the
area under the ROC curve of detectors), means over the seeds:

    merged  the merged model after the last round;
    part    a part that is never merged and goes on with its own samples through all rounds, the
            mean of ten;
    stream  one learner of all samples of all parts, in turn;
    own     the merged model, and the part, on samples of the part's own distribution.

What makes parts unlike (`--unlike`): none; users, each part has a place in space and a threshold of
its own; time, the place moves with the rounds, for all parts. A merged model that is more than half
a point worse than a part of like data is marked with !. The streams are made: y is the sign of, or
itself, sin(2 x_1) + x_2 x_3 with noise, in five dimensions whose mean is not 0.
"""

import argparse
import warnings
from copy import deepcopy

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.metrics import roc_auc_score

from onlinekern import all_estimators, merge

FEATURES, BEGUN, HELD, FAN_IN, LOOKED_AT = 5, 500, 2000, 8, 10
MARGIN = 0.5
UNLIKE = ("none", "users", "time")
SIZES = ("budget", "n_components", "n_prototypes", "max_support")
# What is merged by another rule for each of these values.
VARIANTS = {
    **{name: [{"covariance": how} for how in ("diagonal", "full", "shared")]
       for name in ("AROWClassifier", "CWClassifier", "SCWClassifier")},
    "AROWRegressor": [{"covariance": how} for how in ("diagonal", "full")],
    **{name: [{"covariance": how} for how in ("diagonal", "full", "sketched")]
       for name in ("KernelAROWClassifier", "KernelSCWClassifier", "KernelLogisticClassifier")},
    "BSGDClassifier": [{"maintenance": how} for how in ("remove", "project", "merge")],
}  # fmt: skip


class Parts:
    """Samples of each part and round, for classifiers, regressors or detectors."""

    def __init__(self, kind, unlike, parts, rounds, seed):
        rng = np.random.default_rng(seed)
        self.kind, self.n, self.rounds = kind, parts, rounds
        self.places = 0.7 + rng.normal(size=(parts, FEATURES)) * (unlike == "users")
        self.thresholds = 0.5 * rng.normal(size=parts) * (unlike == "users")
        self.times = rng.normal(size=(rounds, FEATURES)) * (unlike == "time")
        self.rng = np.random.default_rng(seed + 1000)

    def of(self, part, time, n, held=False):
        """Return rows and targets; part and time may be arrays of n."""
        X = self.rng.normal(size=(n, FEATURES))
        if self.kind == "outlier_detector":
            X[:, 1:] = X[:, :1] * [1, -1, 0.5, 2] + 0.3 * X[:, 1:]
        y = np.ones(n)
        if held:
            y[::10] = -1
            X[::10] = self.rng.normal(size=X[::10].shape)
        X += self.places[part] + self.times[time]
        if self.kind == "outlier_detector":
            return X, y
        f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] - self.thresholds[part]
        f += 0.2 * self.rng.normal(size=n)
        return X, f if self.kind == "regressor" else np.where(f > 0.5, "above", "below")

    def anywhere(self, n, held=False):
        part, time = (self.rng.integers(k, size=n) for k in (self.n, self.rounds))
        return self.of(part, time, n, held)


def new(cls, how, budget):
    """Make a learner of a size, whose kernel has a width."""
    model = cls()
    known = model.get_params()
    size = next((name for name in SIZES if name in known), None)
    given = {"gamma": 0.3, "random_state": 0, "n_trees": 10, size: budget, **how}
    return model.set_params(**{name: given[name] for name in given.keys() & known.keys()})


def learners():
    """Return the names of all learners of streams, each with a class and parameters."""
    return [
        (", ".join([name, *how.values()]), cls, how)
        for name, cls in all_estimators()
        if hasattr(cls, "predict") and hasattr(cls, "partial_fit")
        for how in VARIANTS.get(name, [{}])
    ]


def kind_of(model):
    if is_outlier_detector(model):
        return "outlier_detector"
    return "classifier" if is_classifier(model) else "regressor"


def score(model, X, y):
    if is_outlier_detector(model):
        return 100 * roc_auc_score(y, model.decision_function(X))
    return 100 * model.score(X, y)


def merged(models, base, fan_in=FAN_IN):
    """Merge models in a tree."""
    while len(models) > 1:
        groups = [models[i : i + fan_in] for i in range(0, len(models), fan_in)]
        models = [merge(group, base=base) for group in groups]
    return models[0]


def scores(model, unlike, parts, rounds, samples, seed, fan_in=FAN_IN):
    """Return the scores of the merged model, of a part, of the stream, and on a part's own."""
    data = Parts(kind_of(model), unlike, parts, rounds, seed)
    X, y = data.anywhere(BEGUN)
    known = {"classes": ["above", "below"]} if is_classifier(model) else {}
    base = deepcopy(model).partial_fit(X, y, **known)
    stream, looked_at = deepcopy(base), range(min(LOOKED_AT, parts))
    alone = [deepcopy(base) for _ in looked_at]
    held = data.anywhere(HELD, held=True)
    own = [data.of(k, rounds - 1, HELD, held=True) for k in looked_at]
    for time in range(rounds):
        drawn = [data.of(part, time, samples) for part in range(parts)]
        for one, (X, y) in zip(alone, drawn, strict=False):
            one.partial_fit(X, y)
        turns = np.arange(parts * samples).reshape(parts, samples).T.ravel()
        X, y = (np.concatenate(both)[turns] for both in zip(*drawn, strict=True))
        stream.partial_fit(X, y)
        base = merged([deepcopy(base).partial_fit(X, y) for X, y in drawn], base, fan_in)
    return np.array([
        score(base, *held),
        np.mean([score(one, *held) for one in alone]),
        score(stream, *held),
        np.mean([score(base, *part) for part in own]),
        np.mean([score(one, *part) for one, part in zip(alone, own, strict=True)]),
    ])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("parts", 200), ("rounds", 4), ("samples", 20), ("seeds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--budget", type=int, default=50)
    parser.add_argument("--unlike", default=",".join(UNLIKE))
    parser.add_argument("--only", default="", help="names of rows or classes, separated by ;")
    parser.add_argument("--flat", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kinds, only = options.unlike.split(","), options.only.split(";")
    sizes = options.parts, options.rounds, options.samples
    print(f"| learner | {' | '.join(f'{k}: merged part stream, own' for k in kinds)} |")
    print("|---" * (1 + len(kinds)) + "|")
    for name, cls, how in learners():
        if options.only and name not in only and cls.__name__ not in only:
            continue
        cells = []
        for unlike in kinds:
            model = new(cls, how, options.budget)
            fan_in = options.parts if options.flat else FAN_IN
            each = [scores(model, unlike, *sizes, seed, fan_in) for seed in range(options.seeds)]
            m, p, s, own, alone = np.mean(each, axis=0)
            mark = "!" if unlike == "none" and m < p - MARGIN else ""
            cells.append(f"{m:.1f}{mark} {p:.1f} {s:.1f}, {own:.1f} {alone:.1f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
