"""Print how long `fit` of a table takes, and what the encoder inside takes of it.

    python benchmarks/table_cost.py [--rows 100000] [--runs 3] [--only NAME,...]

The table is like Adult: 14 columns, of which 8 are text, 5 numbers and one a date, with holes in
two, and two classes. Learners have their defaults, but PAClassifier makes 5 passes. "Encoded" is
the same fit of the numbers that the encoder made; "verbose" is StreamClassifier with verbose=1.
Boosting is scikit-learn's HistGradientBoosting with its own categories, on one thread as all
others. Runs alternate; the figures are medians, in seconds of processor time.
"""

import argparse
import statistics
from time import process_time

import numpy as np
import pandas as pd
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default=",".join(LEARNERS))
    options = parser.parse_args()
    table, y = adult_like(options.rows)
    print(f"{options.rows:,} rows, {table.shape[1]} columns, seconds of processor time of fit")
    names = options.only.split(",")
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
