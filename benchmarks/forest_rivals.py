"""Measure what others reach on the rows of `forests.py`: batch methods, and forests of one pass.

    OMP_NUM_THREADS=1 nice python benchmarks/forest_rivals.py FOLDER [--methods A,B] [--orders 5]
        [--only NAME,...] [--stream-rows 14000] [--out docs/forest_rivals.json]

A result is the test error (per cent; of targets the root mean square error over their deviation)
and microseconds of processor time a row to learn and to predict. It is kept in the JSON file under
"set, methods, order", and what the file holds is not measured again: `forests.py` prints it.

Batch, fitted to all rows that `forests.py` learns:

boosting    HistGradientBoosting of 100, 500 and 1,000 rounds (one model that goes on: the time of
            each is that of all its rounds)
trees       ExtraTrees and RandomForest of 300 trees
svc         SVC or SVR with the RBF kernel on standardised features (and targets), the best of
            twelve settings by cross-validation in three parts of at most 3,000 of the rows, then
            fitted to all of them, of targets to the first 7,000 (minutes, at C = 100); a result
            says how many rows it was

One pass, river with its defaults, at most --stream-rows of the rows (14,000 are all of them);
features and targets are standardised by all rows to learn beforehand, which is more than a stream
has, for Mondrian trees and linear leaves depend on scales:

hat         Hoeffding adaptive tree
amf         aggregated Mondrian forest of 10 trees; "amf raw" on features as they are
arf         adaptive random forest of 10 trees
"""

from functools import partial
from time import process_time

import numpy as np
from command import read_options
from forests import SETS, TARGETS, error_of, load
from second_order.figures import Kept
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR

ROUNDS = (100, 500, 1_000)
SEARCHED, FITTED_TARGETS = 3_000, 7_000
COSTS, WIDTHS = (1.0, 10.0, 100.0), (1 / 16, 1 / 4, 1.0, 4.0)


def timed(call, *given):
    """Return what a call returns, and its processor time in seconds."""
    began = process_time()
    return call(*given), process_time() - began


def figures(predicted, seconds, parts, number, learnt=None):
    """Return the figures of a method whose predictions and times are given."""
    y, v = parts[1], parts[3]
    learnt = learnt or len(y)
    return {
        "error": round(error_of(predicted, v, y, number), 5),
        "learn_us": round(1e6 * seconds[0] / learnt, 2),
        "predict_us": round(1e6 * seconds[1] / len(v), 2),
        "rows": learnt,
    }


def boosting(parts, number, arguments):
    """Return the figures of boosted trees by rounds."""
    X, y, Z, _ = parts
    made = HistGradientBoostingRegressor if number else HistGradientBoostingClassifier
    model = made(early_stopping=False, warm_start=True, random_state=0)
    found, spent = {}, 0.0
    for rounds in ROUNDS:
        spent += timed(model.set_params(max_iter=rounds).fit, X, y)[1]
        predicted, took = timed(model.predict, Z)
        found[f"boosting {rounds}"] = figures(predicted, (spent, took), parts, number)
    return found


def trees(parts, number, arguments):
    """Return the figures of forests in batch."""
    X, y, Z, _ = parts
    kinds = {
        "extra trees 300": (ExtraTreesClassifier, ExtraTreesRegressor),
        "random forest 300": (RandomForestClassifier, RandomForestRegressor),
    }
    found = {}
    for name, made in kinds.items():
        model, spent = timed(made[number](300, random_state=0).fit, X, y)
        predicted, took = timed(model.predict, Z)
        found[name] = figures(predicted, (spent, took), parts, number)
    return found


def standardised(parts, number):
    """Return the parts with features (and targets) in units of the spread of those to learn."""
    X, y, Z, v = parts
    center, spread = X.mean(0), X.std(0)
    spread[spread == 0] = 1
    low, unit = (y.mean(), y.std()) if number else (0, 1)
    return (X - center) / spread, (y - low) / unit, (Z - center) / spread, (v - low) / unit


def svc(parts, number, arguments):
    """Return the figures of a support vector machine whose C and gamma are searched."""
    parts = X, y, Z, _ = standardised(parts, number)
    machine = SVR(epsilon=0.02, cache_size=1_000) if number else SVC(cache_size=1_000)
    grid = {"C": COSTS, "gamma": [width / X.shape[1] for width in WIDTHS]}
    search = GridSearchCV(machine, grid, cv=3, refit=False)
    _, searched = timed(search.fit, X[:SEARCHED], y[:SEARCHED])
    machine.set_params(**search.best_params_)
    n = FITTED_TARGETS if number else len(y)
    _, spent = timed(machine.fit, X[:n], y[:n])
    predicted, took = timed(machine.predict, Z)
    found = figures(predicted, (searched + spent, took), parts, number, min(n, len(y)))
    width = search.best_params_["gamma"] * X.shape[1]
    return {"svc": found | {"C": search.best_params_["C"], "gamma_times_features": width}}


def river_model(name, number, seed):
    """Return a learner of river, with its defaults."""
    from river import forest, tree

    made = {
        "hat": (tree.HoeffdingAdaptiveTreeClassifier, tree.HoeffdingAdaptiveTreeRegressor),
        "amf": (forest.AMFClassifier, forest.AMFRegressor),
        "arf": (forest.ARFClassifier, forest.ARFRegressor),
    }
    return made[name][number](seed=seed)


def one_pass(name, raw=False):
    """Return a function that measures a learner of river, on standardised features unless raw."""

    def measure(parts, number, arguments):
        scaled = standardised(parts, number)
        parts = X, y, Z, _ = (parts[0], scaled[1], parts[2], scaled[3]) if raw else scaled
        n = min(len(y), arguments.stream_rows)
        model = river_model(name, number, 0)
        rows, labels = [dict(enumerate(row)) for row in X[:n].tolist()], y[:n].tolist()
        labels = labels if number else [int(label) for label in labels]
        tests = [dict(enumerate(row)) for row in Z.tolist()]

        def learn():
            for row, label in zip(rows, labels, strict=True):
                model.learn_one(row, label)

        _, spent = timed(learn)
        predicted, took = timed(lambda: np.array([model.predict_one(row) for row in tests]))
        return {name + " raw" * raw: figures(predicted, (spent, took), parts, number, n)}

    return measure


# Name -> a function of the rows, whether they have targets, and the arguments.
METHODS = {
    "trees": trees,
    "boosting": boosting,
    "hat": one_pass("hat"),
    "amf": one_pass("amf"),
    "arf": one_pass("arf"),
    "amf raw": one_pass("amf", raw=True),
    "svc": svc,
}


def measure(name, method, order, arguments):
    """Return what a method reaches on a set: name -> figures."""
    number = name in TARGETS
    parts = load(arguments.folder, name, arguments.rows, order)
    found = METHODS[method](parts, number, arguments)
    print(f"{name}, order {order}: {found}", flush=True)
    return found


def main():
    arguments = read_options(
        __doc__,
        "folder",
        methods=tuple(METHODS),
        only=tuple(SETS),
        orders=5,
        rows=20_000,
        stream_rows=14_000,
        out="docs/forest_rivals.json",
    )
    found = Kept(arguments.out)
    for order in range(arguments.orders):
        for method in arguments.methods:
            for name in arguments.only:
                found.get(
                    f"{name}, {method}, {order}", partial(measure, name, method, order, arguments)
                )


if __name__ == "__main__":
    main()
