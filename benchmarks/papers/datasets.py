"""Read the papers' data sets from a folder of LIBSVM files, scaled as their tables need."""

import lzma
from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MinMaxScaler, StandardScaler, minmax_scale, normalize

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
        self.get = lru_cache(maxsize=None)(self._get)

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


def in_the_cube(set_):
    """Scale every feature to [-1, 1]."""
    return minmax_scale(dense(set_)[0], (-1, 1)), set_[1]


SETS = {
    "a9a": lambda folder: folder.both("a9a"),
    "cod-rna": lambda folder: in_the_cube(folder.libsvm("cod-rna", "train")),
    "cod-rna all": lambda folder: in_the_cube(folder.both("cod-rna")),
    "mixture": lambda folder: gaussian_mixture(1_000_000, random_state=0),
    "ijcnn1 35k": lambda folder: tuple(a[:35_000] for a in dense(folder.libsvm("ijcnn1", "train"))),
    "ijcnn1 50k": lambda folder: dense(folder.libsvm("ijcnn1", "train")),
    "ijcnn1 142k": lambda folder: dense(folder.both("ijcnn1")),
    "poker": lambda folder: in_the_cube(folder.libsvm("poker", "train")),
    "ijcnn1 raw, split": lambda folder: folder.split("ijcnn1", as_they_are),
    "ijcnn1 standard, split": lambda folder: folder.split("ijcnn1", standard),
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
    "sonar": lambda folder: in_the_cube(folder.libsvm("sonar")),
    "reuters, split": lambda folder: (
        *folder.libsvm("reuters-moneyfx", "train"),
        *folder.libsvm("reuters-moneyfx", "test"),
    ),
    "chess board": lambda folder: chess_board(8_000, random_state=0),
    "two normals": lambda folder: two_normals(15_000, distance=2.8, random_state=0),
    "two spirals": lambda folder: two_spirals(5_000, noise=0.02, random_state=0),
    "vote": lambda folder: dense(folder.libsvm("vote")),
    "cancer": lambda folder: dense(folder.libsvm("cancer")),
    "prototask": lambda folder: dense(folder.libsvm("prototask")),
}
