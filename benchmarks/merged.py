"""Print, for every learner that merges, how well merged models do beside the models of the parts.

    python benchmarks/merged.py [--rows N] [--seeds N] [--budgets N,N,N] [--only NAME,...]

A stream is learnt in four parts, by models that go on from one of the first tenth (`base`), and by
models that begin with nothing but the same parameters (`alone`). A row is a learner, with a column
for each budget. Prints scores on held-out samples in per cent (accuracy, R2, or the area under the
ROC curve of detectors), means over the seeds: the mean of the parts, and their merged model. It is
marked with ! where it is more than half a point worse than the mean of its parts.

The streams are made: y is the sign of, or itself, sin(2 x_1) + x_2 x_3 with noise, in five
dimensions; a tenth of what detectors are asked for lies anywhere. The width of kernels is given, so
that models without a common beginning fit together.
"""

import itertools
import warnings
from copy import deepcopy

import numpy as np
from command import read_options
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.metrics import roc_auc_score

from onlinekern import all_estimators, merge

PARTS = 4
HELD = 2000
# A merged model may be worse than the mean of its parts by so many points.
MARGIN = 0.5
SIZES = ("budget", "n_components", "n_prototypes", "max_support")
# What a budget does is a parameter of these.
VARIANTS = {
    "BSGDClassifier": [{"maintenance": how} for how in ("remove", "project", "merge")],
    "BSGDRegressor": [{"maintenance": how} for how in ("remove", "project", "merge")],
    "SPAClassifier": [{"when_full": how} for how in ("nearest", "stop", "oldest")],
    "KernelPARegressor": [{"when_full": how} for how in ("nearest", "stop", "oldest")],
}


def learners():
    """Return the names of all rows, each with a class and parameters."""
    return [
        (", ".join([name, *how.values()]), cls, how)
        for name, cls in all_estimators()
        if hasattr(cls, "predict")
        for how in VARIANTS.get(name, [{}])
    ]


def size_of(cls):
    """Return the name of the parameter that bounds a model, None if there is none."""
    known = cls().get_params()
    return next((name for name in SIZES if name in known), None)


def new(cls, how, budget):
    """Make a learner of a size, whose kernel has a width."""
    model = cls()
    given = {"gamma": 0.3, "random_state": 0, size_of(cls): budget, **how}
    return model.set_params(**{name: given[name] for name in given.keys() & model.get_params()})


def stream(kind, n, seed):
    """Return the samples of a stream, and those held out, with their targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + HELD, 5))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=len(X))
    if kind == "outlier_detector":
        X[:, 1:] = X[:, :1] * [1, -1, 0.5, 2] + 0.3 * X[:, 1:]
        f = np.ones(len(X))
        f[n::10] = -1
        X[n::10] = rng.normal(size=X[n::10].shape)
    y = f if kind != "classifier" else np.where(f > 0, "above", "below")
    return (X[:n], y[:n]), (X[n:], y[n:])


def learnt(model, X, y):
    """Return a model that has gone on with these samples; batch learners begin with them."""
    model = deepcopy(model)
    if not hasattr(model, "partial_fit"):
        return model.fit(X, y)
    known = {"classes": np.array(["above", "below"])} if is_classifier(model) else {}
    return model.partial_fit(X, y, **known)


def score(model, X, y):
    if is_outlier_detector(model):
        return 100 * roc_auc_score(y, model.decision_function(X))
    return 100 * model.score(X, y)


def scores(cls, how, budget, n, seed):
    """Return the scores of parts and merged models, with a base and alone."""
    kind = "classifier" if is_classifier(cls()) else "regressor"
    kind = "outlier_detector" if is_outlier_detector(cls()) else kind
    (X, y), held = stream(kind, n, seed)
    model = new(cls, how, budget)
    first, found = n // 10, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for base in (learnt(model, X[:first], y[:first]), None):
            if base is not None and not hasattr(model, "partial_fit"):
                found += [np.nan, np.nan]
                continue
            rows = np.arange(0 if base is None else first, n)
            parts = [learnt(base or model, X[k], y[k]) for k in np.array_split(rows, PARTS)]
            found.append(np.mean([score(part, *held) for part in parts]))
            found.append(score(merge(parts, base=base), *held))
    return np.array(found)


def cell(part, merged):
    """Return the scores of the parts and of the merged model, marked if it is worse."""
    if np.isnan(part):
        return "-"
    return f"{part:.1f} {merged:.1f}" + "!" * bool(merged < part - MARGIN)


def rows_of(n, seeds, budgets, only=()):
    """Return an iterator over name, budget and mean scores of all learners."""
    for name, cls, how in learners():
        if only and name not in only and cls.__name__ not in only:
            continue
        for budget in budgets if size_of(cls) else (None,):
            each = [scores(cls, how, budget, n, seed) for seed in range(seeds)]
            yield name, budget, np.mean(each, axis=0)


def main():
    options = read_options(__doc__, rows=4000, seeds=5, budgets="25,50,100", only="")
    budgets = [int(budget) for budget in options.budgets.split(",")]
    only = options.only.split(",") if options.only else ()
    heads = [str(budget) for budget in budgets] + [f"alone, {budget}" for budget in budgets]
    print(f"| learner | {' | '.join(heads)} |\n|---{'|---' * len(heads)}|")
    rows = rows_of(options.rows, options.seeds, budgets, only)
    for name, group in itertools.groupby(rows, key=lambda row: row[0]):
        found = [scores for *_, scores in group]
        # Who has no budget has one cell, the first.
        none = ["-"] * (len(budgets) - len(found))
        cells = [cell(*each[:2]) for each in found] + none
        cells += [cell(*each[2:]) for each in found] + none
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
