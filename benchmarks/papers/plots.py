"""Draw the papers' figures again, as SVG."""

import io
import re

import numpy as np
from rows import TABLES
from rows.lol_figures import N_PROTOTYPES, SETS, SHARING
from rows.sdrogd import SIZES, SKETCHED

NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "onlinekern", "font.size": 9}


def draw_all(folder, results):
    """Draw all figures into a folder; those whose rows have no results are left out."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        for name, draw in FIGURES.items():
            figure = Figure(layout="constrained")
            if draw(figure, results):
                drawn = io.StringIO()
                figure.savefig(drawn, format="svg", metadata=NO_METADATA)
                (folder / f"{name}.svg").write_text(plain(drawn.getvalue()), encoding="utf-8")


def plain(text):
    """Return SVG with one digit behind each point, and no spaces at the ends of its lines."""
    text = re.sub(r"-?\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}", text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def runs_of(results, table):
    """Return (set, learner) -> measures of the rows of a table that have results."""
    found = {(row.data, row.learner): results.get(table, row) for row in TABLES[table]}
    return {key: runs for key, runs in found.items() if runs}


def panels(figure, n, words, y):
    """Return axes beside each other."""
    figure.set_size_inches(3.3 * n, 3.0)
    axes = figure.subplots(1, n, squeeze=False)[0]
    for each in axes:
        each.set_xlabel(words)
        each.grid(alpha=0.3)
        each.minorticks_off()
    axes[0].set_ylabel(y)
    return axes


def legend(axes, place="best"):
    """Tell what the lines are, if there are any."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7, loc=place)


def title(data):
    """Return the name of a set without the way that it is scaled."""
    name = data.partition(",")[0]
    for word in ("standard", "unit", "drawn", "25k"):
        name = name.removesuffix(f" {word}")
    return name


def plain_ticks(axes):
    """Write errors on a logarithmic axis as they are."""
    low, high = axes.get_ylim()
    ticks = [tick for tick in (1, 2, 3, 4, 5, 7, 10, 20, 30, 50) if low < tick < high]
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()


def curves(figure, results):
    """Draw the test error along the pass."""
    found = runs_of(results, "C4")
    for axes, data in zip(panels(figure, len(SETS), "samples", "test error, %"), SETS, strict=True):
        for (own, learner), runs in found.items():
            if own == data:
                points = np.mean(runs["curve"], axis=0)
                axes.loglog(*points.T, marker=".", label=learner)
        plain_ticks(axes)
        axes.set_title(title(data))
    figure.legend(*axes.get_legend_handles_labels(), fontsize=7, loc="outside right upper")
    return found


def along(table, values, label, words, log):
    """Return a function that draws the errors of LOL and I-LOL along a parameter."""

    def draw(figure, results):
        found = runs_of(results, table)
        for axes, data in zip(panels(figure, len(SETS), words, "test error, %"), SETS, strict=True):
            for form in ("LOL", "I-LOL"):
                runs = [found.get((data, f"{form} {label}={value:g}")) for value in values]
                if all(runs):
                    means = [np.mean(one["error"]) for one in runs]
                    spread = [np.std(one["error"]) for one in runs]
                    axes.errorbar(values, means, spread, marker=".", capsize=2, label=form)
            axes.set_title(title(data))
            if log:
                axes.set_xscale("log")
                axes.minorticks_off()
            axes.set_ylim(bottom=0)
            legend(axes, "lower left")
        return found

    return draw


def k_means(figure, results):
    """Draw the errors with prototypes of both kinds as bars."""
    found = runs_of(results, "C7")
    for axes, data in zip(panels(figure, len(SETS), "k", "test error, %"), SETS, strict=True):
        for place, form in enumerate(("LOL", "I-LOL")):
            for n, words in enumerate(("sequential", "k-means before")):
                means = [
                    np.mean(found[data, f"{form}, {words} k={k}"]["error"])
                    for k in (20, 60, 100)
                    if (data, f"{form}, {words} k={k}") in found
                ]
                places = np.arange(len(means)) + 0.2 * (2 * place + n) - 0.3
                axes.bar(places, means, 0.18, label=f"{form}, {words}")
        axes.set_xticks(range(3), ["20", "60", "100"])
        axes.set_ylim(top=1.4 * axes.get_ylim()[1])
        axes.set_title(title(data))
    legend(axes)
    return found


def sketches(figure, results):
    """Draw the errors of sketches beside their bounds."""
    found = runs_of(results, "D2")
    every = panels(figure, len(SKETCHED), "rows of the sketch, share of d", "error, % of the bound")
    for axes, data in zip(every, SKETCHED, strict=True):
        # Where both are the same, both are to be seen.
        for kind, width, dots in (("raw", 2.5, "-"), ("centred", 1, "--")):
            runs = [found.get((data, f"{kind} sketch, l={size:g}d")) for size in SIZES]
            if all(runs):
                means = [np.mean(one["error"]) for one in runs]
                axes.plot(SIZES, means, dots, marker=".", linewidth=width, label=kind)
        axes.axhline(100, color="0.4", linestyle="--", label="bound of lemma 2")
        axes.set(title=title(data), ylim=(0, 110))
    legend(axes)
    return found


def support(figure, results):
    """Draw SPA's support vectors of each order against their expected number."""
    found = {key: runs for key, runs in runs_of(results, "A").items() if "expected" in runs}
    for axes, (key, runs) in zip(
        panels(figure, max(1, len(found)), "expected support vectors", "kept"),
        found.items(),
        strict=False,
    ):
        axes.plot(runs["expected"], runs["size"], ".", label="one order")
        low, high = min(runs["expected"]), max(runs["expected"])
        axes.plot([low, high], [low, high], color="0.4", linestyle="--", label="as expected")
        axes.set_title(title(key[0]))
        bottom, top = axes.get_ylim()
        axes.set_ylim(bottom, top + 0.25 * (top - bottom))
        legend(axes, "upper left")
    return found


def losses(figure, results):
    """Draw the errors and sizes of OLLA's grid."""
    found = runs_of(results, "E6")
    axes = panels(figure, 1, "support vectors", "error, %")[0]
    figure.set_size_inches(5.5, 3.6)
    for penalty, marker in (("l2", "o"), ("l1", "s"), ("none", "^")):
        for words, color, chosen in (
            ("cyclic or shuffled", "tab:blue", False), ("worst violator", "tab:orange", True),
        ):  # fmt: skip
            points = [
                (runs["size"][0], runs["error"][0])
                for (_, learner), runs in found.items()
                if f", {penalty}, " in learner and learner.endswith("max_violator") == chosen
            ]
            if points:
                axes.scatter(
                    *zip(*points, strict=True), s=14, marker=marker, color=color,
                    label=f"{words}, {penalty}",
                )  # fmt: skip
    for name, color in (("Newton, relaxation 1", "tab:red"), ("LIBSVM", "black")):
        for (_, learner), runs in found.items():
            if learner == name:
                axes.scatter(runs["size"], runs["error"], s=60, marker="*", color=color, label=name)
    axes.set_yscale("log")
    plain_ticks(axes)
    legend(axes)
    return found


FIGURES = {
    "spa_support": support,
    "lol_curves": curves,
    "lol_prototypes": along("C5", N_PROTOTYPES, "k", "prototypes", log=False),
    "lol_sharing": along("C6", SHARING, "lambda", "lambda", log=True),
    "lol_k_means": k_means,
    "sdrogd_sketch": sketches,
    "olla_grid": losses,
}
