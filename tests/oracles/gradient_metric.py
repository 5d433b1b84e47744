"""A metric learnt along a stream, sample by sample.

Written from the notes of `LearntMetric`: at samples 256, 512, ... a kernel machine learns the last
samples in the present metric, whose power of the mean outer product of gradients is the next one.
The machine is the teacher of kernel forests.

Which form the metric has may be chosen as that of kernel least squares is (`metric`), without other
widths: samples are held within 8, and the least squares have the teacher's width, linear features
of no more than MOST_TURNED, and the best of three prior precisions.
"""

from functools import partial

import numpy as np

from .fourier import splitmix
from .kernel_forest import Teacher, units_of_targets
from .kernel_rls import Landmarks
from .kernels import kernel_matrix
from .metric import FORMS, HALF, LEAST_GAIN, ROUNDING, TRIED, metric_of, root_of
from .partition import few

MOST_TURNED = 256
REGS = (0.1, 1, 0.01)


class GradientMetric:
    """M of d features; `labels` says whether targets are class numbers.

    `full` is True, False, or None where the form is chosen.
    """

    def __init__(self, d, *, full, exponent, labels, seed):
        self.M, self.full, self.exponent = np.eye(d), full, exponent
        self.labels, self.seed = labels, seed
        self.rows, self.targets = [], []
        self.place, self.before = 1, None

    def moved(self, x):
        return root_of(self.M) @ x

    def learn(self, x, y):
        self.rows.append(x)
        self.targets.append(y)
        n = len(self.rows)
        if n >= 256 and n & (n - 1) == 0:
            M = self.metric_to_be()
            least = 0.1 if n <= 4096 else 0.4
            if np.linalg.norm(self.M - M) > least * np.linalg.norm(M):
                self.M = M

    def metric_to_be(self):
        """Return M as the last samples have it."""
        n, d = len(self.rows), len(self.M)
        kept = min(n, max(256, min(2048, 2**20 // d)))
        X, Y = np.array(self.rows[-kept:]), self.outputs(np.array(self.targets[-kept:]))
        draws = np.random.RandomState(splitmix(self.seed, n) >> 32)
        turns = d <= MOST_TURNED if self.full is None else self.full
        G = self.gradients(X, few(Y, draws), draws.permutation(kept)[:200], turns)
        if self.full is not None:
            return metric_of(G, self.exponent)
        if self.before is not None and n <= 4096:
            half = min(kept // 2, HALF)
            landmarks = np.sort(draws.permutation(half)[:TRIED])
            X, Y = np.clip(X, -8, 8)[-2 * half :], Y[-2 * half :]
            errors = [self.error(X, Y, landmarks, place) for place in range(3 + turns)]
            best = int(np.argmin(errors))
            if errors[best] < (1 - LEAST_GAIN) * errors[self.place]:
                self.place = best
        self.before = G
        return self.formed(G, self.place)

    def formed(self, G, place):
        """Return the metric of a form."""
        full, factor = FORMS[place]
        return metric_of(G if full else np.diag(np.diag(G)), factor * self.exponent)

    def error(self, X, Y, landmarks, place):
        """Return the error at the second half of rows, after the first, in a form of metric."""
        d, half = X.shape[1], len(X) // 2
        Z = X @ root_of(self.formed(self.before, place))
        kernel = partial(kernel_matrix, "gaussian", gamma=0.25 / d)
        map_ = Landmarks(kernel, TRIED, "first", ROUNDING, ROUNDING)
        for row in landmarks:
            map_.consider(row, Z[row], True)
        phi = np.array([map_.features(z) for z in Z])
        if d <= MOST_TURNED:
            phi = np.hstack([X / np.sqrt(d), np.ones((len(X), 1)), phi])
        errors = []
        for reg in REGS:
            A = phi[:half].T @ phi[:half] + reg * np.eye(phi.shape[1])
            scores = phi[half:] @ np.linalg.solve(A, phi[:half].T @ Y[:half])
            scores = np.clip(scores, -1, 1) if self.labels else scores
            unit = np.mean(Y[half:] ** 2, axis=0)
            errors.append(np.mean(np.mean((scores - Y[half:]) ** 2, axis=0) / unit))
        return min(errors)

    def outputs(self, y):
        """Return the targets of the machine's outputs."""
        if not self.labels:
            largest = np.abs(y).max()
            offset, unit = units_of_targets(y / largest)
            return ((y / largest - offset) / unit)[:, None]
        known = np.unique(y)
        Y = np.where(y[:, None] == known, 1.0, -1.0)
        return Y[:, 1:] if len(known) == 2 else Y

    def gradients(self, X, Y, landmarks, full):
        """Return their mean outer product in the units of x, or its diagonal as a matrix."""
        if not full:
            found = Teacher(np.clip(X, -8, 8), Y, landmarks, np.diag(self.M)).gradients()
            return np.diag((found**2).sum(axis=0).mean(axis=0))
        root = root_of(self.M)
        rows = np.clip(X @ root, -8, 8)
        found = Teacher(rows, Y, landmarks, np.ones(len(root))).gradients()
        return root @ (np.einsum("kni,knj->ij", found, found) / len(X)) @ root
