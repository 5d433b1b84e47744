"""A metric learnt along a stream, sample by sample.

Written from the notes of `LearntMetric`: at samples 256, 512, ... a kernel machine learns the last
samples in the present metric, whose power of the mean outer product of gradients is the next one.
The machine is the teacher of kernel forests.
"""

import numpy as np

from .fourier import splitmix
from .kernel_forest import Teacher, units_of_targets
from .metric import metric_of, root_of
from .partition import few


class GradientMetric:
    """M of d features; `labels` says whether targets are class numbers."""

    def __init__(self, d, *, full, exponent, labels, seed):
        self.M, self.full, self.exponent = np.eye(d), full, exponent
        self.labels, self.seed = labels, seed
        self.rows, self.targets = [], []

    def moved(self, x):
        return root_of(self.M) @ x

    def learn(self, x, y):
        self.rows.append(x)
        self.targets.append(y)
        n = len(self.rows)
        if n >= 256 and n & (n - 1) == 0:
            M = metric_of(self.gradients(), self.exponent)
            least = 0.1 if n <= 4096 else 0.4
            if np.linalg.norm(self.M - M) > least * np.linalg.norm(M):
                self.M = M

    def gradients(self):
        """Return their mean outer product in the units of x, or its diagonal as a matrix."""
        n, d = len(self.rows), len(self.M)
        kept = min(n, max(256, min(2048, 2**20 // d)))
        X, y = np.array(self.rows[-kept:]), np.array(self.targets[-kept:])
        if self.labels:
            known = np.unique(y)
            Y = np.where(y[:, None] == known, 1.0, -1.0)
            Y = Y[:, 1:] if len(known) == 2 else Y
        else:
            largest = np.abs(y).max()
            offset, unit = units_of_targets(y / largest)
            Y = ((y / largest - offset) / unit)[:, None]
        draws = np.random.RandomState(splitmix(self.seed, n) >> 32)
        Y, landmarks = few(Y, draws), draws.permutation(kept)[:200]
        if not self.full:
            rows, metric = np.clip(X, -8, 8), np.diag(self.M)
            found = Teacher(rows, Y, landmarks, metric).gradients()
            return np.diag((found**2).sum(axis=0).mean(axis=0))
        root = root_of(self.M)
        rows = np.clip(X @ root, -8, 8)
        found = Teacher(rows, Y, landmarks, np.ones(d)).gradients()
        return root @ (np.einsum("kni,knj->ij", found, found) / kept) @ root
