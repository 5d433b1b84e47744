"""Print errors of kernel least squares after one pass, without and with a learnt metric.

    python benchmarks/metrics.py FOLDER [--orders 5] [--rows 20000] [--only NAME,...]
    python benchmarks/metrics.py --costs
    python benchmarks/metrics.py --picture docs/learnt_kernels.png

FOLDER holds the sets (LIBSVM text, packed with xz). Each is put into random orders; of its first
rows, 70 % are learnt in one pass, standardised as they come, in float32, and the others test.
Prints mean test errors in per cent (of targets: the root mean square error over their deviation),
the spread over the orders of the best, and processor time a row as a ratio to that without a
metric, the median over the orders.

--costs prints microseconds a row without and with a metric after 10,000 and 100,000 made rows of 8,
20 and 100 features, and milliseconds of all the work of a renewal, done at once, which a stream
spreads over 512 samples. Run it on one thread (OMP_NUM_THREADS=1).

--picture draws the error along a made stream of 20 features, of which three matter, and their
importances beside the true ones.
"""

import argparse
import time

import numpy as np
from forests import SETS, TARGETS, error_of, load

from onlinekern import (
    KernelRLSClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    make_stream_pipeline,
)
from onlinekern.plotting import MetricDisplay
from onlinekern.plotting.style import COLOURS, GREY, dress

SETTINGS = {
    "none": {},
    **{
        f"{metric} {exponent:g}": {"metric": metric, "metric_exponent": exponent}
        for metric in ("diagonal", "full")
        for exponent in (0.5, 1.0)
    },
    "auto": {"metric": "auto"},
}
MOST_FEATURES = 100
# Errors of the picture are those of so many samples.
BLOCK = 500


def learnt(X, y, number, **parameters):
    """Return a model that has learnt a stream in one pass, and seconds of processor time."""
    learner = KernelRLSRegressor if number else KernelRLSClassifier
    model = make_stream_pipeline(
        OnlineStandardScaler(clip=5.0), learner(random_state=0, **parameters)
    )
    known = {} if number else {"classes": np.unique(y)}
    began = time.process_time()
    model.partial_fit(X, y, **known)
    return model, time.process_time() - began


def show(folder, name, number, arguments):
    errors, costs = [], []
    for order in range(arguments.orders):
        X, y, Z, v = load(folder, name, arguments.rows, order)
        if X.shape[1] > MOST_FEATURES:
            return
        X, Z = X.astype(np.float32), Z.astype(np.float32)
        found = [learnt(X, y, number, **parameters) for parameters in SETTINGS.values()]
        errors.append([error_of(model.predict(Z), v, y, number) for model, _ in found])
        costs.append([seconds / found[0][1] for _, seconds in found])
    form = ".3f" if number else ".2f"
    mean, cost = np.mean(errors, axis=0), np.median(costs, axis=0)
    best = int(np.argmin(mean))
    cells = [f"{value:{form}} ({ratio:.1f})" for value, ratio in zip(mean, cost, strict=True)]
    cells[0] = f"{mean[0]:{form}}"
    cells[best] = f"**{cells[best]}**"
    spread = f"{np.std(errors, axis=0)[best]:{form}}"
    print("| " + " | ".join([name, f"{len(X)} x {X.shape[1]}", *cells, spread]) + " |", flush=True)


def made(n, d, seed=0):
    """Return float32 rows of d features, of which three matter, and targets."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)).astype(np.float32)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * random.standard_normal(n)
    return X, y


def show_costs():
    print("| features | metric | us a row, 10,000 rows | 100,000 rows | a renewal at once, ms |")
    print("|" + "---|" * 5)
    for d in (8, 20, 100):
        X, y = made(100_000, d)
        before = None
        for name in ("none", "diagonal 0.5", "full 0.5", "auto"):
            rates = []
            for n in (10_000, 100_000):
                model, seconds = learnt(X[:n], y[:n], True, gamma=1 / d, **SETTINGS[name])
                rates.append(1e6 * seconds / n)
            before = before or rates
            cells = [
                f"{rate:.1f} ({rate / one:.2f})" for rate, one in zip(rates, before, strict=True)
            ]
            print(f"| {d} | {name} | {' | '.join(cells)} | {renewal_of(model)} |", flush=True)


def renewal_of(model):
    """Return the milliseconds of a renewal that learns the model anew in one call, as text."""
    space = model.steps[-1][1]._model.space
    if not hasattr(space, "learn_anew"):
        return "-"
    X, y, weight = space.recent.arrays()
    times = []
    for _ in range(5):
        began, draws = time.process_time(), space.draws()
        space.learn_anew(space.learnt_root(), X, y, weight, draws)
        times.append(1e3 * (time.process_time() - began))
    return f"{np.median(times):.0f}"


def draw(path):
    """Draw errors along a stream without and with a metric, and importances beside the truth."""
    from matplotlib.figure import Figure

    X, y = made(10_000, 20)
    figure = Figure(figsize=(9.6, 3.4), layout="constrained")
    errors, bars = figure.subplots(1, 2)
    for name, colour in (("none", GREY), ("full 0.5", COLOURS[1]), ("diagonal 0.5", COLOURS[0])):
        learner = KernelRLSRegressor(random_state=0, **SETTINGS[name])
        squares = (learner.partial_fit_predict(X, y) - y) ** 2
        blocks = squares.reshape(-1, BLOCK).mean(axis=1)
        label = "without a metric" if name == "none" else f"metric={name.split()[0]!r}"
        places = BLOCK * np.arange(1, len(blocks) + 1)
        errors.plot(places, np.sqrt(blocks) / np.std(y), color=colour, label=label)
    dress(errors)
    errors.set_ylabel("root mean squared error / deviation")
    errors.set_ylim(0)
    errors.legend(frameon=False)
    # The mean squares of sin(2 a) + b c along a, b and c.
    true = np.zeros(20)
    true[:3] = np.sqrt([2 * (1 + np.exp(-8)), 1, 1])
    MetricDisplay(true / true.sum()).plot(bars, n=8, color="none", edgecolor="black", zorder=3)
    display = MetricDisplay(learner.feature_importances_)
    order = np.argsort(-true, kind="stable")[:8]
    bars.barh(np.arange(8)[::-1], display.importances[order], color=COLOURS[0])
    bars.set_ylabel("feature")
    bars.set_title("blue: learnt after 10,000 samples; outlines: true", fontsize="medium")
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--orders", type=int, default=5)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--costs", action="store_true")
    parser.add_argument("--picture", metavar="FILE.png")
    arguments = parser.parse_args()
    if arguments.costs:
        show_costs()
    if arguments.picture:
        draw(arguments.picture)
    if arguments.folder is None:
        return
    print("| set | rows x features | " + " | ".join(SETTINGS) + " | spread |")
    print("|" + "---|" * (len(SETTINGS) + 3))
    for name in SETS:
        if not arguments.only or name in arguments.only.split(","):
            show(arguments.folder, name, name in TARGETS, arguments)


if __name__ == "__main__":
    main()
