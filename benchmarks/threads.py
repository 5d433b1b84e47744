"""Measure what two threads gain, by the clock and by the work that they can share.

    python benchmarks/threads.py [--rows N] [--repeats N]

Prediction of one model, and the learning of models that are independent: the experts of a race,
the problems of one class against the rest, and of pairs of classes. `elapsed` is the time of one
thread over that of two, in turns, medians: true only on a machine with two idle cores.
`processes` is what such a machine allows: two processes that share nothing do the same call side
by side, and this is what they do in the time in which one does it alone. The first lines tell
what the two cores are. Two threads of one core gain nearly 2 for hashes, which wait for their own
results, and nearly nothing for products of matrices, which fill the units that multiply. `shared`
is the part of the CPU time of one thread that runs in items of the pool, and `at best` what
follows from it: the items are given to two threads in their order, and the rest waits for nobody.
"""

import hashlib
import heapq
import multiprocessing
import statistics
import time
import warnings
from functools import partial

import numpy as np
from command import read_options
from scipy import sparse
from threadpoolctl import threadpool_limits

import onlinekern
from benchmarks import streams
from onlinekern.core import race
from onlinekern.estimators import contract, duals
from onlinekern.learners import linear_passive_aggressive

USERS = (contract, linear_passive_aggressive, duals, race)


class Alone:
    """Stands in for `run_together`: does the items one by one, and notes the time of each."""

    def __init__(self):
        self.calls = []

    def __call__(self, function, items, n_threads):
        times, results = [], []
        for item in items:
            start = time.thread_time()
            results.append(function(item))
            times.append(time.thread_time() - start)
        self.calls.append(times)
        return results

    def shared(self):
        """Return the seconds spent in items, and in the busier of two threads."""
        longest = 0
        for times in self.calls:
            ends = [0.0, 0.0]
            for spent in times:
                heapq.heappush(ends, heapq.heappop(ends) + spent)
            longest += max(ends)
        return sum(map(sum, self.calls)), longest


def bound(call):
    """Return the shared part of the work of a call, and the speedup that it allows."""
    alone, before = Alone(), [module.run_together for module in USERS]
    for module in USERS:
        module.run_together = alone
    try:
        start = time.thread_time()
        call(2)
        whole = time.thread_time() - start
    finally:
        for module, function in zip(USERS, before, strict=True):
            module.run_together = function
    together, longest = alone.shared()
    return together / whole, whole / (whole - together + longest)


def elapsed(call, n_jobs):
    """Return the seconds by the clock."""
    start = time.perf_counter()
    call(n_jobs)
    return time.perf_counter() - start


def work(call, barrier, results, repeats):
    """Time a call in a process, as often as the others are ready."""
    for _ in range(repeats):
        barrier.wait()
        results.put(elapsed(call, 1))


def beside(call, repeats):
    """Return what two processes do in the time of one call alone, in calls."""
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(3), context.SimpleQueue()
    workers = [
        context.Process(target=work, args=(call, barrier, results, repeats)) for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    gains = []
    for _ in range(repeats):
        alone = elapsed(call, 1)
        barrier.wait()
        gains.append(2 * alone / statistics.mean((results.get(), results.get())))
    for worker in workers:
        worker.join()
    return statistics.median(gains)


def predicting(model, X):
    """Return a call that predicts."""
    return lambda n_jobs: model.set_params(n_jobs=n_jobs).decision_function(X)


def learning(cls, X, y, **parameters):
    """Return a call that learns: in passes, or a stream a thousand samples at a time."""

    def learn(n_jobs):
        model = cls(n_jobs=n_jobs, random_state=0, **parameters)
        if cls in (onlinekern.PAClassifier, onlinekern.OLLAClassifier):
            return model.fit(X, y)
        for first in range(0, len(y), 1000):
            part = slice(first, first + 1000)
            model.partial_fit(X[part], y[part], classes=np.unique(y))
        return model

    return learn


def hashing(n_jobs):
    """Hash the same memory eight times."""
    memory = bytes(4_000_000)
    contract.run_together(lambda _: hashlib.sha256(memory).digest(), range(8), n_jobs)


def multiplying(n_jobs):
    """Multiply matrices that stay in the nearest caches, eight times a hundred."""
    A = np.full((128, 128), 0.5, np.float32)

    def products(_):
        for _ in range(100):
            A @ A

    contract.run_together(products, range(8), n_jobs)


def cases(rows):
    """Yield names and calls."""
    yield "the machine: hashes", hashing
    yield "the machine: products", multiplying
    X, y = streams.sparse_binary(rows)[:2]
    X = sparse.csr_matrix(X, dtype=np.float32)
    dense = X.toarray()
    for name, cls, parameters in (
        ("PA", onlinekern.PAClassifier, {}),
        (
            "kernel PA, 1,000 SVs",
            onlinekern.KernelPAClassifier,
            {"max_support": 1_000, "when_full": "stop"},
        ),
        (
            "FOGD, 1,600 frequencies",
            onlinekern.FOGDClassifier,
            {"n_components": 1_600, "average": False},
        ),
    ):
        model = cls(random_state=0, **parameters).fit(X[:4000], y[:4000])
        yield f"predict, {name}, CSR", predicting(model, X)
        yield f"predict, {name}, dense", predicting(model, dense)
    few = X.toarray()[: rows // 4], y[: rows // 4]
    race = onlinekern.StreamClassifier(random_state=0).fit(*few)
    yield "predict, race, dense", predicting(race, few[0])
    yield "learn, race, dense", learning(onlinekern.StreamClassifier, *few)
    random = np.random.default_rng(0)
    Z = random.normal(size=(rows // 4, 40))
    yield (
        "learn, race, 40 numbers",
        learning(onlinekern.StreamClassifier, Z, (Z[:, 0] * Z[:, 1] + Z[:, 2] > 0).astype(int)),
    )
    ten = (Z @ random.normal(size=(40, 10))).argmax(axis=1)
    passes = partial(learning, onlinekern.PAClassifier)
    yield "learn, one against the rest of 10", passes(Z, ten, max_iter=20, tol=None)
    for multi_class in ("ovo", "ovr"):
        machine = {"solver": "smo", "multi_class": multi_class, "gamma": 0.01, "C": 10.0}
        learn = learning(onlinekern.OLLAClassifier, Z.astype(np.float32), ten, **machine)
        yield f"learn, machines of 10 classes, {multi_class}", learn


def main():
    """Print the table."""
    options = read_options(__doc__, rows=20_000, repeats=5)
    onlinekern.show_config()
    warnings.simplefilter("ignore")
    print(f"\n{'':40}{'elapsed':>8}{'processes':>11}{'shared':>8}{'at best':>9}")
    threadpool_limits(1, "blas")
    for name, call in cases(options.rows):
        times = {1: [], 2: []}
        for _ in range(options.repeats):
            for n_jobs, seconds in times.items():
                seconds.append(elapsed(call, n_jobs))
        faster = statistics.median(times[1]) / statistics.median(times[2])
        shared, best = bound(call)
        two = beside(call, options.repeats)
        print(f"{name:40}{faster:8.2f}{two:11.2f}{shared:8.1%}{best:9.2f}", flush=True)


if __name__ == "__main__":
    main()
