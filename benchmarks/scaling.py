"""Measure how the cost per sample grows with time, budget, features, classes and frequencies.

    python benchmarks/scaling.py [--plot FILE] [--repeats N]

One process, one thread, random samples, float32; medians of CPU time. Expected: constant in the
samples seen once the model is full; linear in the budget, the features and the frequencies; less
than linear in the classes, which share the support vectors and their kernel values. The last figure
of each line is the ratio of the last cost to the first.
"""

import copy
import functools
import statistics
import warnings

import numpy as np
from command import read_options
from ratio import cpu_us
from threadpoolctl import threadpool_limits

import onlinekern

ROWS = 4_000
BUDGET = 512
FEATURES = 22
FREQUENCIES = [64, 128, 256, 512, 1_024, 2_048]


def samples(n, d=FEATURES, classes=2, seed=0):
    """Generate n noisy samples; the label depends on the sum of the first two features."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)).astype(np.float32)
    place = X[:, 0] + X[:, 1] + 0.5 * random.standard_normal(n)
    edges = np.quantile(place, np.linspace(0, 1, classes + 1)[1:-1])
    return X, np.searchsorted(edges, place)


def full(budget, d=FEATURES, classes=2):
    """Return a kernel PA learner with a full budget, and further samples."""
    X, y = samples(ROWS + 4 * budget, d, classes)
    model = onlinekern.KernelPAClassifier(
        gamma=0.5 / d, C=0.1, max_support=budget, when_full="stop"
    )
    model.partial_fit(X[ROWS:], y[ROWS:], classes=range(classes))
    if model.n_support_ < budget:
        raise ValueError(
            f"{4 * budget} samples gave {model.n_support_} support vectors of {budget}"
        )
    return model, X[:ROWS], y[:ROWS]


def by_time(values):
    """Yield copies of one model after streams of growing length."""
    model, X, y = full(BUDGET)
    for seen in values:
        while model.n_seen_ < seen:
            model.partial_fit(X, y)
        yield copy.deepcopy(model), X, y


def by_frequencies(values):
    """Yield DualSGD for each number of frequencies; its support vectors stay few."""
    X, y = samples(2 * ROWS)
    for count in values:
        model = onlinekern.DualSGDClassifier(
            gamma=0.02, reg=1e-3, budget=20, merge_size=10, n_components=count, random_state=0
        )
        yield model.partial_fit(X[ROWS:], y[ROWS:], classes=[0, 1]), X[:ROWS], y[:ROWS]


CURVES = {
    "samples seen": ([5_000, 20_000, 80_000, 320_000], by_time, "flat"),
    "support vectors": (
        [64, 128, 256, 512, 1_024, 2_048],
        lambda values: (full(budget) for budget in values),
        "linear",
    ),
    "features": (
        [8, 16, 32, 64, 128, 256, 512],
        lambda values: (full(BUDGET, d=d) for d in values),
        "linear",
    ),
    "classes": (
        [2, 4, 8, 16, 32],
        lambda values: (full(BUDGET, d=128, classes=classes) for classes in values),
        "less than linear",
    ),
    "random frequencies": (FREQUENCIES, by_frequencies, "linear"),
}


def measure(values, models, repeats):
    """Return microseconds per sample at each value; each round times all values in turn."""
    cases = list(models(values))
    times = [[] for _ in cases]
    for _ in range(repeats):
        for column, (model, X, y) in zip(times, cases, strict=True):
            column.append(cpu_us(functools.partial(model.partial_fit, X, y), len(y))[0])
    return [statistics.median(column) for column in times]


def draw(found, path):
    """Draw one panel per curve, on logarithmic scales, with the expected slope."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(found), figsize=(3 * len(found), 3), sharey=True)
    for axes, (name, us) in zip(panels, found.items(), strict=True):
        values, _, expected = CURVES[name]
        slope = 0 if expected == "flat" else 1
        line = us[-1] * (np.array(values) / values[-1]) ** slope
        axes.loglog(values, us, "o-", label="measured")
        axes.loglog(values, line, "--", color="0.6", label="flat" if slope == 0 else "linear")
        axes.set(xlabel=name, title=f"expected: {expected}")
        axes.title.set_fontsize(9)
        axes.set_xticks(values, [f"{v:,}" if v < 10_000 else f"{v // 1_000}k" for v in values])
        axes.tick_params(axis="x", labelsize=7)
        axes.xaxis.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    panels[0].set_ylabel("µs of CPU time per sample")
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main():
    """Measure, print and draw."""
    options = read_options(__doc__, plot=None, repeats=5)
    onlinekern.show_config()
    warnings.filterwarnings("ignore", message="max_support")
    found = {}
    with threadpool_limits(1):
        for name, (values, models, expected) in CURVES.items():
            found[name] = us = measure(values, models, options.repeats)
            print(f"\n{name} (expected: {expected})")
            print("".join(f"{value:>10,}" for value in values))
            print("".join(f"{cost:10.3f}" for cost in us), " us per sample")
            print(f"{values[-1] / values[0]:.0f} times as many cost {us[-1] / us[0]:.2f} times")
    if options.plot:
        draw(found, options.plot)


if __name__ == "__main__":
    main()
