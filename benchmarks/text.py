"""Measure samples of very many features: time per sample, memory per stored element.

    python benchmarks/text.py [--data DIR] [--rows N] [--repeats N] [--support N]

Learners with at most `--support` support vectors run on synthetic text of 20,000 and a million
features with 50 stored elements per row, and, with DIR, on spamcorpus, reuters-moneyfx and the
largest class of sector against the rest. A stream is learnt until the model is full, then timed on
the rest; medians of CPU time, one thread. The goal is 10 us in float32 at 1,200 support vectors and
50 stored elements. Other times are also scaled to these numbers, in proportion to both.
"""

import statistics
import warnings

import numpy as np
from command import read_options
from ratio import cpu_us
from scipy import sparse
from threadpoolctl import threadpool_limits

import onlinekern
from benchmarks import common, streams

GOAL = 10.0
STORED = 50
CLASSES = [-1, 1]
SETS = {
    "spamcorpus": ("",),
    "reuters-moneyfx": ("train", "test"),
    "sector": ("train", "test"),
}
LEARNERS = {
    "SPAClassifier": {"gamma": 0.7, "alpha": 1.0, "beta": 1.0, "eta": 0.1, "average": True},
    "KernelPAClassifier": {"gamma": 0.7, "average": False},
}


def read(folder, name):
    """Return a set of the folder in a random order, rows of length 1, labels -1 and 1."""
    from sklearn.preprocessing import normalize

    X, y = streams.libsvm(folder, name, SETS[name])
    values, counts = np.unique(y, return_counts=True)
    positive = values[1] if len(values) == 2 else values[counts.argmax()]
    order = np.random.default_rng(0).permutation(len(y))
    return normalize(X)[order], np.where(y == positive, 1, -1)[order]


def sources(options):
    """Yield (name, X, y) of each stream."""
    for d in (20_000, 1_000_000):
        yield f"drawn, d = {d:,}", *streams.text(options.rows, d, STORED)
    for name in SETS if options.data else ():
        yield name, *read(options.data, name)


class Measured:
    """A learner on one stream, in one dtype."""

    def __init__(self, name, X, y, dtype, support):
        self.X, self.y = sparse.csr_matrix(X, dtype=dtype), y
        bound = {"max_support": support, "when_full": "stop"}
        self.parameters = {"random_state": 0, **bound, **LEARNERS[name]}
        self.name = name
        self.times = []

    def run(self):
        """Learn half of the stream, then time the other half."""
        model = getattr(onlinekern, self.name)(**self.parameters)
        half = len(self.y) // 2
        model.partial_fit(self.X[:half], self.y[:half], classes=CLASSES)
        rest, labels = self.X[half:], self.y[half:]
        self.times.append(cpu_us(lambda: model.partial_fit(rest, labels), len(labels))[0])
        self.model = model

    def line(self):
        """Return its line of the table."""
        us, n_support = statistics.median(self.times), self.model.n_support_
        stored, size = self.X.nnz / len(self.y), self.X.dtype.itemsize
        at_goal = us * (1_200 / n_support) * (STORED / stored)
        rows = self.model.support_vectors_.nnz
        per_element = self.model._model.space.support.nbytes() / rows
        verdict = ("met" if at_goal <= GOAL else "no") if size == 4 else ""
        return (
            f"{self.name:22}{self.X.dtype!s:9}{n_support:7,}{stored:9.1f}{us:9.2f}{at_goal:9.2f} "
            f"{verdict:4}{rows:10,}{per_element:8.1f}"
        )


def main():
    """Print a table per stream."""
    options = read_options(__doc__, data=None, rows=20_000, repeats=5, support=1_200)
    onlinekern.show_config()
    warnings.filterwarnings("ignore", message="max_support")
    for title, X, y in sources(options):
        print(
            f"\n{title}: {X.shape[0]:,} samples, {X.shape[1]:,} features, "
            f"{X.nnz / X.shape[0]:.0f} stored in a row\n"
            f"{'':31}{'SVs':>7}{'stored':>9}{'us':>9}{'at goal':>9}{'':5}"
            f"{'elements':>10}{'bytes':>8}"
        )
        with threadpool_limits(1):
            cases = [
                Measured(name, X, y, dtype, options.support)
                for name in LEARNERS
                for dtype in common.DTYPES
            ]
            for _ in range(options.repeats):
                for case in cases:
                    case.run()
        for case in cases:
            print(case.line(), flush=True)


if __name__ == "__main__":
    main()
