"""Measure what a kernel forest costs: rows, features, classes, trees, and the slowest calls.

    python benchmarks/forest_cost.py [--rows 50000] [--only stream,between,calls,walk] [--plain]

One process, one thread, float32 rows of 22 features and two classes in blocks unless said.

stream    microseconds of processor time a row with everything, by rows, features, classes, trees
          and layout
between   microseconds a row to predict and learn between two renewals, and to predict only
calls     time of single calls, 100,000 rows: `learn_one`, `partial_fit` of 100 rows; 50, 99, 99.9 %
          and all of them took less than so many microseconds. Processor time of the thread, which
          other programs disturb least, and time on the clock.

walk      nodes that a row visits, nanoseconds of a prediction for each, and the limit: independent
          random reads of 8 bytes from a table of the same size (numpy.take)

--plain leaves the two largest settings out.
"""

import copy
import gc
import statistics
import time
from functools import partial

import numpy as np
from command import read_options
from ratio import cpu_us
from scaling import samples
from scipy import sparse
from threadpoolctl import threadpool_limits

from onlinekern import KernelForestClassifier, KernelForestRegressor

FEATURES, BLOCK, SHARES = 22, 1_000, (50, 99, 99.9, 100)
REPEATS, NEXT = 7, 4_000
# A renewal begins at 2^k rows, and is spread over a quarter as many.
BEFORE = (1_400, 10_500, 21_000, 84_000)


