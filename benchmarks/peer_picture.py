"""Draw the figures of `peers.py`: time per sample and mistakes, one line per learner.

    python benchmarks/peer_picture.py [FIGURES] [PICTURE]

FIGURES is a file that `peers.py --json` has written, by default `docs/peers.json`; PICTURE is by
default `docs/peers.png`.
"""

import json
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
OWN = "onlinekern "
BLUE, GREY = "#0072B2", "0.45"
DECADES = (0.1, 1, 10, 100, 1000, 10_000)


def draw(found, path):
    """Draw time and mistakes side by side, the fastest learner on top.

    Parameters
    ----------
    found : dict
        Name -> figures: "us", "error" and "rows". This library's names begin with "onlinekern ".
    path : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import MultipleLocator, NullLocator

    names = sorted(found, key=lambda name: -found[name]["us"])
    figure, (left, right) = pyplot.subplots(
        1, 2, sharey=True, figsize=(9, 1.2 + 0.215 * len(names)), width_ratios=(3, 2),
        layout="constrained",
    )  # fmt: skip
    draw_points(left, right, names, found)
    left.set_yticks(range(len(names)), [name.removeprefix(OWN) for name in names], fontsize=9)
    for label, name in zip(left.get_yticklabels(), names, strict=True):
        label.set_color(BLUE if name.startswith(OWN) else "0.25")
    left.set(xscale="log", xlabel="µs of CPU time per sample", ylim=(-0.8, len(names) - 0.2))
    left.set_xlim(right=left.get_xlim()[1] * 6)
    left.set_xticks(DECADES, [f"{value:,g}" for value in DECADES])
    left.xaxis.set_minor_locator(NullLocator())
    right.set(xlabel="mistakes, %", xlim=(None, right.get_xlim()[1] + 1))
    right.xaxis.set_major_locator(MultipleLocator(2))
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.tick_params(length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
    figure.suptitle(
        "a9a, one pass, each sample predicted before it is learnt, one thread\n"
        "blue: onlinekern; grey: other libraries; hollow: the first samples only",
        fontsize=10,
    )
    figure.savefig(path, dpi=110)
    return figure


def draw_points(left, right, names, found):
    """Draw the two figures of each learner, each with its number on white beside it."""
    rows = max(figures["rows"] for figures in found.values())
    place = {"textcoords": "offset points", "va": "center", "fontsize": 8}
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    for height, name in enumerate(names):
        colour = BLUE if name.startswith(OWN) else GREY
        face = colour if found[name]["rows"] == rows else "white"
        us, error = found[name]["us"], found[name]["error"]
        for axes, value, text in ((left, us, brief(us)), (right, error, f"{error:.1f}")):
            axes.plot(value, height, "o", color=colour, markerfacecolor=face, markersize=7)
            axes.annotate(text, (value, height), (7, 0), bbox=box, **place)


def brief(number):
    """Return two digits, or all that stand before the point."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def main():
    """Read the figures and draw them."""
    given = sys.argv[1:]
    figures = Path(given[0]) if given else DOCS / "peers.json"
    picture = given[1] if len(given) > 1 else str(DOCS / "peers.png")
    draw(json.loads(figures.read_text(encoding="utf-8")), picture)


if __name__ == "__main__":
    main()
