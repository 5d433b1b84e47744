"""Measure the search for parameters: what halving costs and chooses, beside runs of all values.

    python benchmarks/search.py --data FOLDER [--rows 20000] [--only fogd,nogd,...]

FOLDER holds the sets (LIBSVM text, packed with xz); sets that are missing are left out. Each is
shuffled and cut to its first rows, and its features are standardised; targets too. Twelve values of
one parameter are searched on 5,000 rows in three orders. gamma is the middle of the search's grid,
the other parameters are the defaults.
A cell holds the seconds of the search over those of one value, and the error along another order of
all rows (mistakes in %, or the root mean square error) with the value that it chose / that
runs of all values over the whole head chose. 'whole' is what the latter cost.
"""

import time
import warnings
from pathlib import Path

import numpy as np
from command import read_options
from defaults import read

from onlinekern.evaluate import prequential
from onlinekern.evaluate.halving import halve, plan_rungs
from onlinekern.evaluate.methods import METHODS
from onlinekern.evaluate.search import HEAD_SAMPLES, ORDERS, Candidate, Problem, gamma_grid

# File -> number of features. The rungs were chosen on `SETS`; `OTHERS` were not looked at before.
SETS = {
    "ijcnn1.train": 22, "cod-rna.train": 8, "a9a.train": 123, "eeg-eye-state": 14,
    "covtype.first20k": 54, "susy.sample30k": 18, "shuttle.train": 9, "htru2": 8,
}  # fmt: skip
TARGETS = {"kin40k": 8, "cadata": 8, "fried": 10, "house8L": 8}
OTHERS = {"phishing": 68, "usps.train": 256, "weather": 8, "poker.train": 10}
OTHER_TARGETS = {"ailerons": 40, "bank32nh": 32, "puma32H": 32}
STEPS = tuple(10.0 ** (k / 2) for k in range(-6, 6))
RIDGES = tuple(10.0 ** (k / 2) for k in range(-8, 4))
GRIDS = {"fogd": ("eta", STEPS), "nogd": ("eta", STEPS), "kernel-rls": ("reg", RIDGES)}


def load(options, name, n_features, is_target):
    """Return X, y and the classes of a set in a random order; None if the set is missing."""
    if not (Path(options.data) / f"{name}.libsvm.xz").exists():
        return None
    X, y = read(options.data, name, n_features, options.rows, 0)
    if is_target:
        return X, (y - y.mean()) / y.std(), None
    return X, y, np.unique(y)


def timed(call):
    began = time.process_time()
    return call(), time.process_time() - began


def searched(method, problem, gamma, name, values):
    """Return the seconds of one value, of the halving and of all, and what the two chose."""

    def start(value):
        return Candidate(problem, method, {"gamma": gamma, name: value}).error

    n_head = len(problem.y)
    runs = [timed(lambda v=v: attempt(start(v), n_head)) for v in values]
    errors, whole = zip(*runs, strict=True)
    problem.trials.clear()
    rungs = plan_rungs(len(values), n_head, ORDERS)
    halved, cost = timed(lambda: halve(values, start, rungs, lambda samples: None))
    return np.median(whole), cost, sum(whole), halved, values[int(np.argmin(errors))]


def attempt(error, stop):
    """Return an error, infinity for a value that diverges."""
    try:
        return error(stop, ORDERS)
    except (ArithmeticError, ValueError):
        return np.inf


def later_error(method, task, parameters, X, y, classes):
    """Return the error along another order of all rows."""
    order = np.random.default_rng(1).permutation(len(y))
    model = method.build(task, {"random_state": 1} | parameters)
    try:
        error = prequential(model, [(X[order], y[order])], classes, window=None).error
    except FloatingPointError:
        return np.inf
    return error if classes is None else 100 * error


def row(options, name, data, totals):
    """Return the cells of a set; what they sum up to is added to the totals."""
    X, y, classes = data
    head = min(HEAD_SAMPLES, len(y))
    gamma = gamma_grid(X[:head])[0]
    cells = []
    for learner in options.only:
        method, (parameter, values) = METHODS[learner], GRIDS[learner]
        problem = Problem(X[:head], y[:head], classes, len(y), "gaussian", 0)
        one, cost, whole, halved, chosen = searched(method, problem, gamma, parameter, values)
        found, expected = (
            later_error(method, problem.task, {"gamma": gamma, parameter: value}, X, y, classes)
            for value in (halved, chosen)
        )
        totals.setdefault(learner, []).append((cost / one, whole / one, found / expected))
        cells.append(
            f"{one:.2f} | {cost / one:.1f} ({whole / one:.0f}) | {found:.3g} / {expected:.3g}"
        )
    return f"| {name} | {' | '.join(cells)} |"


def table(title, sets, options):
    """Print the table of some sets: pairs of (set -> number of features, whether of targets)."""
    learners, totals = options.only, {}
    heads = (f"{learner}, s | halving (whole), runs | error" for learner in learners)
    print(f"\n{title}\n\n| set | {' | '.join(heads)} |\n|---|{'---:|' * 3 * len(learners)}")
    for group, is_target in sets:
        for name, n_features in group.items():
            data = load(options, name, n_features, is_target)
            if data is not None:
                print(row(options, name, data, totals), flush=True)
    print()
    for learner, figures in totals.items():
        cost, whole, ratio = np.array(figures).T
        print(
            f"- {learner}: {np.median(cost):.2f} runs (most {cost.max():.2f}) instead of "
            f"{np.median(whole):.1f}; error {100 * (np.mean(ratio) - 1):+.1f} % on average, "
            f"between {100 * (ratio.min() - 1):+.1f} and {100 * (ratio.max() - 1):+.1f} %"
        )


def main():
    options = read_options(__doc__, data={"required": True}, rows=20_000, only=tuple(GRIDS))
    warnings.simplefilter("ignore")
    table("sets that the rungs were chosen on", [(SETS, False), (TARGETS, True)], options)
    table("sets not looked at before", [(OTHERS, False), (OTHER_TARGETS, True)], options)


if __name__ == "__main__":
    main()
