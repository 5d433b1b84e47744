"""Time SPA against a plain C loop, and learn_one against the compiled cost of its update.

    python benchmarks/ratio.py [--data DIR] [--rows N] [--repeats N] [--naive-repeats N]

One process, one thread, all runs in turns; medians of CPU time, which other programs disturb least.
Both loops use the same random numbers, so they should make the same mistakes and keep the same
support vectors. They may differ in two cases: float32 rounds the samples of the mixture, and a loss
is 0 up to rounding (equal rows, in a9a).
"""

import functools
import statistics
import time

import naive
from command import read_options

import onlinekern
from benchmarks import bench_one, common, streams

VARIANTS = [(layout, dtype) for layout in common.LAYOUTS for dtype in common.DTYPES]
SEED = 0


def cpu_us(call, samples):
    """Return CPU time in microseconds per sample, and what the call returns."""
    start = time.process_time()
    result = call()
    return 1e6 * (time.process_time() - start) / samples, result


def spa(X, y, parameters):
    """Learn a stream; return (mistakes, support vectors)."""
    model = onlinekern.SPAClassifier(random_state=SEED, **parameters)
    common.learn(model, X, y)
    return model.n_mistakes_, model.n_support_


def spa_naively(X, y, uniforms, parameters):
    """Learn a stream with the plain loop, whose model is always averaged; return the same."""
    known = {name: parameters[name] for name in ("gamma", "alpha", "beta", "eta")}
    outcome = naive.spa(X, y, uniforms, **known)
    return outcome.mistakes, outcome.n_support


def measure(runs, samples, repeats, naive_repeats):
    """Time the runs in turns.

    Returns
    -------
    dict of name: (median of us per sample, (mistakes, support vectors))
    """
    times, outcomes = {name: [] for name in runs}, {}
    for repeat in range(repeats):
        for name, run in runs.items():
            if name == "naive loop" and repeat >= naive_repeats:
                continue
            elapsed, outcomes[name] = cpu_us(run, samples)
            times[name].append(elapsed)
    return {name: (statistics.median(times[name]), outcomes[name]) for name in runs}


def compare(title, X, y, parameters, layouts, options):
    """Measure one stream and print its table."""
    runs = {
        f"SPAClassifier {layout} {dtype}": functools.partial(
            spa, streams.laid_out(X, dtype, layout), y, parameters
        )
        for layout, dtype in VARIANTS
        if layout in layouts
    }
    uniforms = naive.gate_numbers(SEED, len(y))
    rows = streams.laid_out(X, "float64", "dense")
    naive.loop()
    runs["naive loop"] = functools.partial(spa_naively, rows, y, uniforms, parameters)
    found = measure(runs, len(y), options.repeats, options.naive_repeats)
    slow, expected = found["naive loop"]
    print(f"\n{title}, {len(y):,} samples; {parameters}")
    print(f"{'':30} {'us/sample':>10} {'ratio':>8} {'SVs':>7} {'mistakes':>9}")
    for name, (us, outcome) in found.items():
        note = "" if outcome == expected else "  learns otherwise"
        mistakes, n_support = outcome
        print(f"{name:30} {us:10.3f} {slow / us:8.1f} {n_support:7,} {mistakes:9,}{note}")


def compare_single(title, X, y, parameters):
    """Print what learn_one costs above partial_fit with a window of one sample."""
    print(f"\nlearn_one, {title}")
    print(f"{'':30} {'learn_one':>10} {'window=1':>10} {'overhead':>9}  (us/sample)")
    for dtype in common.DTYPES:
        for n_support in (16, 64, 256):
            rows = streams.laid_out(X[:20_000], dtype, "dense")
            model = onlinekern.SPAClassifier(random_state=SEED, **parameters)
            common.warm(model, rows[:-2_000], y, n_support)
            figures = bench_one.compare_one(model, rows[-2_000:], y[: len(rows)][-2_000:])
            name = f"{dtype}, {n_support} support vectors"
            print(f"{name:30} {figures[0]:10.3f} {figures[1]:10.3f} {figures[2]:9.3f}")


def main():
    """Run all comparisons."""
    options = read_options(__doc__, data=None, rows=int, repeats=7, naive_repeats=3)
    onlinekern.show_config()
    if options.data:
        title, (X, y, _) = "a9a", streams.a9a(options.data)
    else:
        title, (X, y, _) = "sparse binary stream", streams.sparse_binary(48_842)
    X, y = X[: options.rows], y[: options.rows]
    parameters = {"gamma": 0.4, "alpha": 1.0, "beta": 20.0, "eta": 0.1, "average": True}
    compare(title, X, y, parameters, common.LAYOUTS, options)
    plane, labels, _ = streams.gaussian_mixture(options.rows or 1_000_000)
    mixture = {"gamma": 0.4, "alpha": 0.5, "beta": 200.0, "eta": 0.1, "average": True}
    compare("gaussian mixture", plane, labels, mixture, ["dense"], options)
    compare_single(f"{title} as dense rows", X, y, parameters)
    compare_single("gaussian mixture", plane, labels, parameters)


if __name__ == "__main__":
    main()
