"""Compare FOGD with NumPy's matrix product, sine and cosine of the same features.

    python benchmarks/fogd_ratio.py [--data DIR] [--rows N] [--components D] [--repeats N]

One process, the runs in turns; medians of CPU time, for one thread (set OMP_NUM_THREADS and
OPENBLAS_NUM_THREADS to 1). NumPy computes product, cosine and sine over blocks of 64 dense rows.
'normal' rows have no zeros. The rows of a9a are mostly zeros, and FOGD takes them as sparse rows.
"""

import functools
import statistics
import time

import numpy as np
from command import read_options

import onlinekern
from benchmarks import bench_mapped, common, streams

MOST = 1.25


def fogd(X, y, n_components):
    """Learn the stream with FOGD."""
    model = onlinekern.FOGDClassifier(
        n_components=n_components,
        gamma=bench_mapped.WIDTH**2 / 2,
        eta=0.1,
        loss="hinge",
        schedule="constant",
        average=False,
        random_state=0,
    )
    common.learn(model, X, y)


def medians(runs, samples, repeats):
    """Time the runs in turns; return medians in microseconds per sample."""
    times = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.process_time()
            run()
            times[name].append(1e6 * (time.process_time() - start) / samples)
    return {name: statistics.median(each) for name, each in times.items()}


def main():
    """Print the table."""
    options = read_options(__doc__, data=None, rows=10_000, components=1_600, repeats=7)
    onlinekern.show_config()
    rows = options.rows
    X, y, _ = streams.a9a(options.data) if options.data else streams.sparse_binary(rows)
    X, y = X[:rows], y[:rows]
    normal = np.random.default_rng(0).standard_normal((len(y), X.shape[1]))
    print(f"{len(y):,} samples, {X.shape[1]} features, D = {options.components}; us per sample")
    print(f"{'':24} {'FOGD':>8} {'product, sines':>15} {'ratio':>7} (at most {MOST})")
    for dtype in common.DTYPES:
        frequencies = bench_mapped.product_of(dtype, options.components, X.shape[1])
        laid = {
            "a9a dense": streams.laid_out(X, dtype, "dense"),
            "a9a csr": streams.laid_out(X, dtype, "csr"),
            "normal dense": streams.laid_out(normal, dtype, "dense"),
        }
        runs = {
            name: functools.partial(fogd, each, y, options.components)
            for name, each in laid.items()
        }
        dense = laid["a9a dense"]
        runs["numpy"] = functools.partial(bench_mapped.product_and_sines, dense, frequencies)
        found = medians(runs, len(y), options.repeats)
        numpy = found.pop("numpy")
        for name, us in found.items():
            print(f"{name + ' ' + dtype:24} {us:8.2f} {numpy:15.2f} {us / numpy:7.2f}")


if __name__ == "__main__":
    main()
