"""Draw the learning curves of the kernel adaptive filters on chaotic series.

    python benchmarks/adaptive_filters.py [--realisations N] [--plot FILE] [--choose]

Each filter predicts the next value of a series before it learns it. Three tasks: Mackey-Glass with
noise; the same with a delay that changes from 30 to 17 in mid-stream; the Lorenz system, scaled to
variance 1. Prints the squared error in dB, a mean over realisations, for parts of the stream, the
size of the dictionary, and µs per sample. `SETTINGS` are those that `--choose` found on a
realisation that the figures do not contain.
"""

import functools
import itertools
import time

import numpy as np
from command import read_options

import onlinekern
from onlinekern.streams import lorenz, mackey_glass

N = 3000
PARTS = [(100, 200), (200, 500), (500, 1500), (1500, 1600), (1600, 2000), (2000, 3000)]
KEPT_ASIDE = 1000
NOISE = 0.02


@functools.cache
def noisy_mackey_glass(seed):
    """Return the series that most of the papers take."""
    X, y = mackey_glass(N, noise=NOISE, random_state=seed)
    return X - 0.9, y - 0.9


@functools.cache
def switching_mackey_glass(seed):
    """Return a series with a delay of 30, then of 17."""
    halves = [mackey_glass(N // 2, tau=tau, noise=NOISE, random_state=seed) for tau in (30.0, 17.0)]
    X, y = (np.concatenate(part) for part in zip(*halves, strict=True))
    return X - 0.9, y - 0.9


@functools.cache
def scaled_lorenz(seed):
    """Return the first coordinate, scaled to variance 1."""
    X, y = lorenz(N, random_state=seed)
    return X / 7.9, y / 7.9


TASKS = {
    "Mackey-Glass": (noisy_mackey_glass, 1.0),
    "Mackey-Glass, change": (switching_mackey_glass, 1.0),
    "Lorenz": (scaled_lorenz, 0.5),
}
RIDGES = {"reg": (0.1, 0.01, 0.001)}
# Filter -> class, what is fixed, what `--choose` tries.
FILTERS = {
    "KLMS": ("KLMSRegressor", {}, {"eta": (0.1, 0.2, 0.5, 1.0)}),
    "QKLMS": ("QKLMSRegressor", {"epsilon": 0.2}, {"eta": (0.1, 0.2, 0.5, 1.0)}),
    "KAPA-1": ("KAPARegressor", {"variant": "kapa1"}, {"eta": (0.02, 0.05, 0.1, 0.2)}),
    "KAPA-2": ("KAPARegressor", {}, {"eta": (0.02, 0.05, 0.1, 0.2, 0.5), "reg": (1.0, 0.1, 0.01)}),
    "KRLS (ALD)": ("KRLSRegressor", {}, {"nu": (0.3, 0.1, 0.03, 0.01, 0.001)}),
    "SW-KRLS": ("SlidingWindowKRLSRegressor", {"budget": 100}, RIDGES),
    "FB-KRLS": ("FixedBudgetKRLSRegressor", {"budget": 100}, {**RIDGES, "eta": (0.0, 0.1)}),
    "KRLS-T": (
        *("KRLSTRegressor", {"budget": 100}),
        {"noise": (0.1, 0.01, 0.001), "forgetting": (1.0, 0.9999, 0.999, 0.99)},
    ),
}
SETTINGS = {
    ("KLMS", "Mackey-Glass"): {"eta": 0.5},
    ("KLMS", "Mackey-Glass, change"): {"eta": 0.5},
    ("KLMS", "Lorenz"): {"eta": 0.5},
    ("QKLMS", "Mackey-Glass"): {"eta": 0.5},
    ("QKLMS", "Mackey-Glass, change"): {"eta": 0.5},
    ("QKLMS", "Lorenz"): {"eta": 0.5},
    ("KAPA-1", "Mackey-Glass"): {"eta": 0.2},
    ("KAPA-1", "Mackey-Glass, change"): {"eta": 0.2},
    ("KAPA-1", "Lorenz"): {"eta": 0.2},
    ("KAPA-2", "Mackey-Glass"): {"eta": 0.2, "reg": 1.0},
    ("KAPA-2", "Mackey-Glass, change"): {"eta": 0.5, "reg": 1.0},
    ("KAPA-2", "Lorenz"): {"eta": 0.5, "reg": 0.01},
    ("KRLS (ALD)", "Mackey-Glass"): {"nu": 0.01},
    ("KRLS (ALD)", "Mackey-Glass, change"): {"nu": 0.001},
    ("KRLS (ALD)", "Lorenz"): {"nu": 0.001},
    ("SW-KRLS", "Mackey-Glass"): {"reg": 0.01},
    ("SW-KRLS", "Mackey-Glass, change"): {"reg": 0.01},
    ("SW-KRLS", "Lorenz"): {"reg": 0.001},
    ("FB-KRLS", "Mackey-Glass"): {"reg": 0.01, "eta": 0.0},
    ("FB-KRLS", "Mackey-Glass, change"): {"reg": 0.01, "eta": 0.0},
    ("FB-KRLS", "Lorenz"): {"reg": 0.001, "eta": 0.0},
    ("KRLS-T", "Mackey-Glass"): {"noise": 0.01, "forgetting": 1.0},
    ("KRLS-T", "Mackey-Glass, change"): {"noise": 0.01, "forgetting": 0.9999},
    ("KRLS-T", "Lorenz"): {"noise": 0.001, "forgetting": 1.0},
}


def errors_of(filter_, task, seed, parameters):
    """Return squared errors before each sample, the size of the dictionary, and seconds."""
    name, fixed, _ = FILTERS[filter_]
    make, gamma = TASKS[task]
    X, y = make(seed)
    # The series have the units that the settings are for.
    model = getattr(onlinekern, name)(gamma=gamma, standardize_target=False, **fixed, **parameters)
    start = time.process_time()
    predictions = model.partial_fit_predict(X, y)
    return (predictions - y) ** 2, model.n_support_, time.process_time() - start


def choose():
    """Print the best settings on the realisation kept aside, by the error after 100 samples."""
    for filter_, task in itertools.product(FILTERS, TASKS):
        grid = FILTERS[filter_][2]
        tried = []
        for values in itertools.product(*grid.values()):
            parameters = dict(zip(grid, values, strict=True))
            try:
                errors, _, _ = errors_of(filter_, task, KEPT_ASIDE, parameters)
            except FloatingPointError:  # it diverges
                continue
            tried.append((errors[100:].mean(), parameters))
        best = min(tried, key=lambda pair: pair[0])[1]
        print(f"    ({filter_!r}, {task!r}): {best},", flush=True)


def decibels(errors):
    return 10 * np.log10(errors)


def smoothed(curve, width=50):
    """Return the running mean of a learning curve."""
    return np.convolve(curve, np.ones(width) / width, mode="valid")


def draw(curves, path):
    """Draw the learning curves, a panel for each task."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(TASKS), figsize=(11, 3.2), layout="constrained")
    for axes, task in zip(panels, TASKS, strict=True):
        for filter_ in FILTERS:
            curve = smoothed(curves[filter_, task])
            axes.plot(np.arange(len(curve)) + 50, decibels(curve), label=filter_, linewidth=1)
        axes.set(title=task, xlabel="samples")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("squared error, dB")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    figure.savefig(path, dpi=80)


def main():
    options = read_options(__doc__, realisations=20, plot=None, choose=False)
    if options.choose:
        choose()
        return
    curves = {}
    for task, filter_ in itertools.product(TASKS, FILTERS):
        runs = [
            errors_of(filter_, task, seed, SETTINGS[filter_, task])
            for seed in range(options.realisations)
        ]
        errors, sizes, seconds = (np.array(part) for part in zip(*runs, strict=True))
        curves[filter_, task] = errors.mean(axis=0)
        parts = [decibels(errors[:, first:last].mean()) for first, last in PARTS]
        cells = " ".join(f"{part:6.1f}" for part in parts)
        cost = 1e6 * seconds.mean() / N
        print(f"{task:22}{filter_:12}{cells}   {sizes.mean():5.0f} {cost:6.1f} µs", flush=True)
    if options.plot:
        draw(curves, options.plot)


if __name__ == "__main__":
    main()
