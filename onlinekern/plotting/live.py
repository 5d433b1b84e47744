"""A figure that is updated while a stream runs, in a notebook or in a window."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from onlinekern.estimators.progress import in_notebook

# Largest share of the time that drawing may take, and shortest time between two drawings.
SHARE = 0.1
SECONDS = 0.2


class Live:
    """Shows a figure repeatedly, but not so often that it slows down the stream.

    Without a notebook or a window, nothing is drawn.

    Parameters
    ----------
    figure : matplotlib Figure
    draw : callable
        Draws a result on it. The object itself is what `prequential` calls with each result.
    """

    def __init__(self, figure: Any, draw: Callable[[Any], Any]) -> None:
        import matplotlib

        self.figure, self.draw, self.handle = figure, draw, None
        # With a windowed backend, such as ipympl, the canvas redraws itself.
        self.is_picture = in_notebook() and "inline" in matplotlib.get_backend().lower()
        windows = figure.canvas.required_interactive_framework is not None
        self.is_seen = self.is_picture or windows or "ipympl" in matplotlib.get_backend()
        self.drawn_at, self.wait = -float("inf"), 0.0

    def __call__(self, result: Any) -> None:
        """Draw and show a result, if it is time for it."""
        if self.is_seen and perf_counter() - self.drawn_at >= self.wait:
            began = perf_counter()
            self.draw(result)
            self.show()
            self.drawn_at = perf_counter()
            self.wait = max(SECONDS, (self.drawn_at - began) / SHARE)

    def show(self) -> None:
        """Show the present state of the figure."""
        if not self.is_seen:
            return
        if self.is_picture:
            self._show_picture()
        else:
            self.figure.canvas.draw_idle()
            self.figure.canvas.flush_events()

    def end(self) -> None:
        """Show the final figure, without a second copy below the notebook's cell."""
        self.show()
        if self.is_picture:
            from matplotlib import pyplot

            pyplot.close(self.figure)

    def _show_picture(self) -> None:
        if self.handle is None:
            from IPython.display import display

            self.handle = display(self.figure, display_id=True)
        else:
            self.handle.update(self.figure)
