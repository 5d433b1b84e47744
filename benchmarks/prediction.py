"""Time prediction in bulk beside the limit of its product and exponential, and on two cores.

    python benchmarks/prediction.py [--data DIR] [--rows N] [--support N] [--repeats N]

A kernel PA model of `--support` support vectors scores `--rows` samples: random ones of 784
features, and a9a and ijcnn1 of DIR (without it, synthetic streams of the same sizes). The limit is
the product of the samples with the support vectors and one exponential of each, measured alone on
blocks of 64 in the cache. `BLAS` is BLAS's product with the same exponential. One process, all runs
in turns, medians: CPU time for one thread, and the speedup of `n_jobs=2` over `n_jobs=1` in elapsed
time.
"""

import functools
import statistics
import time
import warnings

import numpy as np
from cases import Streams
from command import read_options
from limits import PANEL, Limits, gigaflops
from threadpoolctl import threadpool_limits

import onlinekern
from benchmarks import common, streams

GOAL = 0.8
BLOCK = 256


def sources(options):
    """Yield (name, X, y, layouts) of each set."""
    drawn = Streams(options.data, None)
    random = np.random.default_rng(0)
    X = random.normal(size=(options.rows, 784)) / 28
    yield "drawn", X, np.where(X[:, 0] + X[:, 1] > 0, 1, -1), ("dense",)
    yield "a9a", *drawn.get("a9a"), common.LAYOUTS
    yield "ijcnn1", *drawn.get("ijcnn1"), ("dense",)


class Case:
    """A model, and the rows that it scores."""

    def __init__(self, X, y, layout, dtype, options):
        self.rows = streams.laid_out(X[: options.rows], dtype, layout)
        self.model = onlinekern.KernelPAClassifier(
            gamma=0.4, max_support=options.support, when_full="stop"
        )
        common.learn(self.model, self.rows, y[: options.rows])
        self.limits = Limits(self.rows)
        self.keys = [self.limits.add(part, self.model.n_support_) for part in ("product", "exp")]
        if layout == "dense" and np.count_nonzero(self.rows[:64]) < 64 * X.shape[1] / 3:
            self.keys[0] = self.limits.add("packed", self.model.n_support_)
        self.cpu, self.clock = [], {1: [], 2: []}

    def run(self):
        """Score once with one thread and once with two."""
        self.limits.measure()
        for n_jobs, clock in self.clock.items():
            score = functools.partial(
                self.model.set_params(n_jobs=n_jobs).decision_function, self.rows
            )
            start, spent = time.perf_counter(), time.process_time()
            score()
            clock.append(time.perf_counter() - start)
            if n_jobs == 1:
                self.cpu.append(1e6 * (time.process_time() - spent) / self.rows.shape[0])

    def line(self, repeats):
        """Return its line of the table."""
        size = self.model.n_support_
        product, exp = (self.limits.us(key, size) for key in self.keys)
        us = statistics.median(self.cpu)
        reached = (product + exp) / us
        faster = statistics.median(self.clock[1]) / statistics.median(self.clock[2])
        blas = ""
        if self.keys[0][0] != "packed" and isinstance(self.rows, np.ndarray):
            rate = gigaflops(self.rows[:BLOCK], size // PANEL * PANEL, BLOCK, repeats)[1]
            blas = f"{2e-3 * size * self.rows.shape[1] / rate + exp:9.3f}"
        met = "met" if reached >= GOAL else "no"
        return (
            f"{size:7,}{us:9.3f}{product + exp:9.3f}{reached:6.0%} {met:4}{blas:>9}{faster:10.2f}"
        )


def main():
    """Print the table."""
    options = read_options(__doc__, data=None, rows=20_000, support=1_000, repeats=5)
    onlinekern.show_config()
    warnings.filterwarnings("ignore", message="max_support")
    print(
        f"\n{'':27}{'SVs':>7}{'us':>9}{'limit':>9}{'of it':>6} {'':4}{'BLAS':>9}{'two cores':>10}"
    )
    for name, X, y, layouts in sources(options):
        with threadpool_limits(1):
            cases = {
                (layout, dtype): Case(X, y, layout, dtype, options)
                for layout in layouts
                for dtype in common.DTYPES
            }
            for _ in range(options.repeats):
                for case in cases.values():
                    case.run()
            for (layout, dtype), case in cases.items():
                print(f"{name:9}{layout:9}{dtype:9}{case.line(options.repeats)}", flush=True)


if __name__ == "__main__":
    main()
