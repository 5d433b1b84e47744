"""Measure what intervals and sets of labels hold on streams that drift or not, and their size.

    python benchmarks/conformal.py DIR [--rows N] [--coverage C] [--only PART]

DIR holds the streams as NAME.libsvm.xz. Everything is told before its sample is learnt; the first
500 samples are left out. Intervals: the ten regressions of intervals.py in random order, in the
order of the first principal component, and with a jump half way; beside RegressionJackknife of
river on the same predictions, with its default (all residuals) and with the last 512. Sets: the
streams of streams_leaderboard.py. Printed are the share held, the least and the greatest of any
1,000 samples in a row, and the mean size: the width divided by that of the narrowest constant
interval of the same share, which only hindsight knows; or the labels in a set. The last lines have
the worst of each column. PART is intervals, sets, time, rows, or classes: what sets hold of each
class, with a threshold for all and with one for each, where classes are rare or come late.
"""

import argparse
from time import process_time

import intervals
import numpy as np
import streams_leaderboard as leaderboard
from defaults import read
from threadpoolctl import threadpool_limits

import onlinekern
from onlinekern import ConformalClassifier, ConformalRegressor

WARM, RUN, CALL = 500, 1_000, 1_000
REGRESSORS = {
    "AROW": lambda: onlinekern.AROWRegressor(),
    "KernelRLS": lambda: onlinekern.KernelRLSRegressor(n_components=200, random_state=0),
    "Stream": lambda: onlinekern.StreamRegressor(time_budget=30, random_state=0),
}
CLASSIFIERS = {
    "linear PA": lambda: onlinekern.PAClassifier(random_state=0),
    "SPA": lambda: onlinekern.SPAClassifier(random_state=0),
    "KernelRLS": lambda: onlinekern.KernelRLSClassifier(n_components=200, random_state=0),
    "Stream": lambda: onlinekern.StreamClassifier(time_budget=30, random_state=0),
}


# Real sets with rare classes, and their features.
UNEVEN = {
    "ijcnn1.train": 22, "htru2": 8, "page-blocks": 10, "covtype.sample10k": 54,
    "shuttle.train": 9, "poker.train": 10,
}  # fmt: skip
# Samples of a class, after the first WARM of the stream, whose share is told.
ENOUGH = 50


class Told:
    """A regressor of river that tells predictions which were made already."""

    def predict_one(self, x):
        return x

    def learn_one(self, x, y):
        """It has learnt."""


def of_river(y, predicted, coverage, window):
    """Return the intervals of river around predictions, each told before its sample is learnt."""
    from river.conf import RegressionJackknife

    model, found = RegressionJackknife(Told(), coverage, window), []
    for target, told in zip(y.tolist(), predicted.tolist(), strict=True):
        interval = model.predict_one(told, with_interval=True)
        found.append((interval.lower, interval.upper))
        model.learn_one(told, target)
    return np.array(found, dtype=np.float64).T


def shares(held):
    """Return the share held, and the least and the greatest of any RUN samples in a row."""
    runs = np.convolve(held, np.ones(RUN) / RUN, "valid") if len(held) > RUN else [held.mean()]
    return held.mean(), np.min(runs), np.max(runs)


def figures_of_intervals(y, predicted, lower, upper, coverage):
    """Return the shares held, and the width, as a multiple of the best constant one."""
    y, predicted, lower, upper = (each[WARM:] for each in (y, predicted, lower, upper))
    ideal = 2 * np.quantile(np.abs(y - predicted), coverage)
    return (*shares((lower <= y) & (y <= upper)), np.mean(upper - lower) / ideal)


def measure_intervals(folder, rows, coverage):
    """Yield the stream, the drift, the learner, the method, and its figures."""
    for name in intervals.SETS:
        X, y = intervals.load(folder, name, rows)
        for drift, change in intervals.DRIFTS.items():
            Z, t = change(X, y)
            for learner, build in REGRESSORS.items():
                model = ConformalRegressor(build(), coverage)
                parts = [slice(i, i + CALL) for i in range(0, len(t), CALL)]
                told = [model.partial_fit_interval(Z[part], t[part]) for part in parts]
                lower, upper = (np.concatenate(each) for each in zip(*told, strict=True))
                # The first ones are infinite.
                finite = np.isfinite(lower)
                predicted = np.where(finite, lower, 0) / 2 + np.where(finite, upper, 0) / 2
                found = {"ours": (lower, upper)}
                for window in (None, 512):
                    method = "river" if window is None else f"river, {window}"
                    found[method] = of_river(t, predicted, coverage, window)
                for method, (low, high) in found.items():
                    figures = figures_of_intervals(t, predicted, low, high, coverage)
                    yield name, drift, learner, method, figures


