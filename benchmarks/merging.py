"""Print what merging costs in accuracy, for every learner.

    python benchmarks/merging.py [--rows N] [--parts N] [--only NAME,...]

A stream is learnt by one model, and in parts by several that begin with a common one, which has
learnt the first tenth. Prints the score (accuracy, or R2) on held-out samples in per cent:

    single    of one model of the whole stream
    a part    the mean of the models of the parts
    merged    of their merged model
    10 rounds of models that are merged ten times along the stream, and go on from what they became
    alone     merged, of models that began with nothing but the same parameters
    seconds   that the merge took, with the common model

The streams are made: y is the sign of, or itself, sin(2 x_1) + x_2 x_3 with noise, in five
dimensions. The width of kernels is given, so that models without a common beginning fit together.
"""

import warnings
from copy import deepcopy
from time import perf_counter

import numpy as np
from command import read_options
from sklearn.base import is_classifier, is_outlier_detector

from onlinekern import all_estimators, merge

HELD = 5000


def stream(n, regression):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + HELD, 5))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=len(X))
    return X, (f if regression else np.where(f > 0, "above", "below"))


def new(cls):
    model = cls()
    known = model.get_params()
    fixed = {"gamma": 0.3, "random_state": 0}
    return model.set_params(**{key: value for key, value in fixed.items() if key in known})


def in_parts(base, X, y, rows, count):
    """Return the models of parts of the rows."""
    parts = np.array_split(rows, count)
    return [deepcopy(base).partial_fit(X[part], y[part]) for part in parts]


def scores(cls, n, count):
    """Return the five scores of a learner, in per cent, and the seconds of a merge."""
    regression = not is_classifier(cls())
    X, y = stream(n, regression)
    known = {} if regression else {"classes": ["above", "below"]}
    first, rest = np.arange(n // 10), np.arange(n // 10, n)
    base = new(cls).partial_fit(X[first], y[first], **known)
    single = deepcopy(base).partial_fit(X[rest], y[rest])
    models = in_parts(base, X, y, rest, count)
    mixed = base
    for rows in np.array_split(rest, 10):
        mixed = merge(in_parts(mixed, X, y, rows, count), base=mixed)
    alone = [new(cls).partial_fit(X[part], y[part], **known)
             for part in np.array_split(np.arange(n), count)]  # fmt: skip
    held = X[n:], y[n:]
    start = perf_counter()
    merged = merge(models, base=base)
    seconds = perf_counter() - start
    found = [[single], models, [merged], [mixed], [merge(alone)]]
    return [100 * np.mean([m.score(*held) for m in each]) for each in found], seconds


def main():
    options = read_options(__doc__, rows=20_000, parts=4, only="")
    warnings.simplefilter("ignore")
    heads = ["learner", "single", "a part", "merged", "10 rounds", "alone", "seconds"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for name, cls in all_estimators():
        wanted = not options.only or name in options.only.split(",")
        if wanted and hasattr(cls, "partial_fit") and not is_outlier_detector(cls()):
            found, seconds = scores(cls, options.rows, options.parts)
            values = " | ".join(f"{value:.1f}" for value in found)
            print(f"| {name} | {values} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
