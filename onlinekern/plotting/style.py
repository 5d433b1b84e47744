"""What all pictures share: colours and lines, axes to draw on, and the check of a file's name."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".pdf", ".svg", ".jpg")
# Okabe and Ito's colours, told apart by the colour-blind. Neighbours have other lines, so that a
# curve on top of the next (SPA and SPA-last keep the same support vectors) hides nothing.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255",
)  # fmt: skip
LINES = ("-", "--", ":", "-.", (0, (8, 2)), (0, (5, 1, 1, 1, 1, 1)))
# Beyond the pairs of colours and lines, curves have marks.
MARKS = ("", "o", "s", "^", "D", "v", "*", "x")
# Colour of what is drawn to compare with, such as baselines.
GREY = "#767676"


def style_of(place: int) -> dict[str, Any]:
    """Return colour, line and mark of a curve: no two of the first 384 curves have the same."""
    marks, pair = divmod(place, len(COLOURS) * len(LINES))
    turn, colour = divmod(pair, len(COLOURS))
    return {
        "color": COLOURS[colour],
        "linestyle": LINES[(colour + turn) % len(LINES)],
        "linewidth": 1.6,
        "marker": MARKS[marks % len(MARKS)],
        "markersize": 3.5,
        "markevery": 0.2,
    }


def check_suffix(path: str | PathLike[str]) -> None:
    """Raise ValueError unless the suffix of a path is that of a picture."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(f"path must end in {', '.join(SUFFIXES)}, got {str(path)!r}")


def need_matplotlib(caller: str) -> None:
    """Raise ImportError, which names the extra, if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{caller} needs matplotlib: pip install 'onlinekern[cli]'", name="matplotlib"
        ) from error


def axes_for(caller: str, ax: Any, **options: Any) -> Any:
    """Return the axes that were given, or those of a new figure of pyplot."""
    need_matplotlib(caller)
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained", **options)[1]


def own_figure(caller: str, width: float, height: float) -> Figure:
    """Make a figure that pyplot does not know, to be written to a file."""
    need_matplotlib(caller)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def open_axes(axes: Axes) -> None:
    """Leave the frame of axes open at the top and at the right."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def dress(axes: Axes) -> None:
    """Give axes over the samples of a stream their label and a grid, and open their frame."""
    from matplotlib.ticker import StrMethodFormatter

    axes.set_xlabel("samples seen")
    if axes.get_xscale() == "linear":
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.grid(True, which="major", alpha=0.3)
    open_axes(axes)


def name_error(axes: Axes, counted: bool) -> None:
    """Label the axis of an error: a share of mistakes in %, or a root mean squared error."""
    axes.set_ylabel("mistake rate (%)" if counted else "root mean squared error")