def measure_sets(folder, rows, coverage):
    """Yield the stream, "", the learner, whether sets may be empty, and its figures."""
    for name in leaderboard.STREAMS:
        X, y = leaderboard.load(folder, name, rows)
        scaled = leaderboard.running_standard(X)
        for learner, build in CLASSIFIERS.items():
            Z = X if learner == "Stream" else scaled
            for empty in (True, False):
                model = ConformalClassifier(build(), coverage, empty)
                parts = [slice(i, i + CALL) for i in range(0, len(y), CALL)]
                classes = np.unique(y)
                sets = [model.partial_fit_set(Z[part], y[part], classes) for part in parts]
                sets = np.concatenate(sets)[WARM:]
                held = sets[np.arange(len(sets)), y[WARM:]]
                method = "ours" if empty else "never empty"
                yield name, "", learner, method, (*shares(held), sets.sum(axis=1).mean())


def uneven_streams(folder, rows):
    """Yield the name, the samples and the labels 0, 1, ... of streams with rare classes."""
    for name, n_features in UNEVEN.items():
        X, labels = read(folder, name, n_features, rows, order=0)
        yield name.partition(".")[0], X, np.unique(labels, return_inverse=True)[1]
    made = {
        "made: 95, 5 %": [0.95, 0.05],
        "made: 98, 2 %": [0.98, 0.02],
        "made: 60, 25, 10, 4, 1 %": [0.6, 0.25, 0.1, 0.04, 0.01],
        "made: 45, 45, 10 %, late": [0.45, 0.45, 0.1],
        "made: 90, 10 %, moves": [0.9, 0.1],
    }
    for name, parts in made.items():
        rng = np.random.default_rng(0)
        y = rng.choice(len(parts), rows, p=parts)
        late = np.arange(rows) >= rows // 2
        if name.endswith("late"):
            y[~late & (y == 2)] = 0
        centers = 0.8 * rng.standard_normal((len(parts), 4))
        X = centers[y] + rng.standard_normal((rows, 4))
        if name.endswith("moves"):
            X[late & (y == 1)] -= 2 * centers[1]
        yield name, X, y


def print_classes(folder, rows, coverage):
    """Print what sets hold of the classes, with one threshold for all, and with one for each."""
    print("| stream | rarest | learner | of all | of the classes | labels | by class: of all |"
          " of the classes | labels | too rare |")  # fmt: skip
    print("|---" * 10 + "|")
    for name, X, y in uneven_streams(folder, rows):
        classes = np.unique(y)
        often = np.bincount(y[WARM:]) >= ENOUGH
        for learner in ("KernelRLS", "Stream"):
            cells = []
            for by_class in (False, True):
                model = ConformalClassifier(CLASSIFIERS[learner](), coverage, by_class=by_class)
                parts = [slice(i, i + CALL) for i in range(0, len(y), CALL)]
                sets = [model.partial_fit_set(X[part], y[part], classes) for part in parts]
                sets = np.concatenate(sets)[WARM:]
                held = sets[np.arange(len(sets)), y[WARM:]]
                shares = [held[y[WARM:] == k].mean() for k in np.flatnonzero(often)]
                cells += [f"{held.mean():.1%}", f"{min(shares):.1%} to {max(shares):.1%}",
                          f"{sets.sum(axis=1).mean():.2f}"]  # fmt: skip
            rare = f"{np.isinf(model.threshold_).sum()} of {len(classes)}"
            share = f"{np.bincount(y)[often].min() / len(y):.2%}"
            print(f"| {name} | {share} | {learner} | {' | '.join(cells)} | {rare} |", flush=True)


