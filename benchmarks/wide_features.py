"""Time random Fourier features without a matrix of frequencies, beside those of a matrix.

    python benchmarks/wide_features.py [--data DIR] [--frequencies N] [--repeats N]

Three tables. FOGD on sparse rows of 48 elements whose columns follow Zipf's law: microseconds a
sample, and what the features take. Features of dense random rows: microseconds a row, and the
largest and the mean error of the kernel. With DIR, mistakes of FOGD on a9a and MNIST, each sample
predicted before it is learnt, means of three seeds. CPU times of one thread, float32, minima of the
repeats, which take turns.
"""

import time
from functools import partial
from pathlib import Path

import numpy as np
from command import read_options
from scipy import sparse
from scipy.spatial.distance import cdist

import onlinekern
from benchmarks import streams

STORED = 48
WIDTHS = {"a9a": 0.05, "mnist": 0.02}
KINDS = ("plain", "orthogonal", "structured", "hashed")


def best(calls, repeats, rows):
    """Return the least CPU microseconds a row of each call; the calls alternate."""
    least = np.full(len(calls), np.inf)
    for _ in range(repeats):
        for i, call in enumerate(calls):
            start = time.process_time()
            call()
            least[i] = min(least[i], 1e6 * (time.process_time() - start) / rows)
    return least


def texts(d, n=2_000):
    """Return sparse rows of d columns, a column's frequency like 1 / its number, and labels."""
    rng = np.random.default_rng(0)
    columns = np.minimum(np.floor(d ** rng.random((n, STORED))).astype(np.int32), d) - 1
    y = np.where(columns[:, 0] % 2 == 0, 1, -1)
    values = np.full(columns.size, 1 / np.sqrt(STORED), np.float32)
    starts = np.arange(0, columns.size + 1, STORED)
    X = sparse.csr_matrix((values, columns.ravel(), starts), shape=(n, d))
    X.sum_duplicates()
    return X, y


def wide(options):
    """Print the table of sparse rows."""
    print(f"\nFOGD, {options.frequencies} frequencies, sparse rows of {STORED} elements")
    models, calls = [], []
    for d, kind in ((20_000, "plain"), (20_000, "hashed"), (5_000_000, "auto")):
        X, y = texts(d)
        parameters = {"gamma": 0.5, "random_state": 0, "frequencies": kind, "average": False}
        model = onlinekern.FOGDClassifier(n_components=options.frequencies, **parameters)
        model.fit(X, y)
        models.append((d, kind, model))
        calls.append(partial(model.partial_fit, X, y))
    for (d, kind, model), us in zip(models, best(calls, options.repeats, 2_000), strict=True):
        matrix = 4e-6 * options.frequencies * d
        held = matrix if kind == "plain" else 4e-6 * 4096 * 64
        name = type(model._model.space.map).__name__
        print(f"{d:>10,} {name:18}{us:8.2f} us {held:8.1f} MB (a matrix: {matrix:8,.0f} MB)")


def dense(options):
    """Print the table of dense rows."""
    print(f"\nfeatures of dense rows, {options.frequencies} frequencies")
    for d in (123, 784, 5_000):
        X = np.random.default_rng(0).normal(size=(256, d)).astype(np.float32) / np.sqrt(d)
        kernel = np.exp(-0.5 * cdist(X, X, "sqeuclidean"))
        maps = [
            onlinekern.FourierFeatures(
                n_components=options.frequencies, gamma=0.5, frequencies=kind, random_state=0
            ).fit(X)
            for kind in KINDS
        ]
        times = best([partial(z.transform, X) for z in maps], options.repeats, len(X))
        for kind, made, us in zip(KINDS, maps, times, strict=True):
            z = made.transform(X)
            error = np.abs(z @ z.T - kernel)
            print(f"{d:>7,} {kind:12}{us:8.2f} us  error {error.max():.4f}, {error.mean():.4f}")


def mistakes(options):
    """Print the mistakes of FOGD on a9a and MNIST."""
    print(f"\nmistakes of FOGD, {options.frequencies} frequencies (us a sample)")
    X, y = streams.a9a(options.data)[:2]
    sets = {"a9a": (sparse.csr_matrix(X, dtype=np.float32), y)}
    mnist = np.load(Path(options.data) / "mnist.train.npz")
    sets["mnist"] = (mnist["X"][:20_000].astype(np.float32) / 255, mnist["y"][:20_000])
    for name, (X, y) in sets.items():
        for kind in KINDS:
            errors, times = [], []
            for seed in range(3):
                order = np.random.default_rng(seed).permutation(len(y))
                model = onlinekern.FOGDClassifier(
                    n_components=options.frequencies, frequencies=kind, gamma=WIDTHS[name]
                )
                model.set_params(random_state=seed, shuffle=False, average=False)
                rows, labels = X[order], y[order]
                start = time.process_time()
                model.fit(rows, labels)
                times.append(1e6 * (time.process_time() - start) / len(y))
                errors.append(100 * model.n_mistakes_ / model.n_seen_)
            print(f"{name:6} {kind:12}{np.mean(errors):7.2f} %{min(times):9.2f} us")


if __name__ == "__main__":
    given = read_options(__doc__, data=None, frequencies=1_600, repeats=5)
    onlinekern.show_config()
    wide(given)
    dense(given)
    if given.data:
        mistakes(given)
