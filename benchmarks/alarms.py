"""False alarms and delays of the detectors of `onlinekern.drift`, and of river's and NEWMA.

    nice python benchmarks/alarms.py --part promise
    nice python benchmarks/alarms.py --part stakes
    nice python benchmarks/alarms.py --part rows --json rows.json
    nice python benchmarks/alarms.py --part errors
    nice python benchmarks/alarms.py --part once

    nice python benchmarks/alarms.py --part rows --detectors "MMDDetector;NEWMA"

`promise` counts samples between false alarms on streams that do not change. `stakes` compares ways
to bet on the same payoffs. `rows` makes thirteen kinds of change of 20 features, `errors` nine of
the mistakes of a learner. `once` uses reference rows again, and linear learners. A stream changes
once; an alarm before that is a false one, the first after it has a delay. river's detectors have
their defaults; they take numbers, so that of rows there is one for each feature, and an alarm
begins all anew. The time is of this process alone.
"""

import argparse
import json
from pathlib import Path
from time import process_time

import numpy as np
from kernel_cusum import KernelCUSUM
from scipy.signal import lfilter
from sklearn.base import clone
from sklearn.datasets import load_digits

from onlinekern import AROWClassifier, FourierFeatures, KernelRLSClassifier, PAClassifier
from onlinekern.drift import ClassifierDetector, LossDetector, MMDDetector, pairs, queue, wealth
from onlinekern.streams import SEA, ConceptDrift, Hyperplane, RandomRBF

FEATURES = 20
BEFORE, AFTER = 3_000, 3_000


class NEWMA:
    """NEWMA (Keriven, Garreau, Poli 2020) with its adaptive threshold, of random features.

    The forgetting factors are those of a window of 250 (section 4.2), the threshold is the mean of
    the statistic and three of its deviations, both forgotten at half the slower factor.
    """

    def __init__(self, fast=1 / 50, slow=1 / 250, rate=1 / 500, deviations=3.0, first=500):
        self.settings = fast, slow, rate, deviations
        self.first, self.alarms, self.seen = first, [], 0
        self.map, self.rows = None, []

    def update_many(self, X):
        for row in X:
            self.seen += 1
            if self.map is None:
                self._begin(row)
            elif self._step(self.map.transform(row[None])[0]):
                self.alarms.append(self.seen)
                self.map, self.rows = None, []
        self.alarms_ = np.array(self.alarms)
        return self

    def _begin(self, row):
        self.rows.append(row)
        if len(self.rows) == 100:
            rows = np.array(self.rows)
            self.map = FourierFeatures(n_components=200, random_state=0).fit(rows)._map
            self.means = [self.map.transform(rows).mean(axis=0)] * 2
            self.mean = self.square = 0.0
            self.count = 0

    def _step(self, z):
        fast, slow, rate, deviations = self.settings
        self.means = [(1 - r) * m + r * z for m, r in zip(self.means, (fast, slow), strict=True)]
        value = float(((self.means[0] - self.means[1]) ** 2).sum())
        spread = max(self.square - self.mean**2, 0.0) ** 0.5
        self.count += 1
        found = self.count > self.first and value > self.mean + deviations * spread
        share = max(rate, 1 / self.count)
        self.mean += share * (value - self.mean)
        self.square += share * (value**2 - self.square)
        return found


class OfRiver:
    """A detector of river for each feature, which all begin anew at an alarm of one."""

    def __init__(self, make):
        self.make, self.parts, self.alarms, self.seen = make, None, [], 0

    def update_many(self, X):
        rows = np.asarray(X, dtype=float)
        for row in rows.reshape(len(rows), -1).tolist():
            self.seen += 1
            if self.parts is None:
                self.parts = [self.make() for _ in row]
            found = False
            for part, value in zip(self.parts, row, strict=True):
                part.update(value)
                found |= part.drift_detected
            if found:
                self.alarms.append(self.seen)
                self.parts = None
        self.alarms_ = np.array(self.alarms)
        return self


def of_river(name):
    """Return a maker of river's detector of that name."""

    def make(seed):
        from river import drift

        kind = getattr(drift.binary if name.startswith("HDDM") else drift, name)
        # KSWIN draws at random.
        return OfRiver(lambda: kind(seed=seed) if name == "KSWIN" else kind())

    return make


