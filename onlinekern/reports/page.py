"""The parts of a page, as HTML, and what it looks like, light and dark.

Whatever is not `Html` is text, and is escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from onlinekern.fitted.save.atomic import replacing
from onlinekern.plotting.style import COLOURS, GREY

# It stands for the colour of the text while a picture is drawn.
INK = "#010203"
# These take the place of the colours of the curves on a dark page, in their order.
DARK = ("#4aa8e8", "#ff8f4a", "#2fc79a", "#e39ac5", "#f2b63c", "#a3dbff", "#f4f4f4", "#d9749c")
# Colour in a picture -> name of a variable of the page.
VARIABLES = {INK: "ink", GREY: "grey"} | {
    colour.lower(): f"c{place}" for place, colour in enumerate(COLOURS)
}


def _variables(ink: str, grey: str, colours: tuple[str, ...]) -> str:
    named = {"ink": ink, "grey": grey} | {f"c{place}": one for place, one in enumerate(colours)}
    return " ".join(f"--{name}: {value};" for name, value in named.items())


def _of_file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


CSS = Template(_of_file("page.css")).substitute(
    light=_variables("#1b1f24", "#6b7178", COLOURS), dark=_variables("#e8eaed", "#9aa0a8", DARK)
)
# A click on a head sorts by its column, a second one the other way round. Cells without a number
# come last.
JS = _of_file("page.js")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def html(value: Any) -> Html:
    """Return a value as HTML."""
    return value if isinstance(value, Html) else Html(escape(str(value)))


def element(name: str, *parts: Any, **attributes: str) -> Html:
    """Return an element; ``class_`` and ``aria_label`` are the attributes class and aria-label."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    return Html(f"<{name}{given}>{''.join(map(html, parts))}</{name}>")


def tiles(figures: Iterable[tuple[Any, Any]]) -> Html:
    """Return figures in large letters, each under its name."""
    return element(
        "dl",
        *(element("div", element("dt", name), element("dd", value)) for name, value in figures),
        class_="tiles",
    )


def card(title: Any, *parts: Any) -> Html:
    """Return a box with a heading."""
    return element("section", element("h2", title), *parts, class_="card")


def cards(*boxes: Html) -> Html:
    """Return boxes side by side where there is room."""
    return element("div", *boxes, class_="cards")


def figure(drawing: Html, caption: Any) -> Html:
    """Return a picture with what it shows."""
    return element(
        "figure", element("div", drawing, class_="scroll"), element("figcaption", caption)
    )


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    numbers: int,
    best: Sequence[bool] = (),
    sortable: bool = False,
) -> Html:
    """Return a table whose last `numbers` columns are numbers; the rows marked `best` are bold."""
    first = len(heads) - numbers
    kinds = [{"class_": "number"} if place >= first else {} for place in range(len(heads))]
    top = [
        element("th", element("button", head, type="button") if sortable else head, scope="col",
                **kind)
        for head, kind in zip(heads, kinds, strict=True)
    ]  # fmt: skip
    body = []
    for place, row in enumerate(rows):
        cells = [element("td", cell, **kind) for cell, kind in zip(row, kinds, strict=True)]
        mark = {"class_": "best"} if place < len(best) and best[place] else {}
        body.append(element("tr", *cells, **mark))
    return element(
        "div",
        element(
            "table", element("thead", element("tr", *top)), element("tbody", *body),
            **({"class_": "sortable"} if sortable else {}),
        ),
        class_="scroll",
    )  # fmt: skip


def matrix(heads: Sequence[Html], rows: Sequence[Html], *above: Html) -> Html:
    """Return a square table, whose cells have shades, with heads of columns and of rows."""
    top = element("thead", element("tr", element("th", ""), *heads))
    own = element("table", *above, top, element("tbody", *rows), class_="matrix")
    return element("div", own, class_="scroll")


def pairs(values: Iterable[tuple[Any, Any]]) -> Html:
    """Return names and values, one a line."""
    rows = (element("tr", element("th", name, scope="row"), element("td", value))
            for name, value in values)  # fmt: skip
    return element("div", element("table", element("tbody", *rows)), class_="scroll")


def page(title: str, *parts: Any) -> str:
    """Return a whole page.

    It may load nothing, and run no script but its own: a policy tells the browser so, should a
    label in it ever not be escaped.
    """
    digest = base64.b64encode(hashlib.sha256(JS.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{CSS}</style>
</head>
<body>
{"".join(map(html, parts))}
<script>{JS}</script>
</body>
</html>
"""


def write_page(path: str, text: str) -> None:
    """Write a page, whole or not at all."""
    with replacing(path) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))
