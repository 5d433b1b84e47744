"""Draw the figures of `peers.py`: time per sample and mistakes, one line per learner.

    python benchmarks/peer_picture.py [FIGURES] [FOLDER]

FIGURES is a file that `peers.py --json` has written, by default `docs/peers.json`. In FOLDER, by
default `docs`, `peers.png` shows all learners, the fastest on top, and `front.png` those that the
front page names, the one with the fewest mistakes on top.
"""

import json
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
OWN = "onlinekern "
ORANGE, BLUE, GREY = "#D55E00", "#0072B2", "0.45"
DECADES = (0.1, 1, 10, 100, 1000, 10_000)


# What the front page shows, and how it calls them. Those to begin with are orange.
FRONT = {
    "onlinekern StreamClassifier": "StreamClassifier, nothing chosen",
    "onlinekern kernel RLS": "KernelRLSClassifier, defaults",
    "onlinekern AROW": "AROWClassifier (linear)",
    "onlinekern linear PA-I": "PAClassifier (linear)",
    "onlinekern FOGD, gamma 0.05": "FOGDClassifier",
    "onlinekern SPA, gamma 0.05": "SPAClassifier",
    "onlinekern BPA": "BPAClassifier, gamma 0.4",
    "onlinekern SPA": "SPAClassifier, gamma 0.4, beta 20",
    "Vowpal Wabbit": "Vowpal Wabbit (linear)",
    "Vowpal Wabbit --ksvm": "Vowpal Wabbit, kernel SVM",
    "river logistic": "river, logistic regression (linear)",
    "river PA": "river, PA (linear)",
    "river RBFSampler + PA": "river, RBFSampler + PA",
    "sklearn PA, batches": "scikit-learn, PA (linear), batches",
    "sklearn RBFSampler + SGD, gamma 0.05": "scikit-learn, RBFSampler + SGD, batches",
    "sklearn Nystroem + SGD, batches": "scikit-learn, Nystroem + SGD, batches",
}
BEGIN_WITH = {"onlinekern StreamClassifier", "onlinekern kernel RLS"}


def colour_of(name):
    """Return the colour of a learner."""
    if name in BEGIN_WITH:
        return ORANGE
    return BLUE if name.startswith(OWN) else GREY


def draw(found, path):
    """Draw all learners, the fastest on top.

    Parameters
    ----------
    found : dict
        Name -> figures: "us", "error" and "rows". This library's names begin with "onlinekern ".
    path : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = sorted(found, key=lambda name: -found[name]["us"])
    return draw_lines(found, {name: name.removeprefix(OWN) for name in names}, path)


def draw_front(found, path):
    """Draw the learners of the front page, the one with the fewest mistakes on top."""
    names = sorted(FRONT.keys() & found, key=lambda name: (-found[name]["error"], name))
    return draw_lines(found, {name: FRONT[name] for name in names}, path)


def draw_lines(found, labels, path):
    """Draw time and mistakes side by side, a line for each learner, from the bottom up."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import MultipleLocator, NullLocator

    figure, (left, right) = pyplot.subplots(
        1, 2, sharey=True, figsize=(9, 1.2 + 0.235 * len(labels)), width_ratios=(2, 3),
        layout="constrained",
    )  # fmt: skip
    draw_points(right, left, labels, found)
    left.set_yticks(range(len(labels)), labels.values(), fontsize=9)
    for label, name in zip(left.get_yticklabels(), labels, strict=True):
        colour = colour_of(name)
        label.set(
            color="0.25" if colour == GREY else colour,
            weight="bold" if name in BEGIN_WITH else "normal",
        )
    left.set(xlabel="mistakes, %", xlim=(None, left.get_xlim()[1] + 1))
    left.set(ylim=(-0.8, len(labels) - 0.2))
    left.xaxis.set_major_locator(MultipleLocator(2))
    right.set(xscale="log", xlabel="µs of CPU time per sample")
    right.set_xlim(right=right.get_xlim()[1] * 6)
    right.set_xticks(DECADES, [f"{value:,g}" for value in DECADES])
    right.xaxis.set_minor_locator(NullLocator())
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.tick_params(length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
    figure.suptitle(
        "a9a, 48,842 samples in one pass, each predicted before it is learnt, one thread\n"
        "orange: onlinekern with its defaults; blue: onlinekern, tuned; grey: other libraries, "
        "tuned; hollow: the first 2,000 samples only",
        fontsize=9,
    )
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return figure


def draw_points(times, mistakes, names, found):
    """Draw the two figures of each learner, each with its number on white beside it."""
    rows = max(figures["rows"] for figures in found.values())
    place = {"textcoords": "offset points", "va": "center", "fontsize": 8}
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    for height, name in enumerate(names):
        colour = colour_of(name)
        face = colour if found[name]["rows"] == rows else "white"
        us, error = found[name]["us"], found[name]["error"]
        for axes, value, text in ((times, us, brief(us)), (mistakes, error, f"{error:.1f}")):
            axes.plot(value, height, "o", color=colour, markerfacecolor=face, markersize=7)
            axes.annotate(text, (value, height), (7, 0), bbox=box, **place)


def brief(number):
    """Return two digits, or all that stand before the point."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def main():
    """Read the figures and draw them."""
    given = sys.argv[1:]
    figures = Path(given[0]) if given else DOCS / "peers.json"
    folder = Path(given[1]) if len(given) > 1 else DOCS
    found = json.loads(figures.read_text(encoding="utf-8"))
    draw(found, str(folder / "peers.png"))
    draw_front(found, str(folder / "front.png"))


if __name__ == "__main__":
    main()
