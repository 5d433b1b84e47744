"""Print errors of kernel forests after one pass, beside the best of batch and of one pass.

    python benchmarks/forests.py FOLDER [--orders 5] [--rows 20000] [--only NAME,...]
        [--rivals docs/forest_rivals.json] [--every] [--along] [--set NAME=VALUE ...]

FOLDER holds the sets (LIBSVM text, packed with xz). Each is put into random orders; of its first
rows, 70 % are learnt in one pass as they are, and the others test. Prints test errors in per cent
(of targets: the root mean square error over their deviation), their mean and deviation over the
orders, the goal, and microseconds of processor time a row. The rivals and their times come from the
file that `forest_rivals.py` writes: the method whose mean of the test errors is least, chosen by
these. --every shows all of them, and measures nothing. --along shows our errors on the way instead,
at 250, 500, 1,000, ... rows. --set gives parameters to the forests.
"""

import ast
import lzma
import time
from functools import lru_cache
from pathlib import Path

import numpy as np
from command import read_options
from scipy.sparse import vstack
from second_order.figures import Kept
from sklearn.datasets import load_svmlight_file

from onlinekern import KernelForestClassifier, KernelForestRegressor

# Set -> the error that is the goal.
LABELS = {
    "segment": 1.7,
    "splice": 4.5,
    "spambase": 5.8,
    "phishing": 3.2,
    "eeg-eye-state": 6.0,
    "satimage": 7.8,
    "ijcnn1": 1.45,
    "covtype.first20k": 11.3,
    "a9a": 15.6,
}
TARGETS = {
    "pol": 0.10,
    "kin40k": 0.22,
    "protein": 0.55,
    "elevators": 0.30,
    "cadata": 0.44,
    "puma32H": 0.28,
}
# Sets without a goal, on which the ablations of `forest_ablations.py` run too.
MORE_LABELS = ("htru2", "page-blocks", "poker")
MORE_TARGETS = ("cpusmall", "house8L")
NUMBERS = {*TARGETS, *MORE_TARGETS}
MARKS = (250, 500, 1_000, 2_000, 4_000, 8_000, 14_000)
SETS = [*LABELS, *TARGETS]
# What `forest_rivals.py` measures: the name of a run, and of its results.
BATCH = {
    "boosting": ("boosting 100", "boosting 500", "boosting 1000"),
    "trees": ("extra trees 300", "random forest 300"),
    "svc": ("svc",),
}
ONE_PASS = {"hat": ("hat",), "amf": ("amf",), "amf raw": ("amf raw",), "arf": ("arf",)}


@lru_cache(maxsize=1)
def read(folder, name):
    """Return all rows of a set, sparse, and its labels."""
    paths = [Path(folder) / f"{name}{part}.libsvm.xz" for part in ("", ".train", ".test")]
    parts = []
    for path in filter(Path.exists, paths):
        with lzma.open(path) as packed:
            parts.append(load_svmlight_file(packed))
    d = max(X.shape[1] for X, _ in parts)
    for X, _ in parts:
        X.resize(X.shape[0], d)
    return vstack([X for X, _ in parts], "csr"), np.concatenate([y for _, y in parts])


def load(folder, name, rows, order):
    """Return rows and labels to learn, and rows and labels to test on."""
    X, y = read(folder, name)
    chosen = np.random.default_rng(order).permutation(len(y))[:rows]
    X, y = X[chosen].toarray(), y[chosen]
    n = int(0.7 * len(y))
    return X[:n], y[:n], X[n:], y[n:]


def error_of(predicted, y, learnt, number):
    """Return the error of predictions, in units of the deviation of the targets learnt."""
    if number:
        return float(np.sqrt(np.mean((predicted - y) ** 2)) / np.std(learnt))
    return 100 * float(np.mean(predicted != y))


def new(name, **parameters):
    """Return a forest for a set."""
    return (KernelForestRegressor if name in NUMBERS else KernelForestClassifier)(**parameters)


def learn(folder, name, rows, order, **parameters):
    """Return the test error of a forest, and microseconds a row of its pass."""
    X, y, Z, v = load(folder, name, rows, order)
    model = new(name, shuffle=False, random_state=order, **parameters)
    began = time.process_time()
    model.fit(X, y)
    cost = 1e6 * (time.process_time() - began) / len(X)
    return error_of(model.predict(Z), v, y, name in NUMBERS), cost


def learn_along(folder, name, rows, order, marks, **parameters):
    """Return the test errors of a forest when it has learnt so many rows."""
    X, y, Z, v = load(folder, name, rows, order)
    number = name in TARGETS
    model = new(name, random_state=order, **parameters)
    given = {} if number else {"classes": np.unique(y)}
    errors, first = [], 0
    for last in (mark for mark in marks if mark <= len(y)):
        model.partial_fit(X[first:last], y[first:last], **given)
        errors.append(error_of(model.predict(Z), v, y, number))
        first = last
    return errors


def rivals_of(found, name, methods):
    """Return what rivals reach on a set: name -> (errors by order, microseconds by order)."""
    rivals = {}
    for run, results in methods.items():
        orders = [found.get(f"{name}, {run}, {order}") for order in range(10)]
        orders = [item for item in orders if item]
        for result in results if orders else ():
            errors, costs = (
                [item[result][key] for item in orders] for key in ("error", "learn_us")
            )
            rivals[result] = (errors, costs)
    return rivals


