"""Print what merging loses where the parts of a stream are unlike: by a column, classes, or time.

    python benchmarks/unlike_parts.py --data DIR [--only NAME,...] [--sets NAME,...] [--rows N]
                                      [--parts N] [--rounds R,...] [--seeds N] [--how NAME]

DIR holds the sets as NAME.libsvm.xz. Of a set, a fifth is held out at random, and 300 of the others
begin one model, from which the models of all parts go on. What divides the rest:

    random   nothing: parts of one size;
    column   a column, its seven largest groups and all others: occupation (a9a), soil (covtype),
             time of the day (elec2), place (cadata, weather; k-means), words (reuters, spam;
             k-means), the user of `short_parts.py` (users), whose thresholds differ;
    classes  shares of the classes, or of fifths of a target, drawn of Dirichlet(0.3) for each part;
    time     stretches of the stream, where it is one (elec2, weather, spam, drift), of one size.

In a round each part learns its next samples, and all are merged. An error is that on the samples
held out: per cent of mistakes, or 100 times the root of the mean square over the deviation. The
columns: one model of all rows in their order; a part that is never merged, the mean of all; the
merged model after each number of rounds; then on samples of a part's own kind (of its group, class
shares or stretch) the merged model after the last number of rounds, and the part itself. The last
table has the mean over sets and seeds of what is above the one model.

`--how` is another way to merge than `merge(models, base=base)`:

    equal        every part weighs the same (weights=);
    column       the part is a feature of its samples, one-hot;
    plain        of linear models and of FOGD: every model counts for every weight, in its share;
    pull         of these: after each 32 samples, a model goes 5 % of its way back to the base
                 (as with the proximal term of FedProx, Li et al. 2020);
    extrapolate  of these: beyond the plain average, the further the more the models differ (FedExP,
                 Jhunjhunwala et al. 2023).
"""

import argparse
import warnings
from collections import defaultdict
from copy import deepcopy
from pathlib import Path

import numpy as np
from budgets import read
from scipy import sparse
from short_parts import Parts
from sklearn.base import is_classifier
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

import onlinekern as ok
from onlinekern import merge
from onlinekern.fitted.state import closed, opened

BEGUN, SHARED, MOST_GROUPS = 300, 0.3, 7
PULL, PULL_AFTER = 0.05, 32
WAYS = ("merge", "equal", "column", "plain", "pull", "extrapolate")
KERNEL = {"random_state": 0}
LEARNERS = {
    "PA": (ok.PAClassifier, ok.PARegressor, {"C": 0.1}),
    "AROW": (ok.AROWClassifier, ok.AROWRegressor, {}),
    "FOGD": (ok.FOGDClassifier, ok.FOGDRegressor, KERNEL),
    "SPA": (ok.SPAClassifier, ok.SPARegressor, {"gamma": "median", "max_support": 300, **KERNEL}),
    "KernelSCW": (ok.KernelSCWClassifier, None, {"n_components": 100, **KERNEL}),
    "KernelRLS": (ok.KernelRLSClassifier, ok.KernelRLSRegressor, {"n_components": 100, **KERNEL}),
    "forest": (ok.KernelForestClassifier, ok.KernelForestRegressor, KERNEL),
    "race": (ok.StreamClassifier, ok.StreamRegressor, KERNEL),
}
LINEAR = ("PA", "AROW")


class Data:
    """Rows, targets, the group of each row, and whether their order is that of time."""

    def __init__(self, X, y, groups, ordered=False, number=False):
        self.X, self.y, self.ordered, self.number = X, y, ordered, number
        names, counts = np.unique(groups, return_counts=True)
        largest = names[np.argsort(-counts, kind="stable")][:MOST_GROUPS]
        found = {name: place for place, name in enumerate(largest)}
        self.groups = np.array([found.get(one, MOST_GROUPS) for one in groups])


def clusters(X, seed=0):
    return KMeans(MOST_GROUPS + 1, n_init=1, random_state=seed).fit_predict(X)


def dense(folder, name, **more):
    X, y = read(folder, name, **more)
    return X.toarray(), y


def a9a(folder, rows):
    X, y = dense(folder, "a9a.train", n_features=123)
    # Features 46 to 59 are the occupations.
    return Data(X[:rows], y[:rows], X[:rows, 46:60].argmax(axis=1))


def covtype(folder, rows):
    X, y = dense(folder, "covtype.sample10k", n_features=54)
    return Data(X[:rows], y[:rows], X[:rows, 14:].argmax(axis=1))


