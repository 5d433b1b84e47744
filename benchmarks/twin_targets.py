"""Print errors of StreamRegressor with and without the twin of the target, and times.

    python benchmarks/twin_targets.py FOLDER [--orders 3] [--only NAME,...]

Sets are those of `forests.py`: 70 % of at most 20,000 rows in random order are learnt in one pass,
the others test. Functions are made here, 8,400 rows of 12,000 likewise: effects that multiply (of
counts, of noise that is lognormal or gamma), sinh of a sum with Student's noise of 2.5 degrees of
freedom, and a sum with normal noise. Tables are those of `table_streams.py`, in their order, behind
the first 500 rows. Prints errors on the way and at the test rows in per cent of the deviation, and
microseconds of processor time a row, without the twin and with it, in turn in one run.
"""

import time
from dataclasses import replace

import numpy as np
from command import read_options
from forests import load
from table_streams import FIRST, STREAMS

from onlinekern import StreamRegressor
from onlinekern.learners.race import experts

SETS = (
    "pol", "kin40k", "protein", "elevators", "cadata", "puma32H", "bank32nh", "cpusmall", "house8L",
    "fried", "ailerons", "space_ga", "abalone_scale", "housing",
)  # fmt: skip
MADE = ("counts", "lognormal", "gamma", "heavy tails", "normal")
TABLES = ("bike", "houses")
ROWS, LEARNT = 12_000, 8_400


def made(name, order):
    """Return rows and targets of a function that is made here."""
    rng = np.random.default_rng(order)
    X = rng.normal(size=(ROWS, 8))
    f = 0.8 * X[:, 0] + 0.6 * np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3]
    steep = X[:, 0] + 0.8 * np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3]
    y = {
        "counts": lambda: rng.poisson(np.exp(2 + steep)).astype(float),
        "lognormal": lambda: np.exp(2 + f + 0.3 * rng.normal(size=ROWS)),
        "gamma": lambda: np.exp(f) * rng.gamma(2, 0.5, size=ROWS),
        "heavy tails": lambda: np.sinh(1.5 * f) + 0.5 * rng.standard_t(2.5, size=ROWS),
        "normal": lambda: f + 0.3 * rng.normal(size=ROWS),
    }[name]()
    return X, y


def parts_of(folder, name, order):
    """Return rows and targets to learn, and to test on; None for what there is not."""
    if name in TABLES:
        return *STREAMS[name](folder, 10_000), None, None
    if name in SETS:
        return load(folder, name, 20_000, order)
    X, y = made(name, order)
    return X[:LEARNT], y[:LEARNT], X[LEARNT:], y[LEARNT:]


def measured(X, y, Z, v, order):
    """Return errors on the way and at the test rows in per cent, and microseconds a row."""
    model, began = StreamRegressor(random_state=order), time.process_time()
    found = model.partial_fit_predict(X, y)
    cost = 1e6 * (time.process_time() - began) / len(y)
    first = FIRST if Z is None else 0
    pairs = [(found[first:], y[first:])] + ([] if Z is None else [(model.predict(Z), v)])
    errors = [100 * np.sqrt(np.mean((a - b) ** 2)) / y.std() for a, b in pairs]
    return [errors[0], errors[1] if len(errors) > 1 else np.nan, cost]


def main():
    arguments = read_options(__doc__, "folder", orders=3, only=(*TABLES, *SETS, *MADE))
    with_twin = experts.MEASURED, experts.FORESTS["regression"]
    without = tuple(tuple(replace(kind, twin=False) for kind in kinds) for kinds in with_twin)
    print("| set | on the way | test | us |\n|---|---|---|---|")
    ratios = []
    for name in arguments.only:
        runs = []
        for order in range(1 if name in TABLES else arguments.orders):
            parts, both = parts_of(arguments.folder, name, order), []
            for experts.MEASURED, experts.FORESTS["regression"] in (without, with_twin):
                both.append(measured(*parts, order))
            runs.append(both)
        runs = np.array(runs)
        ratios.append(np.log(runs[:, 1] / runs[:, 0]).mean(axis=0))
        cells = [f"{a:.2f} {b:.2f}" for a, b in runs.mean(axis=0).T]
        print("| " + " | ".join([name, *cells]) + " |", flush=True)
    told = " ".join(f"{ratio:.3f}" for ratio in np.exp(np.nanmean(ratios, axis=0)))
    print(f"geometric means with the twin, in units of those without: {told}")


if __name__ == "__main__":
    main()
