"""What the pages look like, light and dark, and the few lines of script that sort a table."""

from __future__ import annotations

from importlib.resources import files
from string import Template

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