def elec2(folder, rows):
    X, y = dense(folder, "elec2", n_features=8)
    # Rows of all its time, evenly.
    kept = np.linspace(0, len(y) - 1, min(rows, len(y))).astype(int)
    X, y = X[kept], y[kept]
    return Data(X[:, 1:], y, np.floor(8 * X[:, 2]).clip(max=7), ordered=True)


def weather(folder, rows):
    X, y = dense(folder, "weather", n_features=8)
    X, y = X[:rows], y[:rows]
    return Data(X, y, clusters(scaled(X)), ordered=True)


def cadata(folder, rows):
    X, y = dense(folder, "cadata", n_features=8)
    chosen = np.random.default_rng(0).permutation(len(y))[:rows]
    X, y = X[chosen], y[chosen]
    return Data(X, y / y.std(), clusters(X[:, -2:]), number=True)


def reuters(folder, rows):
    X, y = read(folder, "reuters-moneyfx.train", 8315)
    return Data(X[:rows], y[:rows], clusters(X[:rows]))


def spam(folder, rows):
    X, y = read(folder, "spamcorpus", 39916)
    X = normalize(X[:rows])
    return Data(X, y[:rows], clusters(X), ordered=True)


def users(_, rows):
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, 9)
    who = rng.choice(8, size=rows, p=shares / shares.sum())
    X, y = Parts("classifier", "users", 8, 1, 1).of(who, 0, rows)
    return Data(X, y, who)


def drift(_, rows):
    when = np.arange(rows) * 20 // rows
    X, y = Parts("classifier", "time", 1, 20, 3).of(0, when, rows)
    return Data(X, y, when, ordered=True)


EVERY = (a9a, covtype, elec2, weather, cadata, reuters, spam, users, drift)
SETS = {one.__name__: one for one in EVERY}


def scaled(X):
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)


def kinds_of(data):
    """Return the class of each row, of targets their fifth."""
    if data.number:
        return np.searchsorted(np.quantile(data.y, [0.2, 0.4, 0.6, 0.8]), data.y)
    return np.unique(data.y, return_inverse=True)[1]


def divide(data, how, parts, seed):
    """Return the part of each row; of one that is held out, the part whose kind it is."""
    rng, n = np.random.default_rng(seed), len(data.y)
    if how == "column":
        return data.groups
    if how == "time":
        return np.arange(n) * parts // n
    if how == "random":
        return rng.integers(parts, size=n)
    kinds, found = kinds_of(data), np.zeros(n, dtype=int)
    for kind in range(kinds.max() + 1):
        own = kinds == kind
        found[own] = rng.choice(parts, size=own.sum(), p=rng.dirichlet(np.full(parts, SHARED)))
    return found


def divisions(data):
    """Return what divides a set."""
    return ["random", "column", "classes"] + ["time"] * data.ordered


def prepared(data, options, part):
    """Return rows for the learners: standardised, dense ones too, perhaps with their part."""
    X = data.X if sparse.issparse(data.X) else scaled(data.X)
    if options.how == "column":
        shares = np.eye(part.max() + 1)[part]
        X = sparse.hstack([X, shares], "csr") if sparse.issparse(X) else np.hstack([X, shares])
    return X


def error(model, X, y):
    if is_classifier(model):
        return 100 * (1 - model.score(X, y))
    return 100 * np.sqrt(np.mean((model.predict(X) - y) ** 2)) / y.std()


def space_of(model):
    """Return the state of a model of weights, and that of its space."""
    whole = opened(model._model)
    return whole, whole.arguments.space


def weights_of(model):
    state = space_of(model)[1].state
    return state.scale * state.values


def with_weights(model, weights):
    """Return a copy of a model with other weights."""
    whole, space = space_of(model)
    space.state.values = weights / space.state.scale
    found = deepcopy(model)
    found._model = closed(whole)
    return found


def joined(models, base, options):
    """Merge the models of a round."""
    sizes = np.array([model.n_seen_ - base.n_seen_ for model in models])
    weights = sizes.mean() / sizes if options.how == "equal" else None
    found = merge(models, weights, base=base)
    if options.how not in ("plain", "extrapolate"):
        return found
    moves = [weights_of(model) - weights_of(base) for model in models]
    move = np.average(moves, axis=0, weights=sizes)
    squares = np.average([np.square(own).sum() for own in moves], weights=sizes)
    further = max(1.0, squares / (2 * np.square(move).sum() + 1e-12))
    further = further if options.how == "extrapolate" else 1.0
    return with_weights(found, weights_of(base) + further * move)


