"""Print how long `fit` of a table takes, and what the encoder inside takes of it.

    python benchmarks/table_cost.py [--rows 100000] [--runs 3] [--only NAME,...] [--single]

The table is like Adult: 14 columns, of which 8 are text, 5 numbers and one a date, with holes in
two, and two classes. Learners have their defaults, but PAClassifier makes 5 passes. "Encoded" is
the same fit of the numbers that the encoder made; "verbose" is StreamClassifier with verbose=1.
Boosting is scikit-learn's HistGradientBoosting with its own categories, on one thread as all
others. Runs alternate; the figures are medians, in seconds of processor time.

With --single rows come one at a time, as dictionaries, to models that have learnt 500. It prints
the microseconds of `learn_one` and `score_one`, and of `partial_fit` and `decision_function` of the
same rows as data frames of one row. A wider table has 25 columns more: 10 of text, 15 of numbers.
"""

import statistics
from functools import partial
from time import process_time

import numpy as np
import pandas as pd
from command import read_options
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from onlinekern import KernelForestClassifier, PAClassifier, StreamClassifier, TableEncoder

TEXT = {"workclass": 8, "education": 16, "marital": 7, "occupation": 14, "relationship": 6,
        "race": 5, "sex": 2, "country": 41}  # fmt: skip
LEARNERS = {
    "StreamClassifier": StreamClassifier(random_state=0),
    "KernelForestClassifier": KernelForestClassifier(random_state=0),
    "PAClassifier": PAClassifier(max_iter=5, tol=None, random_state=0),
    "boosting": HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0),
}


def adult_like(n, seed=0):
    """Return a data frame of n rows, and their classes."""
    rng = np.random.default_rng(seed)
    table, score = {}, np.zeros(n)
    for name, k in TEXT.items():
        codes = rng.choice(k, n, p=rng.dirichlet(np.full(k, 1.5)))
        table[name] = np.array([f"{name} {j}" for j in range(k)], dtype=object)[codes]
        score += rng.normal(0, 0.7, k)[codes]
    table["workclass"][rng.random(n) < 0.05] = None
    age, hours, weight = rng.gamma(9, 4.3, n), rng.normal(40, 12, n), rng.lognormal(12, 0.5, n)
    gain, loss = (rng.lognormal(8, 1, n) * (rng.random(n) < share) for share in (0.08, 0.05))
    score += 0.8 * np.sin(age / 12) + 0.03 * (hours - 40) + 1.5 * (gain > 5000)
    hours[rng.random(n) < 0.03] = np.nan
    at = pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 365 * 24, n), unit="h")
    table |= {"age": age, "hours": hours, "weight": weight, "gain": gain, "loss": loss, "at": at}
    y = score + rng.logistic(0, 0.5, n) > np.quantile(score, 0.76)
    return pd.DataFrame(table), np.where(y, ">50K", "<=50K")


def seconds(model, X, y):
    """Return the processor time that a fit takes."""
    began = process_time()
    clone(model).fit(X, y)
    return process_time() - began


def forms(name, table, y):
    """Return the forms of the table that a learner is timed on."""
    if name == "boosting":
        own = table.astype(dict.fromkeys(TEXT, "category"))
        return {"table": own.assign(at=own["at"].astype("int64") / 1e9)}
    if name == "KernelForestClassifier":
        return {"table": table}  # it has an encoder of its own kind
    return {"table": table, "encoded": TableEncoder().fit_transform(table, y)}


def wider(table, seed=1):
    """Return a table with 25 columns more."""
    rng, n = np.random.default_rng(seed), len(table)
    numbers = {f"number {k}": rng.normal(size=n) for k in range(15)}
    texts = {f"text {k}": rng.choice([f"value {j}" for j in range(6)], n) for k in range(10)}
    return table.assign(**numbers, **texts)


def microseconds(calls):
    """Return the processor time of a call, the mean of calls without arguments."""
    began = process_time()
    for call in calls:
        call()
    return 1e6 * (process_time() - began) / len(calls)


def single_rows(name, table, y, first=500):
    """Return how long one row takes: to be learnt and scored, as a dictionary and as a table."""
    model = clone(LEARNERS[name])
    classes = {} if name == "StreamClassifier" else {"classes": ["<=50K", ">50K"]}
    model.partial_fit(table[:first], y[:first], **classes)
    frames = [table[k : k + 1] for k in range(first, len(table))]
    rows = [frame.astype(object).where(frame.notna(), None).to_dict("records")[0]
            for frame in frames]  # fmt: skip
    later = y[first:]
    return [
        microseconds([partial(model.learn_one, *pair) for pair in zip(rows, later, strict=True)]),
        microseconds([partial(model.partial_fit, frame, later[k : k + 1])
                      for k, frame in enumerate(frames)]),
        microseconds([partial(model.score_one, row) for row in rows]),
        microseconds([partial(model.decision_function, frame) for frame in frames]),
    ]  # fmt: skip


def print_single_rows(names, runs):
    """Print the microseconds that single rows take, medians of alternating runs."""
    table, y = adult_like(800)
    print(f"{'':24}columns  learn_one  partial_fit  score_one  decision_function")
    for given in (table, wider(table)):
        found = {name: [] for name in names}
        for _ in range(runs):
            for name, times in found.items():
                times.append(single_rows(name, given, y))
        for name, times in found.items():
            one, many, score, scores = np.median(times, axis=0)
            print(f"{name:24}{given.shape[1]:7}{one:11.0f}{many:13.0f}{score:11.0f}{scores:19.0f}")


def main():
    options = read_options(__doc__, rows=100_000, runs=3, only=tuple(LEARNERS), single=False)
    if options.single:
        names = [name for name in options.only if name != "boosting"]
        with threadpool_limits(1):
            print_single_rows(names, options.runs)
        return
    table, y = adult_like(options.rows)
    print(f"{options.rows:,} rows, {table.shape[1]} columns, seconds of processor time of fit")
    names = options.only
    given = {name: forms(name, table, y) for name in names}
    times = {(name, form): [] for name in names for form in given[name]}
    if "StreamClassifier" in names:
        LEARNERS["verbose"] = clone(LEARNERS["StreamClassifier"]).set_params(verbose=1)
        given["verbose"], times["verbose", "table"] = given["StreamClassifier"], []
    with threadpool_limits(1):
        for _ in range(options.runs):
            for name, form in times:
                times[name, form].append(seconds(LEARNERS[name], given[name][form], y))
    for (name, form), found in times.items():
        print(f"{name:24}{form:16}{statistics.median(found):8.2f}")


if __name__ == "__main__":
    main()
