"""Labels at the ends of curves, placed without overlaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.isotonic import isotonic_regression

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

    from onlinekern.estimators.types import ArrayLike, Floats

POINTS = 8.5
# Ratio of line height to font size.
LEADING = 1.3
# Distance in points between the end of a curve and its label; a line joins the two.
GAP = 36
# Share of this distance used for a sample of the curve's line style.
KEY = 16


class End(NamedTuple):
    """The end of a curve.

    Attributes
    ----------
    x, y : float
        In the units of the axes.
    text : str
    style : dict
        "color" and "linestyle" of the curve.
    bold : bool
    """

    x: float
    y: float
    text: str
    style: dict[str, Any]
    bold: bool = False


def spread(wanted: ArrayLike, gap: float, low: float, high: float) -> Floats:
    """Find positions for labels: in the order of the wanted ones, and at least `gap` apart.

    The labels move as little as possible (least squares, by isotonic regression). If there is not
    enough room between `low` and `high`, they extend beyond `high`.

    Parameters
    ----------
    wanted : array-like of shape (n_labels,)
    gap : float
    low, high : float

    Returns
    -------
    ndarray of shape (n_labels,)
    """
    places = np.asarray(wanted, dtype=np.float64)
    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(places))
    top = max(low, high - gap * (len(places) - 1))
    found = np.empty(len(places))
    found[order] = isotonic_regression(places[order] - steps, y_min=low, y_max=top) + steps
    return found


def room_for(n_labels: int) -> float:
    """Return the height in inches of axes that have room for this many labels."""
    return n_labels * POINTS * LEADING / 72


class EndLabels:
    """Labels to the right of axes, each joined to the end of its curve.

    The positions are computed each time the figure is drawn, so that labels do not overlap after a
    change of size or layout.

    Parameters
    ----------
    axes : matplotlib Axes
    ends : list of End

    Attributes
    ----------
    notes : list of matplotlib.text.Annotation
    """

    def __init__(self, axes: Axes, ends: Sequence[End]) -> None:
        self.axes = axes
        self.notes = [self._note(place, end) for place, end in enumerate(ends)]

    def _note(self, place: int, end: End) -> Any:
        line = {name: end.style[name] for name in ("color", "linestyle")}
        bent = f"arc,angleA=180,angleB=0,armA={KEY},armB=2,rad=0"
        arrow = {"arrowstyle": "-", "connectionstyle": bent, "relpos": (0, 0.5), "shrinkB": 0}
        return self.axes.annotate(
            end.text, (end.x, end.y), (0, 0), textcoords=self._at(place), fontsize=POINTS,
            va="center", fontweight="bold" if end.bold else "normal", parse_math=False,
            arrowprops=arrow | line | {"shrinkA": 2, "lw": 1.3}, annotation_clip=False,
        )  # fmt: skip

    def _at(self, place: int) -> Callable[[Any], Transform]:
        """Return the function for a label's position, which matplotlib calls when drawing."""
        from matplotlib.transforms import Affine2D

        def move(renderer: Any) -> Transform:
            dots = self.axes.figure.dpi / 72
            frame = self.axes.get_window_extent(renderer)
            ends = self.axes.transData.transform([note.xy for note in self.notes])[:, 1]
            heights = spread(ends, POINTS * LEADING * dots, frame.y0, frame.y1)
            return Affine2D().translate(frame.x1 + GAP * dots, heights[place])

        return move
