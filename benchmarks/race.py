"""Compare StreamClassifier and StreamRegressor, with no parameter, with tuned learners.

    python benchmarks/race.py --data DIR [--sets NAME ...] [--json FILE] [--markdown FILE]
    python benchmarks/race.py --data DIR --experts

Each feature of a set is multiplied by a power of ten between 1e-6 and 1e6. At most 6,000 rows in
random order are learnt, once, each predicted before it is learnt; at most 4,000 others are the
test. Beside it, with standardised features (and targets):

- SVC or SVR with the RBF kernel, twelve settings, the best on a quarter of the training rows, then
  fitted to all of them;
- HistGradientBoosting with its defaults;
- kernel least squares of ours with 1,000 landmarks, in one pass, of the four widths the one with
  the fewest mistakes on the way.

`--experts` shows instead what each expert costs and brings, the mean over the sets.

DIR holds the sets as NAME.libsvm.xz. What FILE of `--json` holds already is not computed again.
"""

import itertools
import json
import lzma
import time
from pathlib import Path

import numpy as np
from command import read_options
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

from onlinekern import (
    KernelRLSClassifier,
    KernelRLSRegressor,
    StreamClassifier,
    StreamRegressor,
)

# What the race was made with, and what was not looked at before.
KNOWN = [
    *("usps.train", "satimage.train", "spambase", "ijcnn1.train", "cod-rna.train"),
    *("eeg-eye-state", "optdigits", "segment", "a9a.train", "waveform5000", "german.numer"),
    *("dna.train", "splice.train", "page-blocks", "ionosphere", "covtype.sample10k"),
]
UNSEEN = [
    *("phishing", "htru2", "skin_nonskin", "covtype.3vs4", "shuttle.train", "susy.sample30k"),
    *("higgs-lgbm.train", "diabetes", "fourclass", "australian", "svmguide3.train", "mushrooms"),
]
KNOWN_TARGETS = ["kin40k", "cpusmall", "cadata", "elevators", "abalone_scale", "housing", "fried"]
UNSEEN_TARGETS = [
    *("space_ga", "ailerons", "house8L", "puma32H", "bank32nh", "protein", "pol", "mg"),
]
MOST_TRAINING, MOST_TEST = 6_000, 4_000
WIDTHS = (0.3, 1.0, 3.0, 10.0)
COSTS = (1.0, 10.0, 100.0)