ROWS = {
    "MMDDetector": lambda seed: MMDDetector(random_state=seed),
    "ClassifierDetector": lambda seed: ClassifierDetector(),
    "NEWMA": lambda seed: NEWMA(),
    "NEWMA of 5 deviations": lambda seed: NEWMA(deviations=5.0),
    "kernel CUSUM": lambda seed: KernelCUSUM(seed=seed),
    "ADWIN": of_river("ADWIN"),
    "PageHinkley": of_river("PageHinkley"),
    "KSWIN": of_river("KSWIN"),
}
LOSSES = {
    "LossDetector": lambda seed: LossDetector(random_state=seed),
    "LossDetector of 100,000": lambda seed: LossDetector(random_state=seed, run_length=100_000),
    "ADWIN": of_river("ADWIN"),
    "PageHinkley": of_river("PageHinkley"),
    "KSWIN": of_river("KSWIN"),
    "HDDMA": of_river("HDDMA"),
    "HDDMW": of_river("HDDMW"),
}


def normal(rng, n):
    return rng.standard_normal((n, FEATURES))


def correlated(rng, n, strength=0.7):
    """Return pairs of features with a correlation; each alone is as before."""
    X = normal(rng, n)
    X[:, 1::2] = strength * X[:, ::2] + (1 - strength**2) ** 0.5 * X[:, 1::2]
    return X


def rotated(rng, n):
    """Return rows whose long axes have been turned."""
    X = stretched(rng, n)
    for j in range(0, FEATURES, 4):
        X[:, [j, j + 2]] = X[:, [j, j + 2]] @ np.array([[1, 1], [-1, 1]]) / 2**0.5
    return X


def stretched(rng, n):
    return normal(rng, n) * np.where(np.arange(FEATURES) % 4 < 2, 2.0, 0.7)


def mixture(rng, n, share):
    centres = np.where(rng.random((n, 1)) < share, 1.0, -1.0)
    return normal(rng, n) + centres


def product(rng, n):
    """Return rows in which the sign of one feature is the product of two others: no pair tells."""
    X = normal(rng, n)
    X[:, 0] = abs(X[:, 0]) * np.sign(X[:, 1] * X[:, 2])
    return X


def first_feature(change):
    def changed(rng, n):
        X = normal(rng, n)
        X[:, 0] = change(X[:, 0])
        return X

    return changed


def copied(rng, n):
    X = normal(rng, n)
    X[:, 1] = X[:, 0]
    return X


def gradual(rng, n):
    return normal(rng, n) + np.minimum(np.arange(n) / 1_000, 1.0)[:, None] * 0.3


CHANGES = {
    "mean, all by 0.3": (normal, lambda rng, n: normal(rng, n) + 0.3),
    "mean, all by 0.1": (normal, lambda rng, n: normal(rng, n) + 0.1),
    "mean, one by 1": (normal, first_feature(lambda x: x + 1)),
    "mean, all by 0.3, over 1,000": (normal, gradual),
    "scale, all by 1.3": (normal, lambda rng, n: 1.3 * normal(rng, n)),
    "scale, one by 2": (normal, first_feature(lambda x: 2 * x)),
    "correlations of 0.7, ten pairs": (normal, correlated),
    "correlations of 0.4, ten pairs": (normal, lambda rng, n: correlated(rng, n, 0.4)),
    "one feature a copy of another": (normal, copied),
    "rotation by 45 degrees": (stretched, rotated),
    "weights of a mixture, 0.5 to 0.8": (
        lambda rng, n: mixture(rng, n, 0.5),
        lambda rng, n: mixture(rng, n, 0.8),
    ),
    "tails, normal to t(3)": (normal, lambda rng, n: rng.standard_t(3, (n, FEATURES)) / 3**0.5),
    "a sign is a product of two": (normal, product),
}


def coins(share):
    return lambda rng, n: (rng.random(n) < share).astype(float)


def slower(rng, n):
    return (rng.random(n) < 0.1 + 0.2 * np.minimum(np.arange(n) / 1_000, 1)).astype(float)


ERRORS = {
    "label noise, 2 % to 6 %": (coins(0.02), coins(0.06)),
    "label noise, 10 % to 15 %": (coins(0.1), coins(0.15)),
    "label noise, 10 % to 20 %": (coins(0.1), coins(0.2)),
    "label noise, 10 % to 30 %, over 1,000": (coins(0.1), slower),
    "label noise, 30 % to 40 %": (coins(0.3), coins(0.4)),
    "label noise, 30 % to 60 %": (coins(0.3), coins(0.6)),
    "absolute errors, normal, 1.5 times": (
        lambda rng, n: abs(rng.standard_normal(n)),
        lambda rng, n: 1.5 * abs(rng.standard_normal(n)),
    ),
}
CONCEPTS = {
    "SEA, another threshold": lambda seed: [SEA(concept=k, random_state=seed) for k in (1, 2)],
    "hyperplane, another plane": lambda seed: [
        Hyperplane(n_drift_features=0, random_state=seed + k) for k in (0, 500)
    ],
}


