"""Read the papers' data sets from a folder of LIBSVM files, scaled as their tables need."""

import lzma
from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MinMaxScaler, StandardScaler, minmax_scale, normalize
from sklearn.utils import shuffle

from onlinekern.streams import chess_board, gaussian_mixture, two_normals, two_spirals

FEATURES = {
    "a9a": 123, "cod-rna": 8, "ijcnn1": 22, "usps": 256, "german.numer": 24, "poker": 10,
    "w7a": 300, "reuters-moneyfx": 8315,
}  # fmt: skip


class Folder:
    """Data sets of a folder.

    A set is a tuple (X, y) or (X_train, y_train, X_test, y_test); `get` returns it by name.

    Parameters
    ----------
    path : pathlib.Path
    """

    def __init__(self, path):
        self.path = path
        self.get = lru_cache(maxsize=4)(self._get)

    def _get(self, name):
        """Return a set of the table `SETS` by name."""
        return SETS[name](self)

    def libsvm(self, name, part=None):
        """Read NAME[.PART].libsvm.xz as (CSR matrix, labels)."""
        ending = f".{part}" if part else ""
        with lzma.open(self.path / f"{name}{ending}.libsvm.xz") as file:
            return load_svmlight_file(file, n_features=FEATURES.get(name))

    def both(self, name):
        """Return the training rows followed by the test rows."""
        (X, y), (more, labels) = self.libsvm(name, "train"), self.libsvm(name, "test")
        return sparse.vstack([X, more], format="csr"), np.concatenate([y, labels])

    def split(self, name, change):
        """Return the published parts, scaled by the training rows."""
        if name.startswith("mnist"):
            parts = [np.load(self.path / f"mnist.{part}.npz") for part in ("train", "test")]
            pieces = [(part["X"] / 255.0, part["y"].astype(int)) for part in parts]
        else:
            parts = [self.libsvm(name, part) for part in ("train", "test")]
            pieces = [(X.toarray(), y) for X, y in parts]
        (X, y), (X_test, y_test) = pieces
        if name == "mnist01":
            X, y, X_test, y_test = X[y < 2], y[y < 2], X_test[y_test < 2], y_test[y_test < 2]
        X, X_test = change(X, X_test)
        return X, y, X_test, y_test


def as_they_are(X, X_test):
    """Change nothing."""
    return X, X_test


def standard(X, X_test):
    """Scale features to mean 0 and variance 1 on the training rows."""
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test)


def cube(X, X_test):
    """Scale features to [-1, 1] on the training rows."""
    scaler = MinMaxScaler((-1, 1)).fit(X)
    return scaler.transform(X), scaler.transform(X_test)


def unit(X, X_test):
    """Scale rows to length 1."""
    return normalize(X), normalize(X_test)


def unit_of_positive(X, X_test):
    """Move features from [-1, 1] to [0, 1], then scale rows to length 1."""
    return unit((X + 1) / 2, (X_test + 1) / 2)


def dense(set_):
    """Return a set with its rows as an ndarray."""
    return set_[0].toarray(), set_[1]


def against_the_rest(set_, label):
    """Return a set with one class against the others, features in [0, 1]."""
    X, y = dense(set_)
    return minmax_scale(X), np.where(y == label, 1.0, -1.0)


def in_the_cube(set_):
    """Scale every feature to [-1, 1]."""
    return minmax_scale(dense(set_)[0], (-1, 1)), set_[1]


def part_of(set_, n):
    """Return the first n rows of a set in one order."""
    return shuffle(*set_, random_state=0, n_samples=min(n, len(set_[1])))


def target_in_unit(set_):
    """Scale every feature to [-1, 1] and the target to [0, 1]."""
    X, y = in_the_cube(set_)
    return X, minmax_scale(y)


def late(set_, minutes=15):
    """Return flights, late or not, from those with their delays."""
    X, y = in_the_cube(set_)
    return X, np.where(y >= minutes, 1.0, -1.0)


def digits(folder, *chosen):
    """Return all MNIST images of two digits."""
    X, y, X_test, y_test = folder.split("mnist", as_they_are)
    X, y = np.vstack([X, X_test]), np.concatenate([y, y_test])
    chosen = np.isin(y, chosen)
    return X[chosen], y[chosen]


def madelon(n=2_600, noise=480):
    """Draw a set as madelon: the corners of a cube in 5 dimensions have labels drawn at random.

    15 more features are combinations of these 5; 480 are noise. scikit-learn's generator gives the
    corners their labels in turn, so that a hyperplane divides them.
    """
    rng = np.random.default_rng(0)
    corners = 2.0 * (np.arange(32)[:, None] >> np.arange(5) & 1) - 1
    labels = rng.permutation(np.repeat([-1.0, 1.0], 16))
    own = rng.integers(32, size=n)
    decisive = 2 * corners[own] + rng.standard_normal((n, 5))
    combined = decisive @ rng.uniform(-1, 1, size=(5, 15))
    X = np.hstack([decisive, combined, rng.standard_normal((n, noise))])
    return X[:, rng.permutation(X.shape[1])], labels[own]


def toy(n=8_000, d=200, distance=3.29):
    """Draw two normal classes whose variances fall from 1 to 1 / d.

    The means are `distance` apart in units of these spreads, so the rate of Bayes is 5 %.
    """
    rng = np.random.default_rng(0)
    spreads = np.sqrt(1 / np.arange(1, d + 1))
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    y = rng.choice([-1.0, 1.0], size=n)
    shift = distance / 2 * np.ones(d) / np.sqrt(d)
    return ((rng.standard_normal((n, d)) + y[:, None] * shift) * spreads) @ turn, y