def taught(base, X, y, options):
    """Return a model that has gone on from the base."""
    model, step = deepcopy(base), PULL_AFTER if options.how == "pull" else len(y)
    for first in range(0, len(y), step):
        model.partial_fit(X[first : first + step], y[first : first + step])
        if options.how == "pull":
            start = weights_of(base)
            model = with_weights(model, start + (1 - PULL) * (weights_of(model) - start))
    return model


def mixed(base, X, y, rows, rounds, options):
    """Return the merged model after all rounds; rows are those of each part."""
    pieces = [np.array_split(own, rounds) for own in rows]
    for now in zip(*pieces, strict=True):
        models = [taught(base, X[piece], y[piece], options) for piece in now if len(piece)]
        base = joined(models, base, options)
    return base


def measure(model, data, how, seed, options):
    """Return the errors of one line."""
    part = divide(data, how, options.parts, seed)
    X, y, rng = prepared(data, options, part), data.y, np.random.default_rng(seed + 100)
    order = rng.permutation(len(y))
    held, begun, left = np.split(order, [len(y) // 5, len(y) // 5 + BEGUN])
    left = np.sort(left) if how == "time" else left
    known = {"classes": np.unique(y)} if is_classifier(model) else {}
    base = deepcopy(model).partial_fit(X[begun], y[begun], **known)
    stream = deepcopy(base).partial_fit(X[left], y[left])
    rows = [left[part[left] == k] for k in range(part.max() + 1)]
    rows = [own for own in rows if len(own)]
    merged = [mixed(base, X, y, rows, rounds, options) for rounds in options.rounds]
    alone, own, theirs, sizes = [], [], [], []
    for each in rows:
        one = deepcopy(base).partial_fit(X[each], y[each])
        test = held[part[held] == part[each[0]]]
        alone.append(error(one, X[held], y[held]))
        if len(test) > 20 or not data.number:
            sizes.append(len(test))
            own.append(error(merged[-1], X[test], y[test]) if len(test) else 0.0)
            theirs.append(error(one, X[test], y[test]) if len(test) else 0.0)
    found = [error(one, X[held], y[held]) for one in (stream, *merged)]
    mean = [np.average(each, weights=sizes) for each in (own, theirs)]
    return np.array([found[0], np.mean(alone), *found[1:], *mean])


def learner(name, data):
    """Return a learner of classes or of targets, None if there is none."""
    classifier, regressor, parameters = LEARNERS[name]
    cls = regressor if data.number else classifier
    if cls is None or (sparse.issparse(data.X) and name not in LINEAR):
        return None
    # Texts have little noise: steps need no bound.
    return cls(
        **{**parameters, "C": 1.0} if name == "PA" and sparse.issparse(data.X) else parameters
    )


def lines(folder, options):
    """Yield set, learner, division and errors."""
    for place in options.sets:
        data = SETS[place](folder, options.rows)
        for name in options.only:
            model = learner(name, data)
            for how in divisions(data) if model else ():
                each = [measure(model, data, how, seed, options) for seed in range(options.seeds)]
                yield place, name, how, np.mean(each, axis=0)


def names(text):
    return text.split(",")


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with NAME.libsvm.xz")
    parser.add_argument("--only", type=names, default=list(LEARNERS))
    parser.add_argument("--sets", type=names, default=list(SETS))
    for name, default in (("rows", 4000), ("parts", 8), ("seeds", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rounds", type=numbers, default=[1, 4, 16])
    parser.add_argument("--how", choices=WAYS, default="merge")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rounds = " | ".join(map(str, options.rounds))
    print(f"| set | learner | divided by | stream | part | {rounds} | own: merged | part |")
    print("|---" * (7 + len(options.rounds)) + "|")
    lost = defaultdict(list)
    for place, name, how, errors in lines(options.data, options):
        cells = " | ".join(f"{one:.1f}" for one in errors)
        print(f"| {place} | {name} | {how} | {cells} |", flush=True)
        lost[name, how].append(errors[1:-2] - errors[0])
    print(f"\n| learner | divided by | part | {rounds} |")
    print("|---" * (3 + len(options.rounds)) + "|")
    for (name, how), each in lost.items():
        cells = " | ".join(f"{one:+.1f}" for one in np.mean(each, axis=0))
        print(f"| {name} | {how} | {cells} |")


if __name__ == "__main__":
    main()