def concept_losses(name, seed):
    """Return the mistakes of kernel least squares on a concept that changes."""
    parts = ConceptDrift(CONCEPTS[name](seed), BEFORE, 0, random_state=seed)
    X, y = parts.take(BEFORE + AFTER)
    model = KernelRLSClassifier(n_components=200)
    predicted = model.partial_fit_predict(X, y, classes=np.unique(y))
    return (predicted != y).astype(float)


def digits(rng, n):
    X = load_digits().data
    return X[rng.integers(len(X), size=n)]


STATIONARY = {
    "normal, 20 features": normal,
    "correlated, 20": correlated,
    "t(2), 5": lambda rng, n: rng.standard_t(2, (n, 5)),
    "lognormal, 5": lambda rng, n: rng.lognormal(size=(n, 5)),
    "0 and 1, 10": lambda rng, n: (rng.random((n, 10)) < 0.2).astype(float),
    "digits, drawn with replacement, 64": digits,
    "clusters (RandomRBF), 10": lambda rng, n: RandomRBF(
        speed=0.0, random_state=int(rng.integers(10**6)), model_state=0
    ).take(n)[0],
}


def autoregressive(rng, n, strength=0.9):
    """Return rows that are like the one before: not what the promise is made for."""
    return lfilter([1.0], [1.0, -strength], rng.standard_normal((n, 5)), axis=0)


SERIES = {
    "neighbours alike: AR(1) of 0.9, 5": autoregressive,
    "every 10th row of it": lambda rng, n: autoregressive(rng, n, 0.9**10),
    "every 20th row of it": lambda rng, n: autoregressive(rng, n, 0.9**20),
    "every 30th row of it": lambda rng, n: autoregressive(rng, n, 0.9**30),
}
COINS = {
    "mistakes, 2 %": coins(0.02),
    "mistakes, 10 %": coins(0.1),
    "mistakes, 30 %": coins(0.3),
    "mistakes, 50 %": coins(0.5),
    "absolute errors, normal": lambda rng, n: abs(rng.standard_normal(n)),
}


def promise(arguments):
    """Print the samples between false alarms."""
    # So many times --n, by what they cost.
    lengths = {"MMDDetector": 20, "LossDetector": 20, "ClassifierDetector": 5, "KSWIN": 0.25}
    print("| stream | detector | promised | samples | alarms | samples between alarms |")
    print("|---|---|---:|---:|---:|---:|")
    for streams, makers in ((STATIONARY | SERIES, ROWS), (COINS, LOSSES)):
        for title, stream in streams.items():
            for name, make in chosen(makers, arguments).items():
                if " of " in name:
                    continue
                n = arguments.n * lengths.get(name, 1)
                X = stream(np.random.default_rng(1), int(n))
                for length in (1_000, 10_000) if name.endswith("Detector") else (None,):
                    detector = make(0)
                    if length is not None:
                        detector.set_params(run_length=length)
                    alarms = len(detector.update_many(X).alarms_)
                    shown = f"{n / alarms:,.0f}" if alarms else f"> {n:,.0f}"
                    told = "none" if length is None else f"{length:,}"
                    print(
                        f"| {title} | {name} | {told} | {n:,.0f} | {alarms} | {shown} |", flush=True
                    )


def run(stream, make, seed):
    """Return false alarms, the delay or None, and the microseconds per sample."""
    detector = make(seed)
    began = process_time()
    alarms = detector.update_many(stream).alarms_
    spent = 1e6 * (process_time() - began) / len(stream)
    after = alarms[alarms > BEFORE]
    return int((alarms <= BEFORE).sum()), int(after[0]) - BEFORE if len(after) else None, spent


def delays(title, streams, makers, found):
    """Run each detector over the streams of one kind of change, and print what it found."""
    for name, make in makers.items():
        few = streams[:3] if name == "KSWIN" else streams
        runs = [run(stream, make, seed) for seed, stream in enumerate(few)]
        early = sum(one[0] for one in runs)
        late = sorted(one[1] for one in runs if one[1] is not None)
        middle = f"{np.median(late):,.0f}" if late else ""
        spent = np.median([one[2] for one in runs])
        found.append([title, name, len(runs), len(late), middle, early, spent])
        print(
            f"| {title} | {name} | {len(late)} of {len(runs)} | {middle} | {early} | {spent:.1f} |",
            flush=True,
        )


HEAD = """| change | detector | found | median delay | false alarms | µs |
|---|---|---:|---:|---:|---:|"""


def rows(arguments):
    """Print delays for changes of rows."""
    print(HEAD)
    found = []
    for title, (before, after) in CHANGES.items():
        streams = [joined(before, after, seed) for seed in range(arguments.repeats)]
        delays(title, streams, chosen(ROWS, arguments), found)
    return found


