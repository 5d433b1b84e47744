"""Print errors along six streams of tables: forests and races, boosted trees refitted, river's ARF.

    python benchmarks/table_streams.py FOLDER [--rows 20000] [--only NAME,...] [--ways NAME,...]

adult, poker and kdd are sets of FOLDER (LIBSVM text, packed with xz), put together as the tables
that they were: a9a with '?' where a column of Adult is missing, Poker Hand with suits of cards,
KDD Cup 99 in its order. bike, flights and houses are made here: hours of bike hire over two years,
flights with 250 airports, and sales of houses with holes. Each row is predicted, then learnt.
Prints errors in per cent (of targets: the root mean square error over their deviation) of all rows
but the first 500, and milliseconds a row. Boosting is HistGradientBoosting, refitted on all rows so
far each time they are a quarter more, with categories as its own and the parts of dates; ARF gets
dictionaries of the same columns, of targets one-hot. The naive answer is the class that came
most, or the mean so far.
"""

import itertools
import time
import warnings

import numpy as np
import pandas as pd
from command import read_options
from forests import read

from onlinekern import (
    KernelForestClassifier,
    KernelForestRegressor,
    StreamClassifier,
    StreamRegressor,
)

FIRST, GROWTH, CHUNK = 500, 1.25, 250
ADULT = {
    "age": 5, "workclass": 8, "fnlwgt": 5, "education": 16, "education-num": 5, "marital-status": 7,
    "occupation": 14, "relationship": 6, "race": 5, "sex": 2, "capital-gain": 2, "capital-loss": 2,
    "hours-per-week": 5, "native-country": 41,
}  # fmt: skip
ORDERED = ("age", "fnlwgt", "education-num", "hours-per-week")
KDD = {"protocol": 3, "service": 70, "flag": 11}


def joined(X, sizes):
    """Return the numbers of the categories of one-hot columns; -1 where there is none."""
    ends = np.cumsum([0, *sizes])
    parts = [X[:, a:b] for a, b in itertools.pairwise(ends)]
    return [np.where(part.any(1), part.argmax(1), -1) for part in parts]


def adult(folder, n):
    X, y = read(folder, "a9a")
    order = np.random.default_rng(0).permutation(len(y))[:n]
    columns = {}
    codes = joined(X[order].toarray(), ADULT.values())
    for name, code in zip(ADULT, codes, strict=True):
        text = [f"{name[:3]}-{k}" if k >= 0 else "?" for k in code]
        columns[name] = code.astype(float) if name in ORDERED else text
    return pd.DataFrame(columns), np.where(y[order] > 0, ">50K", "<=50K")


def poker(folder, n):
    X, y = read(folder, "poker")
    X = X[:n].toarray().astype(int)
    suits = np.array(["hearts", "spades", "diamonds", "clubs"])
    hand = {f"suit {k // 2 + 1}": suits[X[:, k] - 1] for k in range(0, 10, 2)}
    ranks = {f"rank {k // 2 + 1}": X[:, k] for k in range(1, 10, 2)}
    return pd.DataFrame(hand | ranks), y[:n].astype(int)


