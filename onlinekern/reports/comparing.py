"""The page of ``onlinekern compare``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlinekern.plotting.comparisons import plot_errors, plot_supports, plot_window
from onlinekern.plotting.labels import room_for
from onlinekern.reports.drawing import svg
from onlinekern.reports.machine import in_bytes, peak_memory
from onlinekern.reports.page import Html, card, cards, element, figure, page, table, write_page
from onlinekern.reports.run import about, duration, head
from onlinekern.reports.tables import cells_of, footnote, heading

if TYPE_CHECKING:
    from onlinekern.evaluate.results import Comparison

WIDTH = 5.2


def write_comparisons(comparisons: Sequence[Comparison], request: Any, seconds: float) -> None:
    """Write the page of comparisons that one command made.

    Parameters
    ----------
    comparisons : list of onlinekern.evaluate.Comparison
    request : onlinekern.cli.compare.Request
    seconds : float
        Time that they took.
    """
    names = ", ".join(Path(one.data).name for one in comparisons)
    memory = peak_memory()
    spent = "" if memory is None else f", at most {in_bytes(memory)} of memory"
    parts = [head(f"onlinekern compare: {names}", f"{duration(seconds)}{spent}")]
    for place, comparison in enumerate(comparisons):
        first, *lines = heading(comparison)
        parts.append(card(first, *(element("p", line) for line in lines), results(comparison)))
        parts.append(pictures(comparison, f"p{place}"))
    write_page(request.report, page(names, *parts, about("compare", asdict(request))))


def results(comparison: Comparison) -> Html:
    """Return the table of a comparison; a click on a head sorts it."""
    heads, rows, best = cells_of(comparison, plain=False)
    notes = [element("p", line.strip(), class_="soft") for line in footnote(comparison)]
    numbers = len(heads) - 2
    return Html(table(heads, rows, numbers=numbers, best=best, sortable=True) + "".join(notes))


def pictures(comparison: Comparison, name: str) -> Html:
    """Return the panels of the picture of a race, side by side."""
    size = WIDTH, max(3.4, 1.0 + room_for(len(comparison.methods)))
    panels: list[tuple[str, Callable[..., None]]] = [("Errors so far", plot_errors)]
    if comparison.has_window:
        panels.append((f"Errors of the last {comparison.window:,} samples", plot_window))
    panels.append(("Support vectors", plot_supports))
    boxes = []
    for place, (title, plot) in enumerate(panels):

        def draw(axes: Any, plot: Callable[..., None] = plot) -> None:
            plot(comparison, axes)
            axes.set_title("")

        drawing = svg(draw, f"{name}-{place}", f"{title} against the samples seen", size)
        boxes.append(card(title, figure(drawing, "")))
    return cards(*boxes)