def draw(folder, name):
    """Return training rows, their targets, test rows and theirs, in wild units."""
    with lzma.open(Path(folder) / f"{name}.libsvm.xz") as packed:
        X, y = load_svmlight_file(packed)
    rng = np.random.default_rng(0)
    order = rng.permutation(X.shape[0])
    n = min(MOST_TRAINING, 3 * len(order) // 4)
    X = X[order[: n + MOST_TEST]].toarray() * 10.0 ** rng.uniform(-6, 6, X.shape[1])
    y = y[order[: n + MOST_TEST]]
    return X[:n], y[:n], X[n:], y[n:]


def error(predicted, y, regression):
    """Return the mistakes in per cent, or the root mean squared error."""
    if regression:
        return float(np.sqrt(np.mean((predicted - y) ** 2)))
    return 100 * float(np.mean(predicted != y))


def raced(X, y, Z, t, regression):
    """Return the figures of the race."""
    model = StreamRegressor(random_state=0) if regression else StreamClassifier(random_state=0)
    known = {} if regression else {"classes": np.unique(y)}
    start = time.process_time()
    predicted = model.partial_fit_predict(X, y, **known)
    seconds = time.process_time() - start
    report = model.report()
    return {
        "online": error(predicted, y, regression),
        "test": error(model.predict(Z), t, regression),
        "us": 1e6 * seconds / len(y),
        "experts": {one.name: (one.cost, one.learnt, one.led) for one in report.experts},
    }


def machine(X, y, Z, t, regression):
    """Return the test error of the tuned support vector machine."""
    make = SVR if regression else SVC
    held = 3 * len(X) // 4

    def fit(gamma, C, stop):
        return make(gamma=gamma / X.shape[1], C=C, cache_size=400).fit(X[:stop], y[:stop])

    def mistakes(setting):
        return error(fit(*setting, held).predict(X[held:]), y[held:], regression)

    best = min(itertools.product(WIDTHS, COSTS), key=mistakes)
    return error(fit(*best, len(X)).predict(Z), t, regression)


def boosted(X, y, Z, t, regression):
    """Return the test error of HistGradientBoosting."""
    make = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    return error(make(random_state=0).fit(X, y).predict(Z), t, regression)


def squares(X, y, Z, t, regression):
    """Return the test error of kernel least squares of the best width."""
    make = KernelRLSRegressor if regression else KernelRLSClassifier
    known = {} if regression else {"classes": np.unique(y)}
    found = []
    for width in (0.1, 0.3, 1.0, 3.0):
        model = make(gamma=width / X.shape[1], n_components=1000, random_state=0)
        online = error(model.partial_fit_predict(X, y, **known), y, regression)
        found.append((online, error(model.predict(Z), t, regression)))
    return min(found)[1]


def figures(folder, name, regression):
    """Return the figures of a set."""
    X, y, Z, t = draw(folder, name)
    scaler = StandardScaler().fit(X)
    unit = (np.mean(y), np.std(y)) if regression else (0, 1)
    plain = scaler.transform(X), y, scaler.transform(Z), t
    if regression:
        plain = plain[0], (y - unit[0]) / unit[1], plain[2], (t - unit[0]) / unit[1]
    found = {"rows": len(y), "features": X.shape[1], "race": raced(X, y, Z, t, regression)}
    if regression:
        found["race"] = {
            key: value / unit[1] if key in ("online", "test") else value
            for key, value in found["race"].items()
        }
    for column, compute in (("svm", machine), ("boosting", boosted), ("squares", squares)):
        found[column] = compute(*plain, regression)
    return found


def line(name, found, regression):
    """Return a row of the table."""
    form = "{:.3f}" if regression else "{:.2f}"
    race = found["race"]
    numbers = [race["online"], race["test"], found["svm"], found["boosting"], found["squares"]]
    shown = " | ".join(form.format(number) for number in numbers)
    return f"| {name} | {found['rows']:,} | {found['features']} | {shown} | {race['us']:.0f} |"


def table(known, title, names, regression):
    """Return the table of some sets, and how often the race comes close to the machine."""
    head = "| set | rows | d | online | test | SVM tuned | boosting | least squares | us |"
    names = [name for name in names if name in known]
    rows = [line(name, known[name], regression) for name in names]
    close = [
        known[name]["race"]["test"] <= (known[name]["svm"] * 1.03 if regression
                                        else known[name]["svm"] + 1)
        for name in names
    ]  # fmt: skip
    within = "3 %" if regression else "1 point"
    text = f"within {within} of the machine, or ahead of it: {sum(close)} of {len(close)}"
    return "\n".join([f"\n{title}, {text}\n", head, "|" + "---|" * 9, *rows])


def experts(folder, names, regression):
    """Return the table of what experts cost and bring, means over the sets that have them."""
    shares = {}
    for name in names:
        found = raced(*draw(folder, name), regression)["experts"]
        whole = sum(cost * learnt for cost, learnt, _ in found.values())
        for expert, (cost, learnt, led) in found.items():
            shares.setdefault(expert, []).append((learnt, cost * learnt / whole, led))
    head = "| expert | sets | samples learnt | share of the time | led |"
    rows = []
    for name, values in shares.items():
        means = [f"{mean:.0%}" for mean in np.mean(values, axis=0)]
        rows.append("| " + " | ".join([name, str(len(values)), *means]) + " |")
    return "\n".join(["", head, "|" + "---|" * 5, *rows])


def main():
    """Compute what is missing, and print the tables."""
    options = read_options(
        __doc__,
        data={"required": True},
        sets={"nargs": "+"},
        json=Path,
        markdown=Path,
        experts=False,
    )
    known = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    groups = {
        "sets it was made with": (KNOWN, False),
        "sets not looked at before": (UNSEEN, False),
        "targets it was made with": (KNOWN_TARGETS, True),
        "targets not looked at before": (UNSEEN_TARGETS, True),
    }
    if options.experts:
        with threadpool_limits(1):
            print(experts(options.data, [*KNOWN, *UNSEEN], False))
            print(experts(options.data, [*KNOWN_TARGETS, *UNSEEN_TARGETS], True))
        return
    with threadpool_limits(1):
        for names, regression in groups.values():
            for name in names:
                if name in known or (options.sets and name not in options.sets):
                    continue
                known[name] = figures(options.data, name, regression)
                print(line(name, known[name], regression), flush=True)
                if options.json:
                    options.json.write_text(json.dumps(known, indent=1))
    text = "\n".join(table(known, title, *group) for title, group in groups.items())
    print(text)
    if options.markdown:
        options.markdown.write_text(text + "\n")


if __name__ == "__main__":
    main()
