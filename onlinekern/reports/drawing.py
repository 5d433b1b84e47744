"""Pictures as SVG inside of a page, in the colours of the page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from html import escape
from typing import Any

from onlinekern.reports.page import INK, VARIABLES, Html

# Text stays text, in the letters of the page.
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "onlinekern",
    "font.size": 9,
    "axes.titlesize": 10,
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK
    ),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
    "legend.frameon": False,
    "legend.fontsize": 8,
}


def svg(draw: Callable[[Any], Any], name: str, label: str, size: tuple[float, float]) -> Html:
    """Draw a picture.

    Parameters
    ----------
    draw : callable
        Draws on the axes that it is given.
    name : str
        Begins the ids in the picture, which no other one of the page may have.
    label : str
        What it shows, for who cannot see it.
    size : tuple of float
        Width and height in inches.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        stream = io.StringIO()
        none = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(stream, format="svg", metadata=none)
    return Html(_fitted(stream.getvalue(), name, label))


def _fitted(text: str, name: str, label: str) -> str:
    """Cut SVG of matplotlib out of its file, without a size, with the variables of the page."""
    text = text[text.index("<svg") :]
    box = re.search(r'viewBox="[^"]*"', text)
    assert box is not None
    head = (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" {box[0]} role="img" '
        f'aria-label="{escape(label)}">'
    )
    body = text[text.index(">") + 1 :]
    # A text of the picture holds no quotes that are not escaped, so these are attributes.
    body = re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\g<1>{name}-", body)
    return head + re.sub(r'style="[^"]*"', _coloured, body)


def _coloured(style: re.Match[str]) -> str:
    return re.sub(
        r"#[0-9a-f]{6}",
        lambda colour: f"var(--{VARIABLES[colour[0]]})" if colour[0] in VARIABLES else colour[0],
        style[0],
    )
