"""Make, or read, parts of streams in the process that learns them."""

from functools import lru_cache, partial

import numpy as np
from scipy.sparse import vstack

D = 20


def two_gaussians(seed, n_rows):
    """Return rows of two Gaussians that overlap, of different variances: the border is a sphere."""
    rng = np.random.default_rng([seed, n_rows])
    y = rng.integers(0, 2, n_rows)
    X = rng.standard_normal((n_rows, D))
    X *= np.where(y, 1.25, 1.0)[:, None]
    X += np.where(y, 0.25, 0.0)[:, None]
    return X, y


@lru_cache(maxsize=1)
def rows_of(path):
    """Return all rows of a LIBSVM file."""
    from onlinekern.streams import read_blocks

    X, y = zip(*read_blocks(path, n_features=123), strict=True)
    return vstack(X, format="csr"), np.concatenate(y)


def repeated(path, seed, n_rows):
    """Return rows of a file, drawn with replacement."""
    X, y = rows_of(path)
    rows = np.random.default_rng([seed, n_rows]).integers(0, len(y), n_rows)
    return X[rows], y[rows]


def gaussian_parts(n_samples, n_rows):
    """Return functions that make the parts of a stream, and one that makes a test set."""
    parts = [partial(two_gaussians, k, n_rows) for k in range(n_samples // n_rows)]
    return parts, partial(two_gaussians, 2**31, 100_000)


def a9a_parts(folder, n_samples, n_rows):
    """Return the same of a9a."""
    train, test = (f"{folder}/a9a.{part}.libsvm.xz" for part in ("train", "test"))
    parts = [partial(repeated, train, k, n_rows) for k in range(n_samples // n_rows)]
    return parts, partial(rows_of, test)