def line(cells):
    """Print a line of a table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(title, cells):
    """Print the beginning of a table."""
    print(f"\n{title}:\n")
    line(cells)
    print("|---" * len(cells) + "|")


def new(classes=2, **parameters):
    """Return a forest for classes, or for numbers if there is one class."""
    forest = KernelForestRegressor if classes == 1 else KernelForestClassifier
    return forest(random_state=0, **parameters)


def learn(model, X, y, classes=2):
    """Learn rows in blocks."""
    given = {} if classes == 1 else {"classes": range(classes)}
    for first in range(0, X.shape[0], BLOCK):
        model.partial_fit(X[first : first + BLOCK], y[first : first + BLOCK], **given)
    return model


def drawn(rows, d=FEATURES, classes=2):
    """Return rows and labels; of one class, numbers."""
    X, y = samples(rows, d, max(classes, 2))
    return X, (X[:, 0] + X[:, 1]).astype(np.float64) if classes == 1 else y


def all_in_all(rows, d=FEATURES, classes=2, form=np.asarray, **parameters):
    """Return microseconds a row of a stream from its first row on."""
    X, y = drawn(rows, d, classes)
    X = form(X)
    return cpu_us(lambda: learn(new(classes, **parameters), X, y, classes), rows)[0]


def stream(arguments):
    """Print the cost of streams with everything."""
    rows = arguments.rows
    settings = {
        "": {},
        **{f"{n:,} rows": {"rows": n} for n in (1_000, 5_000, 20_000, 4 * rows)},
        **{f"{d} features": {"d": d} for d in (8, 60, 120)},
        **{f"{k} classes": {"classes": k} for k in (3, 7, 20)},
        "numbers": {"classes": 1},
        **{f"{n} trees": {"n_trees": n} for n in (10, 30, 300)},
        "float64": {"form": np.float64},
        "CSR": {"form": sparse.csr_matrix},
    }
    if arguments.plain:
        settings = {key: item for key, item in settings.items() if key not in ("300 trees",)}
        settings.pop(f"{4 * rows:,} rows")
    head(f"a row with everything, {rows:,} rows unless said", ["what differs", "µs a row"])
    for name, setting in settings.items():
        line([name or "nothing", f"{all_in_all(**{'rows': rows, **setting}):.1f}"])


def between(arguments):
    """Print the cost of rows between two renewals."""
    told = ["what differs", "rows before", "learn, blocks", "learn_one", "predict, blocks"]
    head("microseconds a row between renewals", told)
    settings = {
        "nothing": {},
        "100 trees of 2,048 rows": {"max_rows": 2_048, "max_samples": 0.5},
        "7 classes": {"classes": 7},
        "numbers": {"classes": 1},
    }
    for name, setting in settings.items():
        parameters = dict(setting)
        classes = parameters.pop("classes", 2)
        X, y = drawn(max(BEFORE) + NEXT, FEATURES, classes)
        model, learnt = new(classes, **parameters), 0
        for before in BEFORE:
            learn(model, X[learnt:before], y[learnt:before], classes)
            learnt = before
            # As many as come before the next renewal.
            following = slice(before, min(before + NEXT, 2 ** before.bit_length() - 1))
            line([name, f"{before:,}", *rates(model, X[following], y[following], classes)])


def rates(model, X, y, classes):
    """Return microseconds a row of blocks, of single rows and of predictions as texts."""
    rows = list(zip(X, y.tolist(), strict=True))

    def one_by_one(model):
        for x, label in rows:
            model.learn_one(x, label)

    found = []
    for _ in range(REPEATS):
        copies = [copy.deepcopy(model) for _ in range(2)]
        calls = (partial(learn, copies[0], X, y, classes), partial(one_by_one, copies[1]),
                 partial(model.predict, X))  # fmt: skip
        found.append([cpu_us(call, len(y))[0] for call in calls])
    return [f"{cost:.1f}" for cost in np.median(found, axis=0)]


def calls(arguments):
    """Print the distribution of the time of single calls."""
    rows = 2 * arguments.rows
    told = ["calls", "time", *(f"{share} %" if share < 100 else "max" for share in SHARES)]
    head(f"microseconds a call, {rows:,} rows, renewals included", [*told, "99.9 % / 50 %"])
    X, y = drawn(rows)
    for size in (1, 100):
        # The first 128 rows are learnt before: their renewals are the cheapest.
        model = learn(new(), X[:128], y[:128])
        took = np.array(list(each_call(model, X[128:], y[128:], size))) / 1e3
        for kind, found in zip(("processor", "clock"), took.T, strict=True):
            shares = np.percentile(found, SHARES)
            name = "learn_one" if size == 1 else f"partial_fit of {size}"
            ratio = f"{shares[2] / shares[0]:.1f}"
            line([name, kind, *(f"{share:,.1f}" for share in shares), ratio])


def each_call(model, X, y, size):
    """Yield nanoseconds of processor time and on the clock of each call."""
    gc.disable()
    labels = y.tolist()
    for first in range(0, len(labels) - size + 1, size):
        block, given = X[first : first + size], labels[first : first + size]
        clock, began = time.perf_counter_ns(), time.thread_time_ns()
        if size == 1:
            model.learn_one(block[0], given[0])
        else:
            model.partial_fit(block, given)
        ended = time.thread_time_ns()
        yield ended - began, time.perf_counter_ns() - clock
    gc.enable()


def steps_of(forest, X):
    """Return the mean number of nodes that rows visit in all trees of a forest."""
    center, factor, directions = forest.scale.arrays()
    Z = ((X - center) * factor).astype(np.float32)
    Z = Z if directions is None else np.hstack([Z, Z @ directions])
    cuts, features, left, first = forest.arrays()
    rows, visited = np.arange(len(Z)), 0
    for root in first[:-1]:
        at, inside = np.zeros(len(Z), int), np.ones(len(Z), bool)
        while inside.any():
            visited += inside.sum()
            node = root + at
            right = Z[rows, np.minimum(features[node], Z.shape[1] - 1)] > cuts[node]
            at, inside = left[node] + right, inside & np.isfinite(cuts[node])
    return visited / len(Z)


def median_us(call, n):
    """Return the median of microseconds for each of n things that a call does."""
    return statistics.median(cpu_us(call, n)[0] for _ in range(9))


def walk(arguments):
    """Print what the walk takes beside its limit."""
    told = ["rows", "nodes, MB", "nodes visited", "µs a prediction", "ns a node", "ns a read"]
    head("the walk of a prediction in blocks", told)
    X, y = drawn(arguments.rows + 4_000)
    for rows in (1_400, 21_000, 45_000):
        model = learn(new(), X[:rows], y[:rows])
        forest, Z = model._model.space.now.forest, X[arguments.rows :]
        steps = steps_of(forest, Z[:200].astype(np.float64))
        cost = median_us(partial(model.predict, Z), len(Z))
        table = np.zeros(forest.n_nodes)
        at = np.random.default_rng(0).integers(0, len(table), 1_000_000).astype(np.intp)
        read = median_us(partial(table.take, at), len(at))
        line([f"{rows:,}", f"{8e-6 * len(table):.1f}", f"{steps:,.0f}", f"{cost:.1f}",
              f"{1e3 * cost / steps:.2f}", f"{1e3 * read:.2f}"])  # fmt: skip


TABLES = {"stream": stream, "between": between, "calls": calls, "walk": walk}


def main():
    arguments = read_options(
        __doc__,
        rows=50_000,
        only=tuple(TABLES),
        plain=False,
    )
    with threadpool_limits(1):
        for name in arguments.only:
            TABLES[name](arguments)


if __name__ == "__main__":
    main()
