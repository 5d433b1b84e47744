"""Draw test error against the share of samples that entered, a panel for each set."""

import math
from statistics import mean

KINDS = {"margin <": "margin", "lot": "lot, weight 1", "weighted lot": "lot, weight 1/p"}


def draw(found, path):
    """Draw the figures of the table of shares: set -> learner -> figures."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    across = min(3, len(found))
    down = math.ceil(len(found) / across)
    figure, panels = pyplot.subplots(
        down, across, figsize=(3.6 * across, 2.9 * down), squeeze=False, sharex=True
    )
    for axes, (name, figures) in zip(panels.flat, found.items(), strict=False):
        for (kind, label), marker in zip(KINDS.items(), "os^", strict=True):
            points = sorted(
                (100 * mean(one["share"]), mean(one["error"]))
                for learner, one in figures.items()
                if learner.startswith(kind)
            )
            axes.plot(*zip(*points, strict=True), marker=marker, markersize=4, label=label)
        everything = figures["all"]
        axes.plot(100, mean(everything["error"]), "k*", markersize=9, label="every sample")
        errors = [mean(one["error"]) for one in figures.values()]
        axes.set(
            xscale="log", title=name, ylim=(0.9 * min(errors), min(3 * min(errors), max(errors)))
        )
        axes.grid(alpha=0.3)
    for axes in panels[-1]:
        axes.set_xlabel("samples that entered, %")
    for row in panels:
        row[0].set_ylabel("test error, %")
    for axes in panels.flat[len(found) :]:
        axes.set_axis_off()
    panels.flat[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
