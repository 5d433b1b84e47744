"""Compute kernel least squares in NumPy, by blocks: the peer of the library's learners.

The recursion of `KernelRLSClassifier` and `KernelRLSRegressor` without forgetting, for the Gaussian
kernel, as fast as NumPy and BLAS make it: with rows Phi and targets Y of a block,

    A = L L',  w = A^-1 b,  U = L^-1 Phi',  C C' = I + U'U,  E = C^-1 (Y - Phi w),

the prediction of row i before it is learnt is y_i - C_ii E_i; then A += Phi'Phi and b += Phi'Y.
With a gate, U is formed for the samples that want to enter at the start of the block, and a sample
costs D^2 only if it enters: scores come from kernel values, not from the whitened features. The
features x / sqrt(d) and 1 are always there.

    python benchmarks/peer_kernel_rls.py [--data DIR] [--rows N]

prints the time of a sample and the mistakes on ijcnn1, or on a stream like it.
"""

import time
from dataclasses import dataclass

import numpy as np
from cases import Streams
from command import read_options
from scipy.linalg import blas, lapack
from threadpoolctl import threadpool_limits

from benchmarks import streams


@dataclass
class Growth:
    """Landmarks that a block adds, and the coordinates which they give to the rows after them.

    Attributes
    ----------
    new : ndarray of shape (m, room)
        Coordinate t of row i, 0 where row i comes before landmark t.
    left : ndarray of shape (m,)
        kappa(x, x) that the landmarks so far do not explain.
    """

    X: np.ndarray
    z: np.ndarray
    gamma: float
    room: int
    floor: float

    def __post_init__(self):
        self.new, self.places = np.zeros((len(self.X), min(self.room, len(self.X)))), []
        self.left = 1 - np.einsum("ij,ij->i", self.z, self.z)

    def wants(self, i):
        """Return whether row i may become a landmark."""
        return len(self.places) < self.room and self.left[i] > self.floor

    def add(self, i):
        """Make row i a landmark."""
        t, delta = len(self.places), np.sqrt(self.left[i])
        distance = ((self.X[i:] - self.X[i]) ** 2).sum(axis=1)
        explained = self.z[i:] @ self.z[i] + self.new[i:, :t] @ self.new[i, :t]
        self.new[i:, t] = (np.exp(-self.gamma * distance) - explained) / delta
        self.left[i:] -= self.new[i:, t] ** 2
        self.places.append(i)

    def inverse(self, old):
        """Return L^-1 with the landmarks' rows."""
        rows = self.new[self.places, : len(self.places)]
        n, m = len(old), len(self.places)
        corner = lapack.dtrtri(np.asfortranarray(rows), lower=1)[0]
        found = np.zeros((n + m, n + m))
        found[:n, :n], found[n:, n:] = old, corner
        found[n:, :n] = -corner @ (self.z[self.places] @ old)
        return found