def errors(arguments):
    """Print delays for changes of mistakes."""
    print(HEAD)
    found = []
    for title, (before, after) in ERRORS.items():
        streams = [joined(before, after, seed) for seed in range(arguments.repeats)]
        delays(title, streams, chosen(LOSSES, arguments), found)
    for title in CONCEPTS:
        streams = [concept_losses(title, seed) for seed in range(arguments.repeats)]
        delays(title, streams, chosen(LOSSES, arguments), found)
    return found


def joined(before, after, seed):
    rng = np.random.default_rng(seed)
    return np.concatenate([before(rng, BEFORE), after(rng, AFTER)])


def chosen(makers, arguments):
    names = arguments.detectors.split(";") if arguments.detectors else makers
    return {name: make for name, make in makers.items() if name in names}


def stakes(arguments):
    """Print delays of one stake, and of the mean over several, with CUSUM's restart and without."""
    known = {"mean of six, Shiryaev-Roberts": (wealth.STAKES, False)}
    known |= {f"{s}, Shiryaev-Roberts": ((s,), False) for s in (0.125, 0.25, 0.5)}
    known |= {"mean of six, CUSUM": (wealth.STAKES, True), "0.25, CUSUM": ((0.25,), True)}
    print("| change | bets | found | median delay | false alarms |\n|---|---|---:|---:|---:|")
    for title, (before, after) in CHANGES.items():
        paid = [payoffs_of(joined(before, after, seed)) for seed in range(arguments.repeats)]
        for name, (shares, restarts) in known.items():
            early, late = 0, []
            for places, payoffs in paid:
                alarms = np.array(alarms_of(places, payoffs, np.array(shares), restarts))
                early += int((alarms <= BEFORE).sum())
                late += [alarms[alarms > BEFORE][0] - BEFORE] if (alarms > BEFORE).any() else []
            middle = f"{np.median(late):,.0f}" if late else ""
            print(f"| {title} | {name} | {len(late)} of {len(paid)} | {middle} | {early} |")


def payoffs_of(X):
    """Return the samples at which `MMDDetector` bets, and the payoffs, with no alarm."""
    places, payoffs, detector = [], [], MMDDetector(run_length=1e300, random_state=0)
    original = pairs.PairDetector._bet

    def noted(self, paid):
        payoffs.extend(paid)
        return original(self, paid)

    pairs.PairDetector._bet = noted
    try:
        for number, row in enumerate(X, 1):
            detector.update(row)
            places += [number] * (len(payoffs) - len(places))
    finally:
        pairs.PairDetector._bet = original
    return places, payoffs


def alarms_of(places, payoffs, shares, restarts, threshold=10_000):
    """Return the samples at which bets with other stakes raise an alarm."""
    own, found = np.zeros((2, len(shares))), []
    for place, payoff in zip(places, payoffs, strict=True):
        factors = 1 + shares * np.array(payoff)[:, None]
        own = (np.maximum(own, 1) if restarts else own + 1) * factors
        if own.mean() >= threshold:
            found.append(place)
            own = np.zeros((2, len(shares)))
    return found


class DrawnAgain(queue.RowQueue):
    """Reference rows that are drawn at random, again and again, and stay."""

    draws = np.random.default_rng(0)

    def pop(self):
        place = int(self.draws.integers(self.start, self.stop))
        return self.blocks[place // queue.ROWS][place % queue.ROWS]


def once(arguments):
    """Print false alarms with reference rows used once and again, and what linear learners find."""
    X = normal(np.random.default_rng(1), 2 * arguments.n)
    for kind in (queue.RowQueue, DrawnAgain):
        pairs.RowQueue = kind
        for name in ("MMDDetector", "ClassifierDetector"):
            alarms = len(ROWS[name](0).update_many(X).alarms_)
            print(f"{kind.__name__}, {name}: {alarms} false alarms in {len(X):,} rows")
    pairs.RowQueue = queue.RowQueue
    before, after = CHANGES["correlations of 0.7, ten pairs"]
    streams = [joined(before, after, seed) for seed in range(arguments.repeats)]
    for learner in (AROWClassifier(), PAClassifier()):
        detector = ClassifierDetector(classifier=learner)
        late = [run(stream, lambda seed: clone(detector), 0)[1] for stream in streams]  # noqa: B023
        print(f"{learner}: {sum(one is not None for one in late)} of {len(late)} found")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parts = {"promise": promise, "stakes": stakes, "rows": rows, "errors": errors, "once": once}
    parser.add_argument("--part", choices=parts, required=True)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--detectors", default="")
    parser.add_argument("--json", default="")
    arguments = parser.parse_args()
    found = parts[arguments.part](arguments)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
