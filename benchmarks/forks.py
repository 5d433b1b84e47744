"""Compare FORKS with kernel AROW whose covariance is a sketch, and with exact least squares.

    python benchmarks/forks.py --data DIR [--sets NAME ...] [--orders 3] [--json FILE]

FORKS (Wen et al. 2025, "Fast second-order online kernel learning through incremental matrix
sketching and decomposition", IJCAI; arXiv 2410.11188) as `Forks` below says. One pass over at most
6,000 rows that are standardised by what has been seen; gamma, and of FORKS the curvature and the
prior, are chosen by a learner's own mistakes on the first order. Prints the test error in per cent,
mistakes on the way, and microseconds of CPU time a sample; that of FORKS is NumPy's.
"""

import numpy as np
from covariances import arow, print_tables
from methods import GAMMAS, Learner, library

SETS = ("ijcnn1", "spambase", "eeg-eye-state", "cod-rna", "a9a")
MOST_ROWS = 6_000
LEAST = 1e-10  # of the largest singular value: smaller ones are rounding


class Forks:
    """Second-order kernel gradient descent on features of an incremental sketch; two classes.

    The first `budget` mistakes of kernel gradient descent are sketched: with S_p a sparse random
    projection (each sample is added with a sign to one of `n_projected` rows) and S_m a sample of
    `n_columns` of them, P = S_p' K S_m, R = S_p' K S_p. The truncated decomposition P = U s V' of
    `rank` gives the features phi(x) = k_m(x) Z, Z = V s^-1 (U' R U)^(1/2), so phi phi' is about K.
    Then A <- A + sigma g g', w <- w - A^-1 g with g the gradient of the squared hinge. After every
    `cycle` samples the next one joins both sketches by an update of low rank; w and A are carried
    over to the new features. Where the authors update the decomposition, it is computed anew here:
    that is exact, and slower.

    Notes
    -----
    Written from the abstract, and from the sketch of Zhang and Liao (2019) that it builds on, not
    from the authors' program. The squared hinge, `sigma` and `prior` are chosen here.
    """

    def __init__(self, gamma, order, rank, n_columns, n_projected, budget, cycle, sigma, prior):
        self.gamma, self.rng = gamma, np.random.default_rng(order)
        self.rank, self.n_columns, self.n_projected = rank, n_columns, n_projected
        self.budget, self.cycle, self.sigma, self.prior = budget, cycle, sigma, prior
        self.rows, self.steps, self.n_mistakes_, self.seen = [], [], 0, 0
        self.Z = None

    def values(self, X, Y):
        """Return kernel values of rows with others."""
        squares = (X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1) - 2 * X @ Y.T
        return np.exp(-self.gamma * np.maximum(squares, 0.0))

    def partial_fit(self, X, y, classes):
        """Learn rows of two classes in turn."""
        self.classes_ = classes
        for x, sign in zip(
            np.asarray(X, dtype=float), np.where(y == classes[1], 1, -1), strict=True
        ):
            self.seen += 1
            f = self.score(x[None])[0]
            self.n_mistakes_ += (f > 0) != (sign > 0)
            if self.Z is None:
                self.first(x, sign, f)
            else:
                self.second(x, sign, f)
        return self

    def score(self, X):
        """Return the scores of rows."""
        if self.Z is not None:
            return self.values(X, self.columns) @ (self.Z @ self.w)
        if not self.rows:
            return np.zeros(len(X))
        return self.values(X, np.array(self.rows)) @ np.array(self.steps)

    def predict(self, X):
        """Return the labels of rows."""
        return self.classes_[(self.score(np.asarray(X, dtype=float)) > 0).astype(int)]

    def first(self, x, sign, f):
        """Take a step of kernel gradient descent, and sketch once there are enough."""
        if sign * f < 1:
            self.rows.append(x)
            self.steps.append(0.5 * sign)
        if len(self.rows) == self.budget:
            self.begin()

    def begin(self):
        """Sketch the support vectors, and project the function on the features."""
        rows = np.array(self.rows)
        self.places = self.rng.integers(self.n_projected, size=len(rows))
        self.signs = self.rng.choice((-1.0, 1.0), size=len(rows))
        self.columns = rows[self.rng.permutation(len(rows))[: self.n_columns]]
        sketch = np.zeros((self.n_projected, len(rows)))
        sketch[self.places, np.arange(len(rows))] = self.signs
        self.P = sketch @ self.values(rows, self.columns)
        self.R = sketch @ self.values(rows, rows) @ sketch.T
        self.Z = self.decomposed()
        phi = self.values(rows, self.columns) @ self.Z
        scores = self.values(rows, rows) @ np.array(self.steps)
        self.w = np.linalg.lstsq(phi, scores, rcond=LEAST)[0]
        self.A = self.prior * np.eye(self.Z.shape[1])
        self.inverse = np.linalg.inv(self.A)

    def decomposed(self):
        """Return Z of the present sketches."""
        U, s, V = np.linalg.svd(self.P, full_matrices=False)
        k = min(self.rank, int((s > LEAST * s[0]).sum()))
        values, vectors = np.linalg.eigh(U[:, :k].T @ self.R @ U[:, :k])
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return (V[:k].T / s[:k]) @ root

    def second(self, x, sign, f):
        """Take a step of the second order; now and then, let the sample join the sketches."""
        if sign * f < 1:
            g = -2 * sign * (1 - sign * f) * (self.values(x[None], self.columns) @ self.Z)[0]
            direction = self.inverse @ g
            self.A += self.sigma * np.outer(g, g)
            scale = self.sigma / (1 + self.sigma * g @ direction)
            self.inverse -= scale * np.outer(direction, direction)
            self.w -= self.inverse @ g
        if self.seen % self.cycle == 0:
            self.join(x)

    def join(self, x):
        """Add a sample to both sketches, and carry the model over to the new features."""
        place, sign = self.rng.integers(self.n_projected), self.rng.choice((-1.0, 1.0))
        known = self.values(x[None], np.array(self.rows))[0] * self.signs
        cross = np.bincount(self.places, known, self.n_projected)
        self.P[place] += sign * self.values(x[None], self.columns)[0]
        self.R[place] += sign * cross
        self.R[:, place] += sign * cross
        self.R[place, place] += 1.0
        self.rows.append(x)
        self.places, self.signs = np.append(self.places, place), np.append(self.signs, sign)
        before, self.Z = self.Z, self.decomposed()
        turn = np.linalg.lstsq(self.Z, before, rcond=LEAST)[0]
        self.w = turn @ self.w
        back = np.linalg.pinv(turn, rcond=LEAST)
        learnt = back.T @ (self.A - self.prior * np.eye(len(self.A))) @ back
        self.A = self.prior * np.eye(len(learnt)) + (learnt + learnt.T) / 2
        self.inverse = np.linalg.inv(self.A)


def forks(rank, n_columns, n_projected, budget, cycle=200):
    """Return FORKS of these sizes."""

    def make(d, order, gamma, sigma, prior):
        sizes = rank, n_columns, n_projected, budget, cycle
        return Forks(gamma / d, order, *sizes, sigma, prior)

    return Learner(make, {"gamma": GAMMAS, "sigma": (0.1, 1.0), "prior": (0.1, 1.0)})


def learners():
    """Return the learners by the names of their columns."""
    return {
        "FORKS, 20 of 60": forks(20, 60, 150, 200),
        "FORKS, 100 of 200": forks(100, 200, 300, 400),
        # As many features as FORKS has, without the linear ones.
        "sketched, 50 of 100": arow(covariance="sketched", n_components=100, linear=False),
        "sketched, 20": arow(covariance="sketched", sketch_size=20),
        "sketched, 50": arow(covariance="sketched"),
        "least squares": library("KernelRLSClassifier"),
    }


if __name__ == "__main__":
    print_tables(__doc__, SETS, (learners(),), MOST_ROWS)