def print_table(found, coverage, size):
    """Print a line of Markdown for each, and the worst and mean of each method."""
    print(f"| stream | drift | learner | method | held | least | greatest | {size} |")
    print("|---" * 8 + "|")
    kept = {}
    for name, drift, learner, method, figures in found:
        cells = [f"{share:.1%}" for share in figures[:3]]
        cells = [name, drift, learner, method, *cells, f"{figures[3]:.2f}"]
        print(f"| {' | '.join(cells)} |", flush=True)
        kept.setdefault(method, []).append(figures)
    for method, rows in kept.items():
        table = np.array(rows)
        off = np.abs(table[:, 0] - coverage).max()
        inside = np.mean(np.abs(table[:, 1:3] - coverage).max(axis=1) <= 0.04)
        print(
            f"\n{method}: {len(rows)} streams; off by {off:.2%} at most, least "
            f"{table[:, 1].min():.1%}, greatest {table[:, 2].max():.1%}; {inside:.0%} within 4 "
            f"points over any {RUN:,}; {size}: mean {np.exp(np.log(table[:, 3]).mean()):.3f}, "
            f"greatest {table[:, 3].max():.2f}"
        )


def print_times(folder, rows):
    """Print what a sample costs a learner, alone and inside, in calls of CALL samples."""
    X, y = intervals.load(folder, "cadata", rows)
    streams = [(REGRESSORS, ConformalRegressor, X, y), (CLASSIFIERS, ConformalClassifier, X, y > 0)]
    print("| learner | alone, µs | inside, µs | ratio |\n|---|---|---|---|")
    for learners, around, X, y in streams:
        for name, build in learners.items():
            costs = []
            for _ in range(5):
                for model in (build(), around(build())):
                    more = {"classes": [False, True]} if around is ConformalClassifier else {}
                    began = process_time()
                    for i in range(0, len(y), CALL):
                        model.partial_fit(X[i : i + CALL], y[i : i + CALL], **more)
                    costs.append(1e6 * (process_time() - began) / len(y))
            alone, inside = np.median(costs[::2]), np.median(costs[1::2])
            label = f"{name}, {'labels' if more else 'targets'}"
            print(f"| {label} | {alone:.2f} | {inside:.2f} | {inside / alone:.2f} |", flush=True)


def print_row_times(folder, rows):
    """Print what calls of one sample cost: medians of nine turns of 300, in turn."""
    X, y = intervals.load(folder, "cadata", rows)
    print("| learner | partial_fit_predict | inside, told and learnt | learn_one, inside |")
    print("|---|---|---|---|")
    for learners, around, targets in (
        (REGRESSORS, ConformalRegressor, y),
        (CLASSIFIERS, ConformalClassifier, y > 0),
    ):
        for name, build in learners.items():
            alone, inside = build(), around(build())
            given = [] if around is ConformalRegressor else [[False, True]]
            for model in (alone, inside):
                model.partial_fit(X[:1000], targets[:1000], *given)
            tell = getattr(inside, "partial_fit_interval", None) or inside.partial_fit_set
            costs = [[], [], []]
            for turn in range(9):
                for k, call in enumerate((alone.partial_fit_predict, tell, inside.learn_one)):
                    began = process_time()
                    for i in range(1000 + 300 * turn, 1300 + 300 * turn):
                        one = i if k == 2 else slice(i, i + 1)
                        call(X[one], targets[one])
                    costs[k].append(1e6 * (process_time() - began) / 300)
            cells = " | ".join(f"{np.median(each):.1f}" for each in costs)
            kind = "targets" if around is ConformalRegressor else "labels"
            print(f"| {name}, {kind} | {cells} |", flush=True)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--coverage", type=float, default=0.9)
    parser.add_argument("--only", choices=["intervals", "sets", "classes", "time", "rows"])
    options = parser.parse_args()
    given = options.folder, options.rows
    with threadpool_limits(1):
        if options.only in (None, "intervals"):
            print_table(measure_intervals(*given, options.coverage), options.coverage, "width")
        if options.only in (None, "sets"):
            print_table(measure_sets(*given, options.coverage), options.coverage, "labels")
        if options.only in (None, "classes"):
            print_classes(*given, options.coverage)
        if options.only in (None, "time"):
            print_times(*given)
        if options.only in (None, "rows"):
            print_row_times(*given)


if __name__ == "__main__":
    main()
