"""Compare features of the isolation kernel with random Fourier features, under the same learner.

    python benchmarks/isolation_kernel.py --data DIR [--sets NAME ...] [--orders 3] [--json FILE]

The isolation kernel (Ting, Zhu and Zhou 2018, KDD; cells of nearest points as in Qin et al. 2019,
AAAI) of two samples is the share of T partitions in which they fall into the same cell; the cells
of a partition are those nearest to each of m points, drawn among the first rows. So a sample has T
ones among T m features. Both maps are learnt by FOGD's gradient steps: logistic loss, eta_t = 8 /
t^(1/4), averaged. Rows are standardised by what has been seen; m, or gamma, is chosen by a
learner's own mistakes on the first order. Prints the test error in per cent, mistakes on the way,
and microseconds of CPU time a sample; those of the isolation kernel with NumPy's map.
"""

import numpy as np
from covariances import print_tables
from methods import Learner, library
from scipy import sparse

import onlinekern

SETS = ("ijcnn1", "satimage", "usps", "spambase", "eeg-eye-state", "cod-rna", "a9a")
MOST_ROWS = 6_000
FIRST = 500  # rows among which the points are drawn
CHUNK = 500


class Isolation:
    """The learner of FOGD on cells of nearest points."""

    def __init__(self, n_partitions, m, order):
        self.n_partitions, self.m, self.order = n_partitions, m, order
        fogd = onlinekern.FOGDClassifier().get_params()
        shared = onlinekern.OGDClassifier().get_params().keys() & {
            *("loss", "eta", "schedule", "power", "average", "multi_class")
        }
        given = {name: fogd[name] for name in shared}
        # A constant is a feature of no cell.
        self.model = onlinekern.OGDClassifier(**given, random_state=order)

    def cells(self, X):
        """Return the features of rows, CSR of length 1 each."""
        numbers = np.empty((len(X), self.n_partitions), dtype=np.int64)
        for first in range(0, len(X), CHUNK):
            part = X[first : first + CHUNK]
            near = self.squares - 2 * part @ self.points.T
            near = near.reshape(len(part), self.n_partitions, self.m)
            numbers[first : first + CHUNK] = near.argmin(axis=2)
        numbers += self.m * np.arange(self.n_partitions)
        values = np.full(numbers.size, 1 / np.sqrt(self.n_partitions), dtype=X.dtype)
        starts = self.n_partitions * np.arange(len(X) + 1)
        shape = len(X), self.n_partitions * self.m
        return sparse.csr_matrix((values, numbers.ravel(), starts), shape=shape)

    def partial_fit(self, X, y, classes):
        """Learn rows in turn."""
        rng = np.random.default_rng(self.order)
        known = X[:FIRST]
        self.points = np.concatenate(
            [known[rng.permutation(len(known))[: self.m]] for _ in range(self.n_partitions)]
        )
        self.squares = (self.points**2).sum(axis=1)
        self.model.partial_fit(self.cells(X), y, classes=classes)
        self.n_mistakes_ = self.model.n_mistakes_
        return self

    def predict(self, X):
        """Return the labels of rows."""
        return self.model.predict(self.cells(np.asarray(X)))


def isolation(n_partitions):
    """Return the learner of so many partitions."""
    return Learner(
        lambda d, order, m: Isolation(n_partitions, m, order), {"m": (4, 8, 16, 32, 64, 128)}
    )


def learners():
    """Return the learners by the names of their columns."""
    return {
        "isolation, T = 100": isolation(100),
        "isolation, T = 400": isolation(400),
        "FOGD, 400": library("FOGDClassifier", n_components=400),
        "FOGD, 1,600": library("FOGDClassifier", n_components=1600),
    }


if __name__ == "__main__":
    print_tables(__doc__, SETS, (learners(),), MOST_ROWS)
