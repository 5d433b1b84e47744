"""Time each call for a single row: median, 99 and 99.9 per cent, the worst, and the first.

    python benchmarks/latency.py [--samples 100000] [--runs 3] [--learners NAME ...]
        [--call learn_one]

A call is `learn_one`; or with --call `score_one` and then `learn_one`, or `partial_fit` of one row.

The stream has 8 normal features; a label is a function of three of them, with noise. A learner
learns it from the first sample on, `runs` times. What counts is the CPU time of the thread, of each
call the least of the runs: what the machine does beside is left out, what the learner does is not.
The first call, in which a model is made, is not among the others. The last column is their sum:
with --samples 1200, what it costs that the defaults choose a width.
"""

import time

import numpy as np
from command import read_options
from threadpoolctl import threadpool_limits

import onlinekern

# The learners, and whether targets are numbers.
CASES = {
    "PA": ("PAClassifier", {}),
    "AROW": ("AROWClassifier", {}),
    "SPA": ("SPAClassifier", {"gamma": 0.1}),
    "kernel PA, every support vector kept": ("KernelPAClassifier", {"gamma": 0.1}),
    "kernel PA of the last 500": (
        "KernelPAClassifier",
        {"gamma": 0.1, "max_support": 500, "when_full": "oldest"},
    ),
    "BOGD, budget 500": ("BOGDClassifier", {"gamma": 0.1, "budget": 500}),
    "FOGD, 400 frequencies": ("FOGDClassifier", {"gamma": 0.1, "n_components": 400}),
    "SPA, defaults": ("SPAClassifier", {}),
    "kernel PA, defaults": ("KernelPAClassifier", {}),
    "BOGD, defaults": ("BOGDClassifier", {}),
    "FOGD, defaults": ("FOGDClassifier", {}),
    "NOGD, defaults": ("NOGDClassifier", {}),
    "NOGD, budget 500": ("NOGDClassifier", {"gamma": 0.1, "budget": 500}),
    "KernelRLS, defaults": ("KernelRLSClassifier", {}),
    "KernelRLS of targets, defaults": ("KernelRLSRegressor", {}),
    "KernelForestClassifier": ("KernelForestClassifier", {}),
    "KernelForestRegressor": ("KernelForestRegressor", {}),
    "StreamClassifier": ("StreamClassifier", {}),
    "StreamRegressor": ("StreamRegressor", {}),
}
SHARES = (0.5, 0.99, 0.999, 1.0)
# What is called for a row and its target.
CALLS = {
    "learn_one": lambda model, x, y: model.learn_one(x, y),
    "score_one+learn_one": lambda model, x, y: (model.score_one(x), model.learn_one(x, y)),
    "partial_fit": lambda model, x, y: model.partial_fit(x[None], [y]),
}


def stream(n):
    """Return samples, their labels and their targets."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 8))
    f = np.sin(X[:, 0]) * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.standard_normal(n)
    return X, (f > 0).astype(int), f


def calls(name, parameters, X, y, call=CALLS["learn_one"]):
    """Return the CPU time of each call, the first one before others, in microseconds."""
    model = getattr(onlinekern, name)(**parameters)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    rows, targets, clock = list(X), y.tolist(), time.thread_time_ns
    known = {} if name.endswith("Regressor") else {"classes": np.unique(y)}
    times = np.empty(len(rows))
    start = clock()
    model.learn_one(rows[0], targets[0], **known)
    times[0] = clock() - start
    for i in range(1, len(rows)):
        start = clock()
        call(model, rows[i], targets[i])
        times[i] = clock() - start
    return times / 1e3


def least_times(name, parameters, n, runs, call=CALLS["learn_one"]):
    """Return the least time of each call, in microseconds."""
    X, y, f = stream(n)
    given = f if name.endswith("Regressor") else y
    return np.min([calls(name, parameters, X, given, call) for _ in range(runs)], axis=0)


def latency(name, parameters, n, runs):
    """Return the quantiles `SHARES` of the least time of each call but the first."""
    return np.quantile(least_times(name, parameters, n, runs)[1:], SHARES)


def main():
    """Print the table."""
    options = read_options(
        __doc__,
        samples=100_000,
        runs=3,
        learners={"nargs": "+", "choices": list(CASES), "default": list(CASES)},
        call={"choices": list(CALLS), "default": "learn_one"},
    )
    print("| learner | first | median | 99 % | 99.9 % | worst | 99.9 % / median | all, ms |")
    print("|---|---|---|---|---|---|---|---|")
    with threadpool_limits(1):
        for title in options.learners:
            call = CALLS[options.call]
            first, *times = least_times(*CASES[title], options.samples, options.runs, call)
            found, total = np.quantile(times, SHARES), sum(times) / 1e3
            shown = " | ".join(f"{value:,.{int(value < 100)}f}" for value in (first, *found))
            print(f"| {title} | {shown} | {found[2] / found[0]:.1f} | {total:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
