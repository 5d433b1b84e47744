"""Compare DualSGD with FOGD at the same time per sample: multi-class and regression, one pass.

    python benchmarks/dual_vs_fogd.py --data DIR [--sets NAME ...] [--repeats N] [--rows N]

Features and regression targets are scaled to [0, 1]. The kernel's width and the step are the ones
with the least error, test-then-train, on a separate order of at most 10,000 samples. DualSGD has
the sizes of its paper (B = 100, k = 20, D = 200). FOGD gets the number of frequencies that takes
the same time on that set. Then both learn `--repeats` random orders of all samples. Times are CPU
times of one thread: set OMP_NUM_THREADS and OPENBLAS_NUM_THREADS to 1.
"""

import itertools
import lzma
import time
from pathlib import Path

import numpy as np
from command import read_options
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import minmax_scale

import onlinekern

SETS = {
    "usps": ("usps.train.libsvm.xz", "classification"),
    "poker": ("poker.train.libsvm.xz", "classification"),
    "cadata": ("cadata.libsvm.xz", "regression"),
    "kin40k": ("kin40k.libsvm.xz", "regression"),
    "protein": ("protein.libsvm.xz", "regression"),
    "airlines2k": ("airlines2k.libsvm.xz", "regression"),
}
WIDTHS = [2.0**k for k in range(-8, 7, 2)]
STEPS = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0]
REGULARISATIONS = [2.0, 16.0, 128.0, 512.0, 1024.0]  # divided by the number of samples
ROWS_OF_THE_SEARCH = 10_000
DUAL_SIZES = {"budget": 100, "merge_size": 20, "n_components": 200}
FREQUENCIES = 200


def read(folder, name, rows):
    """Return X in [0, 1] as dense float32, and labels, or targets in [0, 1], in a random order."""
    file, task = SETS[name]
    with lzma.open(Path(folder) / file, "rb") as packed:
        X, y = load_svmlight_file(packed)
    order = np.random.default_rng(0).permutation(len(y))[:rows]
    X = minmax_scale(X.toarray()[order]).astype(np.float32)
    y = y[order]
    return X, (minmax_scale(y) if task == "regression" else y.astype(int)), task


def methods(task):
    """Return (name, class, fixed parameters, name of the step parameter) of each learner."""
    if task == "classification":
        dual, fogd = onlinekern.DualSGDClassifier, onlinekern.FOGDClassifier
        losses = [("hinge", "hinge"), ("logistic", "logistic")]
        common = {"multi_class": "margin"}
    else:
        dual, fogd = onlinekern.DualSGDRegressor, onlinekern.FOGDRegressor
        losses = [("absolute", "absolute"), ("epsilon_insensitive", "squared")]
        common = {"fit_intercept": True, "epsilon": 0.01, "standardize_target": False}
    for ours, theirs in losses:
        yield f"DualSGD {ours}", dual, {"loss": ours, **DUAL_SIZES, **common}, "reg"
        yield f"FOGD {theirs}", fogd, {"loss": theirs, "schedule": "constant", **common}, "eta"


def learn(cls, parameters, X, y, seed):
    """Learn one random order; return (error rate or RMSE, CPU microseconds per sample)."""
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order], y[order]
    first = {"classes": np.unique(y)} if y.dtype.kind == "i" else {}
    model = cls(random_state=seed, **parameters)
    start = time.process_time()
    try:
        found = model.partial_fit_predict(X, y, **first)
    except FloatingPointError:
        return np.inf, np.nan
    us = 1e6 * (time.process_time() - start) / len(y)
    error = 100 * np.mean(found != y) if first else np.sqrt(np.mean((found - y) ** 2))
    return error, us


def search(cls, fixed, step, X, y):
    """Return the width and the step of the least error on a separate order."""
    X, y = X[:ROWS_OF_THE_SEARCH], y[:ROWS_OF_THE_SEARCH]
    sizes = {"n_components": FREQUENCIES} if step == "eta" else {}
    found = []
    for gamma, value in itertools.product(WIDTHS, STEPS if step == "eta" else REGULARISATIONS):
        chosen = {"gamma": gamma, step: value if step == "eta" else value / len(y)}
        found.append((learn(cls, {**fixed, **sizes, **chosen}, X, y, 1000)[0], gamma, value))
    return min(found)[1:]


def frequencies_of_equal_time(parameters, cls, X, y, us):
    """Return the number of FOGD's frequencies that takes `us` microseconds per sample."""
    sizes = np.array([100, 400])
    times = [
        min(learn(cls, {**parameters, "n_components": int(D)}, X, y, 0)[1] for _ in range(3))
        for D in sizes
    ]
    slope = (times[1] - times[0]) / (sizes[1] - sizes[0])
    return max(16, round(sizes[0] + (us - times[0]) / slope))


def contend(name, cls, fixed, step, X, y, us, repeats):
    """Search, then learn all orders; print a line and return the median time."""
    gamma, value = search(cls, fixed, step, X, y)
    parameters = {**fixed, "gamma": gamma, step: value if step == "eta" else value / len(y)}
    if step == "eta":
        size = frequencies_of_equal_time(parameters, cls, X, y, us)
        parameters["n_components"] = size
    runs = np.array([learn(cls, parameters, X, y, seed) for seed in range(repeats)])
    error, deviation, us = runs[:, 0].mean(), runs[:, 0].std(), np.median(runs[:, 1])
    chosen = f"gamma={gamma:g} {step}={value:g}{'' if step == 'eta' else '/N'}"
    print(
        f"  {name:28} {error:9.4g} +- {deviation:<8.2g} {us:7.2f} us  "
        f"D={parameters['n_components']:<5} {chosen}",
        flush=True,
    )
    return us


def main():
    """Run all sets."""
    options = read_options(
        __doc__,
        data={"required": True},
        sets={"nargs": "+", "choices": SETS, "default": list(SETS)},
        repeats=5,
        rows=int,
    )
    for name in options.sets:
        X, y, task = read(options.data, name, options.rows)
        measure = "RMSE" if task == "regression" else "mistakes %"
        print(f"{name}: {len(y):,} samples, {X.shape[1]} features; {measure}")
        us = None
        for contender in methods(task):
            us = contend(*contender, X, y, us, options.repeats)


if __name__ == "__main__":
    main()
