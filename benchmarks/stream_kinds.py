"""Learn many kinds of streams that change: the race, a forest alone, and river's learners.

    nice python benchmarks/stream_kinds.py [--rows 4000] [--seed 1] [--only NAME;NAME]
        [--methods race,...] [--cache FILE]

Mistakes in %, of targets the root mean squared error in % of the deviation, of samples that are
predicted before they are learnt, as they come: raw, in the stream's own order. Half of the streams
of classes are those of river's generators, the others are made here. Results are kept in a JSON
file, for river's forests need milliseconds a sample. The best figure of a row is bold.
"""

from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from command import read_options
from second_order.figures import Kept
from streams_leaderboard import river_learner

from onlinekern import (
    KernelForestClassifier,
    KernelForestRegressor,
    StreamClassifier,
    StreamRegressor,
)

METHODS = {"race": "race", "forest": "forest", "arf": "river ARF", "hat": "river HAT",
           "logistic": "river linear", "last": "no change"}  # fmt: skip


def rows_of(stream, n):
    """Return the first samples of a stream of river's, dense, with numbers as labels."""
    pairs = list(islice(iter(stream), n))
    X = np.array([[float(value) for value in x.values()] for x, _ in pairs])
    return X, np.array([float(y) for _, y in pairs])


def labels_of_river(n, seed):
    """Return generators of river's, by the names of the kinds."""
    from river.datasets import synth as s

    def then(one, other, position=n // 2, width=20):
        return s.ConceptDriftStream(one, other, position=position, width=width, seed=seed)

    third = n // 3
    staggered = then(s.STAGGER(1, seed=seed + 1), s.STAGGER(2, seed=seed + 2), third)
    seas = [s.SEA(k, noise=0.2, seed=seed + i) for i, k in enumerate((0, 3, 1))]
    sines = [s.Sine(2 + k, seed=seed + k, has_noise=True) for k in (0, 1)]
    mixed = [s.Mixed(k, seed=seed + k) for k in (0, 1)]
    moving = {"n_classes": 3, "n_features": 5, "n_centroids": 20, "n_drift_centroids": 10}
    return {
        "Agrawal 8, then 5, over 1,000": then(
            s.Agrawal(8, seed=seed), s.Agrawal(5, seed=seed + 1), width=1000
        ),
        "Sine 2, then 3, over 500": then(*sines, width=500),
        "STAGGER 0, 1, 2": then(s.STAGGER(0, seed=seed), staggered, third),
        "Mixed, reversed over 500": then(*mixed, width=500),
        "SEA 0, 3, 1, noise .2": then(seas[0], then(*seas[1:], third, 50), third, 50),
        "Waveform, 19 noise features": s.Waveform(seed=seed, has_noise=True),
        "LED, 4 segments drift": s.LEDDrift(
            seed=seed, noise_percentage=0.1, irrelevant_features=True, n_drift_features=4
        ),
        "RandomTree, then another": then(
            s.RandomTree(seed, seed), s.RandomTree(seed + 5, seed + 1)
        ),
        "RBF, 10 of 20 centres at .01": s.RandomRBFDrift(
            seed, seed, change_speed=0.01, **moving
        ),
        "hyperplane .01, 2 of 10": s.Hyperplane(seed, 10, 2, 0.01),
        "hyperplane .1, 10 of 10": s.Hyperplane(seed, 10, 10, 0.1),
        "hyperplane .01, 10 of 20, noise .2": s.Hyperplane(
            seed, 20, 10, 0.01, noise_percentage=0.2
        ),
    }  # fmt: skip


def steady(g, n):
    """Return samples of a function of four of eight features."""
    X = g.normal(size=(n, 8))
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] > 0).astype(int)