def kdd(folder, n):
    X, y = read(folder, "kddcup99_10pct")
    step = max(1, len(y) // n)  # Its order is kept.
    X, y = X[::step][:n].toarray(), y[::step][:n]
    columns = {f"x{k}": X[:, k] for k in range(38)}
    for name, code in zip(KDD, joined(X[:, 38:], (3, X.shape[1] - 38 - 3 - 11, 11)), strict=True):
        columns[name] = [f"{name}-{k}" for k in code]
    return pd.DataFrame(columns), np.where(y > 0, "attack", "normal")


def bike(folder, n):
    """Hours of two years: commuters on workdays, leisure on others, weather, seasons, growth."""
    rng = np.random.default_rng(1)
    at = pd.date_range("2024-01-01", periods=min(n, 17_544), freq="h")
    day, hour = at.dayofyear.to_numpy(), at.hour.to_numpy()
    off = (at.dayofweek >= 5) | at.strftime("%m-%d").isin(
        ["01-01", "05-01", "07-04", "10-03", "11-11", "12-24", "12-25", "12-26", "12-31"]
    )
    weeks = rng.normal(size=len(at) // 24 + 1).cumsum()
    weeks -= np.convolve(weeks, np.ones(20) / 20, "same")
    warm = 12 - 11 * np.cos(2 * np.pi * (day - 20) / 365) + 4 * np.sin(2 * np.pi * (hour - 9) / 24)
    warm = warm + np.repeat(weeks, 24)[: len(at)] + rng.normal(0, 0.7, len(at))
    state, sky = 0, []
    for draw in rng.random(len(at)):
        state = min(3, max(0, state + (draw < 0.12) - (draw > 0.82)))
        sky.append(state)
    sky = np.array(sky)
    wet = np.clip(45 + 12 * sky - 0.6 * (warm - 12) + rng.normal(0, 8, len(at)), 10, 100)
    wind = rng.gamma(3, 4, len(at))
    ways = np.exp(-((hour - 8) ** 2) / 2) + 1.2 * np.exp(-((hour - 17.5) ** 2) / 4)
    leisure = 0.9 * np.exp(-((hour - 14) ** 2) / 18)
    level = np.where(off, 0.15 * ways + leisure, ways + 0.35 * leisure) + 0.04
    comfort = np.exp(-(((warm - 24) / 16) ** 2)) * np.array([1, 0.85, 0.55, 0.2])[sky]
    comfort = comfort * (1 - 0.004 * (wet - 50)) * np.exp(-wind / 80)
    growth = 1 + 0.7 * np.arange(len(at)) / len(at)
    hired = rng.poisson(420 * growth * comfort * level)
    names = np.array(["clear", "mist", "rain", "storm"])[sky]
    table = {"at": at, "weather": names, "temperature": warm, "humidity": wet, "wind": wind}
    return pd.DataFrame(table), hired.astype(float)


def flights(folder, n):
    """Flights of a year: late by carrier, airports, hour, season, and by storms that last."""
    rng = np.random.default_rng(2)
    ports = np.array([f"{a}{b}{c}" for a in "ABCDEFGHKL" for b in "AEIOU" for c in "LMNRT"])
    popular = rng.dirichlet(np.full(len(ports), 0.4))
    start = np.sort(rng.uniform(0, 365 * 24 * 60, n)).astype(int)
    minute = start % 1440
    minute = np.where(minute < 300, minute + 300 + rng.integers(0, 800, n), minute)
    at = pd.Timestamp("2025-01-01") + pd.to_timedelta(start // 1440 * 1440 + minute, unit="min")
    a, b = rng.choice(len(ports), (2, n), p=popular)
    place = rng.uniform(0, 4000, (len(ports), 2))
    carrier = rng.choice(14, n, p=rng.dirichlet(np.full(14, 1.5)))
    miles = np.hypot(*(place[a] - place[b]).T) + 80
    busy, slow = rng.normal(0, 0.7, len(ports)), rng.normal(0, 0.6, 14)
    storm = rng.random((len(ports), 366)) < 0.06
    days = at.dayofyear.to_numpy() - 1
    week = np.isin(at.dayofweek, (3, 4, 6))
    score = -2.1 + busy[a] + 0.5 * busy[b] + slow[carrier] + 1.9 * (minute / 1440) ** 1.5
    score = score + 0.45 * week + 0.5 * np.cos(4 * np.pi * days / 365) + 2 * storm[a, days]
    score = score + 0.6 * ((carrier < 3) & (busy[a] > 0.5)) + 0.0001 * miles
    late = rng.random(n) < 1 / (1 + np.exp(-score))
    codes = np.array([f"{x}{y}" for x in "ABCDEFG" for y in "XY"])
    table = {"departs": at, "carrier": codes[carrier], "from": ports[a], "to": ports[b],
             "miles": miles.round()}  # fmt: skip
    return pd.DataFrame(table), np.where(late, "late", "on time")


def houses(folder, n):
    """Sales of ten years: size and place, quality, age; a fifth of some columns is missing."""
    rng = np.random.default_rng(3)
    sold = pd.Timestamp("2015-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 3650, n)), unit="D")
    area, worth = rng.integers(0, 45, n), np.random.default_rng(4).normal(0, 0.35, 45)
    size = np.exp(rng.normal(4.7, 0.35, n))
    built = (2024 - rng.gamma(2, 18, n)).astype(int)
    kinds = np.array(["flat", "terraced", "semi-detached", "detached"])
    kind = np.clip(np.digitize(size, [90, 120, 160]) + rng.integers(-1, 2, n), 0, 3)
    heats = np.array(["gas", "oil", "district", "heat pump", "wood"])
    heat = np.where(built > 2010, rng.integers(2, 4, n), rng.choice([0, 0, 0, 1, 2, 4], n))
    grade = np.clip(np.round(5.5 + worth[area] * 2 + rng.normal(0, 1.5, n)), 1, 10)
    land = size * np.array([0.2, 1.2, 2.5, 5])[kind] * np.exp(rng.normal(0, 0.3, n))
    years = (sold - sold[0]).days.to_numpy() / 365
    log = 7.6 + 0.85 * np.log(size) + worth[area] * (1 + 0.3 * (kind == 0)) + 0.06 * grade
    log = log - 0.003 * np.clip(2024 - built, 0, 80) + 0.08 * np.log(land) - 0.1 * (heat == 1)
    log = log + 0.05 * years - 0.15 * ((years > 5) & (years < 6)) + rng.normal(0, 0.09, n)
    table = pd.DataFrame(
        {"sold": sold, "area": [f"area {k}" for k in area], "kind": kinds[kind], "size": size,
         "land": land, "built": built.astype(float), "heating": heats[heat], "grade": grade}
    )  # fmt: skip
    for name in ("land", "built", "heating"):
        table.loc[rng.random(n) < 0.2, name] = None
    return table, np.exp(log)


STREAMS = {"adult": adult, "bike": bike, "flights": flights, "houses": houses, "poker": poker,
           "kdd": kdd}  # fmt: skip


def along(model, X, y, number):
    """Return the predictions of a learner of ours, made before each row was learnt."""
    return np.concatenate(
        [model.partial_fit_predict(X.iloc[k : k + CHUNK], y[k : k + CHUNK], **more)
         for k in range(0, len(y), CHUNK)
         for more in [{} if number or k else {"classes": np.unique(y)}]]
    )  # fmt: skip


def plain(X):
    """Return a table with the parts of dates as numbers, and categories as pandas' own."""
    columns = {}
    for name in X:
        column = X[name]
        if column.dtype.kind == "M":
            clock = column.dt
            columns |= {f"{name} hour": clock.hour, f"{name} weekday": clock.dayofweek,
                        f"{name} day": clock.dayofyear,
                        f"{name} time": column.astype("int64")}  # fmt: skip
        else:
            columns[name] = column if column.dtype.kind in "fiu" else column.astype("category")
    return pd.DataFrame(columns)


def boosting(X, y, number):
    """Return the predictions of boosted trees that are refitted as the stream grows."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    X = plain(X)
    make = HistGradientBoostingRegressor if number else HistGradientBoostingClassifier
    found = np.empty(len(y), dtype=y.dtype)
    first, last = 0, 50
    found[:last] = y[0]
    while last < len(y):
        first, last = last, min(len(y), max(last + 10, int(GROWTH * last)))
        given = {} if number else {"early_stopping": False}
        model = make(categorical_features="from_dtype", random_state=0, **given)
        found[first:last] = model.fit(X[:first], y[:first]).predict(X[first:last])
    return found


def arf(X, y, number):
    """Return the predictions of river's adaptive random forest."""
    from river import forest

    model = (forest.ARFRegressor if number else forest.ARFClassifier)(seed=0)
    found, X = [], plain(X)
    names = {name: "nan" if X[name].dtype.kind not in "fiu" else None for name in X}
    columns = {name: X[name].astype(object).where(X[name].notna(), names[name]) for name in X}
    means = {name: float(X[name].mean()) for name in X if names[name] is None}
    for row, target in zip(pd.DataFrame(columns).to_dict("records"), y.tolist(), strict=True):
        row = {k: means.get(k) if v is None or v != v else v for k, v in row.items()}
        if number:  # The models in its leaves are linear.
            row = {f"{k}={v}" if isinstance(v, str) else k: 1.0 if isinstance(v, str) else v
                   for k, v in row.items()}  # fmt: skip
        found.append(model.predict_one(row))
        model.learn_one(row, target)
    return np.array([y[0] if one is None else one for one in found])


def naive(X, y, number):
    """Return the class that came most so far, or the mean so far."""
    if number:
        return np.concatenate([y[:1], np.cumsum(y)[:-1] / np.arange(1, len(y))])
    names, codes = np.unique(y, return_inverse=True)
    counts = np.cumsum(np.eye(len(names))[codes], axis=0)
    return names[np.concatenate([codes[:1], counts[:-1].argmax(1)])]


WAYS = {
    "race": lambda X, y, number: along(
        (StreamRegressor if number else StreamClassifier)(random_state=0), X, y, number
    ),
    "kernel forest": lambda X, y, number: along(
        (KernelForestRegressor if number else KernelForestClassifier)(random_state=0), X, y, number
    ),
    "boosting": boosting,
    "ARF": arf,
    "naive": naive,
}


def error_of(found, y, number):
    """Return the error of the rows behind the first."""
    found, y = found[FIRST:], y[FIRST:]
    if number:
        return 100 * np.sqrt(np.mean((found - y) ** 2)) / y.std()
    return 100 * np.mean(found != y)


def main():
    args = read_options(__doc__, "folder", rows=20_000, only=tuple(STREAMS), ways=tuple(WAYS))
    warnings.simplefilter("ignore")
    ways = args.ways
    print("|".join(["stream", "rows", *ways]))
    for name in args.only:
        X, y = STREAMS[name](args.folder, args.rows)
        number, cells = y.dtype.kind == "f", []
        for way in ways:
            began = time.process_time()
            found = WAYS[way](X, y, number)
            cost = 1e3 * (time.process_time() - began) / len(y)
            cells.append(f"{error_of(found, y, number):.2f} ({cost:.2f})")
            print(f"# {name}, {way}: {cells[-1]}", flush=True)
        print("|".join([name, f"{len(y):,}", *cells]), flush=True)


if __name__ == "__main__":
    main()