def votes(n=435, issues=16):
    """Draw votes of two parties, each 90 % to 10 % or nearer; one in 16 is missing, which is 0."""
    rng = np.random.default_rng(0)
    y = np.where(rng.uniform(size=n) < 0.39, 1.0, -1.0)
    yes = rng.uniform(0.1, 0.9, size=(2, issues))
    cast = np.where(rng.uniform(size=(n, issues)) < yes[(y > 0).astype(int)], 1.0, -1.0)
    return np.where(rng.uniform(size=(n, issues)) < 1 / 16, 0.0, cast), y


def above_the_median(set_):
    """Scale features to [-1, 1]; the class is whether the target is above its median."""
    X, y = in_the_cube(set_)
    return X, np.where(y > np.median(y), 1.0, -1.0)


SETS = {
    "a9a": lambda folder: folder.both("a9a"),
    "cod-rna": lambda folder: in_the_cube(folder.libsvm("cod-rna", "train")),
    "cod-rna all": lambda folder: in_the_cube(folder.both("cod-rna")),
    "covtype 25k": lambda folder: against_the_rest(folder.libsvm("covtype50.sample25k"), 2),
    "w7a": lambda folder: folder.both("w7a"),
    "KDD08": lambda folder: in_the_cube(folder.libsvm("kdd08")),
    "mixture": lambda folder: gaussian_mixture(1_000_000, random_state=0),
    "ijcnn1 35k": lambda folder: tuple(a[:35_000] for a in dense(folder.libsvm("ijcnn1", "train"))),
    "ijcnn1 50k": lambda folder: dense(folder.libsvm("ijcnn1", "train")),
    "ijcnn1 142k": lambda folder: dense(folder.both("ijcnn1")),
    "poker": lambda folder: in_the_cube(folder.libsvm("poker", "train")),
    "airlines late": lambda folder: late(folder.libsvm("airlines2k")),
    "airlines regression": lambda folder: in_the_cube(folder.libsvm("airlines2k")),
    "year regression": lambda folder: target_in_unit(folder.libsvm("year")),
    "kin40k 20k regression": lambda folder: part_of(
        target_in_unit(folder.libsvm("kin40k")), 20_000
    ),
    "protein regression": lambda folder: target_in_unit(folder.libsvm("protein")),
    "ijcnn1 raw, split": lambda folder: folder.split("ijcnn1", as_they_are),
    "ijcnn1 standard, split": lambda folder: folder.split("ijcnn1", standard),
    "svmguide1 raw, split": lambda folder: folder.split("svmguide1", as_they_are),
    "webspam, split": lambda folder: folder.split("webspam", as_they_are),
    "letter standard, split": lambda folder: folder.split("letter", standard),
    "KDD08, split": lambda folder: folder.split("kdd08", as_they_are),
    "url, split": lambda folder: folder.split("url", as_they_are),
    "Multi-PIE, split": lambda folder: folder.split("multi-pie", as_they_are),
    "usps unit, split": lambda folder: folder.split("usps", unit_of_positive),
    "usps standard, split": lambda folder: folder.split("usps", standard),
    "usps raw, split": lambda folder: folder.split("usps", as_they_are),
    "mnist unit, split": lambda folder: folder.split("mnist", unit),
    "mnist standard, split": lambda folder: folder.split("mnist", standard),
    "mnist 0/1 standard, split": lambda folder: folder.split("mnist01", standard),
    "satimage standard, split": lambda folder: folder.split("satimage", standard),
    "shuttle standard, split": lambda folder: folder.split("shuttle", standard),
    "a9a, split": lambda folder: folder.split("a9a", as_they_are),
    "w7a, split": lambda folder: folder.split("w7a", as_they_are),
    "cod-rna cube, split": lambda folder: folder.split("cod-rna", cube),
    "cod-rna standard, split": lambda folder: folder.split("cod-rna", standard),
    "a9a, divided": lambda folder: dense(folder.both("a9a")),
    "german, divided": lambda folder: dense(folder.libsvm("german.numer")),
    "ijcnn1, divided": lambda folder: dense(folder.libsvm("ijcnn1", "train")),
    "cod-rna, divided": lambda folder: dense(folder.libsvm("cod-rna", "train")),
    "mnist 0/1, divided": lambda folder: digits(folder, 0, 1),
    "mnist 4/9, divided": lambda folder: digits(folder, 4, 9),
    "madelon drawn, divided": lambda folder: madelon(),
    "reuters, divided": lambda folder: folder.both("reuters-moneyfx"),
    "toy drawn, divided": lambda folder: toy(),
    "cifar dog/horse, divided": lambda folder: dense(folder.libsvm("cifar.dog-horse")),
    "sonar": lambda folder: in_the_cube(folder.libsvm("sonar")),
    "reuters, split": lambda folder: (
        *folder.libsvm("reuters-moneyfx", "train"),
        *folder.libsvm("reuters-moneyfx", "test"),
    ),
    "chess board": lambda folder: chess_board(8_000, random_state=0),
    "two normals": lambda folder: two_normals(15_000, distance=2.8, random_state=0),
    "two spirals": lambda folder: two_spirals(5_000, noise=0.02, random_state=0),
    "noisy spirals": lambda folder: two_spirals(5_000, noise=0.06, random_state=0),
    "vote drawn": lambda folder: votes(),
    "cancer Wisconsin": lambda folder: in_the_cube(folder.libsvm("breast-cancer-wisconsin")),
    "prototask cpusmall": lambda folder: above_the_median(folder.libsvm("cpusmall")),
}
