"""Change one parameter of the kernel forests at a time, on the sets of `forests.py` and five more.

    python benchmarks/forest_ablations.py FOLDER [--orders 3] [--json FILE] [--only trees,dial,...]
        [--sets NAME,...] [--plot docs/kernel_forests.png] [--every]

Each line is a setting. Its error on a set is divided by that of the default on the same rows in the
same order; the geometric mean over the sets is told as a change in per cent, as mean and deviation
over the orders, of the twelve sets with classes and of the eight with targets apart, or of those
that --sets names. So are the microseconds a row of the whole pass. --every adds the errors on each
set.

"dial" goes from cheap to strong: trees, rows a tree and candidates together. --plot draws its
errors against its cost. What FILE holds already is not measured again.
"""

from functools import partial

import numpy as np
from command import read_options
from forests import LABELS, MORE_LABELS, MORE_TARGETS, NUMBERS, TARGETS, learn
from second_order.figures import Kept, mean

GROUPS = {
    "trees": [{"n_trees": n} for n in (10, 30, 300)],
    "rows": [{"max_rows": n} for n in (512, 1_024, 2_048, 4_096, 16_384)],
    "samples": [{"max_samples": share} for share in (0.25, 0.5, 0.7, 1.0)],
    "leaf": [{"max_leaf": n} for n in (1, 2, 8, 16, 64)],
    "candidates": [{"n_candidates": n} for n in (1, 3, 30, 100)],
    "levels": [{"levels": levels} for levels in ("leaf", "upper")],
    "noise": [{"noise": noise} for noise in (0.05, 0.2, 1.0, 4.0, 16.0)],
    "replays": [{"n_replays": n} for n in (1, 2, 3, 6)],
    "memory": [{"memory": n} for n in (1_024, 2_048, 4_096, 8_192)],
    "renewal": [{"renewal_spread": share} for share in (0.0, 1.0)],
    "together": [
        {"max_rows": 16_384, "max_leaf": 2},
        {"max_rows": 16_384, "max_samples": 0.5},
        {"max_rows": 16_384, "max_samples": 0.7, "max_leaf": 2},
        {"max_rows": 16_384, "n_candidates": 30},
    ],
}
# From cheap to strong; the default of each learner lies between.
DIAL = [
    {"n_trees": n, "max_rows": rows, "n_candidates": candidates}
    for n, rows, candidates in (
        (10, 512, 3),
        (20, 512, 5),
        (30, 1_024, 5),
        (50, 1_024, 10),
        (50, 4_096, 10),
        (100, 1_024, 10),
        (100, 16_384, 10),
        (200, 4_096, 10),
        (300, 4_096, 10),
        (300, 16_384, 30),
    )
]
SETTINGS = {**GROUPS, "dial": DIAL}
SETS = [*LABELS, *MORE_LABELS, *TARGETS, *MORE_TARGETS]
ORANGE, BLUE = "#D55E00", "#0072B2"


def name_of(setting):
    """Return the text that names a setting."""
    return ", ".join(f"{key}={value}" for key, value in setting.items()) or "default"


def measure(settings, arguments, found):
    """Measure all settings on a set before the next set is read."""
    for name in arguments.sets:
        for order in range(arguments.orders):
            for setting in settings:
                key = f"{name}, {order}, {name_of(setting)}"
                call = partial(learn, arguments.folder, name, arguments.rows, order, **setting)
                found.get(key, call)


def figures_of(found, names, setting, orders):
    """Return errors and costs of a setting, ndarray (orders, sets) each."""
    values = [
        [found[f"{name}, {order}, {name_of(setting)}"] for name in names] for order in range(orders)
    ]
    return np.moveaxis(np.array(values), 2, 0)


def change(found, names, setting, orders):
    """Return by how many per cent the errors differ from the default's, by order."""
    errors, _ = figures_of(found, names, setting, orders)
    # A set where the default errs nowhere would tell nothing.
    usual = np.maximum(figures_of(found, names, {}, orders)[0], 1e-3)
    return 100 * (np.exp(np.log(np.maximum(errors, 1e-3) / usual).mean(1)) - 1)


def line(found, setting, arguments):
    """Return the cells of a setting."""
    cells = [name_of(setting)]
    for names in kinds(arguments.sets):
        changes = change(found, names, setting, arguments.orders) if names else []
        cells.append(mean(changes, 1) if names else "-")
    for names in kinds(arguments.sets):
        costs = figures_of(found, names, setting, arguments.orders)[1] if names else []
        cells.append(f"{np.exp(np.log(costs).mean()):.0f}" if names else "-")
    if arguments.every:
        for name in arguments.sets:
            errors = figures_of(found, [name], setting, arguments.orders)[0]
            cells.append(f"{errors.mean():.{3 if name in NUMBERS else 2}f}")
    return cells


def kinds(sets):
    """Return the sets with classes, and those with targets."""
    return [[name for name in sets if (name in NUMBERS) == number] for number in (False, True)]


def show(found, groups, arguments):
    """Print the changes of all settings."""
    heads = ["setting", "classes, %", "targets, %", "µs, classes", "µs, targets"]
    heads += arguments.sets if arguments.every else []
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for setting in [{}, *(setting for group in groups for setting in SETTINGS[group])]:
        print("| " + " | ".join(line(found, setting, arguments)) + " |")


def draw(found, path, sets, orders):
    """Draw the error of the dial against its cost."""
    from matplotlib.figure import Figure

    axes = (figure := Figure(figsize=(7, 4), layout="constrained")).subplots()
    for names, colour, kind in zip(
        kinds(sets), (ORANGE, BLUE), ("classes", "targets"), strict=True
    ):
        changes = [change(found, names, setting, orders) for setting in [*DIAL, {}]]
        costs = [
            np.exp(np.log(figures_of(found, names, setting, orders)[1]).mean())
            for setting in [*DIAL, {}]
        ]
        means, spreads = np.mean(changes, axis=1), np.std(changes, axis=1)
        axes.errorbar(costs[:-1], means[:-1], spreads[:-1], fmt="o", color=colour,
                      label=f"{len(names)} sets with {kind}")  # fmt: skip
        axes.plot(costs[-1], 0, "*", markersize=14, color=colour)
    axes.axhline(0, color="0.8", zorder=0)
    axes.set(
        xscale="log",
        xlabel="processor time a row, the whole pass (µs)",
        ylabel="error against the default's (%)",
        title="Trees, rows a tree, candidates: from cheap to strong. Stars: defaults",
    )
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def main():
    arguments = read_options(
        __doc__,
        "folder",
        orders=3,
        rows=20_000,
        json=None,
        only=tuple(SETTINGS),
        sets=tuple(SETS),
        plot=None,
        every=False,
    )
    found = Kept(arguments.json)
    groups = [*arguments.only, *(["dial"] if arguments.plot else [])]
    measure([{}, *(s for group in groups for s in SETTINGS[group])], arguments, found)
    show(found.found, arguments.only, arguments)
    if arguments.plot:
        draw(found.found, arguments.plot, arguments.sets, arguments.orders)


if __name__ == "__main__":
    main()
