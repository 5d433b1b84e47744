"""Compare one kernel forest of several targets with a forest for each.

    python benchmarks/forest_targets.py FOLDER [--orders 3] [--rows 10000] [--only NAME,...]

FOLDER is that of `forests.py`. A set gets more targets: some of its columns of many values, the
most varied first, are to be told beside its own target, and are left out of the rows. "made" has
four functions of the same directions. Prints root mean square errors over the deviation, the mean
of all targets and the largest ratio of one target, and microseconds a row of one core.
"""

import time

import numpy as np
from command import read_options
from forests import load

from onlinekern import KernelForestRegressor

SETS = ("cpusmall", "cadata", "elevators", "ailerons", "puma32H", "made")
MORE = 3


def made(rows, order):
    """Return four functions of two directions of ten features, and noise."""
    rng = np.random.default_rng(order)
    X = rng.normal(size=(rows, 10))
    u, v = X @ np.linalg.qr(np.random.default_rng(7).normal(size=(10, 2)))[0].T[0], X[:, 0]
    Y = np.column_stack([np.sin(2 * u), u * v, np.tanh(u + v), np.cos(3 * v) + u])
    Y += 0.1 * rng.normal(size=Y.shape)
    n = int(0.7 * rows)
    return X[:n], Y[:n], X[n:], Y[n:]


def targets_of(folder, name, rows, order):
    """Return rows and targets to learn, and rows and targets to test on."""
    if name == "made":
        return made(rows, order)
    X, y, Z, v = load(folder, name, rows, order)
    values = np.array([len(np.unique(column)) for column in X.T])
    told = np.sort(np.argsort(-values, kind="stable")[:MORE])
    left = np.setdiff1d(np.arange(X.shape[1]), told)
    Y, V = np.column_stack([y, X[:, told]]), np.column_stack([v, Z[:, told]])
    return X[:, left], Y, Z[:, left], V


def measure(X, Y, Z, V, order):
    """Return the errors of each target, and microseconds a row."""
    model = KernelForestRegressor(shuffle=False, random_state=order)
    began = time.process_time()
    model.fit(X, Y)
    cost = 1e6 * (time.process_time() - began) / len(X)
    predicted = model.predict(Z).reshape(len(Z), -1)
    V, Y = V.reshape(len(V), -1), Y.reshape(len(Y), -1)
    return np.sqrt(((predicted - V) ** 2).mean(axis=0)) / Y.std(axis=0), cost


def main():
    arguments = read_options(__doc__, "folder", orders=3, rows=10_000, only=tuple(SETS))
    print("| set | one forest | one for each | its own target | worst ratio | µs | µs |")
    print("|---|---|---|---|---|---|---|")
    for name in arguments.only:
        together, apart = [], []
        for order in range(arguments.orders):
            X, Y, Z, V = targets_of(arguments.folder, name, arguments.rows, order)
            together.append(measure(X, Y, Z, V, order))
            each = [measure(X, Y[:, k], Z, V[:, k], order) for k in range(Y.shape[1])]
            apart.append((np.concatenate([error for error, _ in each]), sum(c for _, c in each)))
        one, many = (np.mean([e for e, _ in found], axis=0) for found in (together, apart))
        costs = [np.median([c for _, c in found]) for found in (together, apart)]
        own = f"{one[0]:.3f} and {many[0]:.3f} | {(one / many).max():.2f}"
        times = f"{costs[0]:.0f} | {costs[1]:.0f}"
        print(f"| {name} | {one.mean():.3f} | {many.mean():.3f} | {own} | {times} |", flush=True)


if __name__ == "__main__":
    main()
