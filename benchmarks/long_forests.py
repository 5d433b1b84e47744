"""Learn long made streams by kernel forests: errors on the way, cost, memory; boosting beside them.

    python benchmarks/long_forests.py bumps tree [--rows 300000] [--boosting] [--seeds 1]
    python benchmarks/long_forests.py endless [--rows 10000000]

bumps, tree     two functions of 10 normal features: the sign of a sum of 300 bumps in the first
                five of them, 5 % of the labels turned (of the test rows too); and a decision tree
                of 400 leaves with random labels. float64, 20,000 other rows to test on.
endless         bumps without end in float32, 10,000 rows at a time, no label turned; asks whether
                the error still falls, and whether memory stays as it is.

Prints the test error, microseconds of processor time a row since the row above, the nodes of all
trees, and the resident memory of the process in MB at 10,000, 30,000, 100,000, ... rows. --boosting
adds HistGradientBoosting of 300 rounds, fitted anew to the rows so far (kept in --rivals).
"""

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from second_order.figures import Kept
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from onlinekern import KernelForestClassifier

FEATURES, TESTED, TURNED = 10, 20_000, 0.05
N_BUMPS, BUMPY = 300, 5
PIECE, USUAL = 10_000, 300_000


def heights(X, centers, signs):
    """Return the sum of bumps at rows."""
    X, centers = X[:, :BUMPY].astype(np.float64), centers[:, :BUMPY]
    near = X @ centers.T - 0.5 * (X**2).sum(1)[:, None] - 0.5 * (centers**2).sum(1)
    return np.exp(near) @ signs


def by_piece(function, X):
    """Return a function of rows, computed a piece at a time."""
    return np.concatenate([function(X[i : i + PIECE]) for i in range(0, len(X), PIECE)])


def bumps(rng, X, turned=TURNED):
    """Return labels, and a function that labels further rows without turning any."""
    centers, signs = rng.normal(size=(N_BUMPS, FEATURES)), rng.choice([-1, 1.0], N_BUMPS)
    values = by_piece(lambda part: heights(part, centers, signs), X)
    middle = np.median(values)
    y = np.where(values > middle, 1, 0)
    y[rng.random(len(y)) < turned] ^= 1
    return y, lambda rows: np.where(heights(rows, centers, signs) > middle, 1, 0)


def tree(rng, X):
    """Return labels of a decision tree with random labels."""
    made = DecisionTreeClassifier(splitter="random", max_leaf_nodes=400, random_state=1)
    made.fit(X[:4_000], rng.integers(0, 2, 4_000))
    return made.predict(X), made.predict


MADE = {"bumps": bumps, "tree": tree}


def marks(rows):
    """Return 10,000, 30,000, 100,000, ... up to a number of rows."""
    found = [m * 10**k for k in range(4, 12) for m in (1, 3) if m * 10**k <= rows]
    return found if rows in found else [*found, rows]


def megabytes():
    """Return the resident memory of this process now, and its highest."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / 2**20, highest


class Walk:
    """A forest that learns a stream; tells how it stands at some rows."""

    def __init__(self, Z, v, **parameters):
        self.model = KernelForestClassifier(**parameters)
        self.Z, self.v, self.seconds, self.before, self.n = Z, v, 0.0, 0, 0

    def learn(self, X, y):
        began = time.process_time()
        self.model.partial_fit(X, y, classes=[0, 1])
        self.seconds += time.process_time() - began
        self.n += len(y)

    def cells(self):
        """Return the rows, the error, the cost since the last call, nodes and memory as texts."""
        error = 100 * np.mean(self.model.predict(self.Z) != self.v)
        cost = 1e6 * self.seconds / max(1, self.n - self.before)
        self.before, self.seconds = self.n, 0.0
        now, highest = megabytes()
        return [f"{self.n:,}", f"{error:.2f}", f"{cost:.1f}", f"{self.model.n_cells_:,}",
                f"{now:,.0f} ({highest:,.0f})"]  # fmt: skip


HEADS = ["rows", "error %", "µs a row since", "nodes", "MB (highest)"]


def line(cells):
    """Print a line of a table."""
    print("| " + " | ".join(cells) + " |", flush=True)


def boosted(X, y, Z, v):
    """Return the error and microseconds a row of boosted trees."""
    began = time.process_time()
    model = HistGradientBoostingClassifier(max_iter=300, early_stopping=False, random_state=0)
    model.fit(X, y)
    spent = 1e6 * (time.process_time() - began) / len(y)
    return {"error": 100 * float(np.mean(model.predict(Z) != v)), "learn_us": round(spent, 2)}


def finite_stream(name, seed, arguments, rivals):
    """Learn a stream of a fixed length; print how the forest stands on the way."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(max(arguments.rows, USUAL) + TESTED, FEATURES))
    y, _ = MADE[name](rng, X)
    X, y, Z, v = X[: arguments.rows], y[: arguments.rows], X[-TESTED:], y[-TESTED:]
    print(f"\n{name}, seed {seed} of the forest:\n")
    line([*HEADS, "boosting 300"])
    print("|---" * (len(HEADS) + 1) + "|")
    walk = Walk(Z, v, random_state=seed)
    first = 0
    for last in marks(arguments.rows):
        walk.learn(X[first:last], y[first:last])
        first = last
        key = f"{name}, boosting 300, {last}"
        if arguments.boosting:
            rivals.get(key, lambda n=last: boosted(X[:n], y[:n], Z, v))
        told = rivals.found.get(key)
        line([*walk.cells(), f"{told['error']:.2f} ({told['learn_us']:.0f})" if told else "-"])


def endless(arguments):
    """Learn bumps in float32 without end."""
    rng = np.random.default_rng(7)
    _, label = bumps(rng, rng.normal(size=(PIECE, FEATURES)), 0)
    Z = rng.normal(size=(TESTED, FEATURES)).astype(np.float32)
    walk = Walk(Z, label(Z), random_state=0)
    print("\nendless, float32:\n")
    line([*HEADS, "scores"])
    print("|---" * (len(HEADS) + 1) + "|")
    told = marks(arguments.rows)
    while walk.n < arguments.rows:
        n = min([PIECE, *(mark - walk.n for mark in told if mark > walk.n)])
        X = rng.standard_normal((n, FEATURES), dtype=np.float32)
        walk.learn(X, label(X))
        if walk.n in told:
            scores = walk.model.decision_function(Z)
            line([*walk.cells(), "finite" if np.isfinite(scores).all() else "not finite"])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("streams", nargs="+", choices=[*MADE, "endless"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--boosting", action="store_true")
    parser.add_argument("--rivals", default=Path(__file__).parents[1] / "docs/forest_rivals.json")
    arguments = parser.parse_args()
    rivals, rows = Kept(arguments.rivals), arguments.rows
    for name in arguments.streams:
        arguments.rows = rows or (10_000_000 if name == "endless" else USUAL)
        if name == "endless":
            endless(arguments)
            continue
        for seed in range(arguments.seeds):
            finite_stream(name, seed, arguments, rivals)


if __name__ == "__main__":
    main()