def recurring(g, n):
    X = g.normal(size=(n, 8))
    one = X[:, 0] + X[:, 1] * X[:, 2] > 0
    other = X[:, 3] - X[:, 0] + 0.5 * X[:, 4] ** 2 > 0.5
    return X, np.where(np.arange(n) // 500 % 2 == 0, one, other).astype(int)


def turning(g, n):
    X, t = g.normal(size=(n, 6)), np.arange(n) / n * np.pi * 2
    goes = np.cos(t) * X[:, 0] + np.sin(t) * X[:, 1]
    return X, (goes + 0.3 * X[:, 2] * X[:, 3] > 0).astype(int)


def swinging_priors(g, n):
    share = 0.05 + 0.9 * (np.sin(4 * np.pi * np.arange(n) / n) + 1) / 2
    y = (g.random(n) < share).astype(int)
    return g.normal(size=(n, 5)) + y[:, None] * 0.6, y


def coming(g, n):
    centres = g.normal(size=(8, 6)) * 1.3
    y = np.array([g.integers(min(8, 2 + i * 7 // n)) for i in range(n)])
    return centres[y] + g.normal(size=(n, 6)), y


def in_order(g, n):
    centres = g.normal(size=(6, 6)) * 0.8
    y = np.sort(g.integers(6, size=n))
    return centres[y] + g.normal(size=(n, 6)), y


def dying(g, n):
    X, y = steady(g, n)
    X = np.c_[X, X[:, :4] + 0.5 * g.normal(size=(n, 4))]
    X[n // 2 :, :2] = 0
    return X, y


def scaled(g, n):
    X, y = steady(g, n)
    X[n // 2 :, :3] *= 1000
    return X, y


def noisier(g, n):
    X, y = steady(g, n)
    return X, np.where(g.random(n) < 0.4 * np.arange(n) / n, 1 - y, y)


def rare(g, n):
    y = (g.random(n) < 0.05).astype(int)
    return g.normal(size=(n, 6)) + y[:, None] * np.array([1.5, 1, 0.5, 0, 0, 0]), y


def staying(stay, told, last=False):
    """Return a kind whose labels stay with a probability; perhaps the last one is a feature."""

    def of(g, n):
        y = np.zeros(n, int)
        for i in range(1, n):
            y[i] = y[i - 1] if g.random() < stay else g.integers(4)
        centres = g.normal(size=(4, 8))
        X = centres[y] * told + g.normal(size=(n, 8))
        return (np.c_[X, np.eye(4)[np.r_[0, y[:-1]]]] if last else X), y

    return of


LABELS = {
    "two concepts in turn, 500 each": recurring,
    "a direction turns once around": turning,
    "priors swing": swinging_priors,
    "classes come one by one": coming,
    "classes sorted": in_order,
    "two of 12 features become 0": dying,
    "three features times 1,000": scaled,
    "label noise rises to .4": noisier,
    "one of 20": rare,
    "labels stay 20, features tell much": staying(0.95, 1.0),
    "the same, last label a feature": staying(0.95, 1.0, last=True),
    "labels stay 20, features tell little": staying(0.95, 0.25),
    "tell little, last label a feature": staying(0.95, 0.25, last=True),
}


def friedman(X):
    return (
        10 * (np.sin(np.pi * X[:, 0] * X[:, 1]) + 2 * (X[:, 2] - 0.5) ** 2 + X[:, 3]) + 5 * X[:, 4]
    )


def with_noise(change):
    """Return a kind: Friedman's function, which `change` may change, and noise."""

    def of(g, n):
        X = g.random(size=(n, 8))
        X, y = change(X, friedman(X), np.arange(n))
        return X, y + g.normal(size=n)

    return of


def trend(X, y, t):
    X[:, 3] += 5 * t / len(t)
    return X, friedman(X)


def times(X, y, t):
    X[len(t) // 2 :, :3] *= 1000
    return X, y


def lags(g, n):
    y = np.zeros(n + 60)
    for i in range(2, n + 60):
        season = 2 * np.sin(2 * np.pi * i / 24)
        y[i] = 1.2 * y[i - 1] - 0.4 * y[i - 2] + season + g.normal()
    return np.array([y[60 - k : 60 - k + n] for k in range(1, 25)]).T, y[60:]


def walk(g, n):
    y = np.cumsum(g.normal(size=n + 10))
    return np.array([y[10 - k : 10 - k + n] for k in range(1, 6)]).T, y[10:]


def walking_features(g, n):
    X = np.cumsum(g.normal(size=(n, 4)), 0) * 0.1
    return X, X[:, 0] * 2 + np.sin(X[:, 1]) + 0.3 * g.normal(size=n)


def turning_plane(g, n):
    X, t = g.normal(size=(n, 6)), np.arange(n) / n * 2 * np.pi
    goes = 3 * (np.cos(t) * X[:, 0] + np.sin(t) * X[:, 1])
    return X, goes + np.abs(X[:, 2]) + 0.5 * g.normal(size=n)


def wandering(g, n):
    X, w = g.normal(size=(n, 15)), g.normal(size=15)
    w = w + np.cumsum(g.normal(size=(n, 15)) * 0.02, 0)
    return X, (X * w).sum(1) + g.normal(size=n)


def swinging_noise(g, n):
    X = g.random(size=(n, 8))
    return X, friedman(X) + g.normal(size=n) * np.exp(2 * np.sin(np.arange(n) / 200))


def heavy(g, n):
    X = g.random(size=(n, 8))
    return X, friedman(X) + g.standard_t(1.5, size=n)


def hanging(last=False):
    """Return a kind whose errors hang together; perhaps the last target is a feature."""

    def of(g, n):
        X, e = g.random(size=(n, 8)), np.zeros(n)
        for i in range(1, n):
            e[i] = 0.97 * e[i - 1] + g.normal()
        y = friedman(X) + e
        return (np.c_[X, np.r_[0, y[:-1]]] if last else X), y

    return of


def targets_of_river(n, seed):
    """Return generators of river's, by the names of the kinds."""
    from river.datasets import synth as s

    quarters, thirds = (n // 4, n // 2, 3 * n // 4), (n // 3, 2 * n // 3)
    return {
        f"Friedman, drift {kind}": s.FriedmanDrift(kind, places, n // 10, seed)
        for kind, places in (("lea", quarters), ("gra", thirds), ("gsg", thirds))
    }


TARGETS = {
    "a feature with a trend": with_noise(trend),
    "targets with a trend": with_noise(lambda X, y, t: (X, y + 60 * t / len(t))),
    "an offset jumps": with_noise(
        lambda X, y, t: (X, y + np.repeat([0, 100, -50, 0], len(t) // 4))
    ),
    "targets times 1,000": with_noise(lambda X, y, t: (X, np.where(t < len(t) // 2, y, 1000 * y))),
    "three features times 1,000": with_noise(times),
    "two functions in turn, 500 each": with_noise(
        lambda X, y, t: (X, np.where(t // 500 % 2 == 0, y, friedman(X[:, ::-1])))
    ),
    "season and 24 lags": lags,
    "random walk and 5 lags": walk,
    "features walk": walking_features,
    "a direction turns once around": turning_plane,
    "linear, weights wander": wandering,
    "noise swings 50-fold": swinging_noise,
    "noise t(1.5)": heavy,
    "errors hang together (.97)": hanging(),
    "the same, last target a feature": hanging(last=True),
}


def streams(task, n, seed):
    """Return functions that make the streams of a task, by their names."""
    made, of_river, first = (
        (LABELS, labels_of_river, 1000) if task == "classes" else (TARGETS, targets_of_river, 2000)
    )
    found = {name: lambda stream=stream: rows_of(stream, n)
             for name, stream in of_river(n, seed).items()}  # fmt: skip
    return found | {
        name: lambda make=make: make(np.random.default_rng(seed + first), n)
        for name, make in made.items()
    }


def predictions(method, X, y, is_target):
    """Return what a method tells of each sample before it learns it."""
    if method == "last":
        return np.r_[y[:1] if not is_target else 0, y[:-1]]
    if method in ("race", "forest"):
        race, forest = (
            (StreamRegressor, KernelForestRegressor) if is_target
            else (StreamClassifier, KernelForestClassifier)
        )  # fmt: skip
        model = (race if method == "race" else forest)(random_state=0)
        given = {} if is_target else {"classes": np.unique(y)}
        return model.partial_fit_predict(X, y, **given)
    model = river_regressor(method) if is_target else river_learner(method, len(np.unique(y)))
    told = np.zeros(len(y))
    for i, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        row = dict(enumerate(row))
        told[i] = model.predict_one(row) or 0
        model.learn_one(row, label)
    return told


def river_regressor(name):
    """Return one of river's regressors, with its own defaults; the linear one has scales."""
    from river import forest, linear_model, preprocessing, tree

    if name == "hat":
        return tree.HoeffdingAdaptiveTreeRegressor(seed=0)
    if name == "arf":
        return forest.ARFRegressor(n_models=10, seed=0)
    linear = preprocessing.TargetStandardScaler(linear_model.LinearRegression())
    return preprocessing.StandardScaler() | linear


def error_of(method, X, y, is_target):
    """Return the error of a method on a stream, in %."""
    told = predictions(method, X, y if is_target else y.astype(int), is_target)
    if is_target:
        return 100 * float(np.sqrt(np.mean((told - y) ** 2)) / y.std())
    return 100 * float(np.mean(told != y))


def main():
    arguments = read_options(
        __doc__, rows=4000, seed=1, only=str, cache="stream_kinds.json", methods=tuple(METHODS)
    )
    kept = Kept(Path(arguments.cache))
    for task in ("classes", "targets"):
        is_target = task == "targets"
        heads = [METHODS[method] for method in arguments.methods]
        print(f"| {task} | {' | '.join(heads)} |\n|---|" + "---:|" * len(heads))
        for name, make in streams(task, arguments.rows, arguments.seed).items():
            if arguments.only and name not in arguments.only.split(";"):
                continue
            X, y = make()
            errors = [
                kept.get(
                    f"{task}, {name}, {method}, {arguments.rows}, {arguments.seed}",
                    partial(error_of, method, X, y, is_target),
                )
                for method in arguments.methods
            ]
            texts = [f"{error:.1f}" if error < 1000 else "fails" for error in errors]
            bold = [f"**{text}**" if error == min(errors) else text
                    for text, error in zip(texts, errors, strict=True)]  # fmt: skip
            print(f"| {name} | {' | '.join(bold)} |", flush=True)
        print()


if __name__ == "__main__":
    main()