def best(rivals):
    """Return the name, the errors and the cost of the rival with the least mean error."""
    if not rivals:
        return "none", [], 0
    name = min(rivals, key=lambda rival: np.mean(rivals[rival][0]))
    return name, rivals[name][0], np.median(rivals[name][1])


def text_of(errors, number, spread=True):
    """Return a mean and the deviation over orders as text."""
    digits = 3 if number else 2
    told = f"{np.mean(errors):.{digits}f}" if errors else "-"
    return f"{told} ± {np.std(errors):.{digits}f}" if spread and len(errors) > 1 else told


def standing(ours, theirs, number):
    """Return whether we are ahead of, level with, near to or behind a rival, on common orders.

    Level: the mean difference is not above its standard error, for one order not above 0.
    Near: within a point, of targets 4 per cent.
    """
    n = min(len(ours), len(theirs))
    behind = np.subtract(ours[:n], theirs[:n])
    doubt = behind.std(ddof=1) / np.sqrt(n) if n > 1 else 0.0
    if behind.mean() <= 0:
        return "ahead"
    if behind.mean() <= doubt:
        return "level"
    return "near" if behind.mean() <= (0.04 * np.mean(theirs[:n]) if number else 1) else "behind"


def show(name, arguments, found):
    """Print the line of a set.

    Returns how we stand beside batch and beside one pass, whether the goal is met, and the cost of
    river's adaptive random forest in units of ours.
    """
    number, goal = name in TARGETS, (LABELS | TARGETS)[name]
    runs = [
        learn(arguments.folder, name, arguments.rows, order, **dict(arguments.set))
        for order in range(arguments.orders)
    ]
    errors, costs = map(list, zip(*runs, strict=True))
    met = np.mean(errors) <= goal
    cells = [name, text_of(errors, number), f"{goal} {'met' if met else 'missed'}",
             f"{np.median(costs):.0f}"]  # fmt: skip
    stand = []
    for methods in (BATCH, ONE_PASS):
        rival, theirs, cost = best(rivals_of(found, name, methods))
        stand.append(standing(errors, theirs, number) if theirs else "none")
        told = f"{text_of(theirs, number)} ({rival}, {cost:,.0f}): {stand[-1]}"
        cells.append(told if theirs else "-")
    print("| " + " | ".join(cells) + " |", flush=True)
    _, slow = rivals_of(found, name, {"arf": ("arf",)}).get("arf", ([], []))
    return [*stand, met, np.median(slow) / np.median(costs) if slow else np.nan]


def show_all(names, arguments):
    """Print our errors beside the best rivals', and how often we are ahead."""
    found = Kept(arguments.rivals).found
    heads = ["set", "error", "goal", "µs", "best of batch (µs)", "best of one pass (µs)"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    stands = [show(name, arguments, found) for name in names]
    print(f"\ngoals met: {sum(met for *_, met, _ in stands)} of {len(stands)}")
    for kind, told in zip(("batch", "one pass"), list(zip(*stands, strict=True))[:2], strict=True):
        counts = ", ".join(
            f"{word} {told.count(word)}" for word in ("ahead", "level", "near", "behind")
        )
        print(f"beside the best of {kind}: {counts}")
    ratios = [ratio for *_, ratio in stands]
    told = f"{np.nanmedian(ratios):.0f} times ours, at least {np.nanmin(ratios):.0f} times"
    print(f"an adaptive random forest of 10 trees costs {told}")


def show_rivals(names, arguments):
    """Print the errors of all rivals, and microseconds a row to learn."""
    found = Kept(arguments.rivals).found
    methods = BATCH | ONE_PASS
    heads = [result for results in methods.values() for result in results]
    print("| set | orders | " + " | ".join(heads) + " |\n|" + "---|" * (len(heads) + 2))
    for name in names:
        rivals = rivals_of(found, name, methods)
        counts = sorted({len(errors) for errors, _ in rivals.values()})
        cells = [name, ", ".join(map(str, counts))]
        for head in heads:
            errors, costs = rivals.get(head, ([], []))
            told = text_of(errors, name in TARGETS, spread=False)
            cells.append(f"{told} ({np.median(costs):,.0f})" if errors else "-")
        print("| " + " | ".join(cells) + " |")


def show_along(names, arguments):
    """Print our errors on the way, their means over the orders."""
    heads = [f"{mark:,}" for mark in MARKS]
    print("| set | " + " | ".join(heads) + " |\n|---" + "|---" * len(heads) + "|")
    for name in names:
        given = arguments.folder, name, arguments.rows
        runs = [
            learn_along(*given, order, MARKS, **dict(arguments.set))
            for order in range(arguments.orders)
        ]
        cells = [text_of([error], name in TARGETS) for error in np.mean(runs, axis=0)]
        cells += [""] * (len(MARKS) - len(cells))
        print("| " + " | ".join([name, *cells]) + " |", flush=True)


def parameter(text):
    """Return the name and the value of a parameter."""
    name, value = text.split("=")
    try:
        return name, ast.literal_eval(value)
    except ValueError:
        return name, value


def main():
    arguments = read_options(
        __doc__,
        "folder",
        orders=5,
        rows=20_000,
        only=tuple(SETS),
        rivals={"default": Path(__file__).parents[1] / "docs/forest_rivals.json"},
        every=False,
        along=False,
        set={"nargs": "*", "type": parameter, "default": ()},
    )
    show = show_rivals if arguments.every else show_along if arguments.along else show_all
    show(arguments.only, arguments)


if __name__ == "__main__":
    main()