@dataclass
class BlockRLS:
    """Least squares over features of the Gaussian kernel, with a sampler.

    The parameters are those of the library. ``features="fourier"`` takes `frequencies`.
    """

    gamma: float = 1.0
    features: str = "nystroem"
    n_components: int = 400
    selection: str = "first"
    novelty: float = 0.05
    reg: float = 0.1
    gate: str = "margin"
    margin: float = 1.0
    alpha: float = 1.0
    beta: float = 1.0
    weighted: bool = False
    frequencies: np.ndarray = None
    regression: bool = False
    random_state: int = 0
    dtype: type = np.float32

    def start(self, X, y, classes=None):
        """Prepare for the first rows."""
        self.d = X.shape[1]
        if not self.regression:
            self.classes_ = np.unique(y) if classes is None else np.asarray(classes)
        two = self.regression or len(self.classes_) == 2
        self.n_outputs = 1 if two else len(self.classes_)
        self.rng = np.random.default_rng(self.random_state)
        self.rows, self.inverse = np.zeros((0, self.d), self.dtype), np.zeros((0, 0))
        if self.features == "fourier" and self.frequencies is None:
            self.frequencies = self.orthogonal()
        fourier = self.features == "fourier"
        size = self.d + 1 + (2 * len(self.frequencies) if fourier else 0)
        self.A = np.asfortranarray(self.reg * np.eye(size))
        self.b = np.zeros((size, self.n_outputs))
        self.rate, self.stale = 1.0, True
        self.n_seen_ = self.n_entered_ = self.n_mistakes_ = 0
        self.cumulative_loss_ = 0.0  # in regression

    def orthogonal(self):
        """Return orthogonal frequencies with the lengths of N(0, 2 gamma I)."""
        found = []
        for _ in range(-(-(self.n_components // 2) // self.d)):
            Q, _ = np.linalg.qr(self.rng.standard_normal((self.d, self.d)))
            lengths = np.sqrt(self.rng.chisquare(self.d, self.d))
            found.append(np.sqrt(2 * self.gamma) * lengths[:, None] * Q)
        return np.concatenate(found)[: self.n_components // 2].astype(self.dtype)

    # Features

    def raw(self, X):
        """Return [x / sqrt(d), 1] beside kernel values with the landmarks, or Fourier features."""
        parts = [X / self.dtype(np.sqrt(self.d)), np.ones((len(X), 1), self.dtype)]
        if self.features == "fourier":
            angles = X @ self.frequencies.T
            scale = self.dtype(1 / np.sqrt(len(self.frequencies)))
            parts += [scale * np.cos(angles), scale * np.sin(angles)]
        elif len(self.rows):
            values = X @ self.rows.T
            values *= 2
            values -= np.einsum("ij,ij->i", X, X)[:, None]
            values -= self.lengths
            values *= self.dtype(self.gamma)
            np.minimum(values, 0, out=values)
            parts.append(np.exp(values, out=values))
        return np.concatenate(parts, axis=1)

    def whitened(self, raw, dtype=None):
        """Return the features phi of rows from what `raw` gave."""
        if self.features == "fourier":
            return raw
        beside, inverse = raw.shape[1] - len(self.rows), self.inverse.astype(dtype or self.dtype)
        return np.concatenate([raw[:, :beside], raw[:, beside:] @ inverse.T], axis=1)

    def back(self, columns):
        """Return the columns c' with raw c' = phi c."""
        if self.features == "fourier":
            return columns.astype(self.dtype)
        beside, inverse = len(columns) - len(self.rows), self.inverse.astype(columns.dtype)
        both = [columns[:beside], inverse.T @ columns[beside:]]
        return np.concatenate(both).astype(self.dtype)

    def growth(self, X, raw):
        """Return the landmarks to come, None if there is no room for them."""
        room = self.n_components - len(self.rows)
        if self.features == "fourier" or room == 0:
            return None
        first = float(np.sqrt(np.finfo(self.dtype).eps))
        floor = first if self.selection == "first" else self.novelty
        z = raw[:, raw.shape[1] - len(self.rows) :].astype(float) @ self.inverse.T
        return Growth(X.astype(float), z, self.gamma, room, floor)

    def border(self, growth):
        """Take the landmarks of a block: new rows and columns of A."""
        m, size = len(growth.places), len(self.A)
        self.inverse = growth.inverse(self.inverse)
        new = growth.X[growth.places].astype(self.dtype)
        self.rows = np.concatenate([self.rows, new])
        self.lengths = np.einsum("ij,ij->i", self.rows, self.rows)
        A = np.asfortranarray(self.reg * np.eye(size + m))
        A[:size, :size] = self.A
        self.A, self.b = A, np.concatenate([self.b, np.zeros((m, self.n_outputs))])
        self.stale = True

    # Linear algebra

    def refactor(self):
        """Compute L and w from A and b; only the lower half of A is kept."""
        if not self.stale:
            return
        L, failed = lapack.dpotrf(self.A, lower=1, clean=1)
        if failed:
            raise FloatingPointError("A is not positive definite")
        self.w = lapack.dpotrs(L, self.b, lower=1)[0]
        self.L = L.astype(self.dtype, order="F")
        self.scoring, self.stale = self.back(self.w), False

    def of_dtype(self, module, name):
        """Return a function of BLAS or LAPACK for the samples' dtype."""
        return getattr(module, ("s" if self.dtype is np.float32 else "d") + name)

    def add(self, phi, targets, importances=None):
        """Add rows to A and b."""
        weighted = phi if importances is None else phi * importances[:, None].astype(self.dtype)
        if importances is None:
            self.A += self.of_dtype(blas, "syrk")(1.0, phi.T, lower=1)
        else:
            self.A += weighted.T @ phi
        self.b += weighted.T @ targets.astype(self.dtype)
        self.stale = True

    # Learning

    def partial_fit(self, X, y, classes=None):
        """Learn rows; return the score of each before it was learnt."""
        X = np.ascontiguousarray(X, dtype=self.dtype)
        if not hasattr(self, "A"):
            self.start(X, y, classes)
        scores, start = [], 0
        while start < len(X):
            # The factor of A is paid for by the block, corrections by sample of the block and
            # sample that enters: D^3 / (3 m) + rate m D is least there.
            size = max(len(self.A), min(self.n_components, 100))
            m = max(16, int(size / np.sqrt(3 * max(self.rate, 0.01))))
            rows, labels = X[start : start + m], y[start : start + m]
            entered = self.n_entered_
            scores.append(self.learn(rows, labels))
            self.rate += 0.5 * ((self.n_entered_ - entered) / len(rows) - self.rate)
            start += m
        return np.concatenate(scores)

    def learn(self, X, y):
        """Learn a block; return its scores, each before its row was learnt."""
        targets = self.targets(y)
        scores = (self.all_enter if self.gate == "always" else self.some_enter)(X, targets)
        self.n_seen_ += len(X)
        if self.regression:
            self.cumulative_loss_ += float(((scores - targets) ** 2).sum()) / 2
        else:
            self.n_mistakes_ += int((self.labels(scores) != y).sum())
        return scores

    def targets(self, y):
        """Return the targets of the outputs, (m, K)."""
        if self.regression:
            return np.asarray(y, float)[:, None]
        if self.n_outputs == 1:
            return np.where(y == self.classes_[1], 1.0, -1.0)[:, None]
        return np.where(y[:, None] == self.classes_, 1.0, -1.0)

    def labels(self, scores):
        """Return the labels of scores, (m, K)."""
        if self.n_outputs == 1:
            return self.classes_[(scores[:, 0] > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]

    def all_enter(self, X, targets):
        """Learn a block of which all samples enter."""
        raw = self.raw(X)
        growth = self.growth(X, raw)
        phi = self.whitened(raw)
        for i in range(len(X) if growth else 0):
            if growth.wants(i):
                growth.add(i)
        if growth and growth.places:
            new = growth.new[:, : len(growth.places)].astype(self.dtype)
            phi = np.concatenate([phi, new], axis=1)
            self.border(growth)
        self.refactor()
        U = self.of_dtype(blas, "trsm")(1.0, self.L, phi.T, lower=1)
        G = self.of_dtype(blas, "syrk")(1.0, U, trans=1, lower=1)
        G[np.diag_indices_from(G)] += 1
        C, _ = self.of_dtype(lapack, "potrf")(G, lower=1, overwrite_a=1)
        ahead = targets - phi @ self.w.astype(self.dtype)
        E = self.of_dtype(blas, "trsm")(1.0, C, ahead.astype(self.dtype), lower=1)
        self.add(phi, targets)
        self.n_entered_ += len(X)
        return targets - np.diag(C)[:, None] * E

    def margins(self, scores, targets):
        """Return y f, or the score of the own class less the largest other one."""
        if self.n_outputs == 1:
            return targets[:, 0] * scores[:, 0]
        own = targets > 0
        return scores[own] - np.where(own, -np.inf, scores).max(axis=1)

    def likely(self, margins, lots):
        """Return the rows of a block that would enter by their margins at its start."""
        if lots is None:
            return np.flatnonzero(margins < self.margin)
        probability = np.minimum(self.alpha, np.maximum(0, 1 - margins)) / self.beta
        return np.flatnonzero(lots < probability)

    def directions(self, phi):
        """Return A^-1 phi' of some rows, in the coordinates of `raw`."""
        trsm = self.of_dtype(blas, "trsm")
        U = trsm(1.0, self.L, phi.T, lower=1)
        return self.back(trsm(1.0, self.L, U, lower=1, trans_a=1))

    def some_enter(self, X, targets):
        """Learn a block of which a sampler lets some enter."""
        self.refactor()
        raw = self.raw(X)
        growth = self.growth(X, raw)
        scores = raw @ self.scoring
        lots = self.rng.random(len(X)) if self.gate == "loss_proportional" else None
        ahead = self.likely(self.margins(scores, targets), lots)
        columns = self.directions(self.whitened(raw[ahead]))
        # A row's product with each row ahead, in the metric of A^-1.
        products = dict(zip(ahead.tolist(), columns.T @ raw.T, strict=True))
        entered = Entered(scores, targets.astype(self.dtype))
        own = targets.argmax(axis=1).tolist() if self.n_outputs > 1 else targets[:, 0].tolist()
        for i in range(len(X)):
            importance = self.importance(margin_of(scores[i], own[i]), lots, i)
            if (
                growth is not None
                and growth.wants(i)
                and (importance or self.selection != "margin")
            ):
                growth.add(i)
            if importance:
                if i not in products:
                    products[i] = raw @ self.directions(self.whitened(raw[i : i + 1]))[:, 0]
                product = products[i][i:]
                if growth is not None:
                    t = len(growth.places)
                    product = product + growth.new[i:, :t] @ growth.new[i, :t] / self.reg
                entered.add(i, product, importance)
        self.take(raw, growth, entered, targets)
        return scores

    def importance(self, margin, lots, i):
        """Return the importance of sample i, 0 if it does not enter."""
        if lots is None:
            return float(margin < self.margin)
        probability = min(self.alpha, max(0.0, 1 - margin)) / self.beta
        if lots[i] >= probability:
            return 0.0
        return 1 / probability if self.weighted else 1.0

    def take(self, raw, growth, entered, targets):
        """Add the rows that entered to A and b, and the landmarks of the block to the features."""
        rows = entered.places
        phi = self.whitened(raw[rows])
        if growth and growth.places:
            new = growth.new[rows, : len(growth.places)].astype(self.dtype)
            phi = np.concatenate([phi, new], axis=1)
            self.border(growth)
        if rows:
            self.add(phi, targets[rows], np.array(entered.importances) if self.weighted else None)
            self.n_entered_ += len(rows)

    def decision_function(self, X):
        """Return the scores of rows, (m, K)."""
        self.refactor()
        return self.raw(np.ascontiguousarray(X, self.dtype)) @ self.scoring

    def predict(self, X):
        """Return the labels of rows, or their targets."""
        scores = self.decision_function(X)
        return scores[:, 0] if self.regression else self.labels(scores)


def margin_of(scores, own):
    """Return y f, or the score of class `own` less the largest other one."""
    if len(scores) == 1:
        return own * float(scores[0])
    others = scores.tolist()
    mine = others.pop(own)
    return mine - max(others)


class Entered:
    """The rows of a block that entered, and the scores of those after them.

    Attributes
    ----------
    scores : ndarray of shape (m, K)
        Of each row before it is learnt, once its turn has come.
    columns : ndarray of shape (m, number that entered)
        The rows of C: of a row that has not entered, what it would have there.
    """

    def __init__(self, scores, targets):
        self.scores, self.targets = scores, targets
        self.columns = np.zeros((len(scores), 64), scores.dtype)
        self.places, self.importances = [], []

    def add(self, i, product, importance):
        """Take row i; `product` are those of rows i, i + 1, ... with it in the metric of A^-1."""
        s, root = len(self.places), importance**0.5
        if s == self.columns.shape[1]:
            self.columns = np.concatenate([self.columns, np.zeros_like(self.columns)], axis=1)
        column = root * (product - self.columns[i:, :s] @ self.columns[i, :s])
        diagonal = (1 + root * float(column[0])) ** 0.5
        column /= diagonal
        innovation = root / diagonal * (self.targets[i] - self.scores[i])
        self.scores[i + 1 :] += column[1:, None] * innovation
        self.columns[i:, s] = column
        self.places.append(i)
        self.importances.append(importance)


def main():
    """Print times and mistakes."""
    options = read_options(__doc__, data=None, rows=20_000)
    X, y = Streams(options.data, options.rows).get("ijcnn1")
    X = streams.laid_out(X, "float32", "dense")
    with threadpool_limits(1):
        for features in ("fourier", "nystroem"):
            for n in (256, 512):
                for gate in ("always", "margin"):
                    model = BlockRLS(3 / X.shape[1], features, n, gate=gate)
                    start = time.process_time()
                    model.partial_fit(X, y)
                    us = 1e6 * (time.process_time() - start) / len(y)
                    share, mistakes = model.n_entered_ / len(y), 100 * model.n_mistakes_ / len(y)
                    print(
                        f"{features:9} {n:4} {gate:7}{us:8.1f} us, {mistakes:5.2f} % mistakes,"
                        f" {share:5.1%} entered"
                    )


if __name__ == "__main__":
    main()
