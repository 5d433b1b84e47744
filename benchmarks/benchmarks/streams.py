"""Make the streams of the benchmarks. Seeds fix them: all machines see the same samples.

They are generated here, not by the library, so a change of the library cannot change them.
"""

import lzma
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from scipy import sparse

# Categories of the fourteen attributes of a9a (Adult, one-hot; numbers are binned).
CATEGORIES = (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)
N_FEATURES = sum(CATEGORIES)
# With these, SPA with the paper's parameters does about the same on as many rows as on a9a:
# mistakes on 17.4 % of the samples and 1,410 support vectors (a9a: 18 % and 1,350).
SKEW = 2.0
THRESHOLD = 0.754
NOISE = 0.4


def sparse_binary(n_samples, seed=0):
    """Generate a stream that costs as much as a9a: 123 binary features, 14 ones per row.

    No row comes twice. A passive-aggressive step leaves its own row at a loss of 0 up to rounding,
    so rounding would decide about the update at a second occurrence.

    Parameters
    ----------
    n_samples : int
    seed : int

    Returns
    -------
    X : CSR matrix of shape (n_samples, 123), float64
    y : ndarray of shape (n_samples,)
        -1 or +1, a quarter of them positive.
    target : ndarray of shape (n_samples,)
        A smooth target plus noise, for regression.
    """
    generator = np.random.default_rng(seed)
    columns, latent = distinct_categories(2 * n_samples, generator)
    if len(columns) < n_samples:
        raise ValueError(f"{n_samples} different rows are more than the categories give")
    columns, latent = columns[:n_samples], latent[:n_samples]
    latent = (latent - latent.mean()) / latent.std()
    noisy = latent + NOISE * generator.standard_normal(n_samples)
    starts = np.arange(0, columns.size + 1, len(CATEGORIES), dtype=np.int32)
    X = sparse.csr_matrix(
        (np.ones(columns.size), columns.ravel(), starts), shape=(n_samples, N_FEATURES)
    )
    return X, np.where(noisy > THRESHOLD, 1, -1), noisy


def distinct_categories(n_samples, generator):
    """Generate rows with one column per attribute, and the sums of the weights of their columns.

    Duplicate rows are left out.
    """
    columns = np.empty((n_samples, len(CATEGORIES)), np.int32)
    latent = np.zeros(n_samples)
    first = 0
    for attribute, count in enumerate(CATEGORIES):
        share = 1.0 / np.arange(1, count + 1) ** SKEW
        drawn = generator.choice(count, n_samples, p=share / share.sum())
        latent += generator.standard_normal(count)[drawn]
        columns[:, attribute] = first + drawn
        first += count
    kept = np.sort(np.unique(columns, axis=0, return_index=True)[1])
    return columns[kept], latent[kept]


def gaussian_mixture(n_samples, seed=0):
    """Generate the SPA paper's two normals in the plane: N((0, 0), I) 40 %, N((2, 0), 4 I) 60 %.

    Parameters
    ----------
    n_samples : int
    seed : int

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        -1 or +1.
    target : ndarray of shape (n_samples,)
        A smooth target plus noise, for regression.
    """
    generator = np.random.default_rng(seed)
    positive = generator.random(n_samples) < 0.6
    X = generator.standard_normal((n_samples, 2))
    X[positive] = 2.0 * X[positive] + (2.0, 0.0)
    target = np.sin(X[:, 0]) + np.cos(X[:, 1]) + 0.3 * generator.standard_normal(n_samples)
    return X, np.where(positive, 1, -1), target


def text(n_samples, d, stored, seed=0):
    """Generate rows like text: few features are frequent, most are rare.

    The logarithms of their ranks are uniform, values are positive, rows have length 1.

    Parameters
    ----------
    n_samples, d, stored : int
        Rows, features, and words per row; a repeated word is stored once.
    seed : int

    Returns
    -------
    X : CSR matrix of shape (n_samples, d), float64
    y : ndarray of shape (n_samples,)
        -1 or +1.
    """
    generator = np.random.default_rng(seed)
    columns = np.minimum(d ** generator.random(n_samples * stored), d - 1).astype(np.int32)
    starts = np.arange(0, n_samples * stored + 1, stored)
    values = generator.random(n_samples * stored)
    X = sparse.csr_matrix((values, columns, starts), shape=(n_samples, d))
    X.sum_duplicates()
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sparse.csr_matrix(X.multiply(1 / lengths[:, None]))
    return X, np.where(X @ generator.standard_normal(d) > 0, 1, -1)


def a9a(folder, seed=0):
    """Read a9a, training and test part joined as in the SPA paper, in a random order.

    Parameters
    ----------
    folder : path
        Holds ``a9a.train.libsvm.xz`` and ``a9a.test.libsvm.xz``.
    seed : int

    Returns
    -------
    X : CSR matrix of shape (48842, 123), float64
    y : ndarray of shape (48842,)
        -1 or +1.
    target : ndarray of shape (48842,)
        The labels as numbers.
    """
    X, y = libsvm(folder, "a9a", ("train", "test"), N_FEATURES)
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order].astype(np.intp), y[order]


def libsvm(folder, name, parts, n_features=None):
    """Read the parts of a data set, ``NAME.PART.libsvm.xz``, one after the other.

    Parameters
    ----------
    folder : path
    name : str
    parts : iterable of str
        An empty name stands for ``NAME.libsvm.xz``.
    n_features : int, optional
        Default: as many as the part with the most.

    Returns
    -------
    X : CSR matrix of shape (n_samples, n_features), float64
    y : ndarray of shape (n_samples,), float64
    """
    from sklearn.datasets import load_svmlight_files

    with ExitStack() as stack:
        names = [".".join(filter(None, (name, part, "libsvm.xz"))) for part in parts]
        files = [stack.enter_context(lzma.open(Path(folder) / file, "rb")) for file in names]
        read = load_svmlight_files(files, n_features=n_features)
    return sparse.vstack(read[::2], format="csr"), np.concatenate(read[1::2])


def laid_out(X, dtype, layout):
    """Return X as ``layout`` ("csr" or "dense") of ``dtype``."""
    if layout == "csr":
        return sparse.csr_matrix(X, dtype=dtype)
    return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=dtype)
